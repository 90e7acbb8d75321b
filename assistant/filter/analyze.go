package filter

import "slices"

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
		case Regexp:
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

// UnsafeForDelete reports whether deleting what x selects would change what x
// selects, and the term to blame. Saved filters must be expanded: one that is
// not is unsafe.
func UnsafeForDelete(x Expr) (reason string, unsafe bool) {
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
		if why != "" && !unsafe {
			reason, unsafe = printTerm(x)+" "+why, true
		}
	})
	return reason, unsafe
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
		return combine(bases(x.Terms), func(t []Expr) Expr { return And{t} })
	case Or:
		return combine(bases(x.Terms), func(t []Expr) Expr { return Or{t} })
	default:
		return x
	}
}

func bases(terms []Expr) []Expr {
	var kept []Expr
	for _, t := range terms {
		if b := Base(t); b != nil {
			kept = append(kept, b)
		}
	}
	return kept
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
