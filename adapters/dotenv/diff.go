package dotenv

import (
	"regexp"
	"slices"
	"strings"
)

// masked replaces text that looks like a secret, whatever its length.
const masked = "••••"

// secretWord is a part of a key, between underscores or other signs, that
// marks its value as a secret.
var secretWord = regexp.MustCompile(`(?i)(^|[^A-Z])(API_?KEYS?|KEYS?|ACCESS_?KEYS?|TOKENS?|SECRETS?|PASSW(OR)?DS?|PASS|PASSPHRASE|PWD|PRIVATE|CREDENTIALS?|CREDS?|AUTH|AUTHORIZATION|BEARER|COOKIES?|SESSION|SALT|SIGNATURE|DSN|WEBHOOK|JWT|PAT)([^A-Z]|$)`)

// secretValue is a secret under any key: a password in an address, or a token
// with a well-known beginning.
var secretValue = regexp.MustCompile(`://[^/\s]*:[^/\s]*@|(^|[^A-Za-z0-9])(sk|pk|rk|xai|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[abpr]|AIza|AKIA|eyJ)[-_A-Za-z0-9]{12,}|-----BEGIN`)

// assignment finds what may be `KEY=value` in a comment or in a value over
// several lines.
var assignment = regexp.MustCompile(`([^\s=#'"]+)['"]?[ \t]*[=:]`)

// LooksSecret reports whether the value of a key should not be shown: its name
// contains a word like KEY, TOKEN, SECRET or PASSWORD. Rule keys never do.
func LooksSecret(key string) bool { return !isRuleKey(key) && secretWord.MatchString(key) }

// mask replaces everything from the first thing on that looks like a secret:
// where such a value ends is not known.
func mask(text string) string {
	from := len(text)
	for _, m := range assignment.FindAllStringSubmatchIndex(text, -1) {
		if LooksSecret(text[m[2]:m[3]]) {
			from = m[1]
			break
		}
	}
	if m := secretValue.FindStringIndex(text); m != nil {
		from = min(from, m[0])
	}
	if from == len(text) {
		return text
	}
	return strings.TrimRight(text[:from], "\r\n") + masked
}

// DiffKind is whether a line was removed or added.
type DiffKind byte

// The kinds of lines in a difference.
const (
	Removed DiffKind = '-'
	Added   DiffKind = '+'
)

// DiffLine is a rule line that only one of two files has.
type DiffLine struct {
	Kind DiffKind
	Line int    // its number, in the old file when Removed, in the new when Added
	Text string // safe to show: secrets masked, invisible characters spelled out
}

// String is the line as in a patch.
func (d DiffLine) String() string { return string(d.Kind) + d.Text }

// Diff lists the rule lines that differ, key by key, removed before added. Other
// lines are never shown, they may contain keys; [Changes] names what differs in them.
func Diff(before, after *File) []DiffLine {
	was, is := before.ruleStatements(), after.ruleStatements()
	var all []DiffLine
	for _, key := range keysOf(before, after) {
		if !isRuleKey(key) || slices.EqualFunc(was[key], is[key], sameStatement) {
			continue
		}
		for _, b := range was[key] {
			all = append(all, DiffLine{Removed, b.Line, printable(mask(b.statement()))})
		}
		for _, b := range is[key] {
			all = append(all, DiffLine{Added, b.Line, printable(mask(b.statement()))})
		}
	}
	return all
}

func (f *File) ruleStatements() map[string][]Binding {
	all := map[string][]Binding{}
	for _, b := range f.bindings {
		if isRuleKey(b.Key) {
			all[b.Key] = append(all[b.Key], b)
		}
	}
	return all
}

func sameStatement(a, b Binding) bool { return a.statement() == b.statement() }

// keysOf lists the keys of two files once: those of a, then those only in b.
func keysOf(a, b *File) []string {
	return append(a.Keys(), slices.DeleteFunc(b.Keys(), func(key string) bool {
		_, known := a.last[key]
		return known
	})...)
}

// ChangeKind is how the value of a key changed.
type ChangeKind string

// The kinds of changes.
const (
	KeyAdded   ChangeKind = "added"
	KeyChanged ChangeKind = "changed"
	KeyRemoved ChangeKind = "removed"
)

// Change is a key that two files read differently. It has no value.
type Change struct {
	Key  string     `json:"key"`
	Kind ChangeKind `json:"kind"`
}

// String is the kind and the key.
func (c Change) String() string { return string(c.Kind) + " " + printable(c.Key) }

// Changes lists the keys that before and after read differently, sorted.
// Values are compared before their variables are resolved. A bare key counts as none.
func Changes(before, after *File) []Change {
	var all []Change
	keys := keysOf(before, after)
	slices.Sort(keys)
	for _, key := range keys {
		was, had := before.Raw(key)
		is, has := after.Raw(key)
		switch {
		case has && !had:
			all = append(all, Change{key, KeyAdded})
		case had && !has:
			all = append(all, Change{key, KeyRemoved})
		case was != is:
			all = append(all, Change{key, KeyChanged})
		}
	}
	return all
}
