package dotenv

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapes maps the letter after a backslash in double quotes to the character that it represents.
var escapes = map[byte]string{
	'\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

var (
	singleEscape = regexp.MustCompile(`\\[\\']`)
	doubleEscape = regexp.MustCompile(`\\[\\'"abfnrtv]`)
)

// unescape resolves the escapes in a quoted value.
func unescape(s string, quote byte) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	pattern := singleEscape
	if quote == '"' {
		pattern = doubleEscape
	}
	return pattern.ReplaceAllStringFunc(s, func(e string) string { return escapes[e[1]] })
}

// spellings lists the ways to write value, best first: in the existing style, then in the other styles. The caller must
// check that a spelling reads back as value in its file.
func spellings(value string, style byte) []string {
	order := map[byte][]byte{0: {0, '\'', '"'}, '\'': {'\'', '"', 0}, '"': {'"', '\'', 0}}[style]
	var all []string
	for _, quote := range order {
		text := spell(value, quote)
		if !strings.ContainsAny(text, "\n\r") && (text != "" || value == "") {
			all = append(all, text) // a spelling must not add a line
		}
	}
	return all
}

// escaper escapes a value for each style.
var escaper = map[byte]*strings.Replacer{
	'\'': strings.NewReplacer(`\`, `\\`, `'`, `\'`),
	'"':  strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\a", `\a`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`),
}

// spell writes value in one style, or returns "" if that is impossible.
func spell(value string, quote byte) string {
	switch {
	case quote == 0 && !strings.HasPrefix(value, "#"): // python-dotenv accepts a leading #, but shells and people read it as a comment
		return value
	case quote != 0 && !strings.HasSuffix(value, `\`): // a quote after a backslash might not end the value
		return string(quote) + escaper[quote].Replace(value) + string(quote)
	}
	return ""
}

// unwritable returns the reason why value cannot be written, or "" if it can.
func unwritable(value string) string {
	switch {
	case strings.Contains(value, "\x00"):
		return "the value contains a NUL character, which no environment variable can contain"
	case !utf8.ValidString(value):
		return "the value is not valid UTF-8: the proxy could not read the file"
	case interpolates(value):
		return "the value contains ${…}, which would be replaced when the file is read"
	}
	return ""
}

// SplitList splits a value into items as the proxy does: at commas, dropping surrounding white space and empty items.
func SplitList(value string) []string {
	var items []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimFunc(item, isSpace); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// Unlistable names the part of an item that prevents the item from being in a list, or returns "".
func Unlistable(item string) string {
	switch {
	case strings.Contains(item, ","):
		return "a comma"
	case strings.ContainsAny(item, "\n\r"):
		return "a line break"
	case strings.Contains(item, "${"):
		return "${"
	case strings.Contains(item, "\x00"):
		return "a NUL character"
	case !utf8.ValidString(item):
		return "a byte that is not UTF-8"
	}
	return ""
}

// SetList returns the edit that sets key to a value that SplitList splits into exactly these items. If there are no
// items, the edit removes the key, as the proxy's own editor does. The error is a [*RefusedError].
func SetList(key string, items []string) (Edit, error) {
	for i, item := range items {
		reason := ""
		if part := Unlistable(item); part != "" {
			reason = "contains " + part
		} else if item == "" || strings.TrimFunc(item, isSpace) != item {
			reason = "is empty, or starts or ends with white space, which would be lost"
		}
		if reason != "" {
			return Edit{}, &RefusedError{Key: key, Reason: fmt.Sprintf("item %d of the list %s", i+1, reason)}
		}
	}
	if len(items) == 0 {
		return Unset(key), nil
	}
	return Set(key, strings.Join(items, ",")), nil
}
