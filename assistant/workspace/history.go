package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// Filtered is what a filter line selects.
type Filtered struct {
	Refs  []assistant.Ref
	Hints []filter.Hint // names in the line that do not exist
}

// SetFilter makes what a line selects the view, and remembers the line. A line
// with a :command is PlanCommand's. When a later SetFilter was faster, this one
// changes nothing.
func (w *Workspace) SetFilter(ctx context.Context, line string) (Filtered, error) {
	w.mu.Lock()
	w.filters++
	mine := w.filters
	w.mu.Unlock()
	r, err := w.evaluate(ctx, line)
	if err != nil {
		return Filtered{}, err
	}
	w.mu.Lock()
	if w.filters == mine {
		w.session.SetView(r.Refs, line)
	}
	w.mu.Unlock()
	return Filtered{r.Refs, r.Hints}, w.rememberLine(ctx, line)
}

// Refilter evaluates the active line again, after pairs have changed.
func (w *Workspace) Refilter(ctx context.Context) error {
	line := w.session.Filter()
	r, err := w.evaluate(ctx, line)
	if err != nil {
		return err
	}
	w.session.RefreshView(r.Refs, line) // unless another line made the view meanwhile
	return nil
}

// CountFilter counts what a line would select.
func (w *Workspace) CountFilter(ctx context.Context, line string) (int, error) {
	q, env, err := w.parse(line)
	if err != nil {
		return 0, err
	}
	return w.history.Count(ctx, q, env)
}

// Selects reports whether the active line selects a pair. A pair that was just
// answered stays in view although the line hides it.
func (w *Workspace) Selects(ctx context.Context, seq int64) (bool, error) {
	r, err := w.evaluate(ctx, w.session.Filter())
	if err != nil {
		return false, err
	}
	_, in := slices.BinarySearchFunc(r.Refs, seq, func(r assistant.Ref, seq int64) int { return cmp.Compare(r.Seq, seq) })
	return in, nil
}

// FindText returns the pairs of all sessions that contain a text, in order.
func (w *Workspace) FindText(ctx context.Context, text string) ([]int64, error) {
	if w.history == nil {
		return nil, ErrNoHistory
	}
	r, err := w.history.Filter(ctx, &filter.Query{Expr: filter.Content{Parts: []string{text}}}, history.Env{})
	seqs := make([]int64, len(r.Refs))
	for i, ref := range r.Refs {
		seqs[i] = ref.Seq
	}
	return seqs, err
}

// PlanCommand prepares the :command of a filter line: what it acts on, and what
// to ask before Execute. The error is why it cannot be executed.
func (w *Workspace) PlanCommand(ctx context.Context, line string) (history.Command, error) {
	q, env, err := w.parse(line)
	if err != nil {
		return history.Command{}, err
	}
	o, err := history.Prepare(ctx, w.history, q, env)
	if err == nil {
		err = o.Refused()
	}
	if err == nil && o.Verb == filter.Delete && !o.DryRun && w.session.Busy() {
		err = assistant.ErrBusy
	}
	return o, err
}

// Execute executes a command that PlanCommand prepared, and remembers its line.
// When pairs have changed, the active line is evaluated again.
func (w *Workspace) Execute(ctx context.Context, o history.Command, line string) (history.Outcome, error) {
	out, err := history.Execute(ctx, w.history, o, w.session)
	if err != nil {
		return out, err
	}
	if out.CanUndo() {
		w.mu.Lock()
		w.outcomes = append(w.outcomes, out)
		w.outcomes = w.outcomes[max(0, len(w.outcomes)-history.MaxUndo):]
		w.mu.Unlock()
	}
	err = w.rememberLine(ctx, line)
	if o.Changes() && !o.DryRun && err == nil {
		err = w.Refilter(ctx)
	}
	return out, err
}

// UndoCommand undoes the newest command that changed pairs, and returns what it
// had done. ErrNothingToUndo: there is none.
func (w *Workspace) UndoCommand(ctx context.Context) (history.Outcome, error) {
	w.mu.Lock()
	n := len(w.outcomes)
	if n == 0 {
		w.mu.Unlock()
		return history.Outcome{}, ErrNothingToUndo
	}
	last := w.outcomes[n-1]
	w.outcomes = w.outcomes[:n-1]
	w.mu.Unlock()
	if err := history.Undo(ctx, w.history, last); err != nil {
		w.mu.Lock()
		w.outcomes = append(w.outcomes, last)
		w.mu.Unlock()
		return history.Outcome{}, err
	}
	return last, w.Refilter(ctx)
}

func (w *Workspace) evaluate(ctx context.Context, line string) (history.Result, error) {
	q, env, err := w.parse(line)
	if err != nil {
		return history.Result{}, err
	}
	return w.history.Filter(ctx, q, env)
}

func (w *Workspace) parse(line string) (*filter.Query, history.Env, error) {
	if w.history == nil {
		return nil, history.Env{}, ErrNoHistory
	}
	q, err := filter.Parse(line)
	if err != nil {
		return nil, history.Env{}, err
	}
	return q, history.EnvOf(w.session, w.now()), nil
}

func (w *Workspace) rememberLine(ctx context.Context, line string) error {
	if line == "" {
		return nil
	}
	return w.history.AddFilterLine(ctx, line)
}

const (
	draftKey  = "input" // of the draft without a folder
	sentLimit = 200     // sent messages that can be recalled
)

// Draft returns the draft of the folder. One without a folder, of a version
// that kept one for all, belongs to the first folder that reads it.
func (w *Workspace) Draft(ctx context.Context) (history.Draft, error) {
	if w.history == nil {
		return history.Draft{}, nil
	}
	empty := func(d history.Draft) bool { return d.Text == "" && len(d.Stash) == 0 }
	key := w.draftKey()
	d, err := w.history.Draft(ctx, key)
	if err != nil || key == draftKey || !empty(d) {
		return d, err
	}
	if d, err = w.history.Draft(ctx, draftKey); err != nil || empty(d) {
		return d, err
	}
	if err := w.history.SaveDraft(ctx, key, d); err != nil {
		return d, err
	}
	return d, w.history.SaveDraft(ctx, draftKey, history.Draft{})
}

// SaveDraft stores the draft of the folder; an empty one is forgotten.
func (w *Workspace) SaveDraft(ctx context.Context, d history.Draft) error {
	if w.history == nil {
		return nil
	}
	if err := w.history.SaveDraft(ctx, w.draftKey(), d); err != nil || d.Text == "" || w.session == nil {
		return err
	}
	return w.session.ForgetQueued(ctx) // one that was taken to be edited is durable now
}

// AddDraft adds what was typed before there was a store to the stored draft, of
// which nothing is lost. An empty one changes nothing.
func (w *Workspace) AddDraft(ctx context.Context, typed history.Draft) error {
	if typed.Text == "" && len(typed.Stash) == 0 {
		return nil
	}
	d, err := w.Draft(ctx)
	if err != nil {
		return fmt.Errorf("what was typed could not be stored: %w", err)
	}
	if typed.Text != "" {
		if d.Text != "" {
			d.Stash = append(d.Stash, d.Text)
		}
		d.Text = typed.Text
	}
	d.Stash = append(d.Stash, typed.Stash...)
	return w.SaveDraft(ctx, d)
}

func (w *Workspace) draftKey() string {
	if w.folder == "" {
		return draftKey
	}
	return draftKey + ":" + w.folder
}

// AddSent remembers a message as it was typed; a blank one is not.
func (w *Workspace) AddSent(ctx context.Context, text string) error {
	if w.history == nil || strings.TrimSpace(text) == "" {
		return nil
	}
	return w.history.AddSent(ctx, text)
}

// Recall is what an input and its completion know of earlier runs, oldest first.
// What cannot be read is empty.
type Recall struct {
	Sent    []string // messages
	Lines   []string // filter lines
	Topics  []string // paths, sorted
	Filters map[string]string
}

// Recall reads it.
func (w *Workspace) Recall(ctx context.Context) Recall {
	if w.history == nil {
		return Recall{}
	}
	var r Recall
	r.Sent, _ = w.history.Sent(ctx, sentLimit)
	r.Lines, _ = w.history.FilterLines(ctx)
	slices.Reverse(r.Sent)
	slices.Reverse(r.Lines)
	r.Topics, r.Filters = w.Names(ctx)
	return r
}

// Names reads the topics and saved filters, which a command may have changed.
func (w *Workspace) Names(ctx context.Context) (topics []string, filters map[string]string) {
	if w.history == nil {
		return nil, nil
	}
	topics, _ = w.history.TopicPaths(ctx)
	filters, _ = w.history.SavedFilters(ctx)
	return topics, filters
}

// drawingKey lists the pairs that are being drawn.
const drawingKey = "drawing"

// BeginDrawing notes that a pair is being drawn, until EndDrawing: what is noted
// at the next start was not drawn to its end, because the program died of it.
func (w *Workspace) BeginDrawing(ctx context.Context, seq int64) error {
	return w.noteDrawing(ctx, seq, true)
}

// EndDrawing removes the note of a pair.
func (w *Workspace) EndDrawing(ctx context.Context, seq int64) error {
	return w.noteDrawing(ctx, seq, false)
}

func (w *Workspace) noteDrawing(ctx context.Context, seq int64, drawing bool) error {
	if w.history == nil {
		return nil
	}
	seqs := slices.DeleteFunc(w.Drawing(ctx), func(noted int64) bool { return noted == seq })
	if drawing {
		seqs = append(seqs, seq)
	}
	return w.history.Set(ctx, drawingKey, strings.Trim(fmt.Sprint(seqs), "[]"))
}

// Drawing returns the pairs whose drawing was not ended. What cannot be read is
// empty.
func (w *Workspace) Drawing(ctx context.Context) []int64 {
	if w.history == nil {
		return nil
	}
	text, _ := w.history.Get(ctx, drawingKey)
	var seqs []int64
	for _, field := range strings.Fields(text) {
		if seq, err := strconv.ParseInt(field, 10, 64); err == nil {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}
