package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// maxName is how many cells of a name, topic or line a model is told.
const maxName = 200

// shown is a name as a model is told it: on one line, hidden characters left
// out, cut when it is long.
func shown(text string) string { return safetext.Line(text, maxName) }

// quote is a name inside a sentence.
func quote(text string) string { return fmt.Sprintf("%q", shown(text)) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// levels are the names of a topic's path; none for the root.
func levels(path string) []string {
	var names []string
	for _, name := range strings.Split(path, strings.TrimSpace(history.TopicSeparator)) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// canonical is a topic's path as the store writes it.
func canonical(path string) string { return strings.Join(levels(path), history.TopicSeparator) }
