package tui

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// openTopics selects the topic of the pairs to come, and edits the tree.
func (p *pickers) openTopics() tea.Cmd {
	picker := p.topicPicker("Topic of new messages")
	if p.opts.History != nil {
		picker = picker.WithKeys("enter selects · alt+n new · alt+r rename · alt+d delete", "alt+r", "alt+d").WithNew("alt+n")
	}
	return p.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "alt+n":
			return p.newTopic(c.Query, c.Value)
		case "alt+r":
			return p.renameTopic(c.Value)
		case "alt+d":
			return p.deleteTopic(c.Value)
		}
		return p.setTopic(c.Value)
	})
}

// setTopic gives new messages a topic; "" is none.
func (p *pickers) setTopic(path string) tea.Cmd {
	p.session.SetTopic(path)
	return p.info("new messages go to " + oneLine(topicName(path)))
}

// openPairTopic gives the pair with the focus a topic.
func (p *pickers) openPairTopic() tea.Cmd {
	focused, ok := p.conv.chat.Focused()
	if !ok {
		return nil
	}
	picker := p.topicPicker("Topic of this pair")
	if p.opts.History != nil {
		picker = picker.WithNew("alt+n").WithKeys("enter selects · alt+n creates the typed path")
	}
	return p.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		to := c.Value
		if c.Key == "alt+n" {
			if to = history.TopicPath(c.Query); to == "" {
				return p.info("type the path of the new topic, then alt+n")
			}
		}
		return p.change(p.conv.markPair(focused.Seq, func(ctx context.Context) (string, error) {
			return "topic: " + topicName(to), p.work.SetTopic(ctx, focused.Seq, to)
		}))
	})
}

func (p *pickers) topicPicker(title string) *overlay.Picker {
	entries := []overlay.Entry{{Value: "", Text: topicName("")}}
	at := 0
	for _, t := range p.stored.Topics {
		if t == p.session.Topic() {
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
		return p.editTopics("new messages go to "+oneLine(path), "", path, func(ctx context.Context) error {
			return p.opts.History.CreateTopic(ctx, path)
		})
	}
	if parent != "" {
		parent += history.TopicSeparator
	}
	return p.open(overlay.TopicName, overlay.NewLine("New topic", parent, "the path, as in AI > Agents · enter creates it"), func(c overlay.Chosen) tea.Cmd {
		return p.newTopic(c.Value, "")
	})
}

// renameTopic asks for another name; the topics below move along.
func (p *pickers) renameTopic(path string) tea.Cmd {
	if path == "" {
		return p.info("“no topic” cannot be renamed")
	}
	parent, name := splitTopic(path)
	return p.open(overlay.TopicName, overlay.NewLine("Rename "+oneLine(path), name, "a name, or a path to move it · enter renames"), func(c overlay.Chosen) tea.Cmd {
		to := history.TopicPath(c.Value)
		if above, _ := splitTopic(to); parent != "" && above == "" {
			to = parent + history.TopicSeparator + to
		}
		return p.editTopics(oneLine(path+" is now "+to), path, to, func(ctx context.Context) error {
			return p.opts.History.MoveTopic(ctx, path, to)
		})
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
		return p.editTopics(oneLine(path)+" is deleted", path, parent, func(ctx context.Context) error {
			return p.opts.History.DeleteTopic(ctx, path)
		})
	})
}

// editTopics changes the tree of topics: the one at from moves to to; from is "" for a
// new one, which is then selected.
func (p *pickers) editTopics(notice, from, to string, change func(context.Context) error) tea.Cmd {
	var names filter.Sources
	return attempt(func(ctx context.Context) error {
		err := change(ctx)
		names = p.work.Names(ctx)
		return err
	}, func(err error) tea.Cmd {
		p.stored = names
		if err != nil {
			return p.fail(err)
		}
		p.notice.Info(notice)
		if from == "" {
			p.session.SetTopic(to)
			return nil
		}
		p.session.TopicMoved(from, to)
		return tea.Batch(p.conv.load(p.conv.chat.Loaded()...), p.refilter())
	})
}
