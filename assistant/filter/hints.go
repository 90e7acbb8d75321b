package filter

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant/nearest"
)

// Hint says that a name in a line is unknown. That is no error: the line is
// applied and shows no pairs for it.
type Hint struct {
	Kind    Kind     // KindTopic or KindSession
	Asked   string   // as in the line
	Nearest []string // at most three known names, best first
}

// String says it in one sentence.
func (h Hint) String() string {
	s := "no " + string(h.Kind) + " " + quotedText(h.Asked)
	if len(h.Nearest) > 0 {
		s += "; nearest: " + strings.Join(h.Nearest, ", ")
	}
	return s
}

// Hints looks for topics (paths) and sessions (ids) of x that do not exist.
// Saved filters are looked into when expanded before.
func Hints(x Expr, topics, sessions []string) []Hint {
	var hints []Hint
	Walk(x, func(x Expr) {
		switch x := x.(type) {
		case Topic:
			if !slices.ContainsFunc(topics, matchesAncestor(x)) {
				asked := strings.Join(Topic{x.Path, false}.text().Parts, "*")
				hints = append(hints, Hint{KindTopic, asked, nearestNames(asked, topics)})
			}
		case Session:
			if !slices.ContainsFunc(sessions, func(id string) bool { return strings.HasPrefix(id, x.Prefix) }) {
				hints = append(hints, Hint{KindSession, x.Prefix, nearestNames(x.Prefix, sessions)})
			}
		default:
		}
	})
	return hints
}

// matchesAncestor returns whether t matches a path or a beginning of it: a topic
// without pairs of its own exists, too.
func matchesAncestor(t Topic) func(path string) bool {
	low := t.lower()
	low.Deep = true
	return func(path string) bool { return low.matches(splitPath(strings.ToLower(path))) }
}

const (
	maxNearest = 3   // how many names a hint offers
	maxAsked   = 200 // bytes of a name for which it looks
)

// nearestNames returns the names most like asked, best first: those that contain
// it, then those a few changed letters away.
func nearestNames(asked string, names []string) []string {
	if len(asked) > maxAsked {
		return nil
	}
	asked = strings.ToLower(asked)
	type ranked struct {
		name     string
		distance int
	}
	var found []ranked
	limit := max(2, len([]rune(asked))/3)
	for _, name := range names {
		low := strings.ToLower(name)
		distance := nearest.Distance(asked, low)
		if i := strings.LastIndex(low, ">"); i >= 0 {
			distance = min(distance, nearest.Distance(asked, strings.TrimSpace(low[i+1:])))
		}
		if asked != "" && strings.Contains(low, asked) {
			distance = min(distance, 1)
		}
		if distance <= limit && distance < max(len([]rune(asked)), 1) {
			found = append(found, ranked{name, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(a.distance, b.distance) })
	var best []string
	for _, f := range found {
		if len(best) < maxNearest && !slices.Contains(best, f.name) {
			best = append(best, f.name)
		}
	}
	return best
}

// nearestOr returns the nearest name as a question, all names when none is near.
func nearestOr(asked string, names []string) string {
	if best := nearestNames(asked, names); len(best) > 0 {
		return best[0] + "?"
	}
	return strings.Join(names, " ")
}
