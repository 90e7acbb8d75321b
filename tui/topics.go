package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// topicList lists topics, so that the user can pick a topic and edit the tree.
type topicList struct {
	wording
	names   []string // in tree order: each topic after its parent
	current string   // topic of new messages
	stores  bool     // there is a history, so the tree can be edited
}

func (m *Model) topics() topicList {
	return topicList{m.wording(), m.stored.Topics, m.parts.topic(), m.commands.Stores()}
}

// openTopics opens the list in which the user selects the topic of new pairs and edits the
// tree.
func (m *Model) openTopics() tea.Cmd { return m.carryOut(m.topics().open()) }

// openPairTopic opens the list in which the user selects the topic of the focused pair.
func (m *Model) openPairTopic() tea.Cmd {
	if focused, ok := m.conv.chat.Focused(); ok {
		return m.carryOut(m.topics().openFor(focused.Seq))
	}
	return m.noPair()
}

func (t topicList) open() intent {
	picker := t.picker("Topic of new messages")
	if t.stores { // without a history, there is no tree to edit
		picker = picker.WithTypedChoice(keymap.NewTopic).Offer(keymap.TopicList,
			keymap.To("selects", keymap.LineAccept), keymap.To("new", keymap.NewTopic), keymap.To("rename", keymap.RenameTopic), keymap.To("delete", keymap.DeleteTopic))
	}
	return open{overlay.Topics, picker, func(c overlay.Chosen) intent {
		switch c.Action {
		case keymap.NewTopic:
			return t.create(c.Query, c.Value)
		case keymap.RenameTopic:
			return t.rename(c.Value)
		case keymap.DeleteTopic:
			return deleteTopic(c.Value)
		default:
			return selectTopic(c.Value)
		}
	}}
}

// selectTopic sets the topic of new messages; "" means no topic.
func selectTopic(path string) intent {
	return change(func(c *usecase.Commands, request int64) tea.Cmd { return c.SelectTopic(request, path) })
}

// openFor opens the list in which the user selects the topic of a pair.
func (t topicList) openFor(pair int64) intent {
	picker := t.picker("Topic of this message")
	if t.stores {
		picker = picker.WithTypedChoice(keymap.NewTopic).Offer(keymap.TopicList, keymap.To("selects", keymap.LineAccept), keymap.To("creates the typed path", keymap.NewTopic))
	}
	return open{overlay.Topics, picker, func(c overlay.Chosen) intent {
		to := c.Value
		if c.Action == keymap.NewTopic {
			if to = history.TopicPath(c.Query); to == "" {
				return notify{"type the path of the new topic", []clause{{", then %s", keymap.NewTopic}}}
			}
		}
		return change(func(c *usecase.Commands, request int64) tea.Cmd { return c.SetPairTopic(request, pair, to) })
	}}
}

func (t topicList) picker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: "no topic"}}
	at := 0
	for _, path := range t.names {
		if path == t.current {
			at = len(entries)
		}
		_, name := splitTopic(path)
		depth := strings.Count(path, history.TopicSeparator)
		entries = append(entries, overlay.Entry{Value: path, Text: strings.Repeat("  ", depth) + name, Extra: path})
	}
	return overlay.NewPicker(title, entries, at)
}

// splitTopic splits a path into its parent ("" at the top) and the last name.
func splitTopic(path string) (parent, name string) {
	if i := strings.LastIndex(path, history.TopicSeparator); i >= 0 {
		return path[:i], path[i+len(history.TopicSeparator):]
	}
	return "", path
}

// create creates a topic; if path is empty, it asks the user for the path.
func (t topicList) create(path, parent string) intent {
	if path = history.TopicPath(path); path != "" {
		return change(func(c *usecase.Commands, request int64) tea.Cmd { return c.CreateTopic(request, path) })
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	line := overlay.NewLine("New topic", parent, "the path, as in AI > Agents"+t.hint(" · %s creates it", keymap.LineAccept))
	return open{overlay.TopicName, line, func(c overlay.Chosen) intent { return t.create(c.Value, "") }}
}

// rename asks for a new name for a topic; the topics below it move with it.
func (t topicList) rename(path string) intent {
	if path == "" {
		return notify{text: "“no topic” cannot be renamed"}
	}
	parent, name := splitTopic(path)
	line := overlay.NewLine("Rename "+oneLine(path), name, "a name, or a path to move it"+t.hint(" · %s renames", keymap.LineAccept))
	return open{overlay.TopicName, line, func(c overlay.Chosen) intent {
		to := history.TopicPath(c.Value)
		if above, _ := splitTopic(to); parent != "" && above == "" {
			to = parent + history.TopicSeparator + to
		}
		return change(func(c *usecase.Commands, request int64) tea.Cmd { return c.MoveTopic(request, path, to) })
	}}
}

// deleteTopic deletes a topic after asking; the pairs and topics below it move to the
// parent.
func deleteTopic(path string) intent {
	if path == "" {
		return notify{text: "“no topic” cannot be deleted"}
	}
	parent, _ := splitTopic(path)
	lines := []string{"No message is deleted: the topic's messages and the topics below it", string(safetext.Sprintf("move to %s.", parent))}
	if parent == "" {
		lines = []string{"No message is deleted: the topic's messages get no topic,", "and the topics below it move to the top level."}
	}
	return confirm(safetext.Sprintf("Delete the topic %s?", path), lines, "delete", "keep", change(func(c *usecase.Commands, request int64) tea.Cmd { return c.DeleteTopic(request, path, parent) }))
}

// onTopicsChanged shows a change to the topic tree.
func (m *Model) onTopicsChanged(o usecase.TopicsChanged) tea.Cmd {
	m.stored = o.Names
	switch {
	case o.Err != nil:
		return m.fail(o.Err)
	case o.From == "":
		return m.info(topicSelected(o.To))
	case o.Deleted:
		m.notice.Info("the topic " + oneLine(o.From) + " is deleted")
	default:
		m.notice.Info("the topic " + oneLine(o.From+" is now "+o.To))
	}
	if o.ViewErr != nil {
		m.failView(o.ViewErr)
	}
	return m.load(m.conv.chat.Loaded()...)
}

// topicSelected returns the notice about the topic of new messages.
func topicSelected(path string) safetext.Text {
	if path == "" {
		return "new messages get no topic"
	}
	return "new messages go to " + oneLine(path)
}
