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

// lockedPause is how long a window that a turn has locked is left alone.
const lockedPause = 200 * time.Millisecond

// adoptRules makes the rules of w those that another program has written to j.
func adoptRules(ctx context.Context, w *modelfilter.Window, j *checkpoint.Journal) error {
	current := j.Current()
	if current == nil { // no rule was ever changed
		return nil
	}
	saved, _ := j.SavedState()
	if j.Clean() {
		saved = current
	}
	return w.Adopt(ctx, current, saved)
}

// followOthers makes w show what other programs write to j, whose Options.Adopt is
// adoptRules, until ctx ends: the unsaved rules too; provider and search text stay. It
// reads the journal when that has changed. While a turn of this program reads the window,
// changes wait for its end or its first write tool.
//
// notify is called with who made each change and what it was, "hid gpt-3* on openai:
// 3 models". What cannot be watched or read is logged. w may be nil: nothing is followed then.
func followOthers(ctx context.Context, w *modelfilter.Window, j *checkpoint.Journal, log *slog.Logger, notify func(who, what string)) {
	if w == nil {
		return
	}
	records, err := dotenv.Watch(ctx, j.Path())
	if err != nil {
		log.Warn("other programs that change the rules are not followed", "error", err)
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

// readOthers makes the window what other programs have written, and returns who wrote last and
// what that changed; "" is nothing.
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
