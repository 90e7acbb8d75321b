package dotenv

import (
	"regexp"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// secretWord matches a word in a key that marks the value as a secret. Words are separated by underscores or other
// non-letters.
var secretWord = regexp.MustCompile(`(?i)(^|[^A-Z])(API_?KEYS?|KEYS?|ACCESS_?KEYS?|TOKENS?|SECRETS?|PASSW(OR)?DS?|PASS|PASSPHRASE|PWD|PRIVATE|CREDENTIALS?|CREDS?|AUTH|AUTHORIZATION|BEARER|COOKIES?|SESSION|SALT|SIGNATURE|DSN|WEBHOOK|JWT|PAT)([^A-Z]|$)`)

// secretValue matches a value that contains a secret, whatever its key: a password in a URL, or a token with a
// well-known prefix.
var secretValue = regexp.MustCompile(`://[^/\s]*:[^/\s]*@|(^|[^A-Za-z0-9])(sk|pk|rk|xai|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[abpr]|AIza|AKIA|eyJ)[-_A-Za-z0-9]{12,}|-----BEGIN`)

// LooksSecret reports whether the value of a key should be hidden because the key contains a word such as KEY, TOKEN,
// SECRET or PASSWORD. It returns false for rule keys.
func LooksSecret(key string) bool { return !isRuleKey(key) && secretWord.MatchString(key) }

// ContainsSecret reports whether a text contains a token with a well-known prefix, a private key, or an address with
// a password.
func ContainsSecret(text string) bool { return secretValue.MatchString(text) }

// mayContainSecret reports whether the statement of a rule key may contain a secret. It may if it spans several lines,
// as after an unbalanced quote, or if it has a comment or a value that looks like a secret.
func (b binding) mayContainSecret() bool {
	text := b.statement()
	return strings.ContainsAny(text, "\r\n") || secretValue.MatchString(text) ||
		secretWord.MatchString(text[max(b.keyEnd, b.valueEnd)-b.lineStart:])
}

// display returns the statement of a rule key, masked if it may contain a secret.
func (b binding) display() safetext.Text {
	if b.mayContainSecret() {
		return safetext.Visible(b.key) + "=••••"
	}
	return safetext.Visible(b.statement())
}

// Diff lists the lines of each rule key whose lines differ, with the lines before the change first. It never shows other
// lines, because they may contain secrets; [Changes] names the keys whose values differ.
func Diff(before, after *File) []assistant.FileLine {
	removed, added := before.ruleStatements(), after.ruleStatements()
	var all []assistant.FileLine
	for _, key := range keysOf(before, after) {
		if slices.EqualFunc(removed[key], added[key], func(a, b binding) bool { return a.statement() == b.statement() }) {
			continue
		}
		for _, b := range removed[key] {
			all = append(all, assistant.FileLine{Kind: "-", Line: b.line, Text: b.display()})
		}
		for _, b := range added[key] {
			all = append(all, assistant.FileLine{Kind: "+", Line: b.line, Text: b.display()})
		}
	}
	return all
}

func (f *File) ruleStatements() map[string][]binding {
	all := map[string][]binding{}
	for _, b := range f.bindings {
		if isRuleKey(b.key) {
			all[b.key] = append(all[b.key], b)
		}
	}
	return all
}

// keysOf lists the keys of two files without duplicates: first the keys of a, then the keys that only b has.
func keysOf(a, b *File) []string {
	return append(a.Keys(), slices.DeleteFunc(b.Keys(), func(key string) bool {
		_, known := a.last[key]
		return known
	})...)
}

// ChangeKind is the way in which the value of a key changed.
type ChangeKind string

// The kinds of changes.
const (
	KeyAdded   ChangeKind = "added"
	KeyChanged ChangeKind = "changed"
	KeyRemoved ChangeKind = "removed"
)

// Change names a key whose value differs between two files. It does not contain the values.
type Change struct {
	Key  string     `json:"key"`
	Kind ChangeKind `json:"kind"`
}

// String returns the kind and the key.
func (c Change) String() string { return string(c.Kind) + " " + printable(c.Key) }

// Changes lists the keys whose values differ between before and after, sorted. Values are compared before variables
// are resolved. A bare key counts as missing.
func Changes(before, after *File) []Change {
	var all []Change
	for _, key := range slices.Sorted(slices.Values(keysOf(before, after))) {
		oldValue, had := before.Raw(key)
		newValue, has := after.Raw(key)
		switch {
		case has && !had:
			all = append(all, Change{key, KeyAdded})
		case had && !has:
			all = append(all, Change{key, KeyRemoved})
		case oldValue != newValue:
			all = append(all, Change{key, KeyChanged})
		}
	}
	return all
}
