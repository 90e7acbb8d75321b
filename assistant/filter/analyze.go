package filter

import (
	"slices"
	"strconv"
	"strings"
)

// Walk calls visit for x and everything below it, parents first. It does not
// look into saved filters.
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

// NeedsText reports whether x reads the texts of pairs.
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

// UsesBoundary reports whether x holds o or oN, so that it must be evaluated in
// two steps and again when the boundary moves.
func UsesBoundary(x Expr) bool {
	return contains(x, func(x Expr) bool { _, ok := x.(Boundary); return ok })
}

// UnsafeForDelete says why x would select other pairs after the selected ones are
// deleted; "" when it would not. A saved filter that is not expanded is unsafe.
func UnsafeForDelete(x Expr) (reason string) {
	Walk(x, func(x Expr) {
		why := ""
		switch x.(type) {
		case Recent, TopicLast:
			why = "counts from the newest pair, so it selects others after deleting"
		case Boundary:
			why = "depends on the boundary, which moves when pairs are deleted"
		case TopicSelected:
			why = "depends on the topic that is selected; name it, as in t'NAME'"
		case Saved:
			why = "is a saved filter that was not looked up"
		default:
		}
		if why != "" && reason == "" {
			reason = x.line() + " " + why
		}
	})
	return reason
}

// Base returns x with every o and oN left out; nil when nothing is left, which
// shows all.
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

// rewrite changes each term, and leaves out those that show all.
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

// Expand replaces the saved filters of q by what saved, given a name, returns.
// A nil saved knows none. The error is an *Error at the name: unknown, not
// readable, with a command, or part of a cycle, which it lists in order.
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

// maxLoads bounds how many saved filters one line may lead to: filters that
// name others twice would double with each level.
const maxLoads = 1000

func (e *expander) expand(x Expr) Expr {
	switch x := x.(type) {
	case Saved:
		return e.load(x.Name)
	case Not:
		if inner := e.expand(x.X); inner != nil {
			return Not{inner}
		}
		return Recent{0} // not everything: nothing
	case And:
		return combine(rewrite(x.Terms, e.expand), func(t []Expr) Expr { return And{t} })
	case Or:
		terms := rewrite(x.Terms, e.expand)
		if len(terms) < len(x.Terms) {
			return nil // one alternative shows all
		}
		return Or{terms}
	default:
		return x
	}
}

// load reads one saved filter.
func (e *expander) load(name string) Expr {
	if e.err != nil {
		return nil
	}
	at := append(e.path, name)
	if i := slices.Index(e.path, name); i >= 0 {
		e.fail(at, "a cycle: @"+strings.Join(at[i:], " → @"), "saved filters that do not lead back to themselves")
		return nil
	}
	if e.loads++; e.loads > maxLoads {
		e.fail(at, "@"+name, "saved filters that lead to fewer than "+strconv.Itoa(maxLoads)+" others")
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
		e.fail(at, "@"+name, "a saved filter that can be read, not "+line+" ("+err.Error()+")")
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

// fail records an error at the saved filter's name in the line of the user.
func (e *expander) fail(path []string, found, want string) {
	if e.err == nil {
		e.err = &Error{Column: max(e.top.columns[path[0]], 1), Found: found, Want: want}
	}
}
