package history

import (
	"context"
	"fmt"
	"strconv"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/safetext"
)

type starArgs struct {
	pairArgs
	Stars int `json:"stars" jsonschema:"0 to 3; 0 removes the stars"`
}

func (w *Window) planStars(ctx context.Context, a starArgs, now marks) (change, error) {
	if a.Stars < 0 || a.Stars > filter.MaxStars {
		return change{}, refuse(assistant.CodeInvalidArguments, "stars must be 0 to %d, not %d", filter.MaxStars, a.Stars)
	}
	words := safetext.Sprintf("%s", assistant.Counted(a.Stars, "star"))
	if a.Stars == 0 {
		words = "no stars"
	}
	return w.planMark(ctx, a.pairArgs, now, mark{stars, strconv.Itoa(a.Stars)}, words)
}

type flagArgs struct {
	pairArgs
	Flag bool `json:"flag" jsonschema:"true sets the flag (blue, the default for new pairs), false removes it (grey)"`
}

func (w *Window) planFlag(ctx context.Context, a flagArgs, now marks) (change, error) {
	if a.Flag {
		return w.planMark(ctx, a.pairArgs, now, mark{flags, flagOn}, "a flag")
	}
	return w.planMark(ctx, a.pairArgs, now, mark{flags, flagOff}, "no flag")
}

type topicArgs struct {
	pairArgs
	Topic  string `json:"topic" jsonschema:"path such as \"AI > Agents\"; empty removes the topic"`
	Create bool   `json:"create,omitempty" jsonschema:"create the topic if it does not exist"`
}

func (w *Window) planTopic(ctx context.Context, a topicArgs, now marks) (change, error) {
	path, found := now.topic(a.Topic)
	if path == "" {
		return w.planMark(ctx, a.pairArgs, now, mark{topics, ""}, "no topic")
	}
	if !found && !a.Create {
		r := now.unknownTopic(path)
		r.Hint = "Use an existing topic, or set create."
		return change{}, r
	}
	words := safetext.Sprintf("the topic %q", path)
	if !found {
		words = safetext.Sprintf("the new topic %q", path)
	}
	return w.planMark(ctx, a.pairArgs, now, mark{topics, path}, words)
}

// planMark plans to set a mark on pairs; words describes the mark in messages, such as "3 stars".
func (w *Window) planMark(ctx context.Context, which pairArgs, now marks, m mark, words safetext.Text) (change, error) {
	s, err := w.selectPairs(ctx, which)
	if err != nil {
		return change{}, err
	}
	has := func(pairs seqs) string {
		if len(pairs) == 1 {
			return "has " + string(words)
		}
		return "have " + string(words)
	}
	same, pairs := s.pairs.split(now.byMark[m])
	c := change{pairs: pairs, mark: m, words: words, data: map[string]any{"matched": len(s.pairs), "changed": len(pairs)}}
	if len(pairs) == 0 {
		c.message = fmt.Sprintf("nothing changed: %s already %s%s", assistant.Counted(len(s.pairs), "message"), has(s.pairs), s.remarks())
		return c, nil
	}
	c.message = fmt.Sprintf("%s now %s", assistant.Counted(len(pairs), "message"), has(pairs))
	if len(same) > 0 {
		c.message += fmt.Sprintf("; %d already had this mark", len(same))
	}
	c.message += s.remarks()
	before := map[string]string{}
	for value, pairs := range now.values(m.kind, pairs) {
		before[oneLine(value)] = pairs.String()
	}
	c.data["ids"], c.data["before"] = pairs.String(), before
	return c, nil
}
