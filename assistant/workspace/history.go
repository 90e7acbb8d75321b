package workspace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
)

// Filtered is the result of a filter line.
type Filtered struct {
	Refs  []assistant.Ref
	Hints []filter.Hint // names in the line that do not exist
}

// SetFilter puts the pairs that a filter line matches into view, and adds the line to the filter history. Use
// PlanCommand for a line with a :command. If SetFilter is called again before this call is done, this call leaves
// the view unchanged.
func (w *Workspace) SetFilter(ctx context.Context, line string) (Filtered, error) {
	w.mu.Lock()
	w.filterCalls++
	call := w.filterCalls
	w.mu.Unlock()
	r, err := w.show(ctx, line, func(refs []assistant.Ref) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.filterCalls == call {
			w.session.SetView(refs, line)
		}
	})
	if err != nil {
		return Filtered{}, err
	}
	return Filtered{r.Refs, r.Hints}, w.rememberLine(ctx, line)
}

// Refilter evaluates the active line again after pairs have changed.
func (w *Workspace) Refilter(ctx context.Context) error {
	w.session.PairsChanged()
	line := w.session.Filter()
	_, err := w.show(ctx, line, func(refs []assistant.Ref) {
		w.session.RefreshView(refs, line) // does nothing if the view now has another line
	})
	return err
}

// show evaluates a line and passes the matching pairs to set. If pairs changed during the evaluation, it evaluates
// the line again, because otherwise a deleted pair could reappear.
func (w *Workspace) show(ctx context.Context, line string, set func([]assistant.Ref)) (r history.Result, err error) {
	if w.history == nil {
		return r, ErrNoHistory
	}
	for range 5 { // other programs may change pairs continuously
		before := w.history.Revision()
		if r, err = w.evaluate(ctx, line); err != nil {
			return r, err
		}
		if set(r.Refs); w.history.Revision() == before {
			break
		}
	}
	return r, nil
}

// CountFilter counts the pairs that a line matches.
func (w *Workspace) CountFilter(ctx context.Context, line string) (int, error) {
	q, env, err := w.parse(line)
	if err != nil {
		return 0, err
	}
	return w.history.Count(ctx, q, env)
}

// Matches reports whether the active line matches a pair. A pair that has just been answered is in the view even if
// it does not match.
func (w *Workspace) Matches(ctx context.Context, seq int64) (bool, error) {
	r, err := w.evaluate(ctx, w.session.Filter())
	_, found := slices.BinarySearchFunc(r.Refs, seq, func(r assistant.Ref, seq int64) int { return cmp.Compare(r.Seq, seq) })
	return found, err
}

// FindText returns the Seqs, in ascending order, of the pairs of all sessions that contain the given text.
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

// PlanCommand prepares the :command of a filter line. The result contains the affected pairs and the question to ask
// before Execute. The error explains why the command cannot be executed.
func (w *Workspace) PlanCommand(ctx context.Context, line string) (transfer.Command, error) {
	q, env, err := w.parse(line)
	if err != nil {
		return transfer.Command{}, err
	}
	command, err := transfer.Prepare(ctx, w.history, q, env)
	if err == nil {
		err = command.Refused()
	}
	if err != nil || command.Verb != filter.Delete {
		return command, err
	}
	if !command.DryRun && w.session.Busy() {
		return command, assistant.ErrBusy
	}
	return command, w.describeDeletion(ctx, &command)
}

// describeDeletion adds to a command the first messages that it deletes, and the number of pairs that belong to other
// sessions.
func (w *Workspace) describeDeletion(ctx context.Context, c *transfer.Command) error {
	own, err := w.history.Refs(ctx, w.session.ID(), w.session.Settings().Budget.CPT())
	if err != nil {
		return err
	}
	here := map[int64]bool{}
	for _, r := range own {
		here[r.Seq] = true
	}
	for _, seq := range c.Seqs {
		if !here[seq] {
			c.Elsewhere++
		}
	}
	first, err := w.history.Load(ctx, c.Seqs[:min(len(c.Seqs), transfer.MaxTexts)])
	for _, p := range first {
		c.Texts = append(c.Texts, string(p.UserText))
	}
	return err
}

// Execute executes a command that PlanCommand prepared and adds its line to the filter history. If pairs have
// changed, it evaluates the active line again.
func (w *Workspace) Execute(ctx context.Context, command transfer.Command, line string) (transfer.Outcome, error) {
	if err := w.mayExecute(command); err != nil {
		return transfer.Outcome{}, err
	}
	out, err := transfer.Execute(ctx, w.history, command, w.session)
	if err != nil {
		return out, err
	}
	if out.CanUndo() {
		w.mu.Lock()
		w.undoable = append(w.undoable, out)
		w.undoable = w.undoable[max(0, len(w.undoable)-transfer.MaxUndo):]
		w.mu.Unlock()
	}
	err = w.rememberLine(ctx, line)
	if command.Changes() && !command.DryRun && err == nil {
		err = w.Refilter(ctx)
	}
	return out, err
}

// mayExecute returns an *assistant.RoleError if the user may not execute a command. Setting marks and saving a filter
// need RolePropose; deleting pairs, which may belong to other users, needs RoleSave.
func (w *Workspace) mayExecute(command transfer.Command) error {
	switch {
	case command.Verb == filter.Delete:
		return w.session.Needs(assistant.RoleSave)
	case command.Changes(), command.Verb == filter.Save:
		return w.session.Needs(assistant.RolePropose)
	}
	return nil
}

// UndoCommand undoes the newest command that changed pairs and returns its outcome. It returns ErrNothingToUndo if
// there is none.
func (w *Workspace) UndoCommand(ctx context.Context) (transfer.Outcome, error) {
	w.mu.Lock()
	n := len(w.undoable)
	if n == 0 {
		w.mu.Unlock()
		return transfer.Outcome{}, ErrNothingToUndo
	}
	last := w.undoable[n-1]
	w.undoable = w.undoable[:n-1]
	w.mu.Unlock()
	if err := transfer.Undo(ctx, w.history, last); err != nil {
		w.mu.Lock()
		w.undoable = append(w.undoable, last)
		w.mu.Unlock()
		return transfer.Outcome{}, err
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
	sharedDraftKey = "input"          // the key of the draft without a folder
	secondSuffix   = "\x00\x00beside" // the suffix for the draft of a second program with the same window
	sentLimit      = 200              // the maximum number of sent messages that can be recalled
)

// Draft returns the draft of the folder. If the folder has no draft, it adopts the draft of a second program that ran
// at the same time, or the single draft that earlier versions stored for all folders. After an error, SaveDraft does not
// replace the draft of the folder.
func (w *Workspace) Draft(ctx context.Context) (history.Draft, error) {
	if w.history == nil {
		return history.Draft{}, nil
	}
	empty := func(d history.Draft) bool { return d.Text == "" && len(d.Stash) == 0 }
	key := w.draftKey()
	d, err := w.history.Draft(ctx, key)
	for _, other := range []string{key + secondSuffix, sharedDraftKey} {
		if err != nil || key == sharedDraftKey || !empty(d) {
			break
		}
		if d, err = w.history.Draft(ctx, other); err != nil || empty(d) {
			continue
		}
		if err = w.history.SaveDraft(ctx, key, d); err == nil {
			err = w.history.SaveDraft(ctx, other, history.Draft{})
		}
	}
	d.Text = string(safetext.Clean(d.Text)) // another program may have stored it
	for i, text := range d.Stash {
		d.Stash[i] = string(safetext.Clean(text))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draftUnread = err != nil
	return d, err
}

// SaveDraft stores the draft of the folder. An empty draft is removed.
func (w *Workspace) SaveDraft(ctx context.Context, d history.Draft) error {
	if w.history == nil {
		return nil
	}
	if err := w.history.SaveDraft(ctx, w.draftKey(), d); err != nil || d.Text == "" || w.session == nil {
		return err
	}
	return w.session.ForgetQueued(ctx) // a queued message that was taken back for editing is now stored in the draft
}

// AddDraft adds text that was typed before the history was open to the stored draft. The text of the stored draft
// moves to the stash. An empty draft changes nothing.
func (w *Workspace) AddDraft(ctx context.Context, typed history.Draft) error {
	if typed.Text == "" && len(typed.Stash) == 0 {
		return nil
	}
	d, err := w.Draft(ctx)
	if err != nil {
		return fmt.Errorf("the draft could not be stored: %w", err)
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
		return sharedDraftKey
	}
	key := strings.TrimSuffix(sharedDraftKey+":"+w.folder+"\x00"+w.user, "\x00")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draftUnread || w.session != nil && !w.session.Journal().Alone() { // the other program has its own draft
		key += secondSuffix
	}
	return key
}

// AddSent stores a message as it was typed, unless it is blank.
func (w *Workspace) AddSent(ctx context.Context, text string) error {
	if w.history == nil || strings.TrimSpace(text) == "" {
		return nil
	}
	return w.history.AddSent(ctx, text)
}

// Recall contains what the input and its completion offer from earlier runs, oldest first. A list that cannot be read
// is empty.
type Recall struct {
	Sent  []string // messages
	Lines []string // filter lines
	Names filter.Sources
}

// Recall reads all lists of a Recall. Their texts are safe to display.
func (w *Workspace) Recall(ctx context.Context) Recall {
	if w.history == nil {
		return Recall{}
	}
	var r Recall
	r.Sent, _ = w.history.Sent(ctx, sentLimit)
	r.Lines, _ = w.history.FilterLines(ctx)
	slices.Reverse(r.Sent)
	slices.Reverse(r.Lines)
	for _, texts := range [][]string{r.Sent, r.Lines} {
		for i, text := range texts {
			texts[i] = string(safetext.Clean(text))
		}
	}
	r.Names = w.Names(ctx)
	return r
}

// Names reads the names in the history for completion, sorted and safe to display.
func (w *Workspace) Names(ctx context.Context) (names filter.Sources) {
	if w.history == nil {
		return names
	}
	names.Topics, _ = w.history.TopicPaths(ctx)
	names.Authors, _ = w.history.Authors(ctx)
	saved, _ := w.history.SavedFilters(ctx)
	names.Saved = slices.Sorted(maps.Keys(saved))
	for _, all := range [][]string{names.Topics, names.Authors, names.Saved} {
		for i, name := range all {
			all[i] = string(safetext.Line(name, len(name)))
		}
	}
	return names
}

// failedStartsKey is the key under which SetFailedStarts stores its number.
const failedStartsKey = "failed starts"

// FailedStarts returns the number of consecutive starts of the screen, up to the last one, that ended uncleanly within
// seconds. It returns 0 if the number cannot be read.
func (w *Workspace) FailedStarts(ctx context.Context) int {
	if w.history == nil {
		return 0
	}
	text, _ := w.history.Get(ctx, failedStartsKey)
	n, _ := strconv.Atoi(text)
	return n
}

// SetFailedStarts stores the number that FailedStarts returns at the next start.
func (w *Workspace) SetFailedStarts(ctx context.Context, n int) error {
	switch {
	case w.history == nil:
		return nil
	case n == 0:
		return w.history.Set(ctx, failedStartsKey, "")
	}
	return w.history.Set(ctx, failedStartsKey, strconv.Itoa(n))
}
