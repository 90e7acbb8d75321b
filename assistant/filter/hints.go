package filter

import (
	"slices"
	"strings"
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
			if !slices.ContainsFunc(topics, knows(x)) {
				asked := strings.ReplaceAll(Topic{x.Path, false}.text().String(), `\*`, "*")
				hints = append(hints, Hint{KindTopic, asked, nearest(asked, topics)})
			}
		case Session:
			if !slices.ContainsFunc(sessions, func(id string) bool { return strings.HasPrefix(id, x.Prefix) }) {
				hints = append(hints, Hint{KindSession, x.Prefix, nearest(x.Prefix, sessions)})
			}
		default:
		}
	})
	return hints
}

// knows returns whether a topic is meant by t. A topic without pairs of its own
// exists too: every beginning of a path does.
func knows(t Topic) func(path string) bool {
	low := t.lower()
	low.Deep = true // an ancestor that is meant exists as well
	return func(path string) bool { return low.matches(splitPath(strings.ToLower(path))) }
}
