package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// maxIDs is how many pairs a call may name one by one; more are what lines are for.
const maxIDs = 1000

// lastLooked is how many of the newest pairs of a selection are looked at for
// one that is being answered: more sessions than that hardly run at once.
const lastLooked = 32

// chosen says which pairs a tool is about.
type chosen struct {
	IDs  []int64 `json:"ids,omitempty" jsonschema:"numbers of pairs, as search_pairs gives them"`
	Line string  `json:"line,omitempty" jsonschema:"a filter line, in place of ids; it selects from the whole history"`
}

// selection is the pairs that a call is about.
type selection struct {
	pairs  seqs
	busy   seqs // that the line selects too, left out: they are being answered
	hints  []filter.Hint
	byLine bool
}

// refusal is a result that says why a call cannot be carried out.
type refusal = *assistant.ToolResult

func refuse(code, format string, args ...any) refusal {
	r := assistant.Fail(code, format, args...)
	return &r
}

// choose finds the pairs that a call names.
func (w *Window) choose(ctx context.Context, c chosen, now seqs) (selection, refusal, error) {
	line := strings.TrimSpace(c.Line)
	switch {
	case len(c.IDs) > 0 && line != "":
		return selection{}, refuse(assistant.CodeInvalidArguments, "give ids or a line, not both"), nil
	case line != "":
		s, refused, err := w.byLine(ctx, line)
		return s, refused, err
	case len(c.IDs) == 0:
		return selection{}, refuse(assistant.CodeInvalidArguments, "give ids, or a line that selects pairs"), nil
	case len(c.IDs) > maxIDs:
		return selection{}, refuse(assistant.CodeInvalidArguments, "%d ids are more than %d; give a line", len(c.IDs), maxIDs), nil
	}
	pairs := seqs(slices.Clone(c.IDs))
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	if unknown := pairs.minus(now); len(unknown) > 0 {
		return selection{}, refuse(assistant.CodeFailed, "there is no pair %s; search_pairs finds the numbers", unknown), nil
	}
	return selection{pairs: pairs}, nil, nil
}

// byLine finds the pairs that a line selects.
func (w *Window) byLine(ctx context.Context, line string) (selection, refusal, error) {
	q, refused := parseLine(line)
	if refused != nil {
		return selection{}, refused, nil
	}
	return w.find(ctx, q, line)
}

func (w *Window) find(ctx context.Context, q *filter.Query, line string) (selection, refusal, error) {
	found, err := w.store.Filter(ctx, q, w.env())
	if refused := unreadable(err, line); refused != nil {
		return selection{}, refused, nil
	}
	if err != nil {
		return selection{}, nil, err
	}
	pairs := numbers(found.Refs)
	busy, err := w.answering(ctx, pairs) // the question itself is no find
	return selection{pairs: pairs.minus(busy), busy: busy, hints: found.Hints, byLine: true}, nil, err
}

// parseLine reads a line that only filters.
func parseLine(line string) (*filter.Query, refusal) {
	q, err := filter.Parse(line)
	if refused := unreadable(err, line); refused != nil {
		return nil, refused
	}
	if q.Command != nil {
		return nil, refuse(assistant.CodeInvalidArguments, "a line here only filters; leave out %s and use the tool for it", quote(q.Command.String()))
	}
	return q, nil
}

// unreadable is the result for a line that cannot be read; nil for other errors.
func unreadable(err error, line string) refusal {
	var e *filter.Error
	if !errors.As(err, &e) {
		return nil
	}
	r := refuse(assistant.CodeInvalidArguments, "the line cannot be read: %s", e.Error())
	r.Hint = "Correct the line at that column and call again; nothing was done."
	r.Data = map[string]any{"line": shown(line), "column": e.Column, "found": shown(e.Found), "want": shown(e.Want)}
	return r
}

// markable refuses to mark nothing, and pairs that are being answered: their
// turn would write over the marks.
func (w *Window) markable(ctx context.Context, s selection) (refusal, error) {
	if !s.byLine {
		busy, err := w.answering(ctx, s.pairs)
		if err != nil || len(busy) == 0 {
			return nil, err
		}
		return refuse(assistant.CodeFailed, "pair %s is being answered and can be marked when that has ended", busy), nil
	}
	if len(s.pairs) == 0 {
		return refuse(assistant.CodeFailed, "the line selects no pair%s", s.remarks()), nil
	}
	return nil, nil
}

// answering is those of the pairs whose turn still runs.
func (w *Window) answering(ctx context.Context, pairs seqs) (seqs, error) {
	loaded, err := w.store.Load(ctx, backwards(pairs, lastLooked))
	var busy seqs
	for _, p := range slices.Backward(loaded) {
		if p.State == assistant.PairSending {
			busy = append(busy, p.Seq)
		}
	}
	return busy, err
}

// remarks are what else is to be said of a selection, as the end of a sentence.
func (s selection) remarks() string {
	var out string
	for _, h := range s.hints {
		out += "; " + shown(h.String())
	}
	if len(s.busy) > 0 {
		out += fmt.Sprintf("; pair %s is being answered and was left out", s.busy)
	}
	return out
}

// asksAbove is how many pairs may change without asking (filter language, Commands).
const asksAbove = 50

// change is what a write tool is going to do.
type change struct {
	pairs   seqs   // that will differ
	does    string // "give 3 stars"
	apply   func(context.Context) error
	done    string // what to say afterwards
	data    map[string]any
	remarks string
}

// writer makes a write tool. plan works out what a call would do and changes
// nothing; it runs once more for the dialog that asks.
func writer[A any](w *Window, name, description string, plan func(context.Context, A, marks) (change, refusal, error)) assistant.Tool {
	prepare := func(ctx context.Context, args A) (change, marks, refusal, error) {
		now, err := w.read(ctx)
		if err != nil {
			return change{}, now, nil, err
		}
		c, refused, err := plan(ctx, args, now)
		return c, now, refused, err
	}
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.work.Lock()
		defer w.work.Unlock()
		c, now, refused, err := prepare(ctx, args)
		switch {
		case err != nil:
			return assistant.ToolResult{}, err
		case refused != nil:
			return *refused, nil
		case c.apply != nil:
			if err := w.alter(ctx, now, func() error { return c.apply(ctx) }); err != nil {
				return assistant.ToolResult{}, err
			}
		}
		return assistant.OK(c.done+c.remarks, c.data), nil
	})
	t.Write, t.Lasting, t.Category = true, true, category
	t.Preview = func(ctx context.Context, raw json.RawMessage) (string, bool, error) {
		w.work.Lock()
		defer w.work.Unlock()
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", false, nil // the call itself says what is wrong with its arguments
		}
		c, _, refused, err := prepare(ctx, args)
		if err != nil || refused != nil || len(c.pairs) <= asksAbove {
			return "", false, err
		}
		return fmt.Sprintf("%s: %s\npairs %s", assistant.Counted(len(c.pairs), "pair"), c.does, c.pairs), true, nil
	}
	return t
}

// reader makes a tool that changes nothing.
func reader[A any](w *Window, name, description string, run func(context.Context, A) (assistant.ToolResult, refusal, error)) assistant.Tool {
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.work.Lock()
		defer w.work.Unlock()
		r, refused, err := run(ctx, args)
		if refused != nil {
			return *refused, err
		}
		return r, err
	})
	t.Category = category
	return t
}

// category groups the tools for people.
const category = "History"
