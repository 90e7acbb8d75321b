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

// PageName is the name of this window's page.
const PageName = "history"

//go:embed prompt.md
var prompt string

// Selected is what the user has selected. The zero value means that nothing is selected.
type Selected struct {
	Line    string // the active filter line
	Session string // the id of the selected session
	Topic   string // path
	Model   string // "provider/name"
	// Fits returns how many of the newest pairs in base fit in a request; the filter term o matches those pairs. A nil
	// Fits means that all pairs fit.
	Fits func(base []assistant.Ref) int
}

// Options configures New. The zero value is ready to use.
type Options struct {
	Now      func() time.Time // nil means time.Now
	Selected func() Selected  // must be safe for concurrent use; nil means that nothing is selected
}

// Window is the history as a window of the assistant. Use New.
type Window struct {
	store    Store
	now      func() time.Time
	selected func() Selected

	storeMu       sync.Mutex          // held while the store is read or changed; locked before mu
	reportedMarks *marks              // the marks as last reported to the model; nil if nothing has been reported yet
	reportedLine  string              // the filter line as last reported to the model
	original      map[pairKind]string // the mark of each kind that a pair had before a tool first changed it

	reading      sync.Mutex // held while a Snapshot is read
	readRevision int64      // revision of the store when it was last read; guarded by reading

	mu       sync.Mutex
	snapshot *Snapshot
	revision int64         // revision of snapshot
	wake     chan struct{} // closed on the next revision; nil if no reader is waiting

	locked  bool
	budget  int // budget of the context in tokens; 0 means defaultContextTokens
	changes assistant.Entries
}

var (
	_ assistant.Window   = (*Window)(nil)
	_ assistant.Log      = (*Window)(nil)
	_ assistant.Dirtier  = (*Window)(nil)
	_ assistant.Budgeter = (*Window)(nil)
	_ assistant.Pager    = (*Window)(nil)

	_ assistant.Actor     = (*Window)(nil)
	_ assistant.Describer = (*Window)(nil)
)

// Store is the part of the history that a window reads and changes.
type Store interface {
	history.Pairs
	history.Searcher
	history.Marks
	history.Topics
	history.Sessions
}

// New returns a window on a store; the caller closes the store.
func New(store Store, o Options) *Window {
	w := &Window{store: store, now: o.Now, selected: o.Selected, original: map[pairKind]string{}, snapshot: &Snapshot{}, readRevision: -1}
	if w.now == nil {
		w.now = time.Now
	}
	if w.selected == nil {
		w.selected = func() Selected { return Selected{} }
	}
	return w
}

// Lock marks the window as in use by the assistant.
func (w *Window) Lock() { w.setLocked(true) }

// Unlock ends the effect of Lock.
func (w *Window) Unlock() { w.setLocked(false) }

func (w *Window) setLocked(locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked = locked
}

// Locked reports whether the assistant is using the window.
func (w *Window) Locked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked
}

// Dirty always returns false, because every change is stored at once.
func (w *Window) Dirty() bool { return false }

// Describe returns the instructions for the model.
func (w *Window) Describe() string { return prompt }

// Where returns the page, which has no tabs.
func (w *Window) Where() assistant.Location { return assistant.Location{Page: PageName} }

// Register adds the page of the window to pages. The page has no tools of its own; see Window.Tools.
func Register(pages *assistant.Pages, w *Window) error {
	return pages.AddPage(assistant.Page{Name: PageName, Context: func(assistant.Location) string {
		if line := w.selected().Line; line != "" {
			return "The user is looking at the pairs selected by the filter line " + quote(line) + "."
		}
		return "The user is looking at all pairs of the history."
	}})
}

// Tools returns the assistant's tools. No tool deletes a pair.
func (w *Window) Tools() []assistant.Tool {
	return []assistant.Tool{
		readTool(w, "search_pairs", "Find pairs by plain words, by a filter line, or by both.", w.searchPairs),
		readTool(w, "get_pair", "Read one pair: its texts, tool calls and marks.", w.getPair),
		readTool(w, "list_topics", "List the tree of topics, with the number of pairs in each.", w.listTopics),
		readTool(w, "list_sessions", "List the sessions, most recently used first, each with the beginning of its first message.", w.listSessions),
		readTool(w, "summarise_pairs", "Read many pairs in condensed form, to summarise them in your answer.", w.summarisePairs),
		writeTool(w, "star_pairs", "Give pairs 0 to 3 stars.", w.planStars),
		writeTool(w, "flag_pairs", "Flag pairs, or remove their flags.", w.planFlag),
		writeTool(w, "set_topic", "Set or remove the topic of pairs.", w.planTopic),
	}
}

// refusal is an error that is returned to the model as the result of its call.
type refusal struct{ assistant.ToolResult }

func (r *refusal) Error() string { return r.Message }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{assistant.Fail(code, format, args...)}
}

// result converts a refusal to a result without an error.
func result(r assistant.ToolResult, err error) (assistant.ToolResult, error) {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.ToolResult, nil
	}
	return r, err
}

// readTool returns a tool that changes nothing.
func readTool[A any](w *Window, name, description string, run func(context.Context, A) (assistant.ToolResult, error)) assistant.Tool {
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.storeMu.Lock()
		defer w.storeMu.Unlock()
		return result(run(ctx, args))
	})
	t.Category = "History"
	return t
}

// confirmAbove is the number of pairs above which a change requires the user's confirmation.
const confirmAbove = 50

// change is what a write tool is about to do.
type change struct {
	pairs   seqs          // the pairs that will change
	mark    mark          // the new mark
	words   safetext.Text // the mark in words, such as "3 stars"
	message string        // the message of the result
	data    map[string]any
}

// writeTool returns a write tool. plan returns what a call would do, without changing anything; plan also runs for the
// preview that the user confirms.
func writeTool[A any](w *Window, name, description string, plan func(context.Context, A, marks) (change, error)) assistant.Tool {
	prepare := func(ctx context.Context, args A) (change, marks, error) {
		now, err := w.readMarks(ctx)
		if err != nil {
			return change{}, now, err
		}
		c, err := plan(ctx, args, now)
		return c, now, err
	}
	t := assistant.NewTool(name, description, func(ctx context.Context, args A) (assistant.ToolResult, error) {
		w.storeMu.Lock()
		defer w.storeMu.Unlock()
		c, now, err := prepare(ctx, args)
		if err == nil && len(c.pairs) > 0 {
			err = w.apply(ctx, c, now)
		}
		return result(assistant.OK(c.message, c.data), err)
	})
	t.Write, t.Lasting, t.Category = true, true, "History"
	t.Destructive, t.Idempotent = true, true
	t.Preview = func(ctx context.Context, raw json.RawMessage) (assistant.Preview, error) {
		w.storeMu.Lock()
		defer w.storeMu.Unlock()
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return assistant.Preview{}, nil // the call itself reports invalid arguments
		}
		c, _, err := prepare(ctx, args)
		if _, err = result(assistant.ToolResult{}, err); err != nil || len(c.pairs) <= confirmAbove {
			return assistant.Preview{}, err
		}
		return assistant.Preview{Text: safetext.Sprintf("%s will have %s:\n%s", assistant.Counted(len(c.pairs), "message"), c.words, c.pairs), Ask: true}, nil
	}
	return t
}

// apply carries out a change. It first records what the user has changed, so that the model does not mistake the user's
// change for a change by the tool.
func (w *Window) apply(ctx context.Context, c change, before marks) error {
	reported := w.reportedMarks != nil
	if reported {
		w.recordChanges(before, w.reportedLine)
	}
	if _, err := w.store.Mark(ctx, c.pairs, c.mark.storeMark()); err != nil {
		return err
	}
	if after, err := w.readMarks(ctx); reported && err == nil {
		w.reportedMarks = &after
	} else {
		w.reportedMarks = nil
	}
	for value, pairs := range before.values(c.mark.kind, c.pairs) {
		for _, seq := range pairs {
			if _, known := w.original[pairKind{c.mark.kind, seq}]; !known {
				w.original[pairKind{c.mark.kind, seq}] = value
			}
		}
	}
	return nil
}

// env returns the environment in which a line is evaluated. Because several sessions may use the window, it is the
// environment of the session that calls the tool. Without a session, it is what the user has selected.
func (w *Window) env(ctx context.Context) history.Env {
	if s := assistant.SessionOf(ctx); s != nil {
		return history.EnvOf(s, w.now())
	}
	selected := w.selected()
	return history.Env{
		Env:  filter.Env{Now: w.now(), SelectedTopic: selected.Topic, SelectedModel: selected.Model, Session: selected.Session},
		Fits: selected.Fits,
	}
}

// recordChanges records what has changed since the last report to the model: the marks of pairs that the model knows, and
// the filter line. It then stores now and line as reported.
func (w *Window) recordChanges(now marks, line string) {
	then, oldLine := w.reportedMarks, w.reportedLine
	if w.reportedMarks, w.reportedLine = &now, line; then == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	byName := func(a, b mark) int { return strings.Compare(string(a.kind)+a.value, string(b.kind)+b.value) }
	for _, key := range slices.SortedFunc(maps.Keys(now.byMark), byName) {
		if pairs := now.byMark[key].minus(then.byMark[key]).intersect(then.pairs); len(pairs) > 0 {
			w.changes.Add(assistant.NewEntry("pairs_marked", w.now(), map[string]any{string(key.kind): oneLine(key.value), "ids": pairs.String(), "count": len(pairs)}))
		}
	}
	if line != oldLine {
		w.changes.Add(assistant.NewEntry("filter_changed", w.now(), map[string]any{"line": oneLine(line)}))
	}
}

// Changes returns the changes after position, and the position for the next call. It returns only changes that were
// not made by the tools and that have been recorded by Context or by a tool.
func (w *Window) Changes(position int64) ([]assistant.Entry, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes.Since(position)
}

// maxNameCells is the maximum width, in cells, of a name, topic or line shown to a model.
const maxNameCells = 200

// oneLine returns a name for the model: on one line, sanitised and truncated.
func oneLine(text string) string { return string(safetext.Line(text, maxNameCells)) }

// quote returns a name in quotes for use in a sentence.
func quote(text string) string { return fmt.Sprintf("%q", oneLine(text)) }
