package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/checkpoint"
)

// lockedPause is how long followOthers waits before it tries again to update a locked window.
const lockedPause = 200 * time.Millisecond

// adoptRules gives w the rules that other programs have written to j.
func adoptRules(ctx context.Context, w *modelfilter.Window, j *checkpoint.Journal) error {
	current := j.Current()
	if current == nil { // no rule has ever been changed
		return nil
	}
	saved, _ := j.SavedState()
	if j.Clean() {
		saved = current
	}
	return w.Adopt(ctx, current, saved)
}

// followOthers applies to w the changes that other programs write to j, unsaved rules included, until ctx ends. The
// selected provider and the search text stay. The Adopt option of j must call adoptRules. While a turn of this program
// reads the window, changes wait until the turn ends or calls its first write tool.
//
// notify gets who wrote last and what has changed, such as "hid gpt-3* on openai (3 models)". Errors of watching and
// reading are logged. If w is nil, followOthers returns at once.
func followOthers(ctx context.Context, w *modelfilter.Window, j *checkpoint.Journal, log *slog.Logger, notify func(who, what string)) {
	if w == nil {
		return
	}
	records, err := dotenv.Watch(ctx, j.Path())
	if err != nil {
		log.Warn("changes to the rules by other programs are not followed", "error", err)
		return
	}
	for {
		var again <-chan time.Time
		who, what, err := readOthers(w, j)
		switch {
		case errors.Is(err, modelfilter.ErrLocked):
			again = time.After(lockedPause)
		case err != nil:
			log.Warn("another program's changes cannot be read now", "error", err)
		case what != "":
			notify(who, what)
		}
		select {
		case <-ctx.Done():
			return
		case <-records:
		case <-again:
		}
	}
}

// readOthers updates w with what other programs have written to j. It returns who wrote last and a description of the
// changes; what is "" if nothing changed.
func readOthers(w *modelfilter.Window, j *checkpoint.Journal) (who, what string, err error) {
	if w.Locked() {
		return "", "", modelfilter.ErrLocked
	}
	before, err := w.State()
	if err != nil {
		return "", "", err
	}
	dirty := w.Dirty()
	moved, err := j.Follow()
	if err != nil || !moved {
		return "", "", err
	}
	after, err := w.State()
	if err != nil {
		return "", "", err
	}
	who, what = j.LastWriter().Holder(), w.DescribeChange(before, after)
	if what == "" && dirty && !w.Dirty() {
		what = "saved the rules"
	}
	return who, what, nil
}
