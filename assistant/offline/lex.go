package offline

import (
	"strings"
	"unicode"
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
	for _, w := range words {
		if t.kind == word && t.lower == w {
			return true
		}
	}
	return false
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

// closingQuote pairs each opening quote with its closing one.
var closingQuote = map[rune]rune{'"': '"', '`': '`', '“': '”', '„': '“', '«': '»', '‘': '’', '\'': '\''}

// asking are the words after which a question mark at the end of a word with
// digits is no wildcard.
var asking = set("why what which who where is are can could would will do does how any isn't aren't what's")

type lexer struct {
	in        []rune
	pos       int
	out       []token
	first     string // first word of the sentence
	lineStart bool   // nothing but space since the last line break
}

// lex splits text into tokens. What it does not know is a word.
func lex(text string) []token {
	l := &lexer{in: []rune(strings.ToValidUTF8(text, "")), lineStart: true}
	for l.pos < len(l.in) && len(l.out) <= maxTokens {
		r := l.in[l.pos]
		switch {
		case r == '\n' || r == '\r' || r == ',':
			l.pos++
			l.add(token{kind: comma, text: ","})
			l.lineStart = r != ','
		case unicode.IsSpace(r) || !unicode.IsPrint(r):
			l.pos++
		case r == ';':
			l.pos++
			l.add(token{kind: stop, text: ";"})
		case closingQuote[r] != 0 && l.quote(closingQuote[r]):
		default:
			l.word()
		}
	}
	return l.out
}

// quote reads a quoted string. It declines one that is not closed on its line:
// an apostrophe stays a part of its word.
func (l *lexer) quote(end rune) bool {
	for i := l.pos + 1; i < len(l.in) && i-l.pos <= maxWordRunes && l.in[i] != '\n'; i++ {
		if l.in[i] != end {
			continue
		}
		s := strings.TrimSpace(printable(l.in[l.pos+1 : i]))
		l.pos = i + 1
		if s != "" {
			l.add(token{quoted, s, strings.ToLower(s)})
		}
		return true
	}
	return false
}

// word reads a run up to space, comma, semicolon or quote. Punctuation inside it
// stays, since it belongs to ids and patterns; at its end it ends the sentence.
func (l *lexer) word() {
	start := l.pos
	for l.pos < len(l.in) && !unicode.IsSpace(l.in[l.pos]) && !strings.ContainsRune(",;\"`", l.in[l.pos]) {
		l.pos++
	}
	if l.pos == start { // an unclosed quote
		l.pos++
		return
	}
	s, ends := l.trim(printable(l.in[start:l.pos]))
	if bullet := s == "" || l.lineStart && (strings.Trim(s, "-–—•>·#=") == "" || s == "*" && len(l.out) > 0); !bullet {
		if rs := []rune(s); len(rs) > maxWordRunes {
			s = string(rs[:maxWordRunes])
		}
		lower := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
		if owner := strings.TrimSuffix(lower, "'s"); owner != lower && owner != "" && !asking[owner] { // "openai's models"
			s, lower = s[:strings.LastIndexAny(s, "'’")], owner
		}
		if l.first == "" {
			l.first = lower
		}
		l.add(token{word, s, lower})
	}
	if ends {
		l.add(token{kind: stop, text: "."})
	}
}

// trim strips brackets and punctuation from a word and reports whether the
// punctuation ends the sentence.
func (l *lexer) trim(s string) (rest string, ends bool) {
	s = strings.TrimLeft(s, "({")
	for s != "" {
		switch last := s[len(s)-1]; {
		case last == '.' || last == '!':
			ends = true
		case last == '?' && (asking[l.first] || !strings.ContainsAny(strings.TrimRight(s, "?.!)"), "0123456789*-[/")):
			ends = true
		case last == ':' || last == '}' || last == '\'' || last == ')':
		default:
			return s, ends
		}
		s = s[:len(s)-1]
	}
	return s, ends
}

func (l *lexer) add(t token) {
	if t.kind == stop {
		l.first = ""
	}
	l.lineStart = false
	l.out = append(l.out, t)
}

// printable drops what must never come back in an answer.
func printable(rs []rune) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || isVariationSelector(r) {
			return -1
		}
		return r
	}, string(rs))
}
