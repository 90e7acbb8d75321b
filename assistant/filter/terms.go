package filter

import (
	"errors"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
)

// wantTerm describes what can begin a term.
const wantTerm = "a word of three letters or more, or a term: t s r b g m u d c e i x o @NAME ! or ("

// term reads a word, a saved filter, or a letter with its argument.
func (p *parser) term() Expr {
	first := p.peek()
	if first == '@' {
		return p.saved()
	}
	if text := p.word(); text != "" {
		return Word{text}
	}
	all := termStarts()
	i := slices.IndexFunc(all, func(l termStart) bool { return l.text == string(first) && l.parse != nil })
	if i < 0 {
		p.fail(wantTerm)
		return nil
	}
	p.pos++
	p.space()
	x := all[i].parse(p)
	p.space()
	if p.err == nil && p.stray() {
		p.fail("nothing more after " + all[i].text + " (" + all[i].help + ")")
	}
	return x
}

// stray reports whether the previous term left an argument unread.
func (p *parser) stray() bool {
	r := p.peek()
	return isQuote(r) || isDigit(r) || strings.ContainsRune("<>=/", r)
}

// termStart is a character that can begin a term or a command: a letter, @, !, ( or a colon.
type termStart struct {
	text  string
	help  string             // meaning, with examples
	parse func(*parser) Expr // reads the rest of the term; nil if another function reads it
}

// termStarts lists what can begin a term or a command, in the order in which completion offers it.
func termStarts() []termStart {
	return []termStart{
		{"t", "topic: t'NAME', t, tN", (*parser).topic},
		{"s", "stars: s2, s>=1", (*parser).stars},
		{"r", "last N messages: r10", func(p *parser) Expr { return Recent{p.number("a number of messages, as in r10")} }},
		{"b", "flagged", func(*parser) Expr { return Flag{Flagged: true} }},
		{"g", "not flagged", func(*parser) Expr { return Flag{} }},
		{"m", "model: m'NAME', m", func(p *parser) Expr { return Model{p.named("a model, as in m'gpt-5*'")} }},
		{"u", "author: u'NAME', u for your own", func(p *parser) Expr { return Author{p.named("an author, as in u'anna'")} }},
		{"d", "age or day: d<7d, d2026-03-04", (*parser).date},
		{"c", "content: c'TEXT', c/RE/", (*parser).content},
		{"o", "included messages: o, oN, !o", (*parser).boundary},
		{"e", "ended in an error", func(*parser) Expr { return Failed{} }},
		{"i", "has attachments", func(*parser) Expr { return Attachments{} }},
		{"x", "session: x, x'ID'", (*parser).session},
		{"@", "saved filter: @NAME", nil},
		{"!", "not", nil},
		{"(", "group", nil},
		{":", "command", nil},
	}
}

func (p *parser) topic() Expr {
	switch r := p.peek(); {
	case isDigit(r):
		return TopicLast{p.number("")}
	case !isQuote(r):
		return TopicSelected{}
	}
	start, found := p.pos, p.found()
	t, ok := parseTopic(p.quotedParts())
	if !ok {
		p.failAt(start, found, "a topic, as in t'NAME' or t'AI > Agents...'")
	}
	return t
}

func (p *parser) stars() Expr {
	o, _ := p.op()
	p.space()
	start := p.pos
	n := p.number("a number of stars from 0 to 3, as in s2 or s>=1")
	if p.err == nil && n > MaxStars {
		p.failAt(start, strconv.Itoa(n), "a number of stars from 0 to 3")
	}
	return Stars{o, n}
}

// named reads a quoted name; the result has no Parts if there is none.
func (p *parser) named(want string) (name Pattern) {
	if start, found := p.pos, p.found(); isQuote(p.peek()) {
		name = newPattern(p.quotedParts())
		if text, plain := name.Plain(); plain && text == "" {
			p.failAt(start, found, want)
		}
	}
	return name
}

func (p *parser) session() Expr {
	if !isQuote(p.peek()) {
		return SessionCurrent{}
	}
	start, found := p.pos, p.found()
	id := p.plainString()
	if id == "" {
		p.failAt(start, found, "the id of a session, or its beginning")
	}
	return Session{id}
}

func (p *parser) boundary() Expr {
	if isDigit(p.peek()) {
		return Boundary{p.number("")}
	}
	return Boundary{}
}

func (p *parser) content() Expr {
	start, found := p.pos, p.found()
	switch r := p.peek(); {
	case r == '/':
		source := p.regexp()
		if p.err == nil && source == "" {
			p.failAt(start, "//", "a regular expression")
		}
		if _, err := CompileRegexp(source); err != nil && p.err == nil {
			p.failAt(start, "/"+source+"/", "a valid RE2 regular expression: "+regexpFault(err))
		}
		return Regexp{source}
	case isQuote(r):
		parts := p.quotedParts()
		if len(parts) == 1 && parts[0] == "" {
			p.failAt(start, found, "text to search for")
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		return Content{slices.Concat(parts)} // nil if nothing is left
	}
	p.fail("text in quotes or a regular expression in slashes, as in c'word' or c/wor[dk]/")
	return nil
}

// regexpFault describes what is wrong with an expression, without the prefix added by CompileRegexp.
func regexpFault(err error) string {
	var at *syntax.Error
	if !errors.As(err, &at) {
		return err.Error()
	}
	if part := strings.TrimPrefix(at.Expr, ignoreCase); part != "" {
		return at.Code.String() + ": " + part
	}
	return at.Code.String()
}

// wantDate describes the argument of d.
const wantDate = "an age or a day, as in d<7d, d>2w or d2026-03-04"

func (p *parser) date() Expr {
	at := p.pos
	o, given := p.op()
	p.space()
	if isQuote(p.peek()) {
		return p.quotedDay(o)
	}
	start := p.pos
	n := p.number(wantDate)
	if p.err != nil {
		return nil
	}
	if p.peek() == '-' {
		p.pos = start
		return p.day(o)
	}
	if given && o == Equal {
		p.failAt(at, "=", "< > <= or >= before an age; = is only for a day, as in d=2026-03-04")
		return nil
	}
	if !given {
		o = Less
	}
	return Age{o, n, p.unit()}
}

// quotedDay reads a calendar day in quotes.
func (p *parser) quotedDay(o Op) Expr {
	start, found := p.pos, p.found()
	inner := &parser{scanner: scanner{text: []rune(p.plainString())}}
	x := inner.day(o)
	if inner.err != nil || inner.peek() != eol {
		p.failAt(start, found, "a valid date, such as d'2026-03-04'")
	}
	return x
}

// unit reads a unit. It returns Days if there is none.
func (p *parser) unit() Unit {
	for _, u := range units {
		if strings.HasPrefix(string(p.text[p.pos:min(p.pos+len(Minutes), len(p.text))]), string(u)) {
			p.pos += len(u)
			return u
		}
	}
	return Days
}

// day reads a calendar day.
func (p *parser) day(o Op) Expr {
	start := p.pos
	const want = "a valid date, such as 2026-03-04"
	year := p.number(want)
	digits := p.pos - start
	var rest [2]int
	for i := range rest {
		if !p.accept('-') {
			p.fail("- and a day, as in 2026-03-04")
			return nil
		}
		rest[i] = p.number(want)
	}
	if digits == 2 {
		year += 2000
	}
	d := Day{o, year, time.Month(rest[0]), rest[1]}
	at := time.Date(d.Year, d.Month, d.Day, 12, 0, 0, 0, time.UTC)
	exists := at.Year() == d.Year && at.Month() == d.Month && at.Day() == d.Day
	if p.err == nil && (!exists || digits != 2 && digits != 4) {
		p.failAt(start, string(p.text[start:p.pos]), want)
	}
	return d
}

func (p *parser) saved() Expr {
	start := p.pos
	p.pos++
	name := p.name()
	if name == "" {
		p.fail("the name of a saved filter: letters, digits, _ and -")
	}
	if _, ok := p.columns[name]; !ok {
		p.columns[name] = start + 1
	}
	return Saved{name}
}
