package history

import (
	"context"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

type saveArgs struct {
	Name string `json:"name" jsonschema:"letters, digits, _ and -"`
	Line string `json:"line" jsonschema:"the filter line, without a command"`
}

func (w *Window) planSave(ctx context.Context, a saveArgs, now marks) (change, refusal, error) {
	if refused := checkName(a.Name); refused != nil {
		return change{}, refused, nil
	}
	line := strings.TrimSpace(a.Line)
	if line == "" {
		return change{}, refuse(assistant.CodeInvalidArguments, "the line is empty; forget_filter forgets a filter"), nil
	}
	q, refused := parseLine(line)
	if refused != nil {
		return change{}, refused, nil
	}
	env := w.env()
	env.Saved = func(name string) (string, bool) { // with the new one, so that it cannot name itself
		if name == a.Name {
			return line, true
		}
		have, ok := now.filters[name]
		return have, ok
	}
	n, err := w.store.Count(ctx, q, env)
	if refused := unreadable(err, line); refused != nil {
		return change{}, refused, nil
	}
	if err != nil {
		return change{}, nil, err
	}
	c := change{
		does: "save filter", done: fmt.Sprintf("@%s is saved; it selects %s now", a.Name, assistant.Counted(n, "pair")),
		data:  map[string]any{"name": a.Name, "line": shown(line), "count": n},
		apply: func(ctx context.Context) error { return w.store.SaveFilter(ctx, a.Name, line) },
	}
	if old, had := now.filters[a.Name]; had && old != line {
		c.remarks, c.data["before"] = "; before it was "+shown(old), shown(old)
	}
	return c, nil, nil
}

type forgetArgs struct {
	Name string `json:"name" jsonschema:"name of a saved filter"`
}

func (w *Window) planForget(_ context.Context, a forgetArgs, now marks) (change, refusal, error) {
	name := strings.TrimPrefix(a.Name, "@")
	line, had := now.filters[name]
	if !had {
		r := refuse(assistant.CodeFailed, "there is no saved filter %s", quote(name))
		if len(now.filters) > 0 {
			r.Message += "; there is: " + shown(strings.Join(sortedKeys(now.filters), ", "))
		}
		return change{}, r, nil
	}
	return change{
		does: "forget filter", done: fmt.Sprintf("@%s is forgotten; it was %s", name, shown(line)),
		data:  map[string]any{"name": name, "line": shown(line)},
		apply: func(ctx context.Context) error { return w.store.SaveFilter(ctx, name, "") },
	}, nil, nil
}

// checkName refuses what cannot be written as @name.
func checkName(name string) refusal {
	q, err := filter.Parse("@" + name)
	if err == nil && q.Command == nil && q.Expr == (filter.Saved{Name: name}) {
		return nil
	}
	return refuse(assistant.CodeInvalidArguments, "%s is no name for a filter; want letters, digits, _ and -", quote(name))
}

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
	c := change{
		pairs: pairs, remarks: w.going(path), does: fmt.Sprintf("topic %s becomes %s", quote(path), quote(to)),
		data: map[string]any{"from": shown(path), "to": shown(to), "pairs": len(pairs)},
	}
	if to == path {
		c.pairs, c.remarks, c.done = nil, "", fmt.Sprintf("nothing changed: the topic is %s already", quote(path))
		return c, nil, nil
	}
	c.done = fmt.Sprintf("the topic %s is %s now, with %s", quote(path), quote(to), assistant.Counted(len(pairs), "pair"))
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
	return change{
		pairs: pairs, remarks: w.going(path), does: fmt.Sprintf("topic %s is removed, its pairs go to %s", quote(path), where),
		done:  fmt.Sprintf("the topic %s is removed; %s went to %s", quote(path), assistant.Counted(len(now.columns[topics].sets[path]), "pair"), where),
		data:  map[string]any{"topic": shown(path), "parent": shown(parent), "pairs": len(pairs)},
		apply: func(ctx context.Context) error { return w.store.DeleteTopic(ctx, path) },
	}, nil, nil
}

// going says where what is sent next goes, when that is the topic of this path
// or one below it: the user has it selected, and sending makes it anew.
func (w *Window) going(path string) string {
	at := canonical(w.selected().Topic)
	if at == "" || at != path && !strings.HasPrefix(at, path+history.TopicSeparator) {
		return ""
	}
	return fmt.Sprintf("; the user has %s selected: what is sent next goes there until another topic is selected", quote(at))
}

// existing is the path of a topic that must exist.
func (m marks) existing(name string) (string, refusal) {
	path, found := m.topic(name)
	if !found {
		return "", m.unknownTopic(name)
	}
	return path, nil
}
