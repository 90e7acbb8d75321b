package filter

import (
	"fmt"
	"strings"
)

// Print returns a line that Parse reads as q.
func Print(q *Query) string {
	line := PrintExpr(q.Expr)
	if q.Command == nil {
		return line
	}
	if line != "" {
		line += " "
	}
	return line + q.Command.String()
}

// PrintExpr returns a line that Parse reads as x, or "" for nil.
func PrintExpr(x Expr) string {
	if x == nil {
		return ""
	}
	return x.line()
}

func (x And) line() string {
	terms := make([]string, len(x.Terms))
	for i, t := range x.Terms {
		_, either := t.(Or)
		terms[i] = parenthesised(t, either)
	}
	return strings.Join(terms, " & ")
}

func (x Or) line() string {
	terms := make([]string, len(x.Terms))
	for i, t := range x.Terms {
		terms[i] = t.line()
	}
	return strings.Join(terms, " | ")
}

func (x Not) line() string {
	_, and := x.X.(And)
	_, or := x.X.(Or)
	return "!" + parenthesised(x.X, and || or)
}

func parenthesised(x Expr, needed bool) string {
	if needed {
		return "(" + x.line() + ")"
	}
	return x.line()
}

func (x Topic) line() string        { return "t" + quotedPattern(x.text()) }
func (TopicSelected) line() string  { return "t" }
func (x TopicLast) line() string    { return fmt.Sprintf("t%d", x.N) }
func (x Stars) line() string        { return fmt.Sprintf("s%s%d", x.Op, x.N) }
func (x Recent) line() string       { return fmt.Sprintf("r%d", x.N) }
func (x Model) line() string        { return "m" + quotedName(x.Name) }
func (x Author) line() string       { return "u" + quotedName(x.Name) }
func (x Age) line() string          { return fmt.Sprintf("d%s%d%s", x.Op, x.N, x.Unit) }
func (x Day) line() string          { return fmt.Sprintf("d%s%04d-%02d-%02d", x.Op, x.Year, x.Month, x.Day) }
func (x Regexp) line() string       { return "c/" + strings.ReplaceAll(x.Source, "/", `\/`) + "/" }
func (x Word) line() string         { return x.Text }
func (Failed) line() string         { return "e" }
func (Attachments) line() string    { return "i" }
func (x Session) line() string      { return "x" + quotedText(x.Prefix) }
func (SessionCurrent) line() string { return "x" }
func (x Saved) line() string        { return "@" + x.Name }

func (x Flag) line() string {
	if x.Flagged {
		return "b"
	}
	return "g"
}

// quotedName returns a name in quotes, or "" if it has no Parts.
func quotedName(p Pattern) string {
	if p.Parts == nil {
		return ""
	}
	return quotedPattern(p)
}

func (x Content) line() string {
	if len(x.Parts) == 0 {
		return "c'*'"
	}
	return "c" + quotedPattern(Pattern(x))
}

func (x Boundary) line() string {
	if x.Extra > 0 {
		return fmt.Sprintf("o%d", x.Extra)
	}
	return "o"
}

// text returns the topic as one pattern, with separators between its levels.
func (t Topic) text() Pattern {
	var parts []string
	for i, level := range t.Path {
		first := level.Parts[0]
		if i > 0 {
			first = parts[len(parts)-1] + pathSeparator + first
			parts = parts[:len(parts)-1]
		}
		parts = append(append(parts, first), level.Parts[1:]...)
	}
	if t.Deep {
		parts[len(parts)-1] += deepMark
	}
	return Pattern{parts}
}

var quoting = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func quotedText(s string) string { return "'" + quoting.Replace(s) + "'" }

func quotedPattern(p Pattern) string {
	parts := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		parts[i] = strings.ReplaceAll(quoting.Replace(part), "*", `\*`)
	}
	return "'" + strings.Join(parts, "*") + "'"
}

// String returns the command as written in a line, including its colon.
func (c *Command) String() string {
	words := []string{":" + string(c.Verb)}
	switch c.Verb {
	case Export:
		if words = append(words, c.Format); c.Path != "" {
			words = append(words, quotedText(c.Path))
		}
	case SetTopic:
		if c.Topic != "" {
			words = append(words, quotedText(c.Topic))
		}
	case Star:
		words = append(words, fmt.Sprint(c.Stars))
	case Save, Forget:
		words = append(words, c.Name)
	case FlagOn, FlagOff, Delete, Filters:
	}
	for _, f := range commandFlags {
		if *f.field(c) {
			words = append(words, f.name)
		}
	}
	return strings.Join(words, " ")
}
