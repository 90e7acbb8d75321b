package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

func rulesCommand(a *app) *cobra.Command {
	c := group("rules", "Look at the rules, stage changes and save them",
		rulesListCommand(a), rulesTestCommand(a), rulesCoversCommand(a),
		rulesAddCommand(a), rulesRemoveCommand(a),
		rulesDiffCommand(a), rulesPlanCommand(a), rulesSaveCommand(a), rulesDiscardCommand(a),
		rulesLintCommand(a), rulesLogCommand(a), rulesRestoreCommand(a))
	c.Long = "Changes are staged until they are saved, and shared with the program and with ask.\n" +
		"--provider names the provider whose rules are meant."
	return c
}

// both are the lists of a provider, in the order in which they are printed.
var both = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// wire names of lists and statuses, as the assistant's tools have them.
func listName(l modelfilter.List) string {
	if l == modelfilter.Allow {
		return "whitelist"
	}
	return "ignore"
}

// listFlag declares --allow and returns the list that it chooses.
func listFlag(c *cobra.Command) func() modelfilter.List {
	allow := c.Flags().Bool("allow", false, "the allow list (WHITELIST_MODELS_…) instead of the ignore list")
	return func() modelfilter.List {
		if *allow {
			return modelfilter.Allow
		}
		return modelfilter.Ignore
	}
}

// scopes are the providers that a command is about: the one of --provider, or
// those that keep passes.
func (a *app) scopes(w *modelfilter.Window, keep func(modelfilter.ProviderView) bool) (names []string, scopes []modelfilter.Scope, err error) {
	if a.flags.provider != "" {
		names = []string{a.flags.provider}
	} else {
		for _, p := range w.Providers() {
			if keep(p) {
				names = append(names, p.Name)
			}
		}
	}
	for _, name := range names {
		s, err := w.On(name)
		if err != nil {
			return nil, nil, err
		}
		scopes = append(scopes, s)
	}
	return names, scopes, nil
}

func hasRules(p modelfilter.ProviderView) bool { return p.Rules > 0 || p.Unsaved }
func hasKey(p modelfilter.ProviderView) bool   { return p.Key || p.Rules > 0 || p.Unsaved }

// looked opens the window to look at it.
func (a *app) looked(ctx context.Context) (*desk, error) { return a.openDesk(ctx, nil, false) }

// tellNotices tells what is to be known of the file.
func (a *app) tellNotices(d *desk) {
	for _, n := range d.window.Notices() {
		a.say("%s", n)
	}
}

// ruleJSON is a rule as --json prints it.
type ruleJSON struct {
	Pattern  string `json:"pattern"`
	Matches  int    `json:"matches"`
	Affected int    `json:"affected_count"`
	Shadowed bool   `json:"shadowed"`
	Dead     bool   `json:"dead"`
	Unsaved  bool   `json:"unsaved"`
	Fixed    bool   `json:"fixed"`
	Source   string `json:"source"`
}

// providerRules is a provider as rules list --json prints it.
type providerRules struct {
	Provider  string     `json:"provider"`
	Ignore    []ruleJSON `json:"ignore"`
	Whitelist []ruleJSON `json:"whitelist"`
	Removed   []string   `json:"removed"` // rules of the file that are staged to go
	Available int        `json:"available"`
	Total     int        `json:"total"`
}

func rulesListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the rules, saved and staged", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rulesList(cmd.Context()) },
	}
}

func (a *app) rulesList(ctx context.Context) error {
	d, err := a.looked(ctx)
	if err != nil {
		return err
	}
	a.tellNotices(d)
	names, scopes, err := a.scopes(d.window, hasRules)
	if err != nil {
		return err
	}
	providers := []providerRules{}
	rows := [][]string{}
	for i, s := range scopes {
		counts := s.Counts()
		p := providerRules{Provider: names[i], Ignore: []ruleJSON{}, Whitelist: []ruleJSON{}, Removed: []string{}, Available: counts.Available, Total: counts.Total}
		for _, list := range both {
			for _, r := range s.Rules(list) {
				one := ruleJSON{r.Pattern, r.Matches, r.Decides, r.Shadowed, r.Dead, r.Unsaved, r.Fixed, r.Source}
				if list == modelfilter.Ignore {
					p.Ignore = append(p.Ignore, one)
				} else {
					p.Whitelist = append(p.Whitelist, one)
				}
				rows = append(rows, []string{names[i], list.String(), shown(r.Pattern), fmt.Sprint(r.Decides), ruleRemark(r)})
			}
			for _, gone := range s.Removed(list) {
				p.Removed = append(p.Removed, gone)
				rows = append(rows, []string{names[i], list.String(), shown(gone), "", "staged to go"})
			}
		}
		providers = append(providers, p)
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"env_file": d.window.EnvFile(), "unsaved": d.window.Dirty(), "providers": providers})
	}
	if len(rows) == 0 {
		return a.print("there are no rules in %s", d.window.EnvFile())
	}
	if err := a.table([]column{{title: "provider"}, {title: "list"}, {title: "pattern"}, {title: "models", right: true}, {title: "remark"}}, rows); err != nil {
		return err
	}
	for _, p := range providers {
		if err := a.print("%s: %d of %d available", p.Provider, p.Available, p.Total); err != nil {
			return err
		}
	}
	return nil
}

func ruleRemark(r modelfilter.RuleView) string {
	var words []string
	switch {
	case r.Unsaved:
		words = append(words, "unsaved")
	case r.Source != "":
		words = append(words, r.Source)
	}
	if r.Dead {
		words = append(words, "matches no model")
	} else if r.Shadowed {
		words = append(words, "other rules decide all it matches")
	}
	return strings.Join(words, ", ")
}

func rulesAddCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "add PATTERN…", Short: "Stage rules", Args: args(1, -1), Example: "winnow rules add '*-preview*' --provider openai --save"}
	list := listFlag(c)
	save := c.Flags().Bool("save", false, "save all staged rules afterwards")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return a.rulesChange(cmd.Context(), "add", list(), args, *save)
	}
	return c
}

func rulesRemoveCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "remove PATTERN…", Short: "Stage the removal of rules", Args: args(1, -1)}
	list := listFlag(c)
	save := c.Flags().Bool("save", false, "save all staged rules afterwards")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return a.rulesChange(cmd.Context(), "remove", list(), args, *save)
	}
	return c
}

// changeJSON is what came of one pattern.
type changeJSON struct {
	Pattern   string   `json:"pattern"`
	OK        bool     `json:"ok"`
	Affected  []string `json:"affected_models"`
	Redundant []string `json:"redundant"`
	Error     string   `json:"error,omitempty"`
}

// rulesChange stages the patterns, each on its own: one that is refused does
// not stop the others.
func (a *app) rulesChange(ctx context.Context, verb string, list modelfilter.List, patterns []string, save bool) error {
	d, err := a.openDesk(ctx, nil, true)
	if err != nil {
		return err
	}
	a.tellNotices(d)
	s, err := d.window.On(a.flags.provider)
	if err != nil {
		return err
	}
	provider := a.flags.provider
	if provider == "" {
		provider = d.window.Provider()
	}
	results := []changeJSON{}
	var refused []error
	for _, pattern := range patterns {
		one := changeJSON{Pattern: pattern, Affected: []string{}, Redundant: []string{}}
		err := d.edit(ctx, fmt.Sprintf("%s %s rule %s of %s", verb, list, shown(pattern), provider), func() error {
			return change(s, verb, list, pattern, &one)
		})
		if one.OK = err == nil; !one.OK {
			one.Error = err.Error()
			refused = append(refused, err)
		} else if !a.flags.json {
			if err := a.tellChange(verb, provider, list, one); err != nil {
				return err
			}
		}
		results = append(results, one)
	}
	var saved assistant.Saved
	if save && len(refused) == 0 {
		if saved, err = d.save(ctx); err != nil {
			return saveFault(err)
		}
	}
	if a.flags.json {
		if err := a.printJSON(map[string]any{"provider": provider, "list": listName(list), "results": results, "unsaved": d.window.Dirty(), "saved": saved.Written}); err != nil {
			return err
		}
	} else if saved.Message != "" {
		if err := a.print("%s", saved.Message); err != nil {
			return err
		}
	}
	if len(refused) > 0 && save {
		a.say("nothing was saved, because of what was refused")
	}
	return joined(refused)
}

func change(s modelfilter.Scope, verb string, list modelfilter.List, pattern string, into *changeJSON) error {
	if verb == "remove" {
		for _, r := range s.Rules(list) {
			if r.Pattern == strings.TrimSpace(pattern) {
				p := s.PreviewRemove(list, r.Index)
				into.Affected = append(append(into.Affected, p.Shown...), p.Hidden...)
				break
			}
		}
		return s.Remove(list, pattern)
	}
	added, err := s.Add(list, pattern)
	if err != nil {
		return err
	}
	into.Pattern = added.Pattern
	into.Affected = append(into.Affected, added.Models...)
	into.Redundant = append(into.Redundant, added.Redundant...)
	return nil
}

func (a *app) tellChange(verb, provider string, list modelfilter.List, c changeJSON) error {
	text := fmt.Sprintf("added %s rule %s of %s: it decides %s", list, shown(c.Pattern), provider, assistant.Counted(len(c.Affected), "model"))
	if verb == "remove" {
		text = fmt.Sprintf("removed %s rule %s of %s: %s changed", list, shown(c.Pattern), provider, assistant.Counted(len(c.Affected), "model"))
	}
	if len(c.Redundant) > 0 {
		text += "; it makes needless " + strings.Join(visible(c.Redundant), ", ")
	}
	return a.print("%s", text)
}

func rulesLintCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "lint", Short: "Find rules that do nothing: dead, shadowed, redundant (exit 1)", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rulesLint(cmd.Context()) },
	}
}

// findingJSON is a lint finding.
type findingJSON struct {
	Provider string `json:"provider"`
	Kind     string `json:"kind"`
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	By       string `json:"by"`
}

func (a *app) rulesLint(ctx context.Context) error {
	d, err := a.looked(ctx)
	if err != nil {
		return err
	}
	a.tellNotices(d)
	names, scopes, err := a.scopes(d.window, hasRules)
	if err != nil {
		return err
	}
	found := []findingJSON{}
	for i, s := range scopes {
		for _, f := range s.Lint() {
			found = append(found, findingJSON{names[i], f.Kind.String(), listName(f.List), f.Pattern, f.By})
		}
	}
	if a.flags.json {
		if err := a.printJSON(map[string]any{"findings": found}); err != nil {
			return err
		}
	} else if err := a.printFindings(found); err != nil {
		return err
	}
	if len(found) > 0 {
		return statusError(statusFailed)
	}
	return nil
}

func (a *app) printFindings(found []findingJSON) error {
	if len(found) == 0 {
		return a.print("every rule does something")
	}
	for _, f := range found {
		text := fmt.Sprintf("%s: %s rule %s is %s", f.Provider, f.Type, shown(f.Pattern), f.Kind)
		switch f.Kind {
		case engine.Dead.String():
			text += ": it matches no model"
		case engine.Shadowed.String():
			text += fmt.Sprintf(": other rules decide all it matches, the first %s", shown(f.By))
		case engine.Redundant.String():
			text += fmt.Sprintf(": %s covers it", shown(f.By))
		case engine.Undecided.String():
			text += fmt.Sprintf(": %s may cover it", shown(f.By))
		}
		if err := a.print("%s", text); err != nil {
			return err
		}
	}
	return nil
}
