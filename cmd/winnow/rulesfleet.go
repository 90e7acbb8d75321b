package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/fleet"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// rulesDiffCommand returns the command that shows what a save would change or, with --target, compares two targets.
func rulesDiffCommand(a *app) *cobra.Command {
	plan := a.withFilter(func(ctx context.Context, w *journaledWindow, _ []string) error { return a.printPlan(ctx, w, nil) })
	var names []string
	c := command("diff", "Show what a save would change, or how two targets differ (exit 3 if there is a difference)", 0, 0, func(ctx context.Context, args []string) error {
		switch len(names) {
		case 0:
			return plan(ctx, args)
		case 1:
			names = []string{config.HereTarget, names[0]}
		case 2:
		default:
			return &usageError{"winnow rules diff", "--target can be given at most twice"}
		}
		return a.diffTargets(ctx, names[0], names[1])
	})
	if a.remote != nil {
		return c
	}
	c.Long = "With --target it compares the saved rules of two proxies, and the models that they show.\n" +
		"One --target is compared with this folder. winnow help fleet covers targets."
	c.Example = "winnow rules diff\nwinnow rules diff --target staging --target production"
	c.Flags().StringSliceVar(&names, "target", nil, "a proxy to compare: the NAME of a [[target]] in the settings, or "+config.HereTarget)
	completeTargets(a, c, "target")
	return c
}

func rulesApplyCommand(a *app) *cobra.Command {
	from, to, yes := config.HereTarget, []string(nil), false
	c := command("apply", "Copy the saved rules of one target to others", 0, 0, func(ctx context.Context, _ []string) error {
		if len(to) == 0 {
			return &usageError{"winnow rules apply", "--to is required: it names the targets"}
		}
		return a.applyTo(ctx, from, to, yes)
	})
	c.Long = "apply first stages the rules on every target and shows each plan with its effects. Then it\n" +
		"asks you, and saves each plan by its digest. Without a terminal it saves only with --yes;\n" +
		"otherwise it discards what it staged and exits with status 3. A target that fails does not\n" +
		"stop the others: the exit status is then 1, and the result names what stays staged there."
	c.Example = "winnow rules apply --from staging --to production\nwinnow rules apply --to staging,production --provider openai --yes"
	c.Flags().StringVar(&from, "from", from, "the NAME of the target to copy the rules from")
	c.Flags().StringSliceVar(&to, "to", nil, "the NAMES of the targets to copy them to")
	c.Flags().BoolVar(&yes, "yes", false, "save without asking")
	completeTargets(a, c, "from")
	completeTargets(a, c, "to")
	return c
}

// completeTargets completes the names of targets in a flag.
func completeTargets(a *app, c *cobra.Command, flag string) {
	err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		names := []string{config.HereTarget}
		if s, err := a.config(); err == nil {
			for _, t := range s.Targets {
				names = append(names, t.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag is not declared
	}
}

// diffTargets prints what differs between two targets.
func (a *app) diffTargets(ctx context.Context, one, other string) error {
	var exported [2]modelfilter.Exported
	for i, name := range []string{one, other} {
		t, err := a.target(ctx, name)
		if err != nil {
			return err
		}
		if exported[i], err = t.Export(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	d := fleet.Compare(one, other, exported[0], exported[1])
	if p := a.flags.provider; p != "" {
		d = d.ForProvider(p)
	}
	out := map[string]any{"targets": []string{one, other}, "rules": d.Rules, "models": d.Models, "unknown": d.Unknown}
	if err := a.emit(out, differenceLines(one, other, d)...); err != nil || d.Empty() {
		return err
	}
	return errPending
}

// differenceLines describes how two targets differ, for people.
func differenceLines(one, other string, d fleet.Difference) (lines []string) {
	for _, name := range []string{one, other} {
		var of []string
		for _, r := range d.Rules {
			if r.Only == name {
				of = append(of, fmt.Sprintf("  %s %s %s", r.Provider, r.Type, visible(r.Pattern)))
			}
		}
		if of != nil {
			lines = append(append(lines, fmt.Sprintf("%s only on %s:", assistant.Counted(len(of), "rule"), name)), of...)
		}
	}
	for _, name := range []string{one, other} {
		var of []string
		for _, m := range d.Models {
			if m.Shown == name {
				of = append(of, fmt.Sprintf("  %s %s (%s on the other)", m.Provider, visible(m.Model), m.Other))
			}
		}
		if of != nil {
			lines = append(append(lines, fmt.Sprintf("%s shown only on %s:", assistant.Counted(len(of), "model"), name)), of...)
		}
	}
	if lines == nil {
		lines = []string{one + " and " + other + " have the same rules and show the same models"}
	}
	if len(d.Unknown) > 0 {
		lines = append(lines, "not compared, because one of the targets has no model list for: "+strings.Join(d.Unknown, ", "))
	}
	return lines
}

// applyTo copies the rules of one target to others.
func (a *app) applyTo(ctx context.Context, from string, to []string, yes bool) error {
	source, err := a.target(ctx, from)
	if err != nil {
		return err
	}
	var targets []fleet.Target
	for i, name := range to {
		if name == from || slices.Contains(to[:i], name) {
			return &usageError{"winnow rules apply", "the target " + visible(name) + " is named twice"}
		}
		t, err := a.target(ctx, name)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	rules, err := source.Export(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	jobs := fleet.Plan(ctx, rules, strings.ToLower(a.flags.provider), targets)
	planned := slices.ContainsFunc(jobs, func(j *fleet.Job) bool { return j.State == fleet.Planned })
	var lines []string
	for _, j := range jobs {
		lines = append(lines, planLines(j, a.userName())...)
	}
	if planned && (yes || a.asks()) {
		printLines(a, lines)
		lines = nil
	}
	if yes || planned && a.asks() && a.askYesNo("Save these changes?") {
		fleet.Save(ctx, jobs)
	} else {
		fleet.Discard(ctx, jobs)
	}
	return a.printJobs(from, jobs, lines)
}

// planLines describes the plan of a job, for people.
func planLines(j *fleet.Job, user string) []string {
	if j.Plan == nil {
		return nil
	}
	lines := []string{j.Target + " would change:"}
	for _, line := range j.Plan.Lines(user) {
		lines = append(lines, strings.TrimRight("  "+string(line), " "))
	}
	return append(lines, "")
}

// printJobs prints lines and then the outcome of each job.
func (a *app) printJobs(from string, jobs []*fleet.Job, lines []string) error {
	failed, pending := false, false
	for _, j := range jobs {
		text := map[fleet.State]string{
			fleet.Unchanged: "unchanged: it already has these rules", fleet.Discarded: "not saved; the changes were discarded", fleet.Failed: j.Error,
		}[j.State]
		if j.State == fleet.Saved {
			text = string((j.Saved.Message + " " + j.Saved.Warning).TrimSpace())
		}
		if j.State == fleet.Failed && j.Staged {
			text += "; the changes stay staged there"
		}
		for _, note := range append([]string{text}, j.Notes...) {
			lines = append(lines, j.Target+": "+string(safetext.VisibleOnce(note)))
		}
		failed, pending = failed || j.State == fleet.Failed, pending || j.State == fleet.Discarded
	}
	err := a.emit(map[string]any{"from": from, "targets": jobs}, lines...)
	switch {
	case err != nil:
		return err
	case failed:
		return statusError(statusFailed)
	case pending:
		return errPending
	}
	return nil
}
