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

// Env contains everything that the meaning of a line depends on, apart from the pairs themselves. The zero value has no
// selection and no saved filters.
type Env struct {
	Now           time.Time      // zero means the current time
	Location      *time.Location // time zone of calendar days; nil means the local one
	SelectedTopic string         // path
	SelectedModel string         // provider/name
	Session       string         // id of the current session
	User          string         // name of the current user; "" in a history with a single user

	// Saved returns the line of a saved filter. If Saved is nil, there are no saved filters.
	Saved func(name string) (line string, ok bool)
}

// Source is the information about the database that Where needs in addition to Env. The condition is about a row p of
// the table pair:
//
//	seq, session, topic, model, star, flag, state, sec, nsec, attachments, cut
//
// where session is the number n of a row in the table session (n, id), and only cut may be NULL.
type Source struct {
	Env
	Topics, Models map[int64]string // topic paths and model names by number
	Failed         int              // the state of pairs that ended in an error
	// Ancestors maps the id of a session to the sessions it branches from.
	Ancestors map[string][]Ancestor
	// First returns the lowest seq that oN selects, where N is extra; for o, extra is 0. If First is nil, o and oN
	// select every pair.
	First   func(extra int) int64
	Dialect Dialect
}

// Ancestor is a session that another session branches from, up to a pair.
type Ancestor struct {
	Session string // id
	UpTo    int64  // seq of the last pair of this session that also belongs to the branch
}

// Dialect generates the conditions that differ between engines. They must be true or false for every pair, never
// NULL.
type Dialect interface {
	// Content is true if the parts, which are lower case and not empty, occur in this order in the user's or the
	// assistant's text.
	Content(parts []string) (sql string, args []any)
	// Word is true if the text, which is lower case and not empty, occurs in the user's text, the assistant's text
	// or the reasoning.
	Word(text string) (sql string, args []any)
	// Regexp is true if the RE2 expression, compiled with CompileRegexp, matches the user's or the assistant's text.
	Regexp(source string) (sql string, args []any)
	// Author is true if x matches the author of the pair.
	Author(x Author, user string) (sql string, args []any)
}

// Where returns the SQL condition for the pairs that x selects, with ? for each argument. Saved filters must have
// been expanded; otherwise they select no pairs. A nil x selects every pair.
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

// Conditions that do not depend on the pair.
const (
	always = "1=1"
	never  = "1=0"
)

// where collects the arguments of a condition in the order of their ?.
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
		own := w.bind("p.session IN (SELECT n FROM session WHERE substr(id, 1, ?) = ?)", []any{len([]rune(x.Prefix)), x.Prefix})
		return own + w.orAncestors(func(id string) bool { return strings.HasPrefix(id, x.Prefix) })
	case SessionCurrent:
		own := w.bind("p.session IN (SELECT n FROM session WHERE id = ?)", []any{w.Session})
		return own + w.orAncestors(func(id string) bool { return id == w.Session })
	case Boundary:
		if w.First == nil {
			return always
		}
		return fmt.Sprintf("p.seq >= %d", w.First(x.Extra))
	default: // Saved, which Expand has replaced
		return never
	}
}

// orAncestors returns SQL to append to a condition on sessions. The SQL starts with OR and accepts the pairs that the
// selected sessions inherit from the sessions they branch from; it is "" if they branch from none.
func (w *where) orAncestors(selected func(id string) bool) (sql string) {
	upTo := map[string]int64{}
	for id, ancestors := range w.Ancestors {
		for _, a := range ancestors {
			if selected(id) {
				upTo[a.Session] = max(upTo[a.Session], a.UpTo)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(upTo)) {
		sql += w.bind(fmt.Sprintf(" OR p.seq <= %d AND p.session IN (SELECT n FROM session WHERE id = ?)", upTo[id]), []any{id})
	}
	return sql
}

func (w *where) bind(sql string, args []any) string {
	w.args = append(w.args, args...)
	return sql
}

// combine joins the conditions of terms with op, with the terms that read texts last. It nests the conditions in a
// balanced tree of parentheses, because engines limit the depth of a condition.
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

// in returns the condition that the column contains the number of a name for which passes is true.
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

// below returns the condition that the topic is the selected topic or below it. If the root is selected, it is true for
// every pair.
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

// foldPath returns a normalized path; equal topics have equal normalized paths.
func foldPath(path string) string {
	return strings.Join(splitPath(strings.ToLower(path)), pathSeparator)
}

// newest returns the condition that the pair is at least as new as the nth newest uncut pair. cond, which is empty or
// starts with AND, restricts the counted pairs, whose alias is q.
func (w *where) newest(n int, cond string) string {
	if n == 0 {
		return never
	}
	return fmt.Sprintf("p.seq >= coalesce((SELECT q.seq FROM pair q WHERE q.cut IS NULL%s ORDER BY q.seq DESC LIMIT 1 OFFSET %d), 0)", cond, n-1)
}

func (w *where) content(x Content) string {
	if len(x.Parts) == 0 {
		return always
	}
	return w.bind(w.Dialect.Content(Pattern(x).lower().Parts))
}

// age compares the creation time with one instant, so that no calendar arithmetic is needed for each pair.
func (w *where) age(x Age) string {
	then := x.Instant(w.Now.In(w.Location))
	return w.time(x.Op.mirrored().String(), then) // a smaller age is a later time
}

// day compares the creation time with the start and the end of a local calendar day.
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

// time returns a condition that compares the creation time of a pair with at.
func (w *where) time(op string, at time.Time) string {
	return fmt.Sprintf("(p.sec, p.nsec) %s (%d, %d)", op, at.Unix(), at.Nanosecond())
}

// Instant returns the time N units before now, in the calendar of now's location. If Op is Less, the age selects pairs
// later than that time.
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

// monthsBefore returns the same day n months earlier, or the last day of that month if the month is shorter.
func monthsBefore(now time.Time, n int) time.Time {
	then := now.AddDate(0, -n, 0)
	if then.Day() != now.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

// Span returns the first instants of the day and of the following day.
func (x Day) Span(in *time.Location) (from, to time.Time) {
	return time.Date(x.Year, x.Month, x.Day, 0, 0, 0, 0, in), time.Date(x.Year, x.Month, x.Day+1, 0, 0, 0, 0, in)
}

// CompileRegexp compiles the expression of c/RE/, which ignores case.
func CompileRegexp(source string) (*regexp.Regexp, error) { return regexp.Compile(ignoreCase + source) }

// ignoreCase makes a regular expression ignore case.
const ignoreCase = "(?i)"
