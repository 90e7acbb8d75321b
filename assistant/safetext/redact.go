package safetext

import (
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Redacted stands where a secret was.
const Redacted = "[key]"

// MinSecret is the number of characters below which a secret is ignored:
// replacing a short word everywhere would destroy text and protect nothing.
const MinSecret = 8

// Redactor replaces secrets by [key]: each secret itself, its base64 (standard
// and URL alphabet, padded or not, also in the middle of something longer), its
// hexadecimal form, and any mixture of plain, percent-encoded and JSON-escaped
// characters. It is safe for concurrent use; nil and the zero value redact nothing.
type Redactor struct {
	table atomic.Pointer[secretTable]
}

// NewRedactor returns a Redactor for secrets. Those shorter than MinSecret
// characters are ignored; space around one is not part of it.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	r.Add(secrets...)
	return r
}

// Add makes more secrets known, for keys that are entered while running. What
// was written before stays as it is.
func (r *Redactor) Add(secrets ...string) {
	for {
		old := r.table.Load()
		var all []string
		if old != nil {
			all = slices.Clone(old.secrets)
		}
		known := len(all)
		for _, s := range secrets {
			s = strings.TrimSpace(s)
			if utf8.RuneCountInString(s) >= MinSecret && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		if len(all) == known || r.table.CompareAndSwap(old, newSecretTable(all)) {
			return
		}
	}
}

// Redact returns s with every form of every secret replaced by [key]. Other
// text is unchanged.
func (r *Redactor) Redact(s string) string {
	t := r.current()
	for t != nil {
		out, _ := t.replace(s, false)
		if len(out) == len(s) {
			return s
		}
		s = out // shorter than before: every form is longer than [key]
	}
	return s
}

// current returns the secrets known now; nil for none.
func (r *Redactor) current() *secretTable {
	if r == nil {
		return nil
	}
	return r.table.Load()
}

// secretTable holds the forms of a set of secrets; it never changes.
type secretTable struct {
	secrets []string
	first   [256][]form // the forms that can begin with a byte
}

// form recognises one form of one secret at the start of text. It returns how
// many bytes match, 0 for none; more reports that text ended before the form
// did, so that longer text might match.
type form func(text string) (n int, more bool)

func newSecretTable(secrets []string) *secretTable {
	t := &secretTable{secrets: secrets}
	for _, s := range secrets {
		for _, f := range base64Forms(s) {
			t.add(escaped(f), f[:1]+`%\`)
		}
		hex := hexForm(s)
		t.add(foldedHex(hex), hex[:1]+strings.ToUpper(hex[:1]))
		t.add(escaped(s), s[:1]+`%\`)
		t.add(literal(s), s[:1]) // where s itself looks escaped
	}
	return t
}

func (t *secretTable) add(f form, starts string) {
	for _, b := range slices.Compact([]byte(starts)) {
		t.first[b] = append(t.first[b], f)
	}
}

// replace redacts s. With partial it stops at the first place from which on
// more text could make a secret, and returns what is left to be looked at.
func (t *secretTable) replace(s string, partial bool) (out, rest string) {
	var b strings.Builder
	done := 0 // s[:done] is in b
	for i := 0; i < len(s); {
		forms := t.first[s[i]]
		if len(forms) == 0 {
			i++
			continue
		}
		best, open := 0, false
		for _, f := range forms {
			n, more := f(s[i:])
			best, open = max(best, n), open || more
		}
		switch {
		case partial && open:
			b.WriteString(s[done:i])
			return b.String(), s[i:]
		case best > 0:
			b.WriteString(s[done:i])
			b.WriteString(Redacted)
			i += best
			done = i
		default:
			i++
		}
	}
	if done == 0 {
		return s, ""
	}
	b.WriteString(s[done:])
	return b.String(), ""
}
