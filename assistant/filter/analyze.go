package filter

import (
	"slices"
	"strconv"
	"strings"
)

// Walk calls visit for x and everything below it, parents first. It does not expand saved filters.
func Walk(x Expr, visit func(Expr)) {
	if x == nil {
		return
	}
	visit(x)
	for _, child := range children(x) {
		Walk(child, visit)
	}
}

func children(x Expr) []Expr {
	switch x := x.(type) {
	case And:
		return x.Terms
	case Or:
		return x.Terms
	case Not:
		return []Expr{x.X}
	default:
		return nil
	}
}

func contains(x Expr, is func(Expr) bool) bool {
	found := false
	Walk(x, func(x Expr) { found = found || is(x) })
	return found
}

// NeedsText reports whether evaluating x requires the texts of pairs.
func NeedsText(x Expr) bool {
	return contains(x, func(x Expr) bool {
		switch x := x.(type) {
		case Content:
			return len(x.Parts) > 0
		case Regexp, Word:
			return true
		default:
			return false
		}
	})
}

// UsesBoundary reports whether x contains o or oN. Such an expression is evaluated in two steps, and again whenever the
// boundary moves.
func UsesBoundary(x Expr) bool {
	return contains(x, func(x Expr) bool { _, ok := x.(Boundary); return ok })
}

// UnsafeForDelete returns why a deletion must not use x, or "" if it may. It must not if x would select other pairs
// afterwards, depends on the selected topic, or contains a saved filter that has not been expanded.
func UnsafeForDelete(x Expr) (reason string) {
	Walk(x, func(x Expr) {
		why := ""
		switch x.(type) {
		case Recent, TopicLast:
			why = "counts from the newest message, so it would select other messages after the deletion"
		case Boundary:
			why = "depends on the boundary, which moves when messages are deleted"
		case TopicSelected:
			why = "depends on the selected topic; name the topic, as in t'NAME'"
		case Saved:
			why = "is a saved filter that has not been expanded"
		default:
		}
		if why != "" && reason == "" {
			reason = x.line() + " " + why
		}
	})
	return reason
}

// Base returns x without o and oN. If nothing remains, it returns nil, which selects all pairs.
func Base(x Expr) Expr {
	switch x := x.(type) {
	case Boundary:
		return nil
	case Not:
		if inner := Base(x.X); inner != nil {
			return Not{inner}
		}
		return nil
	case And:
		return combine(rewrite(x.Terms, Base), func(t []Expr) Expr { return And{t} })
	case Or:
		return combine(rewrite(x.Terms, Base), func(t []Expr) Expr { return Or{t} })
	default:
		return x
	}
}

// rewrite applies f to each term, and omits nil results, which select all pairs.
func rewrite(terms []Expr, f func(Expr) Expr) []Expr {
	var rest []Expr
	for _, t := range terms {
		if x := f(t); x != nil {
			rest = append(rest, x)
		}
	}
	return rest
}

func combine(terms []Expr, build func([]Expr) Expr) Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return build(slices.Clip(terms))
}

// Expand returns the expression of q with every saved filter replaced by its own expression. saved returns the line of
// a saved filter; nil means that there are none. The error is an *Error at the position of a saved filter that is
// unknown or invalid, has a command, is part of a cycle (the error lists the names in order), or refers to too many others.
func Expand(q *Query, saved func(name string) (line string, ok bool)) (Expr, error) {
	e := expander{saved: saved, top: q}
	x := e.expand(q.Expr)
	if e.err != nil {
		return nil, e.err
	}
	return x, nil
}

type expander struct {
	saved func(string) (string, bool)
	top   *Query
	path  []string // names being expanded, outermost first
	loads int
	err   *Error
}

// maxLoads limits how many saved filters one line may load, because their number can double with each level of
// references.
const maxLoads = 1000

func (e *expander) expand(x Expr) Expr {
	switch x := x.(type) {
	case Saved:
		return e.load(x.Name)
	case Not:
		if inner := e.expand(x.X); inner != nil {
			return Not{inner}
		}
		return Recent{0} // the negation of "all pairs" selects no pairs
	case And:
		return combine(rewrite(x.Terms, e.expand), func(t []Expr) Expr { return And{t} })
	case Or:
		terms := rewrite(x.Terms, e.expand)
		if len(terms) < len(x.Terms) {
			return nil // one alternative selects all pairs, so the whole expression does
		}
		return Or{terms}
	default:
		return x
	}
}

// load returns the expression of a saved filter, itself expanded.
func (e *expander) load(name string) Expr {
	if e.err != nil {
		return nil
	}
	at := append(e.path, name)
	if i := slices.Index(e.path, name); i >= 0 {
		e.fail(at, "a cycle: @"+strings.Join(at[i:], " → @"), "saved filters that do not refer to themselves")
		return nil
	}
	if e.loads++; e.loads > maxLoads {
		e.fail(at, "@"+name, "saved filters that refer to fewer than "+strconv.Itoa(maxLoads)+" others")
		return nil
	}
	line, ok := "", false
	if e.saved != nil {
		line, ok = e.saved(name)
	}
	if !ok {
		e.fail(at, "@"+name, "the name of a saved filter; :filters lists them")
		return nil
	}
	q, err := Parse(line)
	switch {
	case err != nil:
		e.fail(at, "@"+name, "a valid saved filter, but it is "+line+" ("+err.Error()+")")
		return nil
	case q.Command != nil:
		e.fail(at, "@"+name, "a saved filter without a command")
		return nil
	}
	e.path = at
	x := e.expand(q.Expr)
	e.path = e.path[:len(e.path)-1]
	return x
}

// fail records an error at the position of the saved filter's name in the user's line.
func (e *expander) fail(path []string, found, want string) {
	if e.err == nil {
		e.err = &Error{Column: max(e.top.columns[path[0]], 1), Found: found, Want: want}
	}
}
