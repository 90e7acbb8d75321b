package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/workspace"
)

func rulesCommand(a *app) *cobra.Command {
	c := group("rules", "Look at the rules, stage changes and save them",
		command("list", "List the rules, saved and staged", 0, 0, a.reading(a.rulesList)),
		rulesTestCommand(a), rulesCoversCommand(a),
		rulesChangeCommand(a, "add", "Stage rules"), rulesChangeCommand(a, "remove", "Stage the removal of rules"),
		command("diff", "Show what saving would change (exit 3 when there is something)", 0, 0, a.reading(a.printPlan)),
		rulesPlanCommand(a), rulesSaveCommand(a),
		command("discard", "Drop the staged changes", 0, 0, a.editing(a.rulesDiscard)),
		command("lint", "Find rules that do nothing: dead, shadowed, redundant (exit 1)", 0, 0, a.reading(a.rulesLint)),
		rulesLogCommand(a), rulesRestoreCommand(a))
	c.Long = "Changes are staged until they are saved, and shared with the program and with ask.\n" +
		"--provider names the provider whose rules are meant."
	return c
}

// reading is a command that looks at the model filter, also while another winnow
// has it open.
func (a *app) reading(run func(ctx context.Context, w *openWindow, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		w, err := a.openFilter(ctx, false)
		if err != nil {
			return err
		}
		return run(ctx, w, args)
	}
}

// editing is a command that changes the rules of the model filter.
func (a *app) editing(run func(ctx context.Context, w *openWindow, ws *workspace.Workspace, args []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		w, ws, err := a.editFilter(ctx)
		if err != nil {
			return err
		}
		return run(ctx, w, ws, args)
	}
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

// scope is the rules and models of one provider.
type scope struct {
	modelfilter.Scope
	provider string
}

// scopes are the providers that a command is about: the one of --provider, or
// those with rules or, if keyed, with a key.
func (a *app) scopes(w *modelfilter.Window, keyed bool) ([]scope, error) {
	var names []string
	if a.flags.provider != "" {
		names = []string{a.flags.provider}
	} else {
		for _, p := range w.Providers() {
			if p.Rules > 0 || p.Unsaved || keyed && p.Key {
				names = append(names, p.Name)
			}
		}
	}
	var out []scope
	for _, name := range names {
		s, err := w.On(name)
		if err != nil {
			return nil, err
		}
		out = append(out, scope{s, name})
	}
	return out, nil
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

// rulesJSON is the rules of a provider as --json prints them.
type rulesJSON struct {
	Provider  string     `json:"provider"`
	Ignore    []ruleJSON `json:"ignore"`
	Whitelist []ruleJSON `json:"whitelist"`
	Removed   []string   `json:"removed"` // rules of the file whose removal is staged
	Available int        `json:"available"`
	Total     int        `json:"total"`
}

func (a *app) rulesList(_ context.Context, w *openWindow, _ []string) error {
	a.sayNotices(w)
	scopes, err := a.scopes(w.filter, false)
	if err != nil {
		return err
	}
	providers := []rulesJSON{}
	var rows [][]string
	var sums []string
	for _, s := range scopes {
		counts := s.Counts()
		p := rulesJSON{Provider: s.provider, Removed: []string{}, Available: counts.Available, Total: counts.Total}
		rules := [len(lists)][]ruleJSON{{}, {}}
		for i, l := range lists {
			for _, r := range s.Rules(l) {
				rules[i] = append(rules[i], ruleJSON{r.Pattern, r.Matches, r.Decides, r.Shadowed, r.Dead, r.Unsaved, r.Fixed, r.Source})
				rows = append(rows, []string{s.provider, l.String(), visible(r.Pattern), fmt.Sprint(r.Decides), ruleRemark(r)})
			}
			for _, pattern := range s.Removed(l) {
				p.Removed = append(p.Removed, pattern)
				rows = append(rows, []string{s.provider, l.String(), visible(pattern), "", "removal staged"})
			}
		}
		p.Ignore, p.Whitelist = rules[0], rules[1]
		providers = append(providers, p)
		sums = append(sums, fmt.Sprintf("%s: %d of %d models shown", p.Provider, p.Available, p.Total))
	}
	lines := table("there are no rules in "+w.name, []string{"provider", "list", "pattern", ">models", "remark"}, rows)
	return a.emit(map[string]any{"env_file": w.name, "unsaved": w.unsaved(), "providers": providers}, append(lines, sums...)...)
}

// plainRules are the rules as --plain lists them, one a line, then how many models
// they leave of each provider.
func (a *app) plainRules(w *modelfilter.Window) []string {
	scopes, err := a.scopes(w, false)
	if err != nil {
		return []string{err.Error()}
	}
	lines, sums := []string{}, []string{}
	for _, s := range scopes {
		for _, l := range lists {
			for _, r := range s.Rules(l) {
				text := fmt.Sprintf("%s %s %s: decides %s", s.provider, l, visible(r.Pattern), assistant.Counted(r.Decides, "model"))
				if remark := ruleRemark(r); remark != "" {
					text += ", " + remark
				}
				lines = append(lines, text)
			}
		}
		counts := s.Counts()
		sums = append(sums, fmt.Sprintf("%s: %d of %d models shown", s.provider, counts.Available, counts.Total))
	}
	if len(lines) == 0 {
		return []string{"There are no rules."}
	}
	return append(lines, sums...)
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

// lintJSON is a rule that does nothing.
type lintJSON struct {
	Provider string `json:"provider"`
	Kind     string `json:"kind"`
	Type     string `json:"type"`
	Pattern  string `json:"pattern"`
	By       string `json:"by"`
}

func (a *app) rulesLint(_ context.Context, w *openWindow, _ []string) error {
	a.sayNotices(w)
	scopes, err := a.scopes(w.filter, false)
	if err != nil {
		return err
	}
	found := []lintJSON{}
	var lines []string
	for _, s := range scopes {
		for _, f := range s.Lint() {
			found = append(found, lintJSON{s.provider, f.Kind.String(), listName(f.List), f.Pattern, f.By})
			lines = append(lines, fmt.Sprintf("%s: %s rule %s is %s: %s", s.provider, listName(f.List), visible(f.Pattern), f.Kind, lintReason(f.Kind, visible(f.By))))
		}
	}
	if len(lines) == 0 {
		return a.emit(map[string]any{"findings": found}, "every rule does something")
	}
	return cmp.Or(a.emit(map[string]any{"findings": found}, lines...), error(statusError(statusFailed)))
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
