package dotenv

import (
	"regexp"
	"strings"
)

// masked stands for a value that looks like a secret, whatever its length.
const masked = "••••"

// secretWord is a part of a key, between underscores or other signs, that
// says its value is a secret.
var secretWord = regexp.MustCompile(`(?i)(^|[^A-Z])(API_?KEYS?|KEYS?|ACCESS_?KEYS?|TOKENS?|SECRETS?|PASSW(OR)?DS?|PASS|PASSPHRASE|PWD|PRIVATE|CREDENTIALS?|CREDS?|AUTH|AUTHORIZATION|BEARER|COOKIES?|SESSION|SALT|SIGNATURE|DSN|WEBHOOK|JWT|PAT)([^A-Z]|$)`)

// secretValue is a value that is a secret under any key: a password in an
// address, or a token with a well-known beginning.
var secretValue = regexp.MustCompile(`://[^/\s]*:[^/\s]*@|(^|[^A-Za-z0-9])(sk|pk|rk|xai|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[abpr]|AIza|AKIA|eyJ)[-_A-Za-z0-9]{12,}|-----BEGIN`)

// assignment finds what may be `KEY=value` in text that is no binding: in a
// comment or in a line that cannot be read.
var assignment = regexp.MustCompile(`([^\s=#'"]+)['"]?[ \t]*[=:]`)

// LooksSecret tells whether the value of a key should not be shown: its name
// holds a word like KEY, TOKEN, SECRET or PASSWORD. Rule keys never do.
func LooksSecret(key string) bool {
	if strings.HasPrefix(key, ignorePrefix) || strings.HasPrefix(key, allowPrefix) {
		return false
	}
	return secretWord.MatchString(key)
}

// maskedText is the text of the file with the same line ends and every secret
// replaced.
func (f *File) maskedText() string {
	var out strings.Builder
	for _, b := range f.bindings {
		switch {
		case b.HasValue && (LooksSecret(b.Key) || secretValue.MatchString(b.Value)):
			out.WriteString(f.text[b.start:b.valueStart])
			out.WriteString(maskLines(f.text[b.valueStart:b.valueEnd], b.Quote))
			out.WriteString(maskLoose(f.text[b.valueEnd:b.end()]))
		case b.Key == "":
			out.WriteString(maskLoose(b.Original))
		default:
			end := max(b.keyEnd, b.valueEnd)
			out.WriteString(f.text[b.start:end])
			out.WriteString(maskLoose(f.text[end:b.end()]))
		}
	}
	return out.String()
}

// maskLines replaces each line of a value, and keeps its quotes.
func maskLines(value string, quote byte) string {
	if value == "" {
		return ""
	}
	q := ""
	if quote != 0 {
		q = string(quote)
	}
	var out strings.Builder
	out.WriteString(q)
	for {
		n := strings.IndexAny(value, "\r\n")
		out.WriteString(masked)
		if n < 0 {
			break
		}
		eol := newlineLen(value[n:])
		out.WriteString(value[n : n+eol])
		value = value[n+eol:]
	}
	out.WriteString(q)
	return out.String()
}

// maskLoose masks text that has no structure. Behind the first thing that looks
// like a secret, everything up to the end of the text goes: where such a value ends is
// not known.
func maskLoose(text string) string {
	from := len(text)
	for _, m := range assignment.FindAllStringSubmatchIndex(text, -1) {
		if secretWord.MatchString(text[m[2]:m[3]]) {
			from = m[1]
			break
		}
	}
	if m := secretValue.FindStringIndex(text); m != nil {
		from = min(from, m[0])
	}
	rest := strings.TrimRight(text[from:], "\r\n")
	if rest == "" {
		return text
	}
	return text[:from] + maskLines(rest, 0) + text[from+len(rest):]
}
