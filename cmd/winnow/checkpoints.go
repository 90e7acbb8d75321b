package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// checkpointJSON is a checkpoint as --json prints it.
type checkpointJSON struct {
	ID          string `json:"id"`
	Time        string `json:"time"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Effect      string `json:"effect"`
	Session     string `json:"session"`
	Undone      bool   `json:"undone"`
}

func checkpointsListCommand(a *app) *cobra.Command {
	var session string
	c := command("list", "List the checkpoints, oldest first", 0, 0, func(ctx context.Context, _ []string) error {
		w, err := a.openWindow(ctx, false)
		if err != nil {
			return err
		}
		all := []checkpointJSON{}
		var rows [][]string
		for _, c := range w.journal.List(session) {
			all = append(all, checkpointJSON{c.ID, c.Time.UTC().Format(timeJSON), string(c.Kind), c.Description, c.Effect(), c.Session, c.Undone})
			what := safetext.Line(c.Description, maxName)
			if c.Undone {
				what += " (undone)"
			}
			rows = append(rows, []string{c.ID, c.Time.Local().Format(timeHuman), what, c.Effect()})
		}
		return a.emit(map[string]any{"checkpoints": all, "unsaved": w.unsaved()},
			table("there are no checkpoints for "+w.name+" yet", []string{"id", "time", "before", "effect"}, rows)...)
	})
	c.Flags().StringVar(&session, "session", "", "only those of the session with this ID")
	return c
}

func rollbackCommand(a *app) *cobra.Command {
	var rules, conversation bool
	c := command("rollback ID", "Roll back to a checkpoint: staged rules, conversation, or both", 1, 1, func(ctx context.Context, args []string) error {
		scope := checkpoint.Both
		switch {
		case rules:
			scope = checkpoint.Rules
		case conversation:
			scope = checkpoint.Conversation
		}
		return a.rollback(ctx, args[0], scope)
	})
	c.Flags().BoolVar(&rules, "rules", false, "only the rules")
	c.Flags().BoolVar(&conversation, "conversation", false, "only the conversation")
	exclusive(c, "rules", "conversation")
	return c
}

func (a *app) rollback(ctx context.Context, id string, scope checkpoint.Scope) error {
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	w, err := a.openWindow(ctx, true)
	if err != nil {
		return err
	}
	last := w.journal.LastRun().Session
	for _, c := range w.journal.List("") {
		if c.ID == id {
			last = cmp.Or(c.Session, last)
		}
	}
	session, err := a.editSession(ctx, w, store, last)
	if err != nil {
		return err
	}
	back, err := workspace.New(workspace.Options{Session: session, History: store, Folder: a.folder()}).Rollback(ctx, id, scope)
	if errors.Is(err, checkpoint.ErrUnknown) {
		return advise(fmt.Errorf("there is no checkpoint %q", safetext.Line(id, maxName)), "winnow checkpoints list shows them")
	}
	if err != nil {
		return err
	}
	lines := []string{"rolled back to " + id}
	if back.Text != "" {
		lines = append(lines, "the first message that was removed: "+safetext.Line(back.Text, maxName))
	}
	if w.unsaved() {
		lines = append(lines, "the rules differ from the file now: winnow rules diff shows how, winnow rules save saves them")
	}
	return a.emit(map[string]any{"id": id, "scope": string(scope), "unsaved": w.unsaved(), "first_text": back.Text}, lines...)
}
