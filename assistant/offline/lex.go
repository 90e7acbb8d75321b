package offline

import (
	"strings"
	"unicode"
)

// lexeme is the sort of a token.
type lexeme int

const (
	word   lexeme = iota // a word, an id or a pattern
	quoted               // text between quotes, taken as it is
	comma                // , or a line break: joins a list or begins a request
	stop                 // ; . ! ?: ends a request
)

// token is one piece of the user's text.
type token struct {
	lexeme
	text  string // as typed, without quotes and outer punctuation
	lower string // text in lower case, apostrophes straightened
	semi  bool   // a stop that was a semicolon
}

const (
	// maxTokens bounds what is read of one message: a request is a sentence or
	// a list, and what follows it (a pasted log) is not.
	maxTokens = 4096
	// maxTokenRunes bounds one word, well above the longest known model id.
	maxTokenRunes = 512
)

// closers pairs each opening quote with its closing one.
var closers = map[rune]rune{'"': '"', '`': '`', '“': '”', '„': '“', '«': '»', '‘': '’', '\'': '\''}

// lexer turns text into tokens. It never fails: what it does not know is a word.
type lexer struct {
	in       []rune
	pos      int
	out      []token
	first    string // first word of the current sentence: decides what `?` is
	newlined bool   // nothing but space since the last line break
}

// lex splits text into tokens.
func lex(text string) []token {
	l := &lexer{in: []rune(strings.ToValidUTF8(text, ""))}
	for l.pos < len(l.in) && len(l.out) < maxTokens {
		l.next()
	}
	return l.out
}

func (l *lexer) next() {
	r := l.in[l.pos]
	switch {
	case r == '\n' || r == '\r':
		l.pos++
		l.newlined = true
		l.add(token{lexeme: comma, text: ","})
	case unicode.IsSpace(r) || !unicode.IsPrint(r):
		l.pos++
	case r == ',':
		l.pos++
		l.add(token{lexeme: comma, text: ","})
	case r == ';':
		l.pos++
		l.add(token{lexeme: stop, text: ";", semi: true})
	case closers[r] != 0 && l.quote(closers[r]):
	default:
		l.word()
	}
}

// quote takes a quoted string; it declines when the quote is never closed on
// its line, so that an apostrophe stays a part of its word.
func (l *lexer) quote(end rune) bool {
	for i := l.pos + 1; i < len(l.in) && i-l.pos <= maxTokenRunes; i++ {
		switch {
		case l.in[i] == '\n':
			return false
		case l.in[i] == end:
			s := strings.TrimSpace(printable(l.in[l.pos+1 : i]))
			l.pos = i + 1
			if s != "" {
				l.add(token{lexeme: quoted, text: s, lower: strings.ToLower(s)})
			}
			return true
		}
	}
	return false
}

// word takes a run up to space, comma or semicolon, and splits the sentence's
// punctuation off its end. Dots, colons and question marks inside stay: they
// belong to ids and patterns.
func (l *lexer) word() {
	start := l.pos
	for l.pos < len(l.in) {
		r := l.in[l.pos]
		if unicode.IsSpace(r) || r == ',' || r == ';' || r == '"' || r == '`' {
			break
		}
		l.pos++
	}
	if l.pos == start { // an unclosed quote
		l.pos++
		return
	}
	s, end := l.trim(printable(l.in[start:l.pos]))
	if bullet := strings.Trim(s, "-–—•>·#=") == "" || s == "*" && l.newlined; s != "" && !bullet {
		if rs := []rune(s); len(rs) > maxTokenRunes {
			s = string(rs[:maxTokenRunes])
		}
		lower := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
		if own := strings.TrimSuffix(lower, "'s"); own != lower && own != "" && !questionWords[own] { // "openai's models"
			s, lower = s[:strings.LastIndexAny(s, "'’")], own
		}
		if l.first == "" {
			l.first = lower
		}
		l.add(token{lexeme: word, text: s, lower: lower})
	}
	if end {
		l.add(token{lexeme: stop, text: "."})
	}
}

// trim strips brackets and punctuation from a word; ended reports that the
// punctuation ends the sentence.
func (l *lexer) trim(s string) (rest string, ended bool) {
	s = strings.TrimLeft(s, "({")
	for s != "" {
		last := s[len(s)-1]
		switch {
		case last == '.' || last == '!':
			ended = true
		case last == '?' && l.asking(s):
			ended = true
		case last == ':' || last == '}' || last == '\'' || last == ')':
		default:
			return s, ended
		}
		s = s[:len(s)-1]
	}
	return s, ended
}

// asking decides whether a final `?` asks or is a wildcard: it asks after a
// question word and after a plain word.
func (l *lexer) asking(s string) bool {
	body := strings.TrimRight(s, "?.!)")
	return questionWords[l.first] || !strings.ContainsAny(body, "0123456789*-[/")
}

func (l *lexer) add(t token) {
	if t.lexeme == stop {
		l.first = ""
	}
	if t.text != "," {
		l.newlined = false
	}
	l.out = append(l.out, t)
}

// printable drops what must never come back in an answer.
func printable(rs []rune) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || isSelector(r) {
			return -1
		}
		return r
	}, string(rs))
}
