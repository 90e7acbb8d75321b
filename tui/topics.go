package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// openTopics selects the topic of the pairs to come, and edits the tree.
func (m *Model) openTopics() tea.Cmd {
	p := m.topicPicker("Topic of new messages")
	if m.opts.History != nil {
		p = p.WithKeys("enter selects · alt+n new · alt+r rename · alt+d delete", "alt+r", "alt+d").WithNew("alt+n")
	}
	return m.open(overlay.Topics, p, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "alt+n":
			return m.newTopic(c.Query, c.Value)
		case "alt+r":
			return m.renameTopic(c.Value)
		case "alt+d":
			return m.deleteTopic(c.Value)
		}
		m.session.SetTopic(c.Value)
		m.notice.say("new messages go to " + topicName(c.Value))
		return nil
	})
}

func (m *Model) topicPicker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: topicName("")}}
	at := 0
	for _, t := range m.names.topics {
		if t == m.session.Topic() {
			at = len(entries)
		}
		depth := strings.Count(t, history.TopicSeparator)
		entries = append(entries, overlay.Entry{Value: t, Text: strings.Repeat("  ", depth) + lastName(t), Extra: t})
	}
	return overlay.NewPicker(title, entries, at)
}

func topicName(path string) string {
	if path == "" {
		return "no topic"
	}
	return path
}

// lastName is the name of a topic without those above it.
func lastName(path string) string {
	if i := strings.LastIndex(path, history.TopicSeparator); i >= 0 {
		return path[i+len(history.TopicSeparator):]
	}
	return path
}

// above is the path of the topic above; "" for one at the top.
func above(path string) string {
	i := strings.LastIndex(path, history.TopicSeparator)
	return path[:max(i, 0)]
}

// newTopic makes the topic whose path stands in the search line, and asks for
// the path when nothing does.
func (m *Model) newTopic(path, parent string) tea.Cmd {
	if path = history.TopicPath(path); path != "" {
		return editTopics(m.opts.History, topicsChangedMsg{said: "new messages go to " + oneLine(path), to: path}, func(ctx context.Context, h history.Store) error {
			return h.CreateTopic(ctx, path)
		})
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	return m.open(overlay.TopicName, overlay.NewLine("New topic", parent, "the path, as in AI > Agents · enter makes it"), func(c overlay.Chosen) tea.Cmd {
		return m.newTopic(c.Value, "")
	})
}

// renameTopic asks for another name; what lies below moves along.
func (m *Model) renameTopic(path string) tea.Cmd {
	if path == "" {
		m.notice.say("pairs without a topic have no name to change")
		return nil
	}
	return m.open(overlay.TopicName, overlay.NewLine("Rename "+oneLine(path), lastName(path), "a name, or a path to move it · enter renames"), func(c overlay.Chosen) tea.Cmd {
		to := history.TopicPath(c.Value)
		if up := above(path); up != "" && lastName(to) == to {
			to = up + history.TopicSeparator + to
		}
		return editTopics(m.opts.History, topicsChangedMsg{said: oneLine(path + " is now " + to), from: path, to: to}, func(ctx context.Context, h history.Store) error {
			return h.MoveTopic(ctx, path, to)
		})
	})
}

// deleteTopic asks; pairs and topics below go to the topic above.
func (m *Model) deleteTopic(path string) tea.Cmd {
	if path == "" {
		m.notice.say("pairs without a topic are in none to delete")
		return nil
	}
	to := above(path)
	return m.ask("Delete the topic "+oneLine(path)+"?", []string{
		"No pair is deleted: its pairs and the topics below it", "go to " + oneLine(topicName(to)) + ".",
	}, "delete", func() tea.Cmd {
		return editTopics(m.opts.History, topicsChangedMsg{said: oneLine(path) + " is deleted", from: path, to: to}, func(ctx context.Context, h history.Store) error {
			return h.DeleteTopic(ctx, path)
		})
	})
}

// editTopics changes the tree; done is the message of its success.
func editTopics(h history.Store, done topicsChangedMsg, change func(context.Context, history.Store) error) tea.Cmd {
	return func() tea.Msg {
		ctx := context.Background()
		if done.err = change(ctx, h); done.err == nil {
			done.topics, done.saved = names(ctx, h)
		}
		return done
	}
}

// onTopics lets the selected topic follow, and shows the pairs under their new
// names.
func (m *Model) onTopics(msg topicsChangedMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.names.topics, m.names.saved = msg.topics, msg.saved
	m.notice.say(msg.said)
	if msg.from == "" { // a new topic is selected at once
		m.session.SetTopic(msg.to)
		return nil
	}
	m.session.TopicMoved(msg.from, msg.to)
	return tea.Batch(loadPairs(m.session, m.chat.Loaded()), m.refilter())
}
