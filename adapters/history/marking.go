package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
)

type starArgs struct {
	chosen
	Stars int `json:"stars" jsonschema:"0 to 3; 0 takes the stars away"`
}

func (w *Window) planStars(ctx context.Context, a starArgs, now marks) (change, refusal, error) {
	if a.Stars < 0 || a.Stars > filter.MaxStars {
		return change{}, refuse(assistant.CodeInvalidArguments, "%d stars; want 0 to %d", a.Stars, filter.MaxStars), nil
	}
	return w.planMark(ctx, a.chosen, now, stars, strconv.Itoa(a.Stars), assistant.Counted(a.Stars, "star"))
}

type flagArgs struct {
	chosen
	Flag bool `json:"flag" jsonschema:"true flags (blue, as every new pair is), false takes the flag away (grey)"`
}

func (w *Window) planFlag(ctx context.Context, a flagArgs, now marks) (change, refusal, error) {
	if a.Flag {
		return w.planMark(ctx, a.chosen, now, flags, flagOn, "a flag")
	}
	return w.planMark(ctx, a.chosen, now, flags, flagOff, "no flag")
}

type topicArgs struct {
	chosen
	Topic  string `json:"topic" jsonschema:"path such as \"AI > Agents\"; empty for none"`
	Create bool   `json:"create,omitempty" jsonschema:"make the topic when it does not exist"`
}

func (w *Window) planTopic(ctx context.Context, a topicArgs, now marks) (change, refusal, error) {
	path, found := now.topic(a.Topic)
	if path == "" {
		return w.planMark(ctx, a.chosen, now, topics, noTopic, "no topic")
	}
	if !found && !a.Create {
		r := now.unknownTopic(a.Topic)
		r.Hint = "Use one of the topics that exist, or set create."
		return change{}, r, nil
	}
	c, refused, err := w.planMark(ctx, a.chosen, now, topics, path, "the topic "+quote(path))
	if !found && refused == nil {
		c.remarks = "; the topic is new" + c.remarks
	}
	return c, refused, err
}

// planMark gives pairs a value of one kind.
func (w *Window) planMark(ctx context.Context, which chosen, now marks, kind int, value, words string) (change, refusal, error) {
	s, refused, err := w.choose(ctx, which, now.pairs)
	if err == nil && refused == nil {
		refused, err = w.markable(ctx, s)
	}
	if err != nil || refused != nil {
		return change{}, refused, err
	}
	c := change{does: words, remarks: s.remarks(), data: map[string]any{"selected": len(s.pairs), "changed": 0}}
	values := now.columns[kind].values(s.pairs)
	before := map[string]seqs{}
	for _, seq := range s.pairs {
		if old := values[seq]; old != value {
			c.pairs = append(c.pairs, seq)
			before[shown(old)] = append(before[shown(old)], seq)
		}
	}
	if len(c.pairs) == 0 {
		c.done = fmt.Sprintf("nothing changed: %s %s already", assistant.Counted(len(s.pairs), "pair"), has(len(s.pairs), words))
		return c, nil, nil
	}
	c.done = fmt.Sprintf("%s now %s", assistant.Counted(len(c.pairs), "pair"), has(len(c.pairs), words))
	if same := len(s.pairs) - len(c.pairs); same > 0 {
		c.done += fmt.Sprintf("; %d had it already", same)
	}
	c.data["changed"], c.data["ids"], c.data["before"] = len(c.pairs), c.pairs.String(), runsOf(before)
	c.apply = func(ctx context.Context) error {
		_, err := w.store.Mark(ctx, c.pairs, mark(kind, value))
		return err
	}
	return c, nil, nil
}

// runsOf writes pairs by value as numbers, "3-9, 12".
func runsOf(sets map[string]seqs) map[string]string {
	out := make(map[string]string, len(sets))
	for value, pairs := range sets {
		out[value] = pairs.String()
	}
	return out
}

// has is "has X" or "have X".
func has(n int, what string) string {
	if n == 1 {
		return "has " + what
	}
	return "have " + what
}

// topic is the path that a name means: the topic of that path, whatever the
// case of its letters, else the path itself in the store's form.
func (m marks) topic(name string) (path string, found bool) {
	path = canonical(name)
	if _, exact := m.columns[topics].sets[path]; exact {
		return path, true
	}
	for _, p := range m.topicPaths() {
		if strings.EqualFold(p, path) {
			return p, true
		}
	}
	return path, false
}

// unknownTopic says that there is no such topic, and which were likely meant.
func (m marks) unknownTopic(name string) refusal {
	r := refuse(assistant.CodeFailed, "there is no topic %s", quote(canonical(name)))
	pattern := filter.Topic{}
	for _, level := range levels(name) {
		pattern.Path = append(pattern.Path, filter.Pattern{Parts: []string{level}})
	}
	if len(pattern.Path) == 0 {
		return r
	}
	for _, h := range filter.Hints(pattern, m.topicPaths(), nil) {
		if len(h.Nearest) > 0 {
			r.Message += "; nearest: " + shown(strings.Join(h.Nearest, ", "))
		}
	}
	return r
}
