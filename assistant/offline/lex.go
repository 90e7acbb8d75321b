package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	word   tokenKind = iota // a word, an id or a pattern
	quoted                  // text between quotes, used as it is
	comma                   // , or a line break: joins a list or begins a request
	stop                    // ; . ! ?: ends a request
)

// token is one piece of the user's text.
type token struct {
	kind  tokenKind
	text  string // as typed, without quotes and outer punctuation
	lower string // text in lower case, apostrophes straightened
}

// is reports an unquoted word, one of words.
func (t token) is(words ...string) bool {
	return t.kind == word && slices.Contains(words, t.lower)
}

// in reports an unquoted word of a set.
func (t token) in(words map[string]bool) bool { return t.kind == word && words[t.lower] }

const (
	// maxTokens bounds what is read of one message. A longer one is a paste,
	// not a request, and is refused as a whole.
	maxTokens = 1024
	// maxWordRunes bounds one word, well above the longest known model id.
	maxWordRunes = 512
)

// pieces finds quoted texts, separators and words. A word runs up to space,
// comma, semicolon or quote; a quote that is not closed on its line is none.
var pieces = regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|„[^“\n]*“|«[^»\n]*»|‘[^’\n]*’|'[^'\n]*'|[,;\r\n]|[^\\s,;\"`]+")

// asking are the words after which a question mark at the end of a word with
// digits is no wildcard.
var asking = set("why what which who where is are can could would will do does how any isn't aren't what's")

// lex splits text into tokens. What it does not know is a word.
func lex(text string) []token {
	var out []token
	first, lineStart := "", true // the first word of the sentence; at the start of a line
	for _, s := range pieces.FindAllString(printable(text), maxTokens+1) {
		open, size := utf8.DecodeRuneInString(s)
		last, lastSize := utf8.DecodeLastRuneInString(s)
		switch {
		case strings.Contains(",\r\n", s):
			out = append(out, token{kind: comma, text: ","})
			lineStart = s != ","
			continue
		case s == ";":
			out, first = append(out, token{kind: stop, text: ";"}), ""
		case strings.ContainsRune("\"`“„«‘'", open) && strings.ContainsRune("\"`”“»’'", last) && len(s) > size:
			if s = strings.TrimSpace(s[size : len(s)-lastSize]); s != "" && utf8.RuneCountInString(s) <= maxWordRunes {
				out = append(out, token{quoted, s, strings.ToLower(s)})
			}
		default:
			s, ends := trim(s, asking[first])
			if bullet := lineStart && (strings.Trim(s, "-–—•>·#=") == "" || s == "*" && len(out) > 0); s != "" && !bullet {
				t := newWord(s)
				out, first = append(out, t), cmp.Or(first, t.lower)
			}
			if ends {
				out, first = append(out, token{kind: stop, text: "."}), ""
			}
		}
		lineStart = false
	}
	return out
}

func newWord(s string) token {
	if rs := []rune(s); len(rs) > maxWordRunes {
		s = string(rs[:maxWordRunes])
	}
	lower := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	if owner := strings.TrimSuffix(lower, "'s"); owner != lower && owner != "" && !asking[owner] { // "openai's models"
		s, lower = s[:strings.LastIndexAny(s, "'’")], owner
	}
	return token{word, s, lower}
}

// trim strips brackets and punctuation from a word and reports whether the
// punctuation ends the sentence. Inside a word it belongs to an id or a pattern.
func trim(s string, question bool) (rest string, ends bool) {
	s = strings.TrimLeft(s, "({")
	for rest = s; rest != ""; rest = rest[:len(rest)-1] {
		switch last := rest[len(rest)-1]; {
		case last == '.' || last == '!':
			ends = true
		case last == '?' && (question || !strings.ContainsAny(strings.TrimRight(rest, "?.!)"), "0123456789*-[/")):
			ends = true
		case !strings.ContainsRune(":}')", rune(last)):
			return rest, ends
		}
	}
	return rest, ends
}

// printable drops what must never come back in an answer.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r':
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar || isVariationSelector(r):
			return -1
		}
		return r
	}, s)
}
