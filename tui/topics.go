package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// openTopics selects the topic of the pairs to come, and edits the tree.
func (m *Model) openTopics() tea.Cmd {
	picker := m.topicPicker("Topic of new messages")
	if m.commands.Stores() {
		picker = picker.WithNew(keymap.NewTopic).Offer(keymap.TopicList,
			keymap.To("selects", keymap.LineAccept), keymap.To("new", keymap.NewTopic), keymap.To("rename", keymap.RenameTopic), keymap.To("delete", keymap.DeleteTopic))
	}
	return m.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		switch c.Action {
		case keymap.NewTopic:
			return m.newTopic(c.Query, c.Value)
		case keymap.RenameTopic:
			return m.renameTopic(c.Value)
		case keymap.DeleteTopic:
			return m.deleteTopic(c.Value)
		default:
			return m.setTopic(c.Value)
		}
	})
}

// setTopic gives new messages a topic; "" for none.
func (m *Model) setTopic(path string) tea.Cmd {
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.SelectTopic(request, path) })
}

// openPairTopic gives the pair with the focus a topic.
func (m *Model) openPairTopic() tea.Cmd {
	focused, ok := m.conv.chat.Focused()
	if !ok {
		return nil
	}
	picker := m.topicPicker("Topic of this pair")
	if m.commands.Stores() {
		picker = picker.WithNew(keymap.NewTopic).Offer(keymap.TopicList, keymap.To("selects", keymap.LineAccept), keymap.To("creates the typed path", keymap.NewTopic))
	}
	return m.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		to := c.Value
		if c.Action == keymap.NewTopic {
			if to = history.TopicPath(c.Query); to == "" {
				return m.info("type the path of the new topic" + m.hint(", then %s", keymap.NewTopic))
			}
		}
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.SetPairTopic(request, focused.Seq, to) })
	})
}

func (m *Model) topicPicker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: topicName("")}}
	at := 0
	for _, t := range m.stored.Topics {
		if t == m.parts.topic() {
			at = len(entries)
		}
		_, name := splitTopic(t)
		depth := strings.Count(t, history.TopicSeparator)
		entries = append(entries, overlay.Entry{Value: t, Text: strings.Repeat("  ", depth) + name, Extra: t})
	}
	return overlay.NewPicker(title, entries, at)
}

func topicName(path string) string { return cmp.Or(path, "no topic") }

// splitTopic splits a path into its parent, "" at the top, and the last name.
func splitTopic(path string) (parent, name string) {
	if i := strings.LastIndex(path, history.TopicSeparator); i >= 0 {
		return path[:i], path[i+len(history.TopicSeparator):]
	}
	return "", path
}

// newTopic creates the topic of a path, and asks for the path when it is empty.
func (m *Model) newTopic(path, parent string) tea.Cmd {
	if path = history.TopicPath(path); path != "" {
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.CreateTopic(request, path) })
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	return m.open(overlay.TopicName, overlay.NewLine("New topic", parent, "the path, as in AI > Agents"+m.hint(" · %s creates it", keymap.LineAccept)), func(c overlay.Chosen) tea.Cmd {
		return m.newTopic(c.Value, "")
	})
}

// renameTopic asks for another name; the topics below move along.
func (m *Model) renameTopic(path string) tea.Cmd {
	if path == "" {
		return m.info("“no topic” cannot be renamed")
	}
	parent, name := splitTopic(path)
	return m.open(overlay.TopicName, overlay.NewLine("Rename "+oneLine(path), name, "a name, or a path to move it"+m.hint(" · %s renames", keymap.LineAccept)), func(c overlay.Chosen) tea.Cmd {
		to := history.TopicPath(c.Value)
		if above, _ := splitTopic(to); parent != "" && above == "" {
			to = parent + history.TopicSeparator + to
		}
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.MoveTopic(request, path, to) })
	})
}

// deleteTopic asks first; pairs and topics below move to the parent.
func (m *Model) deleteTopic(path string) tea.Cmd {
	if path == "" {
		return m.info("“no topic” cannot be deleted")
	}
	parent, _ := splitTopic(path)
	return m.ask("Delete the topic "+oneLine(path)+"?", []string{
		"No pair is deleted: its pairs and the topics below it", "go to " + oneLine(topicName(parent)) + ".",
	}, "delete", "keep", func() tea.Cmd {
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.DeleteTopic(request, path, parent) })
	})
}

// onTopicsChanged shows a change of the tree of topics.
func (m *Model) onTopicsChanged(o usecase.TopicsChanged) tea.Cmd {
	m.stored = o.Names
	switch {
	case o.Err != nil:
		return m.fail(o.Err)
	case o.From == "":
		return m.info(topicSelected(o.To))
	case o.Deleted:
		m.notice.Info(oneLine(o.From) + " is deleted")
	default:
		m.notice.Info(oneLine(o.From + " is now " + o.To))
	}
	if o.ViewErr != nil {
		m.failView(o.ViewErr)
	}
	return m.load(m.conv.chat.Loaded()...)
}

// topicSelected is the notice of the topic of new messages.
func topicSelected(path string) string { return "new messages go to " + oneLine(topicName(path)) }
