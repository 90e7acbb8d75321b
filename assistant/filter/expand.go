package filter

import (
	"slices"
	"strings"
)

// Expand replaces the saved filters of q by what saved, given a name, returns.
// A nil saved knows none. The error is an *Error at the name: unknown, not
// readable, with a command, or a cycle, whose names it gives in order.
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
		return combine(e.all(x.Terms), func(t []Expr) Expr { return And{t} })
	case Or:
		terms := e.all(x.Terms)
		if len(terms) < len(x.Terms) {
			return nil // one alternative shows all
		}
		return Or{terms}
	default:
		return x
	}
}

// all expands terms and leaves out those that show all.
func (e *expander) all(terms []Expr) []Expr {
	var kept []Expr
	for _, t := range terms {
		if x := e.expand(t); x != nil {
			kept = append(kept, x)
		}
	}
	return kept
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
		e.fail(at, "@"+name, "saved filters that lead to fewer than "+itoa(maxLoads)+" others")
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

// fail blames the name in the line the user sees.
func (e *expander) fail(path []string, found, want string) {
	if e.err == nil {
		e.err = &Error{Column: max(e.top.columns[path[0]], 1), Found: found, Want: want}
	}
}
