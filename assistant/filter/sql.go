package filter

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Env is what a line depends on besides the pairs. The zero value has nothing
// selected and no saved filters.
type Env struct {
	Now           time.Time      // zero means the clock
	Location      *time.Location // of calendar days; nil means local
	SelectedTopic string         // path
	SelectedModel string         // provider/name
	Session       string         // id of this session
	User          string         // who asks

	// Saved returns the line of a saved filter; nil knows none.
	Saved func(name string) (line string, ok bool)
}

// Source is what Where needs to know of the database besides Env. The condition
// is about a row p of the table pair:
//
//	seq, session, topic, model, star, flag, state, sec, nsec, attachments, cut
//
// where session is the number n of a row of the table session (n, id), and no
// column but cut is NULL.
type Source struct {
	Env
	Topics, Models map[int64]string // the path and the name of each number
	Failed         int              // the value of state that means an error
	// First returns the lowest seq for which oN with N extra pairs is true; o has
	// none. When First is nil, o and oN are always true.
	First   func(extra int) int64
	Dialect Dialect
}

// Dialect writes the conditions that engines do not share. They must be
// true or false for every pair, never NULL.
type Dialect interface {
	// Content is true when the parts, which are lower case and not empty, occur
	// in this order in the text of the user or in that of the assistant.
	Content(parts []string) (sql string, args []any)
	// Word is true when the text, which is lower case and not empty, occurs in the text
	// of the user, in that of the assistant or in the reasoning.
	Word(text string) (sql string, args []any)
	// Regexp is true when the RE2 expression matches one of the texts.
	Regexp(source string) (sql string, args []any)
	// Author is true when x matches the author of the pair.
	Author(x Author, user string) (sql string, args []any)
}

// Where returns the SQL condition that is true for the pairs that x selects, with ?
// for each argument. Saved filters must be expanded. A nil x is true for every pair.
func Where(x Expr, from Source) (sql string, args []any) {
	if from.Now.IsZero() {
		from.Now = time.Now()
	}
	if from.Location == nil {
		from.Location = time.Local
	}
	w := where{Source: from}
	if x == nil {
		return always, nil
	}
	return w.expr(x), w.args
}

// The conditions that do not look at the pair.
const (
	always = "1=1"
	never  = "1=0"
)

// where collects the arguments of one condition, in the order of their ?.
type where struct {
	Source
	args []any
}

func (w *where) expr(x Expr) string {
	switch x := x.(type) {
	case And:
		return w.combine(x.Terms, " AND ")
	case Or:
		return w.combine(x.Terms, " OR ")
	case Not:
		return "NOT (" + w.expr(x.X) + ")"
	case Topic:
		return in("p.topic", w.Topics, x.Matches)
	case TopicSelected:
		return in("p.topic", w.Topics, func(path string) bool { return foldPath(path) == foldPath(w.SelectedTopic) })
	case TopicLast:
		return w.newest(x.N, " AND "+w.below("q.topic")) + " AND " + w.below("p.topic")
	case Stars:
		return fmt.Sprintf("p.star %s %d", cmp.Or(x.Op.String(), "="), x.N)
	case Recent:
		return w.newest(x.N, "")
	case Flag:
		if x.Flagged {
			return "p.flag = 1"
		}
		return "p.flag = 0"
	case Model:
		return in("p.model", w.Models, func(name string) bool { return x.Matches(name, w.SelectedModel) })
	case Author:
		return w.bind(w.Dialect.Author(x, w.User))
	case Age:
		return w.age(x)
	case Day:
		return w.day(x)
	case Content:
		return w.content(x)
	case Word:
		return w.bind(w.Dialect.Word(strings.ToLower(x.Text)))
	case Regexp:
		return w.bind(w.Dialect.Regexp(x.Source))
	case Failed:
		return fmt.Sprintf("p.state = %d", w.Failed)
	case Attachments:
		return "p.attachments > 0"
	case Session:
		return w.bind("p.session IN (SELECT n FROM session WHERE substr(id, 1, ?) = ?)", []any{len([]rune(x.Prefix)), x.Prefix})
	case SessionCurrent:
		return w.bind("p.session IN (SELECT n FROM session WHERE id = ?)", []any{w.Session})
	case Boundary:
		if w.First == nil {
			return always
		}
		return fmt.Sprintf("p.seq >= %d", w.First(x.Extra))
	default: // Saved, which Expand replaces
		return never
	}
}

// bind appends the arguments of sql, and returns sql.
func (w *where) bind(sql string, args []any) string {
	w.args = append(w.args, args...)
	return sql
}

// combine joins terms, those that read texts last. They are put in parentheses
// as a balanced tree, because engines bound how deep a condition may nest.
func (w *where) combine(terms []Expr, op string) string {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b Expr) int { return cost(a) - cost(b) })
	return w.tree(terms, op)
}

func (w *where) tree(terms []Expr, op string) string {
	if len(terms) == 1 {
		return "(" + w.expr(terms[0]) + ")"
	}
	half := len(terms) / 2
	return "(" + w.tree(terms[:half], op) + op + w.tree(terms[half:], op) + ")"
}

func cost(x Expr) int {
	if NeedsText(x) {
		return 1
	}
	return 0
}

// in returns a condition: the column holds a number whose name passes.
func in(column string, names map[int64]string, passes func(string) bool) string {
	var numbers []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if passes(names[n]) {
			numbers = append(numbers, strconv.FormatInt(n, 10))
		}
	}
	if len(numbers) == 0 {
		return never
	}
	return column + " IN (" + strings.Join(numbers, ",") + ")"
}

// below returns a condition: the topic is the selected one or below it. With the root
// selected it is true for every pair.
func (w *where) below(column string) string {
	selected := foldPath(w.SelectedTopic)
	if selected == "" {
		return always
	}
	return in(column, w.Topics, func(path string) bool {
		path = foldPath(path)
		return path == selected || strings.HasPrefix(path, selected+pathSeparator)
	})
}

// foldPath is a path in the form in which two of the same topic are equal.
func foldPath(path string) string {
	return strings.Join(splitPath(strings.ToLower(path)), pathSeparator)
}

// newest returns a condition: the pair is not older than the nth newest of the
// pairs that are not cut and meet the condition also.
func (w *where) newest(n int, also string) string {
	if n == 0 {
		return never
	}
	return fmt.Sprintf("p.seq >= coalesce((SELECT q.seq FROM pair q WHERE q.cut IS NULL%s ORDER BY q.seq DESC LIMIT 1 OFFSET %d), 0)", also, n-1)
}

func (w *where) content(x Content) string {
	if len(x.Parts) == 0 {
		return always
	}
	return w.bind(w.Dialect.Content(Pattern(x).lower().Parts))
}

// age compares with one instant, so that no pair needs calendar arithmetic.
func (w *where) age(x Age) string {
	then := x.Instant(w.Now.In(w.Location))
	return w.time(x.Op.mirrored().String(), then) // newer is less old
}

// day compares with the borders of a local calendar day.
func (w *where) day(x Day) string {
	from, to := x.Span(w.Location)
	switch x.Op {
	case Less:
		return w.time("<", from)
	case LessEqual:
		return w.time("<", to)
	case Greater:
		return w.time(">=", to)
	case GreaterEqual:
		return w.time(">=", from)
	default:
		return w.time(">=", from) + " AND " + w.time("<", to)
	}
}

// time returns a condition that compares the creation of a pair with at.
func (w *where) time(op string, at time.Time) string {
	return fmt.Sprintf("(p.sec, p.nsec) %s (%d, %d)", op, at.Unix(), at.Nanosecond())
}

// Instant returns the time that is as old as x at now, in the calendar of now's
// location: Less means later than it.
func (x Age) Instant(now time.Time) time.Time {
	switch x.Unit {
	case Minutes:
		return now.Add(-time.Duration(x.N) * time.Minute)
	case Hours:
		return now.Add(-time.Duration(x.N) * time.Hour)
	case Weeks:
		return now.AddDate(0, 0, -7*x.N)
	case Months:
		return monthsBefore(now, x.N)
	case Years:
		return monthsBefore(now, 12*x.N)
	default:
		return now.AddDate(0, 0, -x.N)
	}
}

// monthsBefore is the same day n months before; the last day of a month stands
// in for days that a shorter one lacks.
func monthsBefore(now time.Time, n int) time.Time {
	then := now.AddDate(0, -n, 0)
	if then.Day() != now.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

// Span returns the first instant of the day and that of the next one.
func (x Day) Span(in *time.Location) (from, to time.Time) {
	return time.Date(x.Year, x.Month, x.Day, 0, 0, 0, 0, in), time.Date(x.Year, x.Month, x.Day+1, 0, 0, 0, 0, in)
}

// CompileRegexp compiles the expression of c/RE/ as the language means it:
// letters match in either case.
func CompileRegexp(source string) (*regexp.Regexp, error) { return regexp.Compile(ignoreCase + source) }

// ignoreCase makes an expression match letters of either case.
const ignoreCase = "(?i)"
