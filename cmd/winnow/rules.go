package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/plain"
)

func rulesCommand(a *app) *cobra.Command {
	c := group("rules", "Show the rules, stage changes and save them",
		command("list", "List the rules, saved and staged", 0, 0, a.withFilter(a.rulesList)),
		rulesTestCommand(a), rulesCoversCommand(a),
		rulesChangeCommand(a, "add", "Stage rules"), rulesChangeCommand(a, "remove", "Stage the removal of rules"),
		rulesHideCommand(a), rulesCheckCommand(a),
		rulesDiffCommand(a),
		rulesPlanCommand(a), rulesSaveCommand(a),
		rulesDiscardCommand(a),
		command("lint", "Find rules that have no effect or hide models in use (exit 1)", 0, 0, a.withFilter(a.rulesLint)),
		rulesLogCommand(a), rulesRestoreCommand(a))
	if a.remote == nil {
		c.AddCommand(rulesApplyCommand(a))
	}
	c.Long = "Changes are staged until they are saved; the program and ask see them too.\n" +
		"--provider selects the provider that the rules belong to."
	return c
}

// withFilter returns a command action that only reads the model filter, so it also works while another winnow has the
// model filter open.
func (a *app) withFilter(run func(ctx context.Context, w *journaledWindow, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		w, err := a.openAskedFilter(ctx, toRead)
		if err != nil {
			return err
		}
		return run(ctx, w, args)
	}
}

// openAskedFilter opens the model filter and gives it the models that a running proxy serves.
func (a *app) openAskedFilter(ctx context.Context, to access) (*journaledWindow, error) {
	w, err := a.openFilter(ctx, to)
	if err != nil {
		return nil, err
	}
	_, err = a.askProxy(ctx, w)
	return w, err
}

// askProxy fetches the models that a running proxy serves, for a command without a model.
// The returned answers are marked as already accepted.
func (a *app) askProxy(ctx context.Context, w *journaledWindow) (answers []models.Answer, err error) {
	o, err := a.endpointOptions()
	if err != nil || w.filter == nil {
		return nil, err
	}
	o.Provider, o.BaseURL = "", "" // in these commands --provider names a provider of rules, not an endpoint
	set, err := endpoints.Find(o)
	if err != nil {
		return nil, err
	}
	set.AskProxy(ctx, func(answer models.Answer) {
		w.filter.AcceptModels(ctx, answer)
		answer.Again = true
		answers = append(answers, answer)
	})
	return answers, nil
}

// withWorkspace returns a command action that changes the rules of the model filter, in a session without a model.
func (a *app) withWorkspace(run func(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if a.remote != nil {
			s, err := a.remote.open(ctx, a)
			if err != nil {
				return err
			}
			err = run(ctx, a.remote.window, s.Workspace, args)
			if proposed := assistant.AsProposed(err); proposed != nil {
				return a.emit(map[string]any{"proposed": proposed.Summary, "pair": proposed.Pair}, proposed.Error())
			}
			return err
		}
		w, err := a.openAskedFilter(ctx, toWrite)
		if err != nil {
			return err
		}
		session, err := a.editSession(ctx, w, nil, w.journal.LastRun().Session)
		if err != nil {
			return err
		}
		a.printNotices(w)
		return run(ctx, w, workspace.New(workspace.Options{Session: session, Folder: a.folder(), Author: a.userName()}), args)
	}
}

// ruleLists contains the two lists of a provider's rules, in the order in which they are printed.
var ruleLists = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// listName returns the name of a list in JSON, which is also its name in the assistant's tools.
func listName(l modelfilter.List) string {
	if l == modelfilter.Allow {
		return "whitelist"
	}
	return "ignore"
}

// scopes returns the providers that a command works on: the one given by --provider, or all providers that have rules,
// staged changes or, if withKeys is set, a key.
func (a *app) scopes(w *modelfilter.Window, withKeys bool) ([]modelfilter.Scope, error) {
	var names []string
	if a.flags.provider != "" {
		names = []string{a.flags.provider}
	} else {
		for _, p := range w.Providers() {
			if p.Rules > 0 || p.Unsaved || withKeys && p.Key {
				names = append(names, p.Name)
			}
		}
	}
	var out []modelfilter.Scope
	for _, name := range names {
		s, err := w.On(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// rulesJSON is the JSON form of a provider's rules.
type rulesJSON struct {
	Provider  string                 `json:"provider"`
	Ignore    []modelfilter.RuleView `json:"ignore"`
	Whitelist []modelfilter.RuleView `json:"whitelist"`
	Removed   []string               `json:"removed"` // rules of the file whose removal is staged
	Available int                    `json:"available"`
	Total     int                    `json:"total"`
}

func (a *app) rulesList(_ context.Context, w *journaledWindow, _ []string) error {
	a.printNotices(w)
	scopes, err := a.scopes(w.filter, false)
	if err != nil {
		return err
	}
	providers := []rulesJSON{}
	for _, s := range scopes {
		counts := s.Counts()
		removed := append(nonNil(s.Removed(modelfilter.Ignore)), s.Removed(modelfilter.Allow)...)
		providers = append(providers, rulesJSON{s.Provider(), s.Rules(modelfilter.Ignore), s.Rules(modelfilter.Allow), removed, counts.Shown, counts.Total})
	}
	var rows [][]string
	for _, r := range ruleRows(scopes) {
		rows = append(rows, []string{r.provider, r.list, r.pattern, fmt.Sprint(r.decides), r.remark})
	}
	text := plain.Table(w.absent("there are no rules in "+w.name), []string{"provider", "list", "pattern", ">models", "remark"}, rows)
	return a.emit(map[string]any{"env_file": w.name, "unsaved": w.unsaved(), "providers": providers}, append(text, shownModels(scopes)...)...)
}

// ruleRow is a rule in a table for people.
type ruleRow struct {
	provider, list, pattern string
	decides                 int // number of models that the rule decides
	remark                  string
}

// ruleRows returns the rules of scopes, including staged removals.
func ruleRows(scopes []modelfilter.Scope) (rows []ruleRow) {
	for _, s := range scopes {
		for _, l := range ruleLists {
			for _, r := range s.Rules(l) {
				rows = append(rows, ruleRow{s.Provider(), l.String(), visible(r.Pattern), r.Decides, ruleRemark(r)})
			}
			for _, pattern := range s.Removed(l) {
				rows = append(rows, ruleRow{s.Provider(), l.String(), visible(pattern), 0, "removal staged"})
			}
		}
	}
	return rows
}

// shownModels returns a line for each provider with the number of models that its rules leave shown.
func shownModels(scopes []modelfilter.Scope) (lines []string) {
	for _, s := range scopes {
		counts := s.Counts()
		lines = append(lines, fmt.Sprintf("%s: %d of %d models shown", s.Provider(), counts.Shown, counts.Total))
	}
	return lines
}

// plainRules lists the rules for --plain, one per line, followed by the lines of shownModels.
func (a *app) plainRules(w *modelfilter.Window) []string {
	scopes, err := a.scopes(w, false)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, r := range ruleRows(scopes) {
		line := fmt.Sprintf("%s %s %s: %s affected, %s", r.provider, r.list, r.pattern, assistant.Counted(r.decides, "model"), r.remark)
		lines = append(lines, strings.TrimSuffix(line, ", "))
	}
	if lines == nil {
		return []string{"There are no rules."}
	}
	return append(lines, shownModels(scopes)...)
}

func ruleRemark(r modelfilter.RuleView) string {
	var words []string
	if r.Unsaved {
		words = append(words, "unsaved")
	} else if r.Source != "" {
		words = append(words, r.Source)
	}
	if r.Dead {
		words = append(words, "matches no model")
	} else if r.Shadowed {
		words = append(words, "other rules apply to every model it matches")
	}
	return strings.Join(words, ", ")
}

// lintJSON describes a rule that has no effect or that hides models in use.
type lintJSON struct {
	Provider string        `json:"provider"`
	Kind     string        `json:"kind"`
	Type     string        `json:"type"`
	Pattern  string        `json:"pattern"`
	By       string        `json:"by"`
	Used     safetext.Text `json:"used,omitempty"` // which of the models that the rule hides are used
}

// hidesUsed is the lintJSON.Kind of a rule that hides models in use.
const hidesUsed = "hides used models"

func (a *app) rulesLint(_ context.Context, w *journaledWindow, _ []string) error {
	a.printNotices(w)
	scopes, err := a.scopes(w.filter, false)
	if err != nil {
		return err
	}
	found, unused := []lintJSON{}, map[string][]string{}
	var lines, notes []string
	for _, s := range scopes {
		for _, f := range s.Lint() {
			found = append(found, lintJSON{s.Provider(), f.Kind.String(), listName(f.List), f.Pattern, f.By, ""})
			lines = append(lines, fmt.Sprintf("%s: %s rule %s %s", s.Provider(), f.List, visible(f.Pattern), strings.ReplaceAll(lintReasons[f.Kind], "%s", visible(f.By))))
		}
		use := s.UseFindings()
		for _, r := range use.Rules {
			found = append(found, lintJSON{use.Provider, hidesUsed, listName(modelfilter.Ignore), r.Pattern, "", r.Text})
			lines = append(lines, use.Provider+": "+string(r.Text))
		}
		if use.Problem != "" {
			a.printErr("%s", use.Problem)
		}
		if len(use.Unused) > 0 {
			unused[use.Provider] = use.Unused
			notes = append(notes, fmt.Sprintf("%s: shown but not used for 90 days: %s", use.Provider, visible(strings.Join(use.Unused, ", "))))
		}
	}
	out := map[string]any{"findings": found, "unused": unused}
	if len(lines) == 0 {
		return a.emit(out, append([]string{"every rule has an effect"}, notes...)...)
	}
	return cmp.Or(a.emit(out, append(lines, notes...)...), error(statusError(statusFailed)))
}

// lintReasons maps the kind of a finding to why the rule has no effect; %s is the other rule of the finding.
var lintReasons = map[engine.Kind]string{
	engine.Dead: "is dead: it matches no model", engine.Shadowed: "is shadowed: other rules, such as %s, apply to every model it matches",
	engine.Redundant: "is redundant: %s covers it", engine.Undecided: "may be redundant: winnow cannot tell whether %s covers it",
}

// ruleAct returns the act that performs a rule command on the current provider, and the revision of the rules that it
// is based on. argument is a model for WhyModel, otherwise a pattern.
func ruleAct(w *modelfilter.Window, action keymap.Action, argument string) (act assistant.Act, revision int64) {
	if action == keymap.WhyModel {
		return modelfilter.ExplainModel{Model: argument}, w.Revision()
	}
	list := modelfilter.Ignore
	if action == keymap.AddAllow {
		list = modelfilter.Allow
	}
	return modelfilter.AddRule{Provider: w.Provider(), Rule: modelfilter.Rule{List: list, Pattern: argument}}, w.Revision()
}
