// Package follow makes a model filter show what another program does in it: one process
// at a time writes the journal of a window, and a second one beside it follows.
//
// Writer returns when its context ends, or at once when this program writes. It reads journal and file whenever one of them has
// changed, and nothing while nothing changes. The rules of the window are then those of
// the other program, the unsaved ones included, and so is the provider; what is searched
// for stays.
//
// # Caveats
//
// A program that is killed writes nothing any more: its end is not noticed. While a turn
// of this program reads the window, changes wait for its end.
package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/changetext"
	"winnow/assistant"
	"winnow/checkpoint"
)

// lockedPause is how long a window that a turn has locked is left alone.
const lockedPause = 200 * time.Millisecond

// follower follows the program that writes a journal.
type follower struct {
	window  *modelfilter.Window
	journal string
	who     string // the other program
	ended   bool   // it has written that it ends
}

// Writer makes w show what the program does that writes j, which was opened beside it.
// notify is called with a sentence about each change, and when the program has ended. What
// cannot be watched or read is logged. w may be nil: nothing is followed then.
func Writer(ctx context.Context, w *modelfilter.Window, j *checkpoint.Journal, log *slog.Logger, notify func(sentence string)) {
	writer := j.Locked()
	if w == nil || writer == nil {
		return
	}
	records, recordsErr := dotenv.Watch(ctx, j.Path())
	saves, savesErr := dotenv.Watch(ctx, w.EnvFile())
	if err := errors.Join(recordsErr, savesErr); err != nil {
		log.Warn("the program that has the window is not followed", "error", err)
		return
	}
	f := &follower{window: w, journal: j.Path(), who: fmt.Sprintf("%s (process %d)", cmp.Or(writer.Program, "winnow"), writer.PID)}
	for {
		var again <-chan time.Time
		sentence, err := f.read(ctx)
		switch {
		case errors.Is(err, modelfilter.ErrLocked):
			again = time.After(lockedPause)
		case err != nil:
			log.Warn("the program that has the window cannot be followed now", "error", err)
		case sentence != "":
			notify(sentence)
		}
		select {
		case <-ctx.Done():
			return
		case <-records:
		case <-saves:
		case <-again:
		}
	}
}

// read makes the window the other program's, and says what that changed; "" is nothing.
func (f *follower) read(ctx context.Context) (sentence string, err error) {
	before, dirty, err := f.state()
	if err != nil {
		return "", err
	}
	j, err := checkpoint.Open(f.journal, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	if _, err := f.window.RefreshSaved(ctx, true); err != nil {
		return "", err
	}
	if current := j.Current(); current != nil {
		saved, known := j.SavedState()
		switch {
		case j.Clean():
			saved = current
		case !known: // the best that is known is the file as it is now
			if saved, _, err = f.state(); err != nil {
				return "", err
			}
		}
		search := f.window.Search()
		if err := errors.Join(f.window.Recover(current, saved), f.window.SetSearch(search)); err != nil {
			return "", err
		}
	}
	after, unsaved, err := f.state()
	if err != nil {
		return "", err
	}
	ended := j.LastRun().Closed
	defer func() { f.ended = ended }()
	effect := changetext.Describe(f.window, before, after)
	switch {
	case ended && !f.ended:
		return f.who + " has ended: start winnow again to change the rules here", nil
	case effect != "":
		return f.who + " " + effect, nil
	case dirty && !unsaved:
		return f.who + " saved the rules", nil
	}
	return "", nil
}

// state is the state of the window, and whether it has unsaved rules.
func (f *follower) state() (state json.RawMessage, unsaved bool, err error) {
	value, err := f.window.State()
	if err == nil {
		state, err = assistant.PlainJSON(value)
	}
	return state, f.window.Dirty(), err
}
