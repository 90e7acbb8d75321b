package filter

import (
	"fmt"
	"strings"

	"winnow/assistant/safetext"
)

// Describe returns a phrase that says which pairs an expression selects, such as "messages in this session, with
// “hide”"; nil selects all. The phrase is safe to show.
func Describe(x Expr) string {
	if x == nil {
		return "all messages"
	}
	return string(safetext.Visible("messages " + words(x)))
}

// words returns an expression as a phrase after "messages".
func words(x Expr) string {
	switch x := x.(type) {
	case And:
		return allOf(x.Terms)
	case Or:
		all := make([]string, len(x.Terms))
		for i, t := range x.Terms {
			all[i] = words(t)
		}
		return strings.Join(all, " or ")
	case Not:
		return negated(x.X)
	case Topic:
		name := strings.TrimSuffix(shown(x.text()), deepMark)
		if x.Deep {
			return "in topic " + name + " and below"
		}
		return "in topic " + name
	case TopicSelected:
		return "in the selected topic"
	case TopicLast:
		return fmt.Sprintf("among the last %d in the selected topic", x.N)
	case Stars:
		return starsInWords(x)
	case Recent:
		return fmt.Sprintf("among the last %d", x.N)
	case Flag, Failed, Attachments, SessionCurrent, Boundary:
		return mark(x)
	case Model:
		return named("from model ", "from the selected model", x.Name)
	case Author:
		return named("by ", "by you", x.Name)
	case Age:
		return ageInWords(x)
	case Day:
		return map[Op]string{Equal: "on ", Less: "before ", LessEqual: "until ", Greater: "after ", GreaterEqual: "since "}[x.Op] +
			fmt.Sprintf("%04d-%02d-%02d", x.Year, x.Month, x.Day)
	case Content:
		if len(x.Parts) == 0 {
			return "with any text"
		}
		return "with “" + shown(Pattern(x)) + "”"
	case Regexp:
		return "matching /" + x.Source + "/"
	case Word:
		return "with the word " + x.Text
	case Session:
		return "in session " + x.Prefix
	case Saved:
		return "matching the saved filter @" + x.Name
	}
	return ""
}

// mark returns the phrase for a term that is one letter, or one letter and a number.
func mark(x Expr) string {
	switch x := x.(type) {
	case Flag:
		if x.Flagged {
			return "flagged"
		}
		return "not flagged"
	case Failed:
		return "that ended in an error"
	case Attachments:
		return "with attachments"
	case Boundary:
		if x.Extra > 0 {
			return fmt.Sprintf("that are sent, plus %d before them", x.Extra)
		}
		return "that are sent"
	default:
		return "in this session"
	}
}

// negated returns the phrase for an expression that must not hold.
func negated(x Expr) string {
	switch x := x.(type) {
	case Failed:
		return "that did not end in an error"
	case Boundary:
		if x.Extra > 0 {
			return fmt.Sprintf("other than those sent and %d before them", x.Extra)
		}
		return "that are not sent"
	default:
		return "not " + grouped(x)
	}
}

// allOf joins the phrases of terms that must all hold; words are listed together.
func allOf(terms []Expr) string {
	var all, listed []string
	for _, t := range terms {
		if w, ok := t.(Word); ok {
			listed = append(listed, w.Text)
			continue
		}
		all = append(all, grouped(t))
	}
	switch len(listed) {
	case 0:
	case 1:
		all = append(all, "with the word "+listed[0])
	default:
		all = append(all, "with the words "+strings.Join(listed, ", "))
	}
	return strings.Join(all, ", ")
}

// grouped returns the phrase for a part of a larger expression.
func grouped(x Expr) string {
	switch x.(type) {
	case And, Or:
		return "(" + words(x) + ")"
	default:
		return words(x)
	}
}

// shown returns a pattern as text with its stars.
func shown(p Pattern) string { return strings.Join(p.Parts, "*") }

// named returns the phrase for a term with a name, or for the same term without one.
func named(with, without string, p Pattern) string {
	if p.Parts == nil {
		return without
	}
	return with + shown(p)
}

func starsInWords(x Stars) string {
	count := map[Op]string{Less: "fewer than ", LessEqual: "at most ", Greater: "more than ", GreaterEqual: "at least "}[x.Op]
	switch {
	case x.N == 0 && count == "":
		return "without stars"
	case x.N == 1:
		return "with " + count + "1 star"
	}
	return fmt.Sprintf("with %s%d stars", count, x.N)
}

func ageInWords(x Age) string {
	unit := map[Unit]string{Minutes: "minute", Hours: "hour", Days: "day", Weeks: "week", Months: "month", Years: "year"}[x.Unit]
	if x.N != 1 {
		unit += "s"
	}
	switch x.Op {
	case Greater:
		return fmt.Sprintf("older than %d %s", x.N, unit)
	case GreaterEqual:
		return fmt.Sprintf("at least %d %s old", x.N, unit)
	case LessEqual:
		return fmt.Sprintf("at most %d %s old", x.N, unit)
	case Equal, Less:
	}
	return fmt.Sprintf("newer than %d %s", x.N, unit)
}
