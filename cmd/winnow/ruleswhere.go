package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/tui/plain"
)

// whereHelp is the help of the --where flag.
const whereHelp = "models that match a condition, such as 'price>10 unused:30d'; see winnow help conditions"

// foundJSON is the JSON form of a model that a condition selects.
type foundJSON struct {
	Provider string `json:"provider"`
	modelJSON
	Use *usage.Use `json:"use"` // null if unknown
}

// findModels returns the models of --provider, or of all providers in the file, that match a condition. It prints
// notices about unreadable usage files and about the number of models that could not be judged.
func (a *app) findModels(w *journaledWindow, where string) (modelfilter.Found, error) {
	c, err := condition.Parse(where)
	if err == nil && c.Empty() {
		err = errors.New("the condition is missing")
	}
	if err != nil {
		return modelfilter.Found{}, advise(&usageError{"winnow", "--where: " + visible(err.Error())}, "winnow help conditions lists all conditions")
	}
	var providers []string
	if a.flags.provider != "" {
		providers = []string{a.flags.provider}
	}
	found, err := w.filter.Find(c, providers...)
	if err != nil {
		return found, err
	}
	for _, problem := range found.Problems {
		a.printErr("%s", problem)
	}
	if found.Unknown > 0 {
		a.printErr("left out because a property is unknown: %s", assistant.Counted(found.Unknown, "model"))
	}
	return found, nil
}

// printFound prints models with their facts and use, or the text empty if there are none.
func (a *app) printFound(found modelfilter.Found, empty string) error {
	models, rows := []foundJSON{}, [][]string{}
	for _, m := range found.Models {
		f := foundJSON{Provider: m.Provider, modelJSON: newModelJSON(m.Info)}
		f.Status, f.Rule, f.New, f.ListedBy = &m.Status.Status, m.Status.Rule, m.New, m.Source
		requests, last := "", ""
		if m.UseKnown {
			f.Use, requests, last = &m.Use, fmt.Sprint(m.Use.Requests), "never"
		}
		if !m.Use.Last.IsZero() {
			last = m.Use.Last.Local().Format(time.DateOnly)
		}
		models = append(models, f)
		window, price := f.facts()
		rows = append(rows, []string{visible(m.Info.ID), m.Status.Status.Word(), window, price, m.Info.Facts.Released, requests, last, m.Source})
	}
	return a.emit(map[string]any{"models": models, "unknown": found.Unknown},
		plain.Table(empty, []string{"model", "status", ">context", ">$ / 1M in, out", "released", ">requests", "last used", "listed by"}, rows)...)
}

func rulesCheckCommand(a *app) *cobra.Command {
	var where string
	c := command("check", "Fail if a shown model matches a condition (exit 3)", 0, 0, a.withFilter(func(_ context.Context, w *journaledWindow, _ []string) error {
		found, err := a.findModels(w, where)
		if err != nil {
			return err
		}
		shown := found.Models[:0]
		for _, m := range found.Models {
			if !m.Hidden {
				shown = append(shown, m)
			}
		}
		found.Models = shown
		if err := a.printFound(found, "no shown model matches"); err != nil || len(shown) == 0 {
			return err
		}
		return errPending
	}))
	c.Long = "check applies the rules as they would be after a save, so staged rules count."
	c.Example = "winnow rules check --where 'price>10'\nwinnow rules check --where 'status:deprecated used:7d' --json"
	c.Flags().StringVar(&where, "where", "", whereHelp)
	return c
}

func rulesHideCommand(a *app) *cobra.Command {
	var where string
	var save bool
	c := command("hide", "Stage the fewest rules that hide all models matching a condition", 0, 0, a.withWorkspace(func(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, _ []string) error {
		plans, err := a.planHide(w, where)
		if err != nil {
			return err
		}
		e := editsOf(ws)
		if err := e.hide(w, plans); err != nil {
			return err
		}
		if len(e.lines) == 0 {
			e.lines = []string{"no shown model matches; nothing was staged"}
		}
		return a.finishEdits(ctx, w, ws, e, save && len(e.results) > 0, map[string]any{"plans": nonNil(plans)})
	}))
	c.Long = "The rules are patterns that match these models and no other known models; a pattern with\n" +
		"* also matches models that a provider adds later. winnow rules plan --where shows them first."
	c.Example = "winnow rules hide --where 'price>10 unused:30d' --provider openai"
	c.Flags().StringVar(&where, "where", "", whereHelp)
	c.Flags().BoolVar(&save, "save", false, saveHelp)
	return c
}

// planHide returns the rules that would hide the shown models matching a condition.
func (a *app) planHide(w *journaledWindow, where string) ([]modelfilter.HidePlan, error) {
	found, err := a.findModels(w, where)
	if err != nil {
		return nil, err
	}
	return w.filter.PlanHide(found)
}

// hide adds the rules of plans, and notes which models they leave shown.
func (e *ruleEdits) hide(w *journaledWindow, plans []modelfilter.HidePlan) error {
	for _, p := range plans {
		s, err := w.filter.On(p.Provider)
		if err != nil {
			return err
		}
		e.do(s, "add", modelfilter.Ignore, p.Patterns...)
		e.notes = append(e.notes, hideNotes(p)...)
	}
	e.lines = append(e.lines, e.notes...)
	return nil
}

// hideNotes explains which models a plan leaves shown, and that its patterns may match models added later.
func hideNotes(p modelfilter.HidePlan) (notes []string) {
	if slices.ContainsFunc(p.Patterns, func(pattern string) bool { return strings.Contains(pattern, "*") }) {
		notes = append(notes, p.Provider+": a pattern with * also hides matching models that are added later, whether or not the condition holds for them")
	}
	if n := len(p.Allowed); n > 0 {
		notes = append(notes, fmt.Sprintf("%s: an allow rule keeps %s shown: %s", p.Provider, assistant.Counted(n, "model"), visible(strings.Join(p.Allowed, ", "))))
	}
	if n := len(p.Left); n > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s cannot be hidden without hiding others: %s", p.Provider, assistant.Counted(n, "model"), visible(strings.Join(p.Left, ", "))))
	}
	return notes
}
