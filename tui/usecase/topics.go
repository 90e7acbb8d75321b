package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/filter"
)

type (
	// TopicSelected ends SelectTopic.
	TopicSelected struct {
		Reply
		Path string // "" is no topic
	}
	// TopicsChanged ends CreateTopic, MoveTopic and DeleteTopic.
	TopicsChanged struct {
		Reply
		Names   filter.Sources // what completion offers now
		Created string         // and selected; "": a topic was moved or deleted
		Err     error          // why nothing was changed
		ViewErr error          // see Starred
	}
)

// SelectTopic gives new pairs a topic: TopicSelected.
func (c *Commands) SelectTopic(request int64, path string) tea.Cmd {
	return c.command(request, "select the topic", func(_ context.Context, c call) (Outcome, error) {
		c.Session().SetTopic(path)
		return TopicSelected{c.reply(), path}, nil
	})
}

// CreateTopic creates a topic and selects it: TopicsChanged.
func (c *Commands) CreateTopic(request int64, path string) tea.Cmd {
	return c.command(request, "create the topic", func(ctx context.Context, c call) (Outcome, error) {
		err := c.store.CreateTopic(ctx, path)
		if err == nil {
			c.Session().SetTopic(path)
		}
		names := c.Names(ctx)
		return TopicsChanged{c.reply(), names, path, err, nil}, nil
	})
}

// MoveTopic gives a topic another path; the topics below it move along: TopicsChanged.
func (c *Commands) MoveTopic(request int64, from, to string) tea.Cmd {
	return c.command(request, "rename the topic", func(ctx context.Context, c call) (Outcome, error) {
		return c.topicMoved(ctx, from, to, c.store.MoveTopic(ctx, from, to)), nil
	})
}

// DeleteTopic deletes a topic; its pairs and the topics below it go to parent: TopicsChanged.
func (c *Commands) DeleteTopic(request int64, path, parent string) tea.Cmd {
	return c.command(request, "delete the topic", func(ctx context.Context, c call) (Outcome, error) {
		return c.topicMoved(ctx, path, parent, c.store.DeleteTopic(ctx, path)), nil
	})
}

func (c call) topicMoved(ctx context.Context, from, to string, err error) TopicsChanged {
	var view error
	if err == nil {
		c.Session().TopicMoved(from, to)
		view = c.Refilter(ctx)
	}
	names := c.Names(ctx)
	return TopicsChanged{c.reply(), names, "", err, view}
}
