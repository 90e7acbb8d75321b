package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/plain"
)

// rulesChangeCommand returns the command rules add or, if verb is "remove", rules remove. The command stages each
// pattern separately, so that a rejected pattern does not stop the others.
func rulesChangeCommand(a *app, verb, short string) *cobra.Command {
	c := command(verb+" PATTERN…", short, 1, -1, nil)
	c.Example = "winnow rules " + verb + " '*-preview*' --provider openai --save"
	allow := c.Flags().Bool("allow", false, "change the allow list (WHITELIST_MODELS_…) instead of the ignore list")
	save := c.Flags().Bool("save", false, saveHelp)
	run := a.withWorkspace(func(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, patterns []string) error {
		s, err := w.filter.On(a.flags.provider)
		if err != nil {
			return err
		}
		list := modelfilter.Ignore
		if *allow {
			list = modelfilter.Allow
		}
		e := editsOf(ws)
		e.do(s, verb, list, patterns...)
		return a.finishEdits(ctx, w, ws, e, *save, map[string]any{"provider": s.Provider(), "list": listName(list)})
	})
	c.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
	return c
}

// changeJSON is the result of adding or removing one pattern.
type changeJSON struct {
	Provider  string        `json:"provider"`
	Pattern   string        `json:"pattern"`
	OK        bool          `json:"ok"`
	Affected  []string      `json:"affected_models"`
	Redundant []string      `json:"redundant"`
	Used      safetext.Text `json:"used,omitempty"` // which of the models that the pattern hides were used recently
	Error     string        `json:"error,omitempty"`
}

func (c changeJSON) text(verb string, list modelfilter.List, provider string) string {
	done := "added"
	if verb == "remove" {
		done = "removed"
	}
	text := fmt.Sprintf("%s %s rule %s for %s: %s affected", done, list, visible(c.Pattern), provider, assistant.Counted(len(c.Affected), "model"))
	if c.Used != "" {
		text += "; " + string(c.Used)
	}
	if len(c.Redundant) > 0 {
		text += "; now redundant: " + visible(strings.Join(c.Redundant, ", "))
	}
	return text
}

// ruleEdits are the changes that one command makes to rules.
type ruleEdits struct {
	change  func(s modelfilter.Scope, verb string, list modelfilter.List, pattern string) (changeJSON, error)
	results []changeJSON
	lines   []string // for people
	notes   []string // the lines that do not report a change
	refused []error
}

// editsOf returns edits that are recorded in the journal, each change as a separate edit.
func editsOf(ws *workspace.Workspace) *ruleEdits {
	return &ruleEdits{change: func(s modelfilter.Scope, verb string, list modelfilter.List, pattern string) (change changeJSON, err error) {
		err = ws.Edit(fmt.Sprintf("%s %s rule %s of %s", verb, list, visible(pattern), s.Provider()), func() (err error) {
			change, err = changeRule(s, verb, list, pattern)
			return err
		})
		return change, err
	}}
}

// do adds or removes rules, each in a separate edit.
func (e *ruleEdits) do(s modelfilter.Scope, verb string, list modelfilter.List, patterns ...string) {
	for _, pattern := range patterns {
		change, err := e.change(s, verb, list, pattern)
		change.Provider, change.Pattern = s.Provider(), cmp.Or(change.Pattern, pattern)
		change.Affected, change.Redundant = nonNil(change.Affected), nonNil(change.Redundant)
		if change.OK = err == nil; err != nil {
			change.Error = err.Error()
			e.refused = append(e.refused, err)
		} else {
			e.lines = append(e.lines, change.text(verb, list, s.Provider()))
		}
		e.results = append(e.results, change)
	}
}

// finishEdits saves the changes if save is set, and prints their results. fields are added to the JSON output.
func (a *app) finishEdits(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, e *ruleEdits, save bool, fields map[string]any) error {
	saved := assistant.Saved{}
	var pending error
	if save {
		var err error
		if saved, pending, err = a.saveStaged(ctx, ws, e.refused); err != nil {
			return err
		}
		if saved.Message != "" {
			e.lines = append(e.lines, string(saved.Message))
		}
		if w.recovered { // rules of an earlier run are saved, too
			for _, c := range saved.Changes {
				e.lines = append(e.lines, "  "+string(c.Line()))
			}
		}
	} else if len(e.results) > len(e.refused) && w.unsaved() {
		e.lines = append(e.lines, "not saved yet: winnow rules save writes "+w.name)
	}
	out := map[string]any{"results": nonNil(e.results), "unsaved": w.unsaved(), "saved": saved.Written, "warning": saved.Warning}
	maps.Copy(out, fields)
	err := a.emit(out, e.lines...)
	return errors.Join(append([]error{err, pending}, e.refused...)...)
}

// changeRule adds or removes one rule.
func changeRule(s modelfilter.Scope, verb string, list modelfilter.List, pattern string) (changeJSON, error) {
	change := changeJSON{Pattern: pattern, Affected: []string{}, Redundant: []string{}}
	if verb == "remove" {
		for _, r := range s.Rules(list) {
			if r.Pattern == strings.TrimSpace(pattern) {
				p := s.PreviewRemove(list, r.Index)
				change.Affected, change.Used = append(append(change.Affected, p.Shown...), p.Hidden...), s.UsedText(p.Hidden)
			}
		}
		return change, s.Remove(list, pattern)
	}
	added, err := s.Add(list, pattern)
	if err != nil {
		return change, err
	}
	change = changeJSON{Pattern: added.Pattern, Affected: nonNil(added.Models), Redundant: nonNil(added.Redundant)}
	if list == modelfilter.Ignore {
		change.Used = s.UsedText(added.Models)
	}
	return change, nil
}

func rulesPlanCommand(a *app) *cobra.Command {
	steps := []struct {
		flag, help, verb string
		list             modelfilter.List
		patterns         []string
	}{
		{"remove", "remove the ignore rule PATTERN; may be repeated", "remove", modelfilter.Ignore, nil},
		{"remove-allow", "remove the allow rule PATTERN; may be repeated", "remove", modelfilter.Allow, nil},
		{"add", "add the ignore rule PATTERN; may be repeated", "add", modelfilter.Ignore, nil},
		{"add-allow", "add the allow rule PATTERN; may be repeated", "add", modelfilter.Allow, nil},
	}
	var where string
	// The window is open read-only, so nothing staged here outlives the process.
	c := command("plan", "Show what changes would do, without staging them (exit 3 if they would change anything)", 0, 0, a.withFilter(func(ctx context.Context, w *journaledWindow, _ []string) error {
		s, err := w.filter.On(a.flags.provider)
		if err != nil {
			return err
		}
		e := &ruleEdits{change: changeRule}
		var staging []string
		for _, step := range steps {
			e.do(s, step.verb, step.list, step.patterns...)
			staging = append(staging, stagingCommand(step.verb, s.Provider(), step.list, step.patterns)...)
		}
		if where != "" && len(e.refused) == 0 {
			plans, err := a.planHide(w, where)
			if err == nil {
				err = e.hide(w, plans)
			}
			if err != nil {
				return err
			}
			printLines(a, e.notes)
			staging = append(staging, a.hideCommand(where))
		}
		if err := errors.Join(e.refused...); err != nil {
			return err
		}
		return a.printPlan(ctx, w, staging)
	}))
	c.Example = "winnow rules plan --provider openai --add '*-preview*' --remove 'gpt-3*'"
	c.Flags().StringVar(&where, "where", "", "hide "+whereHelp)
	for i := range steps {
		c.Flags().StringArrayVar(&steps[i].patterns, steps[i].flag, nil, steps[i].help)
	}
	return c
}

// stagingCommand returns the command line that stages a step of rules plan, or nil if there are no patterns.
func stagingCommand(verb, provider string, list modelfilter.List, patterns []string) []string {
	if len(patterns) == 0 {
		return nil
	}
	words := []string{"winnow rules", verb, "--provider", provider}
	if list == modelfilter.Allow {
		words = append(words, "--allow")
	}
	for _, pattern := range patterns {
		words = append(words, shellQuote(pattern))
	}
	return []string{strings.Join(words, " ")}
}

// hideCommand returns the command line that stages what rules plan --where shows.
func (a *app) hideCommand(where string) string {
	text := "winnow rules hide --where " + shellQuote(where)
	if a.flags.provider != "" {
		text += " --provider " + a.flags.provider
	}
	return text
}

// shellQuote quotes text for a POSIX shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(visible(text), "'", `'\''`) + "'"
}

// printPlan prints what a save would change, and returns errPending if there is anything to save. staging lists the
// command lines that stage the plan; it is empty if the plan is already staged.
func (a *app) printPlan(ctx context.Context, w *journaledWindow, staging []string) error {
	a.printNotices(w)
	plan, err := w.filter.PlanSave(ctx, "")
	if err != nil {
		return err
	}
	return a.showPlan(plan, staging...)
}

// showPlan prints a plan with the commands that save it, and returns errPending if the plan changes anything.
func (a *app) showPlan(plan assistant.SavePlan, staging ...string) error {
	if plan.Empty() {
		return a.emit(plan, nothingStaged)
	}
	lines := append(safetext.Strings(plan.Lines(a.userName())), "")
	if len(staging) > 0 {
		lines = append(append(lines, "Nothing is staged yet. These commands stage exactly this plan and save it:"), staging...)
		lines = append(lines, "winnow rules save --plan "+plan.Digest)
	} else {
		lines = append(lines, "winnow rules save --plan "+plan.Digest+" saves exactly this plan")
	}
	return cmp.Or(a.emit(plan, lines...), error(errPending))
}

// nothingStaged is printed instead of a plan that changes nothing.
const nothingStaged = "nothing is staged: the file is unchanged"

// versionJSON is the JSON form of a saved version of the file.
type versionJSON struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	dotenv.Author
	Keys    []string `json:"keys"`
	Created bool     `json:"created,omitempty"`
}

func rulesLogCommand(a *app) *cobra.Command {
	c := command("log [ID]", "List the latest saves of the file, or what one of them changed", 0, 1, a.withFilter(func(ctx context.Context, w *journaledWindow, args []string) error {
		if len(args) == 0 {
			return a.rulesLog(ctx, w)
		}
		changed, err := w.filter.VersionDiff(ctx, args[0])
		if err != nil {
			return advise(err, logAdvice)
		}
		var lines []string
		for _, l := range changed {
			lines = append(lines, fmt.Sprintf("%s %4d  %s", l.Kind, l.Line, l.Text))
		}
		return a.emit(map[string]any{"lines": nonNil(changed)}, lines...)
	}))
	c.Long = "The version \"original\" is the file as it was before winnow saved it for the first time."
	return c
}

func (a *app) rulesLog(ctx context.Context, w *journaledWindow) error {
	versions, err := w.filter.Versions(ctx)
	if err != nil {
		if len(versions) == 0 {
			return err
		}
		a.printErr("%v", err) // some versions cannot be read; list the others
	}
	all := []versionJSON{}
	var rows [][]string
	for _, v := range versions {
		keys := []string{}
		for _, c := range v.Changes {
			keys = append(keys, c.String())
		}
		all = append(all, versionJSON{v.ID, v.Time.UTC(), v.Author, keys, v.Created})
		what := strings.Join(keys, ", ")
		if changes, err := w.filter.VersionChanges(ctx, v.ID); err == nil {
			what = string(safetext.Join(changes, ", "))
		}
		if what == "" {
			what = "the file before the first save"
		}
		rows = append(rows, []string{v.ID, v.Time.Local().Format(timeLayout), savedBy(v.Author), v.Author.Session, what})
	}
	return a.emit(map[string]any{"versions": all}, plain.Table(w.absent("winnow has not saved "+w.name+" yet"), []string{"id", "time", "who", "session", "changes"}, rows)...)
}

// savedBy names the author of a save, and the other users whose changes were saved.
func savedBy(by dotenv.Author) string {
	who := string(by.Who)
	if by.User != "" {
		who = assistant.Author{User: by.User, Assistant: by.Who == dotenv.Assistant}.Name()
	}
	if by.Staged != "" {
		who += ", with changes by " + by.Staged
	}
	return visible(who)
}

// logAdvice is the advice for an invalid version ID.
const logAdvice = "winnow rules log lists the saves"

func rulesRestoreCommand(a *app) *cobra.Command {
	return command("restore ID", "Bring back the rules of an earlier save, or of the original file", 1, 1, a.withWorkspace(func(ctx context.Context, w *journaledWindow, ws *workspace.Workspace, args []string) error {
		saved, err := ws.Restore(ctx, "restore version "+args[0], func() (assistant.Saved, error) { return w.filter.Restore(ctx, args[0]) })
		switch {
		case errors.Is(err, modelfilter.ErrUnsaved):
			return advise(err, "first run winnow rules save or winnow rules discard")
		case err != nil:
			return advise(a.saveError(err), logAdvice)
		}
		return a.printSaved(saved)
	}))
}
