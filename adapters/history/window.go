package history

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// PageName is the page that this window is.
const PageName = "history"

//go:embed prompt.md
var prompt string

// Selected is what the user has open. The zero value is nothing.
type Selected struct {
	Line    string // the active filter line
	Session string // id of this session
	Topic   string // path
	Model   string // "provider/name"
	// Fits returns how many of the newest pairs of base fit in a request, the
	// boundary of o. nil means all.
	Fits func(base []assistant.Ref) int
}

// Options configures New. The zero value is ready to use.
type Options struct {
	Now      func() time.Time // nil means time.Now
	Selected func() Selected  // what the user has open; nil means nothing. Called from any goroutine
}

// Window is the history as the assistant works on it. Use New.
type Window struct {
	store    history.Store
	now      func() time.Time
	selected func() Selected

	work     sync.Mutex        // held while the store is read or changed; locked before mu
	seen     *marks            // as the model was last told; nil: it was told nothing
	line     string            // the filter line as the model was last told
	original map[marked]string // what pairs had before the tools first changed it

	mu     sync.Mutex
	locked bool
	budget int // of the context, in tokens; 0 means defaultContextTokens
	log    assistant.Changes
}

var (
	_ assistant.Window    = (*Window)(nil)
	_ assistant.ChangeLog = (*Window)(nil)
	_ assistant.Dirtier   = (*Window)(nil)
	_ assistant.Budgeter  = (*Window)(nil)
	_ assistant.Pager     = (*Window)(nil)
)

// New returns a window on a store, which stays the caller's to close.
func New(store history.Store, o Options) *Window {
	w := &Window{store: store, now: o.Now, selected: o.Selected, original: map[marked]string{}}
	if w.now == nil {
		w.now = time.Now
	}
	if w.selected == nil {
		w.selected = func() Selected { return Selected{} }
	}
	return w
}

// Lock says that the assistant works.
func (w *Window) Lock() { w.setLocked(true) }

// Unlock ends what Lock began.
func (w *Window) Unlock() { w.setLocked(false) }

func (w *Window) setLocked(locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked = locked
}

// Locked says whether the assistant works in the window.
func (w *Window) Locked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked
}

// Dirty is never true: what changes is on disk at once.
func (w *Window) Dirty() bool { return false }

// Prompt tells the model how to work in this window.
func (w *Window) Prompt() string { return prompt }

// Where names the page. It has no tabs.
func (w *Window) Where() assistant.Location { return assistant.Location{Page: PageName} }

// Register adds the page of the window. The tools come from Window.Tools.
func Register(pages *assistant.Pages, w *Window) error {
	return pages.AddPage(assistant.Page{Name: PageName, Context: func(assistant.Location) string {
		if line := w.selected().Line; line != "" {
			return "The user looks at the pairs that the filter line " + quote(line) + " shows."
		}
		return "The user looks at all pairs of the history."
	}})
}

// Tools are what the assistant may do with the history. None deletes a pair.
func (w *Window) Tools() []assistant.Tool {
	return []assistant.Tool{
		reader(w, "search_pairs", "Find pairs by plain words, by a filter line, or by both.", w.searchPairs),
		reader(w, "get_pair", "Read one pair: texts, tool calls, marks.", w.getPair),
		reader(w, "list_topics", "List the tree of topics with their counts.", w.listTopics),
		reader(w, "list_sessions", "List the sessions, the last used first, with how each began.", w.listSessions),
		reader(w, "summarise_pairs", "Read many pairs in condensed form, to summarise them in your answer.", w.summarisePairs),
		writer(w, "star_pairs", "Give pairs 0 to 3 stars.", w.planStars),
		writer(w, "flag_pairs", "Flag pairs, or remove their flag.", w.planFlag),
		writer(w, "set_topic", "Give pairs a topic, or none.", w.planTopic),
	}
}

// refusal is an error that is a result of its own: why a call is not carried out.
type refusal struct{ assistant.ToolResult }

func (r *refusal) Error() string { return r.Message }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{assistant.Fail(code, format, args...)}
}

// result is what a tool returns: a refusal is no failure of the program.
func result(r assistant.ToolResult, err error) (assistant.ToolResult, error) {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.ToolResult, nil
	}
	return r, err
}

// reader makes a tool that changes nothing.
func reader[A any](w *Window, name, description string, run func(context.Context, A) (assistant.ToolResult, error)) assistant.Tool {
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.work.Lock()
		defer w.work.Unlock()
		return result(run(ctx, args))
	})
	t.Category = "History"
	return t
}

// asksAbove is how many pairs may change without asking (filter language, Commands).
const asksAbove = 50

// change is what a write tool is going to do.
type change struct {
	pairs seqs   // that will differ
	mark  mark   // that they get
	does  string // "3 stars"
	done  string // what to say afterwards
	data  map[string]any
}

// writer makes a write tool. plan works out what a call would do and changes
// nothing; it runs once more for the dialog that asks.
func writer[A any](w *Window, name, description string, plan func(context.Context, A, marks) (change, error)) assistant.Tool {
	prepare := func(ctx context.Context, args A) (change, marks, error) {
		now, err := w.read(ctx)
		if err != nil {
			return change{}, now, err
		}
		c, err := plan(ctx, args, now)
		return c, now, err
	}
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.work.Lock()
		defer w.work.Unlock()
		c, now, err := prepare(ctx, args)
		if err == nil && len(c.pairs) > 0 {
			err = w.apply(ctx, c, now)
		}
		return result(assistant.OK(c.done, c.data), err)
	})
	t.Write, t.Lasting, t.Category = true, true, "History"
	t.Preview = func(ctx context.Context, raw json.RawMessage) (string, bool, error) {
		w.work.Lock()
		defer w.work.Unlock()
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return "", false, nil // the call itself says what is wrong with its arguments
		}
		c, _, err := prepare(ctx, args)
		if _, err = result(assistant.ToolResult{}, err); err != nil || len(c.pairs) <= asksAbove {
			return "", false, err
		}
		return fmt.Sprintf("%s: %s\npairs %s", assistant.Counted(len(c.pairs), "pair"), c.does, c.pairs), true, nil
	}
	return t
}

// apply carries a change out. What the user did before it is noted for the model
// first, so that it is told apart from what the tool does.
func (w *Window) apply(ctx context.Context, c change, before marks) error {
	told := w.seen != nil
	if told {
		w.notice(before, w.line)
	}
	if _, err := w.store.Mark(ctx, c.pairs, c.mark.set()); err != nil {
		return err
	}
	if after, err := w.read(ctx); told && err == nil {
		w.seen = &after
	} else {
		w.seen = nil
	}
	for value, pairs := range before.values(c.mark.kind, c.pairs) {
		for _, seq := range pairs {
			if _, known := w.original[marked{c.mark.kind, seq}]; !known {
				w.original[marked{c.mark.kind, seq}] = value
			}
		}
	}
	return nil
}

// env is what a line depends on now.
func (w *Window) env() history.Env {
	at := w.selected()
	return history.Env{
		Env:  filter.Env{Now: w.now(), SelectedTopic: at.Topic, SelectedModel: at.Model, Session: at.Session},
		Fits: at.Fits,
	}
}

// notice notes which marks of the pairs that the model knows others have changed
// since it was last told, and remembers now as what it is told.
func (w *Window) notice(now marks, line string) {
	then, oldLine := w.seen, w.line
	if w.seen, w.line = &now, line; then == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	byName := func(a, b mark) int { return strings.Compare(string(a.kind)+a.value, string(b.kind)+b.value) }
	for _, of := range slices.SortedFunc(maps.Keys(now.sets), byName) {
		if pairs := now.sets[of].minus(then.sets[of]).and(then.pairs); len(pairs) > 0 {
			w.log.Add(assistant.NewChange("pairs_marked", w.now(), map[string]any{string(of.kind): shown(of.value), "ids": pairs.String(), "count": len(pairs)}))
		}
	}
	if line != oldLine {
		w.log.Add(assistant.NewChange("filter_changed", w.now(), map[string]any{"line": shown(line)}))
	}
}

// Changes returns what others did after mark, as far as a Context has shown it, and
// the mark for the next call. What the tools did is not in it.
func (w *Window) Changes(mark int64) ([]assistant.Change, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Since(mark)
}

// maxName is how many cells of a name, topic or line a model is told.
const maxName = 200

// shown is a name as a model is told it: on one line, without hidden characters,
// cut when it is long.
func shown(text string) string { return safetext.Line(text, maxName) }

// quote is a name inside a sentence.
func quote(text string) string { return fmt.Sprintf("%q", shown(text)) }
