package main

import (
	"cmp"
	"context"
	"errors"
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

// lists are the rule lists of a provider, in the order in which they are printed.
var lists = [...]modelfilter.List{modelfilter.Ignore, modelfilter.Allow}

// listName is the name of a list in JSON, as in the assistant's tools.
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
// those that match selects.
func (a *app) scopes(w *modelfilter.Window, match func(modelfilter.ProviderView) bool) (names []string, scopes []modelfilter.Scope, err error) {
	if a.flags.provider != "" {
		names = []string{a.flags.provider}
	} else {
		for _, p := range w.Providers() {
			if match(p) {
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
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	a.sayNotices(w)
	names, scopes, err := a.scopes(w.filter, hasRules)
	if err != nil {
		return err
	}
	providers := []providerRules{}
	rows := [][]string{}
	for i, s := range scopes {
		counts := s.Counts()
		p := providerRules{Provider: names[i], Ignore: []ruleJSON{}, Whitelist: []ruleJSON{}, Removed: []string{}, Available: counts.Available, Total: counts.Total}
		for _, list := range lists {
			into := &p.Ignore
			if list == modelfilter.Allow {
				into = &p.Whitelist
			}
			for _, r := range s.Rules(list) {
				*into = append(*into, ruleJSON{r.Pattern, r.Matches, r.Decides, r.Shadowed, r.Dead, r.Unsaved, r.Fixed, r.Source})
				rows = append(rows, []string{names[i], list.String(), shown(r.Pattern), fmt.Sprint(r.Decides), ruleRemark(r)})
			}
			for _, pattern := range s.Removed(list) {
				p.Removed = append(p.Removed, pattern)
				rows = append(rows, []string{names[i], list.String(), shown(pattern), "", "removal staged"})
			}
		}
		providers = append(providers, p)
	}
	return a.emit(map[string]any{"env_file": w.name, "unsaved": w.unsaved(), "providers": providers}, func() error {
		if len(rows) == 0 {
			return a.print("there are no rules in %s", w.name)
		}
		if err := a.table([]column{{title: "provider"}, {title: "list"}, {title: "pattern"}, {title: "models", right: true}, {title: "remark"}}, rows); err != nil {
			return err
		}
		for _, p := range providers {
			if err := a.print("%s: %d of %d models shown", p.Provider, p.Available, p.Total); err != nil {
				return err
			}
		}
		return nil
	})
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
	w, ws, err := a.editFilter(ctx)
	if err != nil {
		return err
	}
	provider := cmp.Or(a.flags.provider, w.filter.Provider())
	s, err := w.filter.On(provider)
	if err != nil {
		return err
	}
	results := []changeJSON{}
	var lines []string
	var refused []error
	for _, pattern := range patterns {
		one := changeJSON{Pattern: pattern, Affected: []string{}, Redundant: []string{}}
		err := ws.Edit(fmt.Sprintf("%s %s rule %s of %s", verb, list, shown(pattern), provider), func() error {
			return change(s, verb, list, pattern, &one)
		})
		if one.OK = err == nil; one.OK {
			lines = append(lines, changeLine(verb, provider, list, one))
		} else {
			one.Error = err.Error()
			refused = append(refused, err)
		}
		results = append(results, one)
	}
	written := false
	if save && len(refused) == 0 {
		saved, err := ws.Save(ctx)
		if err != nil {
			return a.saveFault(err)
		}
		written = saved.Written
		lines = append(lines, saved.Message)
	}
	err = a.emit(map[string]any{"provider": provider, "list": listName(list), "results": results, "unsaved": w.unsaved(), "saved": written}, func() error {
		if len(lines) == 0 {
			return nil
		}
		return a.print("%s", strings.Join(lines, "\n"))
	})
	if len(refused) > 0 && save {
		a.say("nothing was saved, because of what was refused")
	}
	return errors.Join(append([]error{err}, refused...)...)
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

func changeLine(verb, provider string, list modelfilter.List, c changeJSON) string {
	text := fmt.Sprintf("added %s rule %s of %s: it decides %s", list, shown(c.Pattern), provider, assistant.Counted(len(c.Affected), "model"))
	if verb == "remove" {
		text = fmt.Sprintf("removed %s rule %s of %s: %s changed", list, shown(c.Pattern), provider, assistant.Counted(len(c.Affected), "model"))
	}
	if len(c.Redundant) > 0 {
		patterns := make([]string, len(c.Redundant))
		for i, p := range c.Redundant {
			patterns[i] = shown(p)
		}
		text += "; it makes redundant " + strings.Join(patterns, ", ")
	}
	return text
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
	w, err := a.openFilter(ctx, false)
	if err != nil {
		return err
	}
	a.sayNotices(w)
	names, scopes, err := a.scopes(w.filter, hasRules)
	if err != nil {
		return err
	}
	found := []findingJSON{}
	lines := []string{}
	for i, s := range scopes {
		for _, f := range s.Lint() {
			found = append(found, findingJSON{names[i], f.Kind.String(), listName(f.List), f.Pattern, f.By})
			lines = append(lines, fmt.Sprintf("%s: %s rule %s is %s: %s", names[i], listName(f.List), shown(f.Pattern), f.Kind, lintReason(f.Kind, shown(f.By))))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "every rule does something")
	}
	if err := a.emit(map[string]any{"findings": found}, func() error { return a.print("%s", strings.Join(lines, "\n")) }); err != nil {
		return err
	}
	if len(found) > 0 {
		return statusError(statusFailed)
	}
	return nil
}

// lintReason says why a rule does nothing; by is the other rule of the finding.
func lintReason(kind engine.Kind, by string) string {
	switch kind {
	case engine.Dead:
		return "it matches no model"
	case engine.Shadowed:
		return "other rules decide all it matches, the first " + by
	case engine.Undecided:
		return by + " may cover it"
	default:
		return by + " covers it"
	}
}
