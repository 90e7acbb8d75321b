package dotenv

import (
	"strings"
	"unicode/utf8"
)

// escapes maps the letter behind a backslash in double quotes to what it means.
var escapes = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// unescape resolves the escapes of a quoted value. In single quotes only the
// backslash and the single quote can be escaped; any other backslash is itself.
func unescape(s string, quote byte) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			c, ok := escapes[s[i+1]]
			if ok && (quote == '"' || c == '\\' || c == '\'') {
				out.WriteByte(c)
				i++
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// spellings lists the ways to write value, best first: in the style that was
// there, then in the others. Each reads back as value when it stands alone on a
// line; whether it does in the file at hand is for the caller to see.
func spellings(value string, style byte) []string {
	order := map[byte][]byte{0: {0, '\'', '"'}, '\'': {'\'', '"', 0}, '"': {'"', '\'', 0}}[style]
	var all []string
	for _, quote := range order {
		for _, text := range spell(value, quote) {
			if readsAs(text, value) {
				all = append(all, text)
			}
		}
	}
	return all
}

// spell writes value in one style: as it is and, in quotes, with escapes. It
// does not promise that the result can be read.
func spell(value string, quote byte) []string {
	if quote == 0 {
		// python-dotenv would take a leading "#" as part of the value, a shell
		// and the reader's eye would not.
		if strings.HasPrefix(value, "#") {
			return nil
		}
		return []string{value}
	}
	q := string(quote)
	plain := q + strings.ReplaceAll(value, q, `\`+q) + q
	if strings.ContainsAny(value, "\n\r") {
		plain = "" // an edit never adds a line; double quotes can escape it
	}
	escaped := strings.NewReplacer(`\`, `\\`, q, `\`+q)
	if quote == '"' {
		escaped = strings.NewReplacer(`\`, `\\`, q, `\`+q, "\a", `\a`, "\b", `\b`, "\f", `\f`,
			"\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`)
	}
	return []string{plain, q + escaped.Replace(value) + q}
}

// readsAs tells whether text behind "=" on a line of its own, with other
// quotes and a comment around it, reads as value.
func readsAs(text, value string) bool {
	if text == "" && value != "" || strings.ContainsAny(text, "\n\r") {
		return false
	}
	const before, after = "A='\"'\nB=", " # c\nC='\"'\n"
	got := parse(before + text + after)
	if text == "" {
		got = parse(before + "\nC='\"'\n")
	}
	return len(got) == 3 && got[1].HasValue && got[1].Value == value && !got[1].Error &&
		got[2].Key == "C" && got[2].HasValue
}

// unwritable says why no file can hold value, "" if one can.
func unwritable(value string) string {
	switch {
	case strings.Contains(value, "\x00"):
		return "the value holds a NUL character, which no environment variable can"
	case !utf8.ValidString(value):
		return "the value is not valid UTF-8: the proxy could not read the file"
	case interpolates(value):
		return "the value holds ${…}, which would be replaced when the file is read"
	case len(spellings(value, 0)) == 0:
		return "no way of quoting it reads back as the same value (it ends with a backslash or needs quotes around one)"
	}
	return ""
}
