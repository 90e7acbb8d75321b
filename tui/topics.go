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
func (p *pickers) openTopics() tea.Cmd {
	picker := p.topicPicker("Topic of new messages")
	if p.commands.Stores() {
		picker = picker.WithNew(keymap.NewTopic).Offer(keymap.TopicList,
			keymap.To("selects", keymap.LineAccept), keymap.To("new", keymap.NewTopic), keymap.To("rename", keymap.RenameTopic), keymap.To("delete", keymap.DeleteTopic))
	}
	return p.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		switch c.Action {
		case keymap.NewTopic:
			return p.newTopic(c.Query, c.Value)
		case keymap.RenameTopic:
			return p.renameTopic(c.Value)
		case keymap.DeleteTopic:
			return p.deleteTopic(c.Value)
		default:
			return p.setTopic(c.Value)
		}
	})
}

// setTopic gives new messages a topic; "" for none.
func (p *pickers) setTopic(path string) tea.Cmd {
	return p.act(func(request int64) tea.Cmd { return p.commands.SelectTopic(request, path) })
}

// openPairTopic gives the pair with the focus a topic.
func (p *pickers) openPairTopic() tea.Cmd {
	focused, ok := p.conv.chat.Focused()
	if !ok {
		return nil
	}
	picker := p.topicPicker("Topic of this pair")
	if p.commands.Stores() {
		picker = picker.WithNew(keymap.NewTopic).Offer(keymap.TopicList, keymap.To("selects", keymap.LineAccept), keymap.To("creates the typed path", keymap.NewTopic))
	}
	return p.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		to := c.Value
		if c.Action == keymap.NewTopic {
			if to = history.TopicPath(c.Query); to == "" {
				return p.info("type the path of the new topic" + p.hint(", then %s", keymap.NewTopic))
			}
		}
		return p.act(func(request int64) tea.Cmd { return p.commands.SetPairTopic(request, focused.Seq, to) })
	})
}

func (p *pickers) topicPicker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: topicName("")}}
	at := 0
	for _, t := range p.stored.Topics {
		if t == p.topic() {
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
func (p *pickers) newTopic(path, parent string) tea.Cmd {
	if path = history.TopicPath(path); path != "" {
		return p.act(func(request int64) tea.Cmd { return p.commands.CreateTopic(request, path) })
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	return p.open(overlay.TopicName, overlay.NewLine("New topic", parent, "the path, as in AI > Agents"+p.hint(" · %s creates it", keymap.LineAccept)), func(c overlay.Chosen) tea.Cmd {
		return p.newTopic(c.Value, "")
	})
}

// renameTopic asks for another name; the topics below move along.
func (p *pickers) renameTopic(path string) tea.Cmd {
	if path == "" {
		return p.info("“no topic” cannot be renamed")
	}
	parent, name := splitTopic(path)
	return p.open(overlay.TopicName, overlay.NewLine("Rename "+oneLine(path), name, "a name, or a path to move it"+p.hint(" · %s renames", keymap.LineAccept)), func(c overlay.Chosen) tea.Cmd {
		to := history.TopicPath(c.Value)
		if above, _ := splitTopic(to); parent != "" && above == "" {
			to = parent + history.TopicSeparator + to
		}
		return p.act(func(request int64) tea.Cmd { return p.commands.MoveTopic(request, path, to) })
	})
}

// deleteTopic asks first; pairs and topics below move to the parent.
func (p *pickers) deleteTopic(path string) tea.Cmd {
	if path == "" {
		return p.info("“no topic” cannot be deleted")
	}
	parent, _ := splitTopic(path)
	return p.ask("Delete the topic "+oneLine(path)+"?", []string{
		"No pair is deleted: its pairs and the topics below it", "go to " + oneLine(topicName(parent)) + ".",
	}, "delete", "keep", func() tea.Cmd {
		return p.act(func(request int64) tea.Cmd { return p.commands.DeleteTopic(request, path, parent) })
	})
}

// onTopicsChanged shows a change of the tree of topics.
func (p *pickers) onTopicsChanged(o usecase.TopicsChanged) tea.Cmd {
	p.stored = o.Names
	switch {
	case o.Err != nil:
		return p.fail(o.Err)
	case o.From == "":
		return p.info(topicSelected(o.To))
	case o.Deleted:
		p.notice.Info(oneLine(o.From) + " is deleted")
	default:
		p.notice.Info(oneLine(o.From + " is now " + o.To))
	}
	if o.ViewErr != nil {
		p.failView(o.ViewErr)
	}
	return p.conv.load(p.conv.chat.Loaded()...)
}

// topicSelected is the notice of the topic of new messages.
func topicSelected(path string) string { return "new messages go to " + oneLine(topicName(path)) }
