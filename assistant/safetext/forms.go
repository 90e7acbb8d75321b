package safetext

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// literal is the form that is one string.
func literal(want string) form {
	return func(text string) (int, bool) {
		if strings.HasPrefix(text, want) {
			return len(want), false
		}
		return 0, strings.HasPrefix(want, text)
	}
}

// base64Forms returns what secret looks like inside base64 text, in both
// alphabets: whole, with and without padding, and for each of the three places
// in a group of three bytes at which it can begin, the characters that it alone
// decides.
func base64Forms(secret string) []string {
	var forms []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := enc.EncodeToString([]byte(secret))
		forms = append(forms, whole, strings.TrimRight(whole, "="))
		for shift := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
			first := (8*shift + 5) / 6            // a character carries 6 bits
			last := 8 * (shift + len(secret)) / 6 // the next one also carries what follows
			forms = append(forms, text[first:last])
		}
	}
	return forms
}

func hexForm(secret string) string { return hex.EncodeToString([]byte(secret)) }

// foldedHex is the form of lower-case hexadecimal digits in either case.
func foldedHex(want string) form {
	return func(text string) (int, bool) {
		for i := range len(want) {
			if i == len(text) {
				return 0, true
			}
			c := text[i]
			if c >= 'A' && c <= 'F' {
				c += 'a' - 'A'
			}
			if c != want[i] {
				return 0, false
			}
		}
		return len(want), false
	}
}

// escaped is the form in which each character is plain, percent-encoded or
// escaped as in JSON, in any mixture, as encoders differ in what they escape.
func escaped(secret string) form {
	return func(text string) (int, bool) {
		at := 0
		for i := 0; i < len(secret); {
			n, size, more := unit(text[at:], secret[i:])
			if n == 0 {
				return 0, more
			}
			at += n
			i += size
		}
		return at, false
	}
}

// unit matches the beginning of want at the beginning of text and returns the
// bytes taken from each. more reports that text ended too early to say.
func unit(text, want string) (n, size int, more bool) {
	if text == "" {
		return 0, 0, true
	}
	if text[0] == '%' {
		if n, more = percent(text, want[0]); n > 0 || more {
			return n, 1, more
		}
	}
	if text[0] == '\\' {
		if n, size, more = jsonEscape(text, want); n > 0 || more && want[0] != '\\' {
			return n, size, more
		}
	}
	if text[0] == want[0] || text[0] == '+' && want[0] == ' ' {
		return 1, 1, false
	}
	return 0, 0, more
}

// percent matches %XX for the byte want.
func percent(text string, want byte) (n int, more bool) {
	const digits = "0123456789abcdef"
	code := string([]byte{'%', digits[want>>4], digits[want&15]})
	for i := range len(code) {
		if i == len(text) {
			return 0, want != '%' // a plain % may stand for itself
		}
		if text[i] != code[i] && strings.ToLower(text[i:i+1]) != code[i:i+1] {
			return 0, false
		}
	}
	return len(code), false
}

// jsonShort maps the letter of a two-character escape to what it stands for.
var jsonShort = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// jsonEscape matches a backslash escape of the character that begins want.
func jsonEscape(text, want string) (n, size int, more bool) {
	if len(text) == 1 {
		return 0, 0, true
	}
	if text[1] != 'u' {
		if short, ok := jsonShort[text[1]]; ok && short == want[0] {
			return 2, 1, false
		}
		return 0, 0, false
	}
	char, size := utf8.DecodeRuneInString(want)
	units := utf16.AppendRune(nil, char)
	for _, u := range units {
		const digits = "0123456789abcdef"
		code := string([]byte{'\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15]})
		for i := range len(code) {
			switch {
			case n+i == len(text):
				return 0, 0, true
			case text[n+i] != code[i] && (i < 2 || strings.ToLower(text[n+i:n+i+1]) != code[i:i+1]):
				return 0, 0, false
			}
		}
		n += len(code)
	}
	return n, size, false
}
