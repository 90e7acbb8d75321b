package history

import "winnow/assistant"

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
