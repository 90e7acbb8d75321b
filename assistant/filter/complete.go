package filter

import (
	"slices"
	"strings"
)

// Kind is the subject of a completion or hint.
type Kind string

// The kinds.
const (
	KindTerm    Kind = "term"
	KindTopic   Kind = "topic"
	KindModel   Kind = "model"
	KindSession Kind = "session"
	KindAuthor  Kind = "author"
	KindSaved   Kind = "saved filter"
	KindCommand Kind = "command"
	KindFlag    Kind = "flag"
	KindFormat  Kind = "format"
	KindStars   Kind = "stars"
)

// Sources contains the names that Complete can offer.
type Sources struct {
	Topics   []string // topic paths such as "AI > Agents"
	Models   []string // provider/name
	Sessions []string // ids
	Authors  []string // authors of pairs
	Saved    []string // names
}

// Completion is one possible completion: Text replaces the characters of the line from From up to, but not including,
// To.
type Completion struct {
	From, To int // in characters, from 0
	Text     string
	Label    string // text to display in the list
	Help     string // a few words; may be empty
	Kind     Kind
}

// formatHelp describes each format of Export.
var formatHelp = map[string]string{
	"json": "complete, can be imported again", "md": "Markdown, to read and edit",
	"txt": "plain text", "html": "a page for a browser",
}

// Complete lists the possible completions at the cursor, best first. cursor counts characters from the start of the
// line.
func Complete(line string, cursor int, from Sources) []Completion {
	text := []rune(line)
	cursor = min(max(cursor, 0), len(text))
	at := locate(text[:cursor])
	at.text, at.cursor = text, cursor
	switch at.where {
	case inName:
		return at.names(from)
	case inSaved:
		return at.offer(at.start, cursor, from.Saved, KindSaved, func(s string) string { return "@" + s })
	case inCommand:
		return at.commands(from)
	case betweenTerms:
		list := []Completion{}
		for _, l := range termStarts() {
			list = append(list, Completion{cursor, cursor, l.text, l.text, l.help, KindTerm})
		}
		return list
	default:
		return nil
	}
}

// place is where a cursor can be.
type place uint8

const (
	betweenTerms place = iota
	inName             // after t, m, x or u, possibly within quotes
	inSaved            // after @
	inCommand          // after the colon
	inText             // within quoted text, a regular expression or a number
)

// cursorContext is the place of the cursor in a line, and the text typed there.
type cursorContext struct {
	where  place
	letter rune   // inName: t, m, x or u
	start  int    // start of the part to replace
	typed  string // inName and inSaved: the name so far

	text   []rune
	cursor int
}

// locate determines the place at the end of text. It reads text as the scanner does, but ignores errors.
func locate(text []rune) cursorContext {
	s := scanner{text: text}
	for {
		s.space()
		start, letter := s.pos, s.peek()
		switch {
		case letter == eol:
			return cursorContext{where: betweenTerms, start: start}
		case letter == ':':
			return cursorContext{where: inCommand, start: start + 1}
		case letter == '@':
			s.pos++
			if name := s.name(); s.peek() == eol {
				return cursorContext{where: inSaved, start: start, typed: name}
			}
			continue
		}
		if s.word() != "" {
			if s.peek() == eol {
				return cursorContext{where: inText}
			}
			continue
		}
		s.pos++
		if !slices.Contains([]rune("tmxcu"), letter) {
			if unfinished(&s, letter) {
				return cursorContext{where: inText}
			}
			continue
		}
		s.space()
		if s.peek() == eol {
			if letter == 'c' {
				return cursorContext{where: inText}
			}
			return cursorContext{where: inName, letter: letter, start: start}
		}
		if at, open := argument(&s, letter, start); open {
			return at
		}
	}
}

// unfinished skips a number, and reports whether the line ends right after a letter or a number that the user could
// continue.
func unfinished(s *scanner, first rune) bool {
	if isDigit(first) {
		for isDigit(s.peek()) || s.peek() == '-' {
			s.pos++
		}
	}
	return isWordRune(first) && s.peek() == eol
}

// argument skips a string or regular expression; open reports whether it is unterminated.
func argument(s *scanner, letter rune, start int) (at cursorContext, open bool) {
	from := s.pos
	switch r := s.peek(); {
	case isQuote(r):
		s.plainString()
	case r == '/' && letter == 'c':
		s.regexp()
	default:
		return cursorContext{}, false
	}
	if s.err == nil {
		return cursorContext{}, false
	}
	if letter == 'c' {
		return cursorContext{where: inText}, true
	}
	return cursorContext{where: inName, letter: letter, start: start, typed: string(s.text[from+1:])}, true
}

// names completes a topic, model, session or author and closes its quote.
func (at cursorContext) names(from Sources) []Completion {
	to := at.cursor
	if to < len(at.text) && isQuote(at.text[to]) {
		to++
	}
	names, kind := from.Topics, KindTopic
	switch at.letter {
	case 'm':
		names, kind = from.Models, KindModel
	case 'x':
		names, kind = from.Sessions, KindSession
	case 'u':
		names, kind = from.Authors, KindAuthor
	}
	return at.offer(at.start, to, names, kind, func(s string) string {
		if at.letter != 'x' {
			return string(at.letter) + quotedPattern(Pattern{[]string{s}})
		}
		return "x" + quotedText(s)
	})
}

// commands completes the name of a command, its flags and its arguments.
func (at cursorContext) commands(from Sources) []Completion {
	typed := string(at.text[at.start:at.cursor])
	name, rest, args := strings.Cut(strings.TrimLeft(typed, " "), " ")
	if !args {
		at.start, at.typed = at.cursor-len([]rune(name)), name
		list := at.offer(at.start, at.cursor, verbNames(), KindCommand, func(s string) string { return s })
		for i := range list {
			list[i].Help = verbs[slices.Index(verbNames(), list[i].Text)].help
		}
		return list
	}
	i := slices.Index(verbNames(), name)
	if i < 0 {
		return nil
	}
	at.typed = rest[strings.LastIndex(rest, " ")+1:]
	wordStart := at.cursor - len([]rune(at.typed))
	plain := func(s string) string { return s }
	if strings.HasPrefix(at.typed, "-") {
		return at.offer(wordStart, at.cursor, verbs[i].flags, KindFlag, plain)
	}
	switch verbs[i].name {
	case Export, Star:
		if slices.ContainsFunc(strings.Fields(strings.TrimSuffix(rest, at.typed)), func(w string) bool { return !strings.HasPrefix(w, "-") }) {
			return nil // the first argument is already complete
		}
	default:
	}
	switch verbs[i].name {
	case Export:
		list := at.offer(wordStart, at.cursor, formats, KindFormat, plain)
		for i := range list {
			list[i].Help = formatHelp[list[i].Text]
		}
		return list
	case Star:
		return at.offer(wordStart, at.cursor, []string{"3", "2", "1", "0"}, KindStars, plain)
	case Forget:
		return at.offer(wordStart, at.cursor, from.Saved, KindSaved, plain)
	case SetTopic:
		at.typed = strings.TrimLeft(strings.TrimLeft(rest, " "), `'"`)
		return at.offer(at.cursor-len([]rune(strings.TrimLeft(rest, " "))), at.cursor, from.Topics, KindTopic, quotedText)
	default:
	}
	return nil
}

// offer returns the names that contain the typed text: first the names that start with it, then the names in which it
// first occurs after a space, a slash or a hyphen, then the others.
func (at cursorContext) offer(from, to int, names []string, kind Kind, insert func(string) string) []Completion {
	typed := strings.ToLower(at.typed)
	var groups [3][]Completion
	for _, name := range names {
		low := strings.ToLower(name)
		c := Completion{from, to, insert(name), name, "", kind}
		switch i := strings.Index(low, typed); {
		case i < 0:
		case i == 0:
			groups[0] = append(groups[0], c)
		case strings.ContainsAny(low[i-1:i], " /-"):
			groups[1] = append(groups[1], c)
		default:
			groups[2] = append(groups[2], c)
		}
	}
	return slices.Concat(groups[:]...)
}
