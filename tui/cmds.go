package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// loadStart loads what the first screen needs: the pairs of the session, the
// draft that was there, and what completion knows.
func loadStart(h history.Store, s *assistant.Session, folder string) tea.Cmd {
	return func() tea.Msg {
		ctx := context.Background()
		err := s.LoadView(ctx)
		if h == nil {
			return startLoadedMsg{err: err}
		}
		msg := startLoadedMsg{err: err}
		// What cannot be read is not offered; the pairs are what counts.
		kept, _ := ownDraft(ctx, h, folder)
		msg.draft, msg.stash = kept.Text, kept.Stash
		msg.sent, _ = h.Sent(ctx, sentKept)
		slices.Reverse(msg.sent)
		msg.lines, _ = h.FilterLines(ctx)
		slices.Reverse(msg.lines)
		msg.recent, msg.favourites = keptModels(ctx, h, recentKey), keptModels(ctx, h, favouritesKey)
		msg.topics, msg.saved = names(ctx, h)
		return msg
	}
}

// draftKeyOf is where the draft of a folder lies: one for all its sessions, so
// that what was typed is there again whichever session comes next, and apart
// from what another program writes elsewhere.
func draftKeyOf(folder string) string {
	if folder == "" {
		return draftKey
	}
	return draftKey + ":" + folder
}

// ownDraft is the draft of a folder, else the one that has no folder: it comes
// from a version that kept one for all, and belongs to whoever finds it.
func ownDraft(ctx context.Context, h history.Store, folder string) (history.Draft, error) {
	key := draftKeyOf(folder)
	d, err := h.Draft(ctx, key)
	if err != nil || key == draftKey || d.Text != "" || len(d.Stash) > 0 {
		return d, err
	}
	if d, err = h.Draft(ctx, draftKey); err != nil || d.Text == "" && len(d.Stash) == 0 {
		return d, err
	}
	if err = h.SaveDraft(ctx, key, d); err != nil {
		return d, err
	}
	return d, h.SaveDraft(ctx, draftKey, history.Draft{})
}

const (
	draftKey = "input" // of the draft without a folder
	// sentKept is how many sent messages the input box can call back.
	sentKept = 200
	// recentKey is where the models that were selected lie.
	recentKey = "recent models"
	// favouritesKey is where the models that were marked lie.
	favouritesKey = "favourite models"
	// recentKept is how many of them the selector shows first.
	recentKept = 5
)

// names reads the topics and saved filters that completion offers.
func names(ctx context.Context, h history.Store) (topics []string, saved map[string]string) {
	topics, _ = h.TopicPaths(ctx)
	saved, _ = h.SavedFilters(ctx)
	return topics, saved
}

// loadPairs loads pairs that came onto the screen.
func loadPairs(s *assistant.Session, seqs []int64) tea.Cmd {
	return func() tea.Msg {
		pairs, err := s.Pairs(context.Background(), seqs)
		return pairsLoadedMsg{asked: seqs, pairs: pairs, err: err}
	}
}

// editWindow makes a change by hand, as one step that can be undone.
func editWindow(s *assistant.Session, e pane.Edit) tea.Cmd {
	return func() tea.Msg {
		msg := editedMsg{view: e.View, err: s.Edit(e.Description, e.Change)}
		if msg.err == nil {
			msg.said = e.Notice()
		}
		return msg
	}
}

// runAction does what takes time.
func runAction(w pane.Run) tea.Cmd {
	return func() tea.Msg {
		said, err := w.Run(context.Background())
		return ranMsg{said: said, err: err}
	}
}

// planSave asks what a save would change.
func planSave(k pane.Saver, st style.Styles, quit bool) tea.Cmd {
	return func() tea.Msg {
		lines, changes, err := k.Plan(context.Background(), st)
		return planMadeMsg{lines: lines, changes: changes, quit: quit, err: err}
	}
}

// saveWindow writes, and notes in the journal that nothing is unsaved.
func saveWindow(s *assistant.Session, k pane.Saver, quit bool) tea.Cmd {
	return func() tea.Msg {
		said, err := k.Save(context.Background())
		if err == nil {
			err = s.Saved()
		}
		return savedMsg{said: said, quit: quit, err: err}
	}
}

// rollBack goes back to a checkpoint; said begins what the footer says then.
func rollBack(s *assistant.Session, id string, scope checkpoint.Scope, said string) tea.Cmd {
	return func() tea.Msg {
		text, err := s.Rollback(context.Background(), id, scope)
		return rolledBackMsg{said: said + " · ctrl+p “Undo the last rollback” takes it back", text: text, err: err}
	}
}

// rolledBack is said of a step that was chosen from the list.
const rolledBack = "rolled back"

// undoRollback takes the last rollback back.
func undoRollback(s *assistant.Session) tea.Cmd {
	return func() tea.Msg {
		err := s.UndoRollback(context.Background())
		if errors.Is(err, checkpoint.ErrNothing) {
			err = errors.New("there is no rollback to undo")
		}
		return rolledBackMsg{said: "the rollback is undone", err: err}
	}
}

// renewSession begins a new session.
func renewSession(h history.Store, s *assistant.Session) tea.Cmd {
	return func() tea.Msg {
		if h == nil {
			return renewedMsg{err: s.Renew(context.Background())}
		}
		return renewedMsg{err: history.RenewSession(context.Background(), h, s)}
	}
}

// deletePairs removes pairs for good.
func deletePairs(s *assistant.Session, seqs ...int64) tea.Cmd {
	return func() tea.Msg {
		err := s.Delete(context.Background(), seqs...)
		return pairsChangedMsg{said: "deleted", err: err}
	}
}

// markPair changes star, flag or topic of a pair; change says what it did.
func markPair(s *assistant.Session, seq int64, change func(*assistant.Pair) (said string)) tea.Cmd {
	return func() tea.Msg {
		said := ""
		err := s.Mark(context.Background(), seq, func(p *assistant.Pair) { said = change(p) })
		return pairsChangedMsg{said: said, seqs: []int64{seq}, err: err}
	}
}

// refreshModels asks the endpoints which models they have.
func refreshModels(s *assistant.Session) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
		defer cancel()
		failed := s.Registry().Refresh(ctx)
		s.ModelsChanged()
		return modelsLoadedMsg{failed}
	}
}

// refreshTimeout bounds a model list: whoever waits longer is not there.
const refreshTimeout = 20 * time.Second

// copyText puts text on the system's clipboard; the terminal gets it by OSC 52.
func copyText(what, text string, native func(string) error) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		return copiedMsg{what: what, native: native(text) == nil}
	})
}

// keepDraft stores the draft and what was cleared before it, so that no crash
// loses them.
func keepDraft(h history.Store, folder string, d history.Draft) tea.Cmd {
	if h == nil {
		return nil
	}
	return func() tea.Msg {
		return draftKeptMsg{text: d.Text, err: h.SaveDraft(context.Background(), draftKeyOf(folder), d)}
	}
}

func addSent(h history.Store, text string) tea.Cmd {
	if h == nil || text == "" {
		return nil
	}
	return func() tea.Msg {
		if err := h.AddSent(context.Background(), text); err != nil {
			return failedMsg{fmt.Errorf("the message history: %w", err)}
		}
		return nil
	}
}

// draftDue fires when it is time to store the draft.
func draftDue() tea.Cmd {
	return tea.Tick(draftPause, func(time.Time) tea.Msg { return draftDueMsg{} })
}

// draftPause is how long a draft that was changed is not stored: well under the
// four seconds after which a draft is promised to survive a crash.
const draftPause = 1500 * time.Millisecond

// tick moves the spinner on.
func ticks() tea.Cmd {
	return tea.Tick(spinnerFrame, func(at time.Time) tea.Msg { return tickedMsg{at} })
}

// spinnerFrame is how fast the spinner turns: eight frames a second look alive.
const spinnerFrame = 125 * time.Millisecond

// sentence is an error as the footer says it: one line, sanitised.
func sentence(err error) string {
	text := err.Error()
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return oneLine(text)
}
