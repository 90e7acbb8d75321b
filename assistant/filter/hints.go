package filter

import (
	"cmp"
	"slices"
	"strings"

	"winnow/assistant/nearest"
)

// Hint reports an unknown name in a line. This is not an error: the line is applied, but the name matches no pairs.
type Hint struct {
	Kind    Kind     // KindTopic or KindSession
	Asked   string   // as written in the line
	Nearest []string // up to three known names, best first
}

// String returns the hint as a phrase, such as "no topic 'agnets'; nearest: AI > Agents".
func (h Hint) String() string {
	s := "no " + string(h.Kind) + " " + quotedText(h.Asked)
	if len(h.Nearest) > 0 {
		s += "; nearest: " + strings.Join(h.Nearest, ", ")
	}
	return s
}

// Hints returns a hint for each topic (path) and session (id) in x that does not exist. It checks saved filters only if
// they have been expanded.
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

// matchesAncestor returns a function that reports whether t matches a path or one of its ancestors, because a topic can
// exist without pairs of its own.
func matchesAncestor(t Topic) func(path string) bool {
	low := t.lower()
	low.Deep = true
	return func(path string) bool { return low.matches(splitPath(strings.ToLower(path))) }
}

const (
	maxNearest = 3   // maximum number of names in a hint
	maxAsked   = 200 // longer names (in bytes) are not looked up
)

// nearestNames returns up to maxNearest names that contain asked or are within a small edit distance of it, best first.
// A path is also found by its last level.
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

// nearestOr returns a question with the nearest name, or a list of all names if none is near.
func nearestOr(asked string, names []string) string {
	if best := nearestNames(asked, names); len(best) > 0 {
		return best[0] + "?"
	}
	return strings.Join(names, " ")
}
