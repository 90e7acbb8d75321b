package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

func checkpointsCommand(a *app) *cobra.Command {
	return group("checkpoints", "List the checkpoints of the rules and go back to one", checkpointsListCommand(a), rollbackCommand(a))
}

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
	c := &cobra.Command{
		Use: "list", Short: "List the checkpoints, oldest first", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.openWindow(cmd.Context(), false)
			if err != nil {
				return err
			}
			return a.checkpointsList(w, session)
		},
	}
	c.Flags().StringVar(&session, "session", "", "only those of the session with this ID")
	return c
}

func (a *app) checkpointsList(w *openWindow, session string) error {
	all := []checkpointJSON{}
	rows := [][]string{}
	for _, c := range w.journal.List(session) {
		all = append(all, checkpointJSON{c.ID, c.Time.UTC().Format(timeJSON), string(c.Kind), c.Description, c.Effect(), c.Session, c.Undone})
		what := safetext.Line(c.Description, maxName)
		if c.Undone {
			what += " (undone)"
		}
		rows = append(rows, []string{c.ID, c.Time.Local().Format(timeShown), what, c.Effect()})
	}
	return a.emit(map[string]any{"checkpoints": all, "unsaved": w.unsaved()}, func() error {
		if len(rows) == 0 {
			return a.print("there are no checkpoints for %s yet", w.name)
		}
		return a.table([]column{{title: "id"}, {title: "time"}, {title: "before"}, {title: "effect"}}, rows)
	})
}

func rollbackCommand(a *app) *cobra.Command {
	var rules, conversation bool
	c := &cobra.Command{
		Use: "rollback ID", Short: "Roll back to a checkpoint: staged rules, conversation, or both", Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope := checkpoint.Both
			switch {
			case rules:
				scope = checkpoint.Rules
			case conversation:
				scope = checkpoint.Conversation
			}
			return a.rollback(cmd.Context(), args[0], scope)
		},
	}
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
		if c.ID == id && c.Session != "" {
			last = c.Session
		}
	}
	session, err := a.editSession(ctx, w, store, last)
	if err != nil {
		return err
	}
	text, err := session.Rollback(ctx, id, scope)
	if errors.Is(err, checkpoint.ErrUnknown) {
		return advise(fmt.Errorf("there is no checkpoint %q", safetext.Line(id, maxName)), "winnow checkpoints list shows them")
	}
	if err != nil {
		return err
	}
	return a.emit(map[string]any{"id": id, "scope": string(scope), "unsaved": w.unsaved(), "first_text": text}, func() error {
		lines := []string{"rolled back to " + id}
		if text != "" {
			lines = append(lines, "the first message that was removed: "+safetext.Line(text, maxName))
		}
		if w.unsaved() {
			lines = append(lines, "the rules differ from the file now: winnow rules diff shows how, winnow rules save saves them")
		}
		return a.print("%s", strings.Join(lines, "\n"))
	})
}
