package filter

import (
	"fmt"
	"strings"
)

// Print returns the line that Parse reads as q.
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

// PrintExpr returns the line that Parse reads as x; empty for nil.
func PrintExpr(x Expr) string {
	var b strings.Builder
	printExpr(&b, x)
	return b.String()
}

func printExpr(b *strings.Builder, x Expr) {
	switch x := x.(type) {
	case And:
		for i, t := range x.Terms {
			if i > 0 {
				b.WriteString(" & ")
			}
			_, either := t.(Or)
			parenthesise(b, t, either)
		}
	case Or:
		for i, t := range x.Terms {
			if i > 0 {
				b.WriteString(" | ")
			}
			printExpr(b, t)
		}
	case Not:
		b.WriteByte('!')
		_, and := x.X.(And)
		_, or := x.X.(Or)
		parenthesise(b, x.X, and || or)
	case nil:
	default:
		b.WriteString(printTerm(x))
	}
}

func parenthesise(b *strings.Builder, x Expr, needed bool) {
	if !needed {
		printExpr(b, x)
		return
	}
	b.WriteByte('(')
	printExpr(b, x)
	b.WriteByte(')')
}

func printTerm(x Expr) string {
	switch x := x.(type) {
	case Topic:
		return "t" + quotedPattern(x.text())
	case TopicSelected:
		return "t"
	case TopicLast:
		return fmt.Sprintf("t%d", x.N)
	case Stars:
		return fmt.Sprintf("s%s%d", x.Op, x.N)
	case Recent:
		return fmt.Sprintf("r%d", x.N)
	case Flag:
		if x.Blue {
			return "b"
		}
		return "g"
	case Model:
		return "m" + quotedPattern(x.Name)
	case ModelSelected:
		return "m"
	case Age:
		return fmt.Sprintf("d%s%d%s", x.Op, x.N, x.Unit)
	case Day:
		return fmt.Sprintf("d%s%04d-%02d-%02d", x.Op, x.Year, x.Month, x.Day)
	case Content:
		if len(x.Parts) == 0 {
			return "c'*'"
		}
		return "c" + quotedPattern(Pattern(x))
	case Regexp:
		return "c/" + slashed(x.Source) + "/"
	case Failed:
		return "e"
	case Attachments:
		return "i"
	case Session:
		return "x" + quotedText(x.Prefix)
	case SessionCurrent:
		return "x"
	case Boundary:
		if x.Extra > 0 {
			return fmt.Sprintf("o%d", x.Extra)
		}
		return "o"
	case Saved:
		return "@" + x.Name
	default:
	}
	panic(fmt.Sprintf("filter: no such term: %T", x))
}

// text returns the topic as one pattern.
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

// slashed escapes the slashes of a regular expression.
func slashed(source string) string { return strings.ReplaceAll(source, "/", `\/`) }

// String returns the command as it stands in a line, colon included.
func (c *Command) String() string {
	words := []string{":" + string(c.Verb)}
	switch c.Verb {
	case Export:
		words = append(words, c.Format)
		if c.Path != "" {
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
	for _, name := range []string{flagBase, flagForce, flagDryRun, flagNoConfirm} {
		if *c.flag(name) {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}
