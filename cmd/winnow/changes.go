package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/checkpoint"
	"winnow/tui/plain"
)

// userName returns the user name of this process, or "" if it is unknown.
var userName = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
})

// userName returns the user to whom changes are attributed, or "" if it is unknown.
func (a *app) userName() string {
	if a.remote != nil {
		return a.remote.user
	}
	return userName()
}

// followEvery is the interval at which log -f looks for changes.
const followEvery = 300 * time.Millisecond

// position lists the parts of a window's state that only affect the view: changing them does not change the rules.
var position = []string{"provider", "search", "version"}

func logCommand(a *app) *cobra.Command {
	var follow, team bool
	var last int
	c := command("log", "List who changed what in the window and its file", 0, 0, func(ctx context.Context, _ []string) error {
		if last < 1 {
			return &usageError{"winnow log", fmt.Sprintf("--last must be at least 1, not %d", last)}
		}
		next, err := a.logSource(ctx, team, last)
		if err != nil {
			return err
		}
		for tick, head := time.NewTicker(followEvery), true; ; head = false {
			all, err := next(ctx)
			if err == nil {
				err = a.printChanges(all, head, team)
			}
			if err != nil || !follow {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
	c.Long = "log lists the latest changes, saves and rollbacks, made by hand, by the tools of the assistant\n" +
		"or of another agent, or by other programs that write the file. It reads them from the\n" +
		"checkpoints. --json prints one change per line.\n\n" +
		"If the history is in PostgreSQL, winnow serve copies the log of the rules it serves to the\n" +
		"history, about a second after each change. --team lists the copies of all servers, on any\n" +
		"machine, with host and file. A history in a local file has no team log."
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep listing new changes as they are made")
	c.Flags().IntVarP(&last, "last", "n", 100, "how many changes to list")
	c.Flags().BoolVar(&team, "team", false, "list the changes to all windows served with the team's history")
	return c
}

// logSource returns the log of this folder's window or, with team, the logs in the team's history.
func (a *app) logSource(ctx context.Context, team bool, last int) (serve.ChangeSource, error) {
	if !team {
		w, err := a.openWindow(ctx, toRead)
		if err != nil {
			return nil, err
		}
		return serve.JournalChanges(w.journal.Path(), last, position...), nil
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	log, ok := store.(history.WindowLog)
	if !ok {
		return nil, advise(errors.New("the history is a local file, which has no team log"),
			`winnow log without --team lists the changes in this folder; --history "postgres://…" names a team's history`)
	}
	return serve.HistoryChanges(log, last), nil
}

func (a *app) printChanges(all []history.WindowChange, head, team bool) error {
	if a.flags.json {
		for _, c := range all {
			if err := a.printJSON(c); err != nil {
				return err
			}
		}
		return nil
	}
	titles := []string{"time", "user", "session", "change"}
	if team {
		titles = append(titles, "window")
	}
	var rows [][]string
	for _, c := range all {
		row := []string{c.Time.Local().Format(timeLayout), c.User, c.Session, modelfilter.ChangeSentence(c.Change), c.Host + ":" + c.Path}
		rows = append(rows, row[:len(titles)])
	}
	empty := "" // later batches continue the first table
	if head {
		empty = "nothing has been changed yet"
	}
	text := plain.Table(empty, titles, rows)
	if !head && len(text) > 0 {
		text = text[1:]
	}
	return a.emit(nil, text...)
}

// recordChanges copies the log of the served rules into the history until the hub is closed, if the history supports
// this. wait waits for the copying to end.
func (a *app) recordChanges(p *program) (wait func()) {
	log, ok := p.store.(history.WindowLog)
	if !ok || p.window.filter == nil {
		return func() {}
	}
	return serve.RecordChanges(serve.RecordOptions{
		Changes: p.window.hub.Load().Changes(), History: log, Path: p.window.name, Log: a.logger(),
		Read: func() []checkpoint.Change { return checkpoint.Changes(p.window.journal, position...) },
	})
}
