package filter

import (
	"slices"
	"strings"
	"time"
)

// test tells whether an expression is true for the pair with this index.
type test func(i int) bool

func never(int) bool { return false }

// compile returns the test of x, which must not be nil.
func (c *compiler) compile(x Expr) test {
	switch x := x.(type) {
	case And:
		return c.every(x.Terms)
	case Or:
		return c.some(x.Terms)
	case Not:
		inner := c.compile(x.X)
		return func(i int) bool { return !inner(i) }
	case Topic, TopicSelected, TopicLast:
		return c.topic(x)
	case Stars:
		return func(i int) bool { return x.Op.holds(c.pairs[i].Star - x.N) }
	case Recent:
		from := len(c.pairs) - x.N
		return func(i int) bool { return i >= from }
	case Flag:
		return func(i int) bool { return c.pairs[i].Flag == x.Blue }
	case Model:
		name := x.Name.lower()
		return c.memo(modelOf, func(model string) bool { return matchesModel(name, strings.ToLower(model)) })
	case ModelSelected:
		return c.memo(modelOf, func(model string) bool { return strings.EqualFold(model, c.env.SelectedModel) })
	case Age:
		return c.age(x)
	case Day:
		return c.day(x)
	case Content, Regexp:
		return c.text(x)
	case Failed:
		return func(i int) bool { return c.pairs[i].IsError }
	case Attachments:
		return func(i int) bool { return c.pairs[i].HasAttachments }
	case Session:
		return func(i int) bool { return strings.HasPrefix(c.pairs[i].Session, x.Prefix) }
	case SessionCurrent:
		return func(i int) bool { return c.pairs[i].Session == c.env.Session }
	case Boundary:
		return func(i int) bool { return c.rank[i] >= -x.Extra }
	default: // Saved, which Expand should have replaced
		return never
	}
}

// byCost compiles terms, those that read texts last.
func (c *compiler) byCost(terms []Expr) []test {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b Expr) int { return cost(a) - cost(b) })
	tests := make([]test, len(terms))
	for i, t := range terms {
		tests[i] = c.compile(t)
	}
	return tests
}

func cost(x Expr) int {
	if NeedsText(x) {
		return 1
	}
	return 0
}

func (c *compiler) every(terms []Expr) test {
	tests := c.byCost(terms)
	return func(i int) bool {
		for _, t := range tests {
			if !t(i) {
				return false
			}
		}
		return true
	}
}

func (c *compiler) some(terms []Expr) test {
	tests := c.byCost(terms)
	return func(i int) bool {
		for _, t := range tests {
			if t(i) {
				return true
			}
		}
		return false
	}
}

func modelOf(p *Pair) string { return p.Model }

func topicOf(p *Pair) string { return p.Topic }

// memo judges each different value of a field once: a history has few topics
// and models. Neighbours often share theirs.
func (c *compiler) memo(field func(*Pair) string, judge func(string) bool) test {
	known := map[string]bool{}
	last, answer, started := "", false, false
	return func(i int) bool {
		value := field(&c.pairs[i])
		if started && value == last {
			return answer
		}
		ok, seen := known[value]
		if !seen {
			ok = judge(value)
			known[value] = ok
		}
		last, answer, started = value, ok, true
		return ok
	}
}

func (c *compiler) topic(x Expr) test {
	selected := splitPath(strings.ToLower(c.env.SelectedTopic))
	switch x := x.(type) {
	case Topic:
		low := x.lower()
		return c.memo(topicOf, func(path string) bool { return low.matches(splitPath(strings.ToLower(path))) })
	case TopicLast:
		below := c.memo(topicOf, func(path string) bool {
			levels := splitPath(strings.ToLower(path))
			return len(levels) >= len(selected) && slices.Equal(levels[:len(selected)], selected) &&
				(len(selected) > 0 || len(levels) == 0)
		})
		from, left := len(c.pairs), x.N
		for left > 0 && from > 0 {
			from--
			if below(from) {
				left--
			}
		}
		return func(i int) bool { return i >= from && below(i) }
	default:
		return c.memo(topicOf, func(path string) bool {
			return slices.Equal(splitPath(strings.ToLower(path)), selected)
		})
	}
}

// age compares with one instant, so that no pair's calendar is computed.
func (c *compiler) age(x Age) test {
	then := x.Instant(c.env.Now.In(c.env.Location))
	return func(i int) bool { return x.Op.holds(then.Compare(c.pairs[i].CreatedAt)) } // newer is less old
}

// Instant returns the time that is as old as x at now, in the calendar of now's
// location: Less means later than it.
func (x Age) Instant(now time.Time) time.Time { return before(now, x.N, x.Unit) }

// Span returns the first instant of the day and that of the next one.
func (x Day) Span(in *time.Location) (from, to time.Time) {
	return time.Date(x.Year, x.Month, x.Day, 0, 0, 0, 0, in), time.Date(x.Year, x.Month, x.Day+1, 0, 0, 0, 0, in)
}

// before returns the time n units before now, by the calendar from days up. The
// last day of a month stands in for days that a shorter one lacks.
func before(now time.Time, n int, u Unit) time.Time {
	switch u {
	case Minutes:
		return now.Add(-time.Duration(n) * time.Minute)
	case Hours:
		return now.Add(-time.Duration(n) * time.Hour)
	case Weeks:
		return now.AddDate(0, 0, -7*n)
	case Months:
		return monthsBefore(now, n)
	case Years:
		return monthsBefore(now, 12*n)
	default:
		return now.AddDate(0, 0, -n)
	}
}

func monthsBefore(now time.Time, n int) time.Time {
	then := now.AddDate(0, -n, 0)
	if then.Day() != now.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

// day compares with the borders of a local calendar day.
func (c *compiler) day(x Day) test {
	from, to := x.Span(c.env.Location)
	return func(i int) bool {
		at := c.pairs[i].CreatedAt
		sign := 0
		if at.Before(from) {
			sign = -1
		} else if !at.Before(to) {
			sign = 1
		}
		return x.Op.holds(sign)
	}
}

func (c *compiler) text(x Expr) test {
	switch x := x.(type) {
	case Content:
		if len(x.Parts) == 0 {
			return func(int) bool { return true }
		}
		parts := Pattern(x).lower().Parts
		return func(i int) bool {
			c.load(i)
			return inOrder(c.lowUser, parts) || inOrder(c.lowAns, parts)
		}
	case Regexp:
		re, err := compileRegexp(x.Source)
		if err != nil {
			return never // Parse refuses it
		}
		return func(i int) bool {
			c.load(i)
			return re.MatchString(c.user) || re.MatchString(c.assistant)
		}
	default:
		return never
	}
}
