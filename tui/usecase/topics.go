package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
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
		From    string         // the topic that was moved or deleted; "": one was created and selected
		To      string         // its path now, or where its pairs went
		Deleted bool
		Err     error // why nothing was changed
		ViewErr error // see Starred
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
		err := c.Session().Needs(assistant.RolePropose)
		if err == nil {
			err = c.store.CreateTopic(ctx, path)
		}
		if err == nil {
			c.Session().SetTopic(path)
		}
		names := c.Names(ctx)
		return TopicsChanged{Reply: c.reply(), Names: names, To: path, Err: err}, nil
	})
}

// MoveTopic gives a topic another path; the topics below it move along: TopicsChanged.
func (c *Commands) MoveTopic(request int64, from, to string) tea.Cmd {
	return c.command(request, "rename the topic", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Session().Needs(assistant.RoleSave) // the topic may hold pairs of others
		if err == nil {
			err = c.store.MoveTopic(ctx, from, to)
		}
		return c.topicMoved(ctx, TopicsChanged{From: from, To: to, Err: err}), nil
	})
}

// DeleteTopic deletes a topic; its pairs and the topics below it go to parent: TopicsChanged.
func (c *Commands) DeleteTopic(request int64, path, parent string) tea.Cmd {
	return c.command(request, "delete the topic", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Session().Needs(assistant.RoleSave)
		if err == nil {
			err = c.store.DeleteTopic(ctx, path)
		}
		return c.topicMoved(ctx, TopicsChanged{From: path, To: parent, Deleted: true, Err: err}), nil
	})
}

// topicMoved follows a topic in the session and in the view.
func (c call) topicMoved(ctx context.Context, o TopicsChanged) TopicsChanged {
	if o.Err == nil {
		c.Session().TopicMoved(o.From, o.To)
		o.ViewErr = c.Refilter(ctx)
	}
	o.Names = c.Names(ctx)
	o.Reply = c.reply()
	return o
}
