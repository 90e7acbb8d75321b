package history

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// PageName is the page that this window is.
const PageName = "history"

//go:embed prompt.md
var prompt string

// Prompt tells the model how to work in this window.
func (w *Window) Prompt() string { return prompt }

// Where names the page. It has no tabs.
func (w *Window) Where() assistant.Location { return assistant.Location{Page: PageName} }

// Register adds the page of the window. The tools come from Window.Tools.
func Register(pages *assistant.Pages, w *Window) error {
	return pages.AddPage(assistant.Page{Name: PageName, Context: w.pageContext})
}

// pageContext says what the user looks at.
func (w *Window) pageContext(assistant.Location) string {
	if line := w.selected().Line; line != "" {
		return "The user looks at the pairs that the filter line " + quote(line) + " shows."
	}
	return "The user looks at all pairs of the history."
}

// Tools are what the assistant may do with the history. None deletes a pair.
func (w *Window) Tools() []assistant.Tool {
	return []assistant.Tool{
		reader(w, "search_pairs", "Find pairs by plain words, by a filter line, or by both.", w.searchPairs),
		reader(w, "get_pair", "Read one pair: texts, tool calls, marks.", w.getPair),
		reader(w, "list_topics", "List the tree of topics with their counts.", w.listTopics),
		reader(w, "list_sessions", "List the sessions, the last used first, with how each began.", w.listSessions),
		reader(w, "summarise_pairs", "Read many pairs in condensed form, to summarise them in your answer.", w.summarisePairs),
		writer(w, "star_pairs", "Give pairs 0 to 3 stars.", w.planStars),
		writer(w, "flag_pairs", "Flag pairs, or take their flag away.", w.planFlag),
		writer(w, "set_topic", "Give pairs a topic, or none.", w.planTopic),
		writer(w, "rename_topic", "Give a topic another name in the same place.", w.planRename),
		writer(w, "move_topic", "Move a topic, with all below it, under another one or to the top.", w.planMove),
		writer(w, "delete_topic", "Remove a topic; its pairs and the topics below it go to its parent.", w.planDelete),
		writer(w, "save_filter", "Keep a filter line under a name, to be used as @name.", w.planSave),
		writer(w, "forget_filter", "Forget a saved filter.", w.planForget),
	}
}

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
	if path = canonical(path); path == "" {
		return nil
	}
	return strings.Split(path, history.TopicSeparator)
}

// canonical is a topic's path as the store writes it.
func canonical(path string) string { return history.TopicPath(path) }
