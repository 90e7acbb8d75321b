package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// shown is a pattern or id with nothing hidden in it.
func shown(s string) string { return safetext.Visible(s) }

func visible(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = shown(s)
	}
	return out
}

// joined is several errors as one, so that each is told on a line of its own.
func joined(all []error) error {
	if len(all) == 0 {
		return nil
	}
	return errors.Join(all...)
}

func rulesDiffCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "diff", Short: "Show what saving would change (exit 3 when there is something)", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.looked(cmd.Context())
			if err != nil {
				return err
			}
			return a.showPlan(cmd.Context(), d)
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
		d, err := a.looked(cmd.Context()) // without the journal: what is staged here is gone with the process
		if err != nil {
			return err
		}
		s, err := d.window.On(a.flags.provider)
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
			return joined(refused)
		}
		return a.showPlan(cmd.Context(), d)
	}
	return c
}

// planJSON is a plan as --json prints it.
type planJSON struct {
	Path    string               `json:"path"`
	Creates bool                 `json:"creates"`
	Foreign bool                 `json:"foreign"`
	Rules   []ruleChange         `json:"rules"`
	Lines   []assistant.FileLine `json:"lines"`
	Effects []effectJSON         `json:"effects"`
}

type ruleChange struct {
	Provider string `json:"provider"`
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	Added    bool   `json:"added"`
}

type effectJSON struct {
	Provider string   `json:"provider"`
	Known    bool     `json:"known"`
	Shown    []string `json:"shown"`
	Hidden   []string `json:"hidden"`
}

func changesJSON(all []assistant.RuleChange) []ruleChange {
	out := []ruleChange{}
	for _, c := range all {
		out = append(out, ruleChange{c.Provider, listName(modelfilter.ListOf(c)), c.Pattern, c.Added})
	}
	return out
}

func linesJSON(all []assistant.FileLine) []assistant.FileLine {
	return append([]assistant.FileLine{}, all...) // no lines are [] and not null
}

// showPlan prints what a save would change; errPending when it is something.
func (a *app) showPlan(ctx context.Context, d *desk) error {
	a.tellNotices(d)
	plan, err := d.window.PlanSave(ctx)
	if err != nil {
		return saveFault(err)
	}
	if a.flags.json {
		out := planJSON{plan.Path, plan.Creates, plan.Conflict != nil, changesJSON(plan.Rules), linesJSON(plan.Lines), []effectJSON{}}
		for _, e := range plan.Effects {
			out.Effects = append(out.Effects, effectJSON{e.Provider, e.Known, append([]string{}, e.Shown...), append([]string{}, e.Hidden...)})
		}
		err = a.printJSON(out)
	} else if plan.Empty() {
		err = a.print("nothing is staged: %s stays as it is", plan.Path)
	} else {
		err = a.print("%s", strings.TrimRight(modelfilter.PlanText(plan), "\n"))
	}
	if err == nil && !plan.Empty() {
		err = errPending
	}
	return err
}

func rulesSaveCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "save", Short: "Write the staged rules to the .env file", Args: args(0, 0)}
	merge := c.Flags().Bool("merge", false, "when somebody else changed the file: put the staged changes on top of it")
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.rulesSave(cmd.Context(), *merge) }
	return c
}

func (a *app) rulesSave(ctx context.Context, merge bool) error {
	d, err := a.openDesk(ctx, nil, true)
	if err != nil {
		return err
	}
	a.tellNotices(d)
	saved, err := d.save(ctx)
	if conflict := (*assistant.Conflict)(nil); errors.As(err, &conflict) && merge {
		if _, err = d.window.RefreshSaved(ctx, false); err == nil {
			saved, err = d.save(ctx)
		}
	}
	if err != nil {
		return saveFault(err)
	}
	return a.tellSaved(saved)
}

func (a *app) tellSaved(saved assistant.Saved) error {
	if a.flags.json {
		keys := []string{}
		for _, c := range saved.Keys {
			keys = append(keys, c.Key)
		}
		return a.printJSON(map[string]any{"path": saved.Path, "written": saved.Written, "rules": changesJSON(saved.Rules), "keys": keys, "message": saved.Message})
	}
	return a.print("%s", strings.TrimSpace(saved.Message+" "+saved.Warning))
}

// saveFault says what stands in the way of a save, with both sides of a
// conflict.
func saveFault(err error) error {
	var way *assistant.Conflict
	if !errors.As(err, &way) {
		return err
	}
	if way.Kept != "" {
		return way
	}
	lines := []error{fmt.Errorf("%w; nothing was saved", way)}
	for _, l := range way.Theirs {
		lines = append(lines, fmt.Errorf("theirs %s%s", l.Kind, l.Text))
	}
	for _, l := range way.Ours {
		lines = append(lines, fmt.Errorf("ours   %s%s", l.Kind, l.Text))
	}
	return advise(errors.Join(lines...), "winnow rules save --merge puts your changes on top of theirs")
}

func rulesDiscardCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "discard", Short: "Forget what is staged", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.openDesk(cmd.Context(), nil, true)
			if err != nil {
				return err
			}
			if !d.window.Dirty() && !a.flags.json {
				return a.print("nothing is staged")
			}
			var lost []assistant.RuleChange
			err = d.edit(cmd.Context(), "discard staged rules", func() error { lost, err = d.window.Discard(); return err })
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(map[string]any{"discarded": changesJSON(lost)})
			}
			return a.print("%s discarded; winnow checkpoints list shows the way back", assistant.Counted(len(lost), "staged change"))
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
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.looked(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				lines, err := d.window.VersionDiff(cmd.Context(), args[0])
				if err != nil {
					return advise(err, "winnow rules log lists the saves")
				}
				return a.showLines(lines)
			}
			return a.rulesLog(cmd.Context(), d)
		},
	}
}

func (a *app) rulesLog(ctx context.Context, d *desk) error {
	versions, err := d.window.Versions(ctx)
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
	if a.flags.json {
		return a.printJSON(map[string]any{"versions": all})
	}
	if len(rows) == 0 {
		return a.print("winnow has not saved %s yet", d.window.EnvFile())
	}
	return a.table([]column{{title: "id"}, {title: "time"}, {title: "who"}, {title: "session"}, {title: "changes"}}, rows)
}

// How times are written: for programs and for people.
const (
	timeJSON  = "2006-01-02T15:04:05.999Z07:00"
	timeShown = "2006-01-02 15:04:05"
)

func (a *app) showLines(lines []assistant.FileLine) error {
	if a.flags.json {
		return a.printJSON(map[string]any{"lines": linesJSON(lines)})
	}
	for _, l := range lines {
		if err := a.print("%s%s", l.Kind, l.Text); err != nil {
			return err
		}
	}
	return nil
}

func rulesRestoreCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "restore ID", Short: "Bring back the rules of an earlier save, or of the original file", Args: args(1, 1)}
	before := c.Flags().Bool("before", false, "as the save found the rules, not as it left them")
	dry := c.Flags().Bool("dry-run", false, "only show what would change (exit 3 when there is something)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		side := dotenv.After
		if *before {
			side = dotenv.Before
		}
		return a.rulesRestore(cmd.Context(), args[0], side, *dry)
	}
	return c
}

func (a *app) rulesRestore(ctx context.Context, id string, side dotenv.Side, dry bool) error {
	d, err := a.openDesk(ctx, nil, !dry)
	if err != nil {
		return err
	}
	if dry {
		lines, err := d.window.RestoreDiff(ctx, id, side)
		if err != nil {
			return advise(err, "winnow rules log lists the saves")
		}
		if err := a.showLines(lines); err != nil || len(lines) == 0 {
			return err
		}
		return errPending
	}
	var saved assistant.Saved
	err = d.edit(ctx, "restore version "+id, func() (err error) {
		saved, err = d.window.Restore(ctx, id, side)
		return err
	})
	switch {
	case errors.Is(err, modelfilter.ErrUnsaved):
		return advise(err, "winnow rules save or winnow rules discard")
	case err != nil:
		return advise(saveFault(err), "winnow rules log lists the saves")
	}
	return a.tellSaved(saved)
}
