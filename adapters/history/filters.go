package history

import (
	"context"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
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
