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
	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/tui/lines"
)

func rulesCommand(a *app) *cobra.Command {
	c := group("rules", "Show the rules, stage changes and save them",
		command("list", "List the rules, saved and staged", 0, 0, a.withFilter(a.rulesList)),
		rulesTestCommand(a), rulesCoversCommand(a),
		rulesChangeCommand(a, "add", "Stage rules"), rulesChangeCommand(a, "remove", "Stage the removal of rules"),
		rulesHideCommand(a), rulesCheckCommand(a),
		command("diff", "Show what saving would change (exit 3 when there is something)", 0, 0, a.withFilter(a.printPlan)),
		rulesPlanCommand(a), rulesSaveCommand(a),
		rulesDiscardCommand(a),
		command("lint", "Find rules that do nothing or hide models that are used (exit 1)", 0, 0, a.withFilter(a.rulesLint)),
		rulesLogCommand(a), rulesRestoreCommand(a))
	c.Long = "Changes are staged until they are saved, and shared with the program and with ask.\n" +
		"--provider names the provider whose rules are meant."
	return c
}

// withFilter runs a command on the model filter without writing to it, also while
// another winnow has it open.
func (a *app) withFilter(run func(ctx context.Context, w *journaledWindow, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		w, err := a.openAskedFilter(ctx, toRead)
		if err != nil {
			return err
		}
		return run(ctx, w, args)
	}
}

// openAskedFilter is openFilter with the models that a running proxy serves.
func (a *app) openAskedFilter(ctx context.Context, to access) (*journaledWindow, error) {
	w, err := a.openFilter(ctx, to)
	if err != nil {
		return nil, err
	}
	o, err := a.endpointOptions()
	if err != nil {
		return nil, err
	}
	o.Provider, o.BaseURL = "", "" // here they name a provider of the rules, and nothing
	set, err := endpoints.Find(o)
	if err != nil {
		return nil, err
	}
	w.askProxy(ctx, set)
	return w, nil
}

// withWorkspace runs a command that changes the rules of the model filter, in a
// session without a model.
func (a *app) withWorkspace(run func(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if a.remote != nil {
			s, err := a.remote.open(ctx, a)
			if err != nil {
				return err
			}
			return run(ctx, a.remote.window, s.Workspace, args)
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

// ruleLists are the rule lists of a provider, in the order in which they are printed.
var ruleLists = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// listName is the name of a list in JSON, as in the assistant's tools.
func listName(l modelfilter.List) string {
	if l == modelfilter.Allow {
		return "whitelist"
	}
	return "ignore"
}

// scopes are the providers that a command is about: the one of --provider, or
// those with rules or, if withKeys, with a key.
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

// rulesJSON is the rules of a provider as --json prints them.
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
		providers = append(providers, rulesJSON{s.Provider(), s.Rules(modelfilter.Ignore), s.Rules(modelfilter.Allow), removed, counts.Available, counts.Total})
	}
	var rows [][]string
	for _, r := range ruleRows(scopes) {
		rows = append(rows, []string{r.provider, r.list, r.pattern, fmt.Sprint(r.decides), r.remark})
	}
	text := lines.Table(w.absent("there are no rules in "+w.name), []string{"provider", "list", "pattern", ">models", "remark"}, rows)
	return a.emit(map[string]any{"env_file": w.name, "unsaved": w.unsaved(), "providers": providers}, append(text, shownModels(scopes)...)...)
}

// ruleRow is a rule as people read it.
type ruleRow struct {
	provider, list, pattern string
	decides                 int // models
	remark                  string
}

// ruleRows are the rules of some providers, staged removals too.
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

// shownModels says how many models the rules leave of each provider.
func shownModels(scopes []modelfilter.Scope) (lines []string) {
	for _, s := range scopes {
		counts := s.Counts()
		lines = append(lines, fmt.Sprintf("%s: %d of %d models shown", s.Provider(), counts.Available, counts.Total))
	}
	return lines
}

// plainRules are the rules as --plain lists them, one a line, then how many models
// they leave of each provider.
func (a *app) plainRules(w *modelfilter.Window) []string {
	scopes, err := a.scopes(w, false)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, r := range ruleRows(scopes) {
		line := fmt.Sprintf("%s %s %s: decides %s, %s", r.provider, r.list, r.pattern, assistant.Counted(r.decides, "model"), r.remark)
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
		words = append(words, "other rules decide all it matches")
	}
	return strings.Join(words, ", ")
}

// lintJSON is a rule that does nothing, or that hides models that are used.
type lintJSON struct {
	Provider string `json:"provider"`
	Kind     string `json:"kind"`
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	By       string `json:"by"`
	Used     string `json:"used,omitempty"` // which of the models that it hides are used
}

// hidesUsed is the kind of a rule that hides models that are used.
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
			lines = append(lines, fmt.Sprintf("%s: %s rule %s is %s: %s", s.Provider(), f.List, visible(f.Pattern), f.Kind, strings.ReplaceAll(lintReasons[f.Kind], "%s", visible(f.By))))
		}
		use := s.UseFindings()
		for _, r := range use.Rules {
			found = append(found, lintJSON{use.Provider, hidesUsed, listName(modelfilter.Ignore), r.Pattern, "", r.Text})
			lines = append(lines, use.Provider+": "+visible(r.Text))
		}
		if use.Problem != "" {
			a.printErr("%s", use.Problem)
		}
		if len(use.Unused) > 0 {
			unused[use.Provider] = use.Unused
			notes = append(notes, fmt.Sprintf("%s: shown, and not used for 90 days: %s", use.Provider, visible(strings.Join(use.Unused, ", "))))
		}
	}
	out := map[string]any{"findings": found, "unused": unused}
	if len(lines) == 0 {
		return a.emit(out, append([]string{"every rule does something"}, notes...)...)
	}
	return cmp.Or(a.emit(out, append(lines, notes...)...), error(statusError(statusFailed)))
}

// lintReasons say why a rule does nothing; %s is the other rule of the finding.
var lintReasons = map[engine.Kind]string{
	engine.Dead: "it matches no model", engine.Shadowed: "other rules decide all it matches, the first %s",
	engine.Redundant: "%s covers it", engine.Undecided: "%s may cover it",
}
