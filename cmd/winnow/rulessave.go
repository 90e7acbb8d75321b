package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/pane"
)

// shown is a pattern or id with nothing hidden in it.
func shown(s string) string { return safetext.Visible(s) }

func rulesDiffCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff", Short: "Show what saving would change (exit 3 when there is something)", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.openFilter(cmd.Context(), false)
			if err != nil {
				return err
			}
			return a.printPlan(cmd.Context(), w)
		},
	}
}

func rulesPlanCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "Show what changes would do, without staging them (exit 3 when there are any)", Args: args(0, 0),
		Example: "winnow rules plan --provider openai --add '*-preview*' --remove 'gpt-3*'",
	}
	var add, addAllow, remove, removeAllow []string
	c.Flags().StringArrayVar(&add, "add", nil, "ignore rule to add, PATTERN; may be repeated")
	c.Flags().StringArrayVar(&addAllow, "add-allow", nil, "allow rule to add, PATTERN")
	c.Flags().StringArrayVar(&remove, "remove", nil, "ignore rule to remove, PATTERN")
	c.Flags().StringArrayVar(&removeAllow, "remove-allow", nil, "allow rule to remove, PATTERN")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		w, err := a.openFilter(cmd.Context(), false) // without the journal: what is staged here ends with the process
		if err != nil {
			return err
		}
		s, err := w.filter.On(a.flags.provider)
		if err != nil {
			return err
		}
		var refused []error
		for _, step := range []struct {
			verb     string
			list     modelfilter.List
			patterns []string
		}{{"remove", modelfilter.Ignore, remove}, {"remove", modelfilter.Allow, removeAllow}, {"add", modelfilter.Ignore, add}, {"add", modelfilter.Allow, addAllow}} {
			for _, p := range step.patterns {
				if err := change(s, step.verb, step.list, p, &changeJSON{}); err != nil {
					refused = append(refused, err)
				}
			}
		}
		if len(refused) > 0 {
			return errors.Join(refused...)
		}
		return a.printPlan(cmd.Context(), w)
	}
	return c
}

// printPlan prints what a save would change; errPending when it is something.
func (a *app) printPlan(ctx context.Context, w *openWindow) error {
	a.sayNotices(w)
	plan, err := w.filter.PlanSave(ctx)
	if err != nil {
		return err
	}
	plan.Rules = ruleChanges(plan.Rules)
	err = a.emit(plan, func() error {
		if plan.Empty() {
			return a.print("nothing is staged: %s stays as it is", plan.Path)
		}
		return a.print("%s", strings.TrimRight(modelfilter.PlanText(plan), "\n"))
	})
	if err == nil && !plan.Empty() {
		err = errPending
	}
	return err
}

// ruleChanges names the list of each change as the other commands do; no change is []
// in JSON.
func ruleChanges(changes []assistant.RuleChange) []assistant.RuleChange {
	out := append([]assistant.RuleChange{}, changes...)
	for i := range out {
		out[i].Type = listName(modelfilter.ListOf(changes[i]))
	}
	return out
}

func fileLines(all []assistant.FileLine) []string {
	out := make([]string, len(all))
	for i, l := range all {
		out[i] = fmt.Sprintf("%s %4d  %s", l.Kind, l.Line, l.Text)
	}
	return out
}

func rulesSaveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "save", Short: "Write the staged rules to the .env file", Args: args(0, 0),
		Long: "What somebody else has changed in the file meanwhile stays. Rules that were changed\n" +
			"on both sides are a conflict: nothing is written, and both versions are shown.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, ws, err := a.editFilter(cmd.Context())
			if err != nil {
				return err
			}
			saved, err := ws.Save(cmd.Context())
			if err != nil {
				return a.saveFault(err)
			}
			return a.printSaved(saved)
		},
	}
}

func (a *app) printSaved(saved assistant.Saved) error {
	if saved.Warning != "" {
		a.say("%s", saved.Warning)
	}
	saved.Rules = ruleChanges(saved.Rules)
	return a.emit(saved, func() error { return a.print("%s", saved.Message) })
}

// saveFault describes both sides of a conflict; other errors stay as they are.
func (a *app) saveFault(err error) error {
	var c *assistant.Conflict
	if !errors.As(err, &c) {
		return err
	}
	faults := []error{fmt.Errorf("nothing was saved: %w", err)}
	st := a.plainStyles()
	for _, line := range pane.ConflictLines(c, c.Rules, &st.Icons) {
		faults = append(faults, errors.New(line))
	}
	if c.Kept != "" {
		faults = append(faults, errors.New("their version of the file is "+c.Kept))
	}
	return advise(errors.Join(faults...), "winnow rules discard drops your changes; winnow opens the program, where each can be chosen")
}

func rulesDiscardCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "discard", Short: "Drop the staged changes", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, ws, err := a.editFilter(cmd.Context())
			if err != nil {
				return err
			}
			lost, err := ws.Discard("discard staged rules")
			if err != nil && !errors.Is(err, workspace.ErrNothingUnsaved) {
				return err
			}
			return a.emit(map[string]any{"discarded": ruleChanges(lost)}, func() error {
				if len(lost) == 0 {
					return a.print("nothing is staged")
				}
				return a.print("%s discarded; winnow checkpoints list shows the way back", assistant.Counted(len(lost), "staged change"))
			})
		},
	}
}

// versionJSON is a save of the file.
type versionJSON struct {
	ID      string   `json:"id"`
	Time    string   `json:"time"`
	Who     string   `json:"who"`
	Session string   `json:"session,omitempty"`
	Keys    []string `json:"keys"`
	Created bool     `json:"created,omitempty"`
}

func rulesLogCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "log [ID]", Short: "List the last saves of the file, or what one of them changed", Args: args(0, 1),
		Long: "The version \"original\" is the file as it was before winnow saved it for the first time.",
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.openFilter(cmd.Context(), false)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.rulesLog(cmd.Context(), w)
			}
			lines, err := w.filter.VersionDiff(cmd.Context(), args[0])
			if err != nil {
				return advise(err, "winnow rules log lists the saves")
			}
			return a.printLines(lines)
		},
	}
}

func (a *app) rulesLog(ctx context.Context, w *openWindow) error {
	versions, err := w.filter.Versions(ctx)
	if err != nil && len(versions) == 0 {
		return err
	}
	if err != nil {
		a.say("%v", err) // of those that cannot be read; the others are listed
	}
	all := []versionJSON{}
	rows := [][]string{}
	for _, v := range versions {
		keys := []string{}
		for _, c := range v.Changes {
			keys = append(keys, c.String())
		}
		all = append(all, versionJSON{v.ID, v.Time.UTC().Format(timeJSON), string(v.Author.Who), v.Author.Session, keys, v.Created})
		rows = append(rows, []string{v.ID, v.Time.Local().Format(timeShown), string(v.Author.Who), v.Author.Session, strings.Join(keys, ", ")})
	}
	return a.emit(map[string]any{"versions": all}, func() error {
		if len(rows) == 0 {
			return a.print("winnow has not saved %s yet", w.name)
		}
		return a.table([]column{{title: "id"}, {title: "time"}, {title: "who"}, {title: "session"}, {title: "changes"}}, rows)
	})
}

// How times are written: for programs and for people.
const (
	timeJSON  = "2006-01-02T15:04:05.999Z07:00"
	timeShown = "2006-01-02 15:04:05"
)

func (a *app) printLines(lines []assistant.FileLine) error {
	return a.emit(map[string]any{"lines": append([]assistant.FileLine{}, lines...)}, func() error {
		if len(lines) == 0 {
			return a.print("nothing would change")
		}
		return a.print("%s", strings.Join(fileLines(lines), "\n"))
	})
}

func rulesRestoreCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "restore ID", Short: "Bring back the rules of an earlier save, or of the original file", Args: args(1, 1)}
	dry := c.Flags().Bool("dry-run", false, "only show what would change (exit 3 when there is something)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return a.rulesRestore(cmd.Context(), args[0], *dry)
	}
	return c
}

func (a *app) rulesRestore(ctx context.Context, id string, dry bool) error {
	if dry {
		w, err := a.openFilter(ctx, false)
		if err != nil {
			return err
		}
		lines, err := w.filter.RestoreDiff(ctx, id)
		if err != nil {
			return advise(err, "winnow rules log lists the saves")
		}
		if err := a.printLines(lines); err != nil || len(lines) == 0 {
			return err
		}
		return errPending
	}
	w, ws, err := a.editFilter(ctx)
	if err != nil {
		return err
	}
	var saved assistant.Saved
	err = ws.Edit("restore version "+id, func() (err error) {
		saved, err = w.filter.Restore(ctx, id)
		return err
	})
	switch {
	case errors.Is(err, modelfilter.ErrUnsaved):
		return advise(err, "winnow rules save or winnow rules discard")
	case err != nil:
		return advise(a.saveFault(err), "winnow rules log lists the saves")
	}
	return a.printSaved(saved)
}
