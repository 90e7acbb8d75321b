package history

import (
	"strings"

	"winnow/assistant"
)

// TopicSeparator separates the names in a topic's path.
const TopicSeparator = assistant.TopicSeparator

// Topic is a node of the tree of topics.
type Topic struct {
	Path  string // such as "AI > Agents"
	Pairs int    // uncut pairs of the topic itself
	Total int    // Pairs plus the uncut pairs of all descendants
}

// splitTopic returns the names in a path, or nil for the root.
func splitTopic(path string) []string {
	var names []string
	for n := range strings.SplitSeq(path, strings.TrimSpace(TopicSeparator)) {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// TopicPath normalizes a path typed by a user: it removes empty names and extra spaces.
func TopicPath(typed string) string { return strings.Join(splitTopic(typed), TopicSeparator) }

// TopicChain lists the paths of a topic's ancestors, from the top, followed by its own path.
func TopicChain(path string) []string {
	names := splitTopic(path)
	chain := make([]string, len(names))
	for i := range names {
		chain[i] = strings.Join(names[:i+1], TopicSeparator)
	}
	return chain
}

// ParentTopic returns the path of a topic's parent, or "" if the parent is the root.
func ParentTopic(path string) string { return path[:max(strings.LastIndex(path, TopicSeparator), 0)] }
