package history

import (
	"context"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
)

type renameArgs struct {
	Topic string `json:"topic" jsonschema:"path of the topic"`
	Name  string `json:"name" jsonschema:"its new name, without the path"`
}

func (w *Window) planRename(ctx context.Context, a renameArgs, now marks) (change, refusal, error) {
	path, refused := now.existing(a.Topic)
	if refused != nil {
		return change{}, refused, nil
	}
	if len(levels(a.Name)) != 1 {
		return change{}, refuse(assistant.CodeInvalidArguments, "%s is not one name; move_topic changes the place", quote(a.Name)), nil
	}
	names := levels(path)
	names[len(names)-1] = canonical(a.Name)
	return w.planPath(ctx, now, path, names)
}

type moveArgs struct {
	Topic string `json:"topic" jsonschema:"path of the topic"`
	Under string `json:"under" jsonschema:"path of the topic that it goes under, made when it does not exist; empty for the top"`
}

func (w *Window) planMove(ctx context.Context, a moveArgs, now marks) (change, refusal, error) {
	path, refused := now.existing(a.Topic)
	if refused != nil {
		return change{}, refused, nil
	}
	under, _ := now.topic(a.Under)
	if under == path || strings.HasPrefix(under, path+history.TopicSeparator) {
		return change{}, refuse(assistant.CodeFailed, "the topic %s cannot move below itself", quote(path)), nil
	}
	names := levels(path)
	return w.planPath(ctx, now, path, append(levels(under), names[len(names)-1]))
}

// planPath gives a topic the path made of names.
func (w *Window) planPath(ctx context.Context, now marks, path string, names []string) (change, refusal, error) {
	to := strings.Join(names, history.TopicSeparator)
	if there, taken := now.topic(to); taken && there != path {
		r := refuse(assistant.CodeFailed, "the topic %s exists already", quote(there))
		r.Hint = "To put the pairs together, give them that topic with set_topic."
		return change{}, r, nil
	}
	pairs := now.below(path)
	stays, err := w.staying(ctx, pairs, path)
	if err != nil {
		return change{}, nil, err
	}
	c := change{
		pairs: pairs, remarks: stays, does: fmt.Sprintf("topic %s becomes %s", quote(path), quote(to)),
		data: map[string]any{"from": shown(path), "to": shown(to), "pairs": len(pairs)},
	}
	if to == path {
		c.pairs, c.remarks, c.done = nil, "", fmt.Sprintf("nothing changed: the topic is %s already", quote(path))
		return c, nil, nil
	}
	c.done = fmt.Sprintf("the topic %s is %s now, with %s", quote(path), quote(to), count(len(pairs), "pair"))
	c.apply = func(ctx context.Context) error { return w.store.MoveTopic(ctx, path, to) }
	return c, nil, nil
}

type deleteArgs struct {
	Topic string `json:"topic" jsonschema:"path of the topic"`
}

func (w *Window) planDelete(ctx context.Context, a deleteArgs, now marks) (change, refusal, error) {
	path, refused := now.existing(a.Topic)
	if refused != nil {
		return change{}, refused, nil
	}
	names := levels(path)
	parent := strings.Join(names[:len(names)-1], history.TopicSeparator)
	where := "no topic"
	if parent != "" {
		where = "the topic " + quote(parent)
	}
	pairs := now.below(path)
	stays, err := w.staying(ctx, pairs, path)
	if err != nil {
		return change{}, nil, err
	}
	return change{
		pairs: pairs, remarks: stays, does: fmt.Sprintf("topic %s is removed, its pairs go to %s", quote(path), where),
		done:  fmt.Sprintf("the topic %s is removed; %s went to %s", quote(path), count(len(now.columns[topics].sets[path]), "pair"), where),
		data:  map[string]any{"topic": shown(path), "parent": shown(parent), "pairs": len(pairs)},
		apply: func(ctx context.Context) error { return w.store.DeleteTopic(ctx, path) },
	}, nil, nil
}

// staying says which of the pairs of a topic will have it again: the turn of a
// pair that is being answered writes the topic that it began with.
func (w *Window) staying(ctx context.Context, pairs seqs, path string) (string, error) {
	busy, err := w.answering(ctx, pairs)
	if err != nil || len(busy) == 0 {
		return "", err
	}
	return fmt.Sprintf("; pair %s is being answered and keeps %s, as does what is sent next under it", busy, quote(path)), nil
}

// existing is the path of a topic that must exist.
func (m marks) existing(name string) (string, refusal) {
	path, found := m.topic(name)
	if !found {
		return "", m.unknownTopic(name)
	}
	return path, nil
}
