package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"winnow/checkpoint"
	"winnow/checkpoint/changelog"
)

// userName is the name of the user of this process; "" when it is not known.
var userName = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
})

// followEvery is how often log -f looks for changes.
const followEvery = 300 * time.Millisecond

func logCommand(a *app) *cobra.Command {
	var follow bool
	var last int
	c := command("log", "List who changed what in the window and its file", 0, 0, func(ctx context.Context, _ []string) error {
		w, err := a.openWindow(ctx, toRead)
		if err != nil {
			return err
		}
		all := changesOf(w.journal)
		err = a.printChanges(all[max(0, len(all)-last):], true)
		if err != nil || !follow {
			return err
		}
		return a.followChanges(ctx, w.journal.Path(), newest(all))
	})
	c.Long = "The log is read from the checkpoints: a change is in it as soon as it is durable, whoever\n" +
		"made it: by hand, a tool of the assistant or of another agent, a save, a rollback, or\n" +
		"somebody else who changed the file. --json prints a change a line."
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with the changes that are made from now on")
	c.Flags().IntVarP(&last, "last", "n", 100, "how many changes to list")
	return c
}

// changesOf lists the changes of rules; what is merely shown is none.
func changesOf(j *checkpoint.Journal) []changelog.Change {
	return changelog.Read(j, "provider", "search", "version")
}

func newest(all []changelog.Change) int64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

// followChanges prints the changes after seq as they are made, until ctx ends.
func (a *app) followChanges(ctx context.Context, path string, seq int64) error {
	var size int64
	for tick := time.NewTicker(followEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil
		case <-tick.C:
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() == size {
			continue // it is not there yet, or nothing was added
		}
		j, err := checkpoint.Open(path, checkpoint.Options{ReadOnly: true, Log: a.logger()})
		if err != nil {
			return err
		}
		size = info.Size()
		all := changesOf(j)
		for len(all) > 0 && all[0].Seq <= seq {
			all = all[1:]
		}
		seq = max(seq, newest(all))
		if err := a.printChanges(all, false); err != nil {
			return err
		}
	}
}

func (a *app) printChanges(all []changelog.Change, head bool) error {
	if a.flags.json {
		for _, c := range all {
			if err := a.printJSON(c); err != nil {
				return err
			}
		}
		return nil
	}
	var rows [][]string
	for _, c := range all {
		what := strings.TrimSpace(string(c.Kind) + " " + c.What)
		rows = append(rows, []string{c.Time.Local().Format(timeLayout), c.User, c.Session, what, differenceWords(c)})
	}
	lines := table(map[bool]string{true: "nothing was changed yet"}[head], []string{"time", "user", "session", "change", "values"}, rows)
	if !head && len(lines) > 0 {
		lines = lines[1:]
	}
	return a.emit(nil, lines...)
}

// differenceWords are the first values that a change added or removed.
func differenceWords(c changelog.Change) string {
	const shown = 3
	value := func(sign, path string, raw json.RawMessage) string {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		path = strings.TrimPrefix(strings.ReplaceAll(path, ".whitelist", ".allow"), "rules.")
		return sign + strings.ReplaceAll(path, ".", " ") + " " + visible(text)
	}
	var words []string
	for _, d := range c.Changed[:min(len(c.Changed), shown)] {
		if d.Before != nil {
			words = append(words, value("-", d.Path, d.Before))
		}
		if d.After != nil {
			words = append(words, value("+", d.Path, d.After))
		}
	}
	if more := len(c.Changed) + c.More - shown; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
