package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
)

type (
	// TopicSelected is the outcome of SelectTopic.
	TopicSelected struct {
		Reply
		Path string // "" means no topic
	}
	// TopicsChanged is the outcome of CreateTopic, MoveTopic and DeleteTopic.
	TopicsChanged struct {
		Reply
		Names   filter.Sources // the names for completion after the change
		From    string         // the topic that was moved or deleted; "" if a topic was created and selected
		To      string         // the new path of the topic, or the topic to which the pairs of a deleted topic moved
		Deleted bool
		Err     error // why nothing was changed
		ViewErr error // as in Starred
	}
)

// SelectTopic sets the topic of new pairs. The outcome is TopicSelected.
func (c *Commands) SelectTopic(request int64, path string) tea.Cmd {
	return c.command(request, "select the topic", func(_ context.Context, c call) (Outcome, error) {
		c.Session().SetTopic(path)
		return TopicSelected{c.reply(), path}, nil
	})
}

// CreateTopic creates a topic and selects it. The outcome is TopicsChanged.
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

// MoveTopic moves a topic and the topics below it to another path. The outcome is
// TopicsChanged.
func (c *Commands) MoveTopic(request int64, from, to string) tea.Cmd {
	return c.command(request, "rename the topic", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Session().Needs(assistant.RoleSave) // the topic may contain pairs of other users
		if err == nil {
			err = c.store.MoveTopic(ctx, from, to)
		}
		return c.topicMoved(ctx, TopicsChanged{From: from, To: to, Err: err}), nil
	})
}

// DeleteTopic deletes a topic; its pairs and the topics below it move to the topic parent.
// The outcome is TopicsChanged.
func (c *Commands) DeleteTopic(request int64, path, parent string) tea.Cmd {
	return c.command(request, "delete the topic", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Session().Needs(assistant.RoleSave)
		if err == nil {
			err = c.store.DeleteTopic(ctx, path)
		}
		return c.topicMoved(ctx, TopicsChanged{From: path, To: parent, Deleted: true, Err: err}), nil
	})
}

// topicMoved updates the session and the view after a topic was moved or deleted.
func (c call) topicMoved(ctx context.Context, o TopicsChanged) TopicsChanged {
	if o.Err == nil {
		c.Session().TopicMoved(o.From, o.To)
		o.ViewErr = c.Refilter(ctx)
	}
	o.Names = c.Names(ctx)
	o.Reply = c.reply()
	return o
}
