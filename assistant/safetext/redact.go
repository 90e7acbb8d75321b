package safetext

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
)

// Redacted replaces a secret.
const Redacted = "[key]"

// MinSecret is the minimum length of a secret in characters. Shorter secrets are ignored, because replacing a short
// word everywhere would destroy text without protecting anything.
const MinSecret = 8

// Redactor replaces secrets with [key]: the secret itself, its base64 form (standard or URL alphabet, padded or not,
// also within longer text), its hexadecimal form, and any mixture of plain, percent-encoded and JSON-escaped
// characters. It is safe for concurrent use. Nil and the zero value redact nothing.
type Redactor struct {
	table atomic.Pointer[secretTable]
}

// NewRedactor returns a Redactor for secrets. Secrets shorter than MinSecret characters are ignored; surrounding
// white space is not part of a secret.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	r.Add(secrets...)
	return r
}

// Add adds more secrets.
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

// Redact returns s with every form of every secret replaced with [key].
func (r *Redactor) Redact(s string) string {
	if r == nil {
		return s
	}
	for t := r.table.Load(); t != nil; {
		out := t.replace(s)
		if len(out) == len(s) {
			return s
		}
		s = out // always shorter, because every form is longer than [key]
	}
	return s
}

// secretTable contains the forms of a set of secrets. It is immutable.
type secretTable struct {
	secrets []string
	byFirst [256][]matcher // matchers by the first byte of the match
}

// matcher matches one form of a secret at the start of text. It returns the length of the match, or 0.
type matcher func(text string) int

func newSecretTable(secrets []string) *secretTable {
	t := &secretTable{secrets: secrets}
	for _, s := range secrets {
		for _, f := range base64Forms(s) {
			t.add(escaped(f), f[:1]+`%\`)
		}
		digits := hex.EncodeToString([]byte(s))
		t.add(func(text string) int {
			if len(text) < len(digits) || !strings.EqualFold(text[:len(digits)], digits) {
				return 0
			}
			return len(digits)
		}, digits[:1]+strings.ToUpper(digits[:1]))
		t.add(escaped(s), s[:1]+`%\`)
		t.add(func(text string) int { // for a secret that itself contains escapes
			if !strings.HasPrefix(text, s) {
				return 0
			}
			return len(s)
		}, s[:1])
	}
	return t
}

func (t *secretTable) add(f matcher, starts string) {
	for _, b := range slices.Compact([]byte(starts)) {
		t.byFirst[b] = append(t.byFirst[b], f)
	}
}

// replace replaces the longest form at each position.
func (t *secretTable) replace(s string) string {
	var b strings.Builder
	done := 0 // s[:done] has been written to b
	for i := 0; i < len(s); {
		longest := 0
		for _, f := range t.byFirst[s[i]] {
			longest = max(longest, f(s[i:]))
		}
		if longest == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(Redacted)
		i += longest
		done = i
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// base64Forms returns how secret appears in base64 text, in both alphabets: as a whole, with and without padding,
// and, for each of the three possible offsets within a group of three bytes, the characters that the secret alone
// determines.
func base64Forms(secret string) []string {
	var forms []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := enc.EncodeToString([]byte(secret))
		forms = append(forms, whole, strings.TrimRight(whole, "="))
		for shift := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
			first := (8*shift + 5) / 6            // each character encodes 6 bits
			last := 8 * (shift + len(secret)) / 6 // the next character also encodes following bytes
			forms = append(forms, text[first:last])
		}
	}
	return forms
}

// escaped matches secret with each character plain, percent-encoded or JSON-escaped, in any mixture, because encoders
// differ in what they escape.
func escaped(secret string) matcher {
	return func(text string) int {
		at := 0
		for rest := secret; rest != ""; {
			if at == len(text) {
				return 0
			}
			plain, n := unescape(text[at:])
			r, size := utf8.DecodeRuneInString(rest)
			switch {
			case n > 0 && plain == string(r): // r is U+FFFD for a byte that is not UTF-8
				at, rest = at+n, rest[size:]
			case n > 0 && plain == rest[:1]:
				at, rest = at+n, rest[1:]
			case text[at] == rest[0]:
				at, rest = at+1, rest[1:]
			default:
				return 0
			}
		}
		return at
	}
}

// unescape decodes the escape at the start of text; n is its length, or 0 if there is none. A + represents a space,
// as in queries.
func unescape(text string) (plain string, n int) {
	switch {
	case text[0] == '+':
		return " ", 1
	case text[0] == '%' && len(text) >= 3:
		if b, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
			return string([]byte{byte(b)}), 3
		}
	case text[0] != '\\' || len(text) < 2:
	case text[1] == 'u' && len(text) >= 6:
		r := codeUnit(text[2:6])
		if utf16.IsSurrogate(r) && len(text) >= 12 && text[6:8] == `\u` {
			return string(utf16.DecodeRune(r, codeUnit(text[8:12]))), 12
		}
		return string(r), 6
	default:
		if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
			return "\"\\/\b\f\n\r\t"[i : i+1], 2
		}
	}
	return "", 0
}

// codeUnit decodes four hexadecimal digits, or returns U+FFFD.
func codeUnit(digits string) rune {
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// maxPending limits the incomplete line that a Writer buffers, in bytes.
const maxPending = 64 << 10

// Writer redacts text line by line, so that it also finds a secret that is split over several writes. It buffers an
// incomplete line until its end or Flush; of a line longer than 64 KiB it buffers only the last 32 KiB. It is safe
// for concurrent use.
type Writer struct {
	mu       sync.Mutex
	dst      io.Writer
	redactor *Redactor
	pending  string
}

// NewWriter returns a Writer to w. It does not close w.
func (r *Redactor) NewWriter(w io.Writer) *Writer { return &Writer{dst: w, redactor: r} }

// Write redacts and writes the lines that p completes. It returns the error of the underlying writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending += string(p)
	end := strings.LastIndexByte(w.pending, '\n') + 1
	if len(w.pending)-end > maxPending { // a secret may start in the second half
		w.pending = w.redactor.Redact(w.pending)
		end = max(len(w.pending)-maxPending/2, 0)
	}
	if err := w.writeRedacted(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes an incomplete line; call it at the end of the output.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeRedacted(len(w.pending))
}

// writeRedacted redacts and writes the first n bytes of pending.
func (w *Writer) writeRedacted(n int) error {
	text := w.redactor.Redact(w.pending[:n])
	w.pending = w.pending[n:]
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w.dst, text)
	return err
}

// ReplaceAttr is for slog.HandlerOptions: it redacts keys, strings, errors and any other value whose text form
// contains a secret.
func (r *Redactor) ReplaceAttr(_ []string, a slog.Attr) slog.Attr {
	a.Key = r.Redact(a.Key)
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(r.Redact(a.Value.String()))
	case slog.KindAny:
		a.Value = r.redactAny(a.Value)
	default:
	}
	return a
}

// redactAny returns v unless a text form that a handler may print contains a secret; in that case it returns the
// redacted text.
func (r *Redactor) redactAny(v slog.Value) slog.Value {
	if raw, ok := v.Any().([]byte); ok {
		return slog.StringValue(r.Redact(string(raw)))
	}
	asJSON, _ := json.Marshal(v.Any()) // a value that cannot be encoded is not printed as JSON
	for _, text := range []string{fmt.Sprintf("%+v", v.Any()), string(asJSON)} {
		if clean := r.Redact(text); clean != text {
			return slog.StringValue(clean)
		}
	}
	return v
}
