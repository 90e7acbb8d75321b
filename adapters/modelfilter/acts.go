package modelfilter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// Rule identifies a rule of a provider.
type Rule struct {
	List    List
	Pattern string
}

// String returns the rule as it appears in sentences, safe to show: ignore rule “*mini*”.
func (r Rule) String() string {
	return r.List.String() + " rule “" + string(safetext.Visible(r.Pattern)) + "”"
}

// The acts that a user can perform, based on a Snapshot; see Window.Act.
type (
	// AddRule adds a rule.
	AddRule struct {
		Provider string
		Rule     Rule
	}
	// RestoreRule restores a rule whose removal is unsaved.
	RestoreRule struct {
		Provider string
		Rule     Rule
	}
	// RemoveRules removes all of the rules, or none if one of them cannot be removed.
	RemoveRules struct {
		Provider string
		Rules    []Rule
	}
	// ImportRules adds rules, except those that are rejected. It fails if all are rejected.
	ImportRules struct {
		Provider string
		Lists    [2][]string // by List
	}
	// PickProvider makes a provider the current one.
	PickProvider struct{ Provider string }
	// RefreshModels asks providers for their models. For a single provider, it then compares the
	// models that the proxy serves with those that the rules leave shown; for several, it compares
	// this proxy with the others.
	RefreshModels struct{ Providers []string }
	// ReadModels reads the stored model lists of the next readAtOnce providers.
	ReadModels struct{}
	// ReadFacts reads the facts about a provider's models and how often each model was used.
	ReadFacts struct{ Provider string }
	// MarkSeen marks the changes to a provider's models as seen.
	MarkSeen struct{ Provider string }
	// ExplainModel explains why a model of any provider is hidden or shown.
	ExplainModel struct{ Model string }
	// Look reports what the user is looking at.
	Look struct {
		Tab, Search string
		Rule        Rule   // the rule to highlight with its models; zero if there is none
		Model       string // the model to highlight with its rule if Rule is zero; "" if there is none
	}
)

// act is one of the acts above.
type act interface {
	assistant.Act
	// do performs the act and returns a sentence about the outcome; "" if there is nothing to say.
	do(ctx context.Context, w *Window) (done safetext.Text, err error)
	// about returns the provider whose displayed rules the act refers to; "" if none.
	about() string
}

// The window carries out these acts.
var _ = []act{
	AddRule{},
	RestoreRule{},
	RemoveRules{},
	ImportRules{},
	PickProvider{},
	RefreshModels{},
	ReadModels{},
	ReadFacts{},
	MarkSeen{},
	ExplainModel{},
	Look{},
	CompareTargets{},
}

// Act implements [assistant.Actor]. The error is ErrLocked, wraps assistant.ErrMoved, or is
// specific to the act.
func (w *Window) Act(ctx context.Context, a assistant.Act, revision int64) (done safetext.Text, err error) {
	known, ok := a.(act)
	if !ok {
		return "", fmt.Errorf("%T is not an act of the model filter", a)
	}
	if provider := known.about(); provider != "" && withLock(w, func() bool { return w.providerNamed(provider).revision > revision }) {
		return "", fmt.Errorf("the rules of %s have %w", safetext.Visible(provider), assistant.ErrMoved)
	}
	return known.do(ctx, w)
}

// Step implements [assistant.Act].
func (a AddRule) Step() string { return "Add " + a.Rule.String() }

// about returns "", so that a rule that the user has typed is not rejected because the displayed
// rules have changed meanwhile.
func (a AddRule) about() string { return "" }

func (a AddRule) do(_ context.Context, w *Window) (safetext.Text, error) {
	done, err := w.edited(a.Provider, safetext.Sprintf("added %s", a.Rule), func(s Scope) error {
		_, err := s.Add(a.Rule.List, a.Rule.Pattern)
		return err
	})
	if err == nil {
		none := withLock(w, func() safetext.Text { return w.matchesNone(a.Provider, a.Rule.Pattern) })
		if none != "" {
			done = safetext.Sprintf("added %s: %s", a.Rule, none)
		}
	}
	return done, err
}

// Step implements [assistant.Act].
func (a RestoreRule) Step() string { return "Restore " + a.Rule.String() }

func (a RestoreRule) about() string { return a.Provider }

func (a RestoreRule) do(_ context.Context, w *Window) (safetext.Text, error) {
	return w.edited(a.Provider, safetext.Sprintf("restored %s", a.Rule), func(s Scope) error {
		_, err := s.Add(a.Rule.List, a.Rule.Pattern)
		return err
	})
}

// Step implements [assistant.Act].
func (a RemoveRules) Step() string { return string("Delete " + a.what()) }

func (a RemoveRules) what() safetext.Text {
	if len(a.Rules) == 1 {
		return safetext.Sprintf("%s", a.Rules[0])
	}
	return safetext.Sprintf("%s", assistant.Counted(len(a.Rules), "rule"))
}

func (a RemoveRules) about() string { return a.Provider }

func (a RemoveRules) do(_ context.Context, w *Window) (safetext.Text, error) {
	return w.edited(a.Provider, "deleted "+a.what(), func(s Scope) error { return s.removeAll(a.Rules) })
}

// Step implements [assistant.Act].
func (a ImportRules) Step() string { return "Import " + a.String() }

// String returns the number of rules in each list: "2 ignore rules and 1 allow rule".
func (a ImportRules) String() string { return countedRules(len(a.Lists[Ignore]), len(a.Lists[Allow])) }

// countedRules counts rules by list: "2 ignore rules and 1 allow rule".
func countedRules(ignore, allow int) string {
	switch {
	case allow == 0:
		return assistant.Counted(ignore, "ignore rule")
	case ignore == 0:
		return assistant.Counted(allow, "allow rule")
	}
	return assistant.Counted(ignore, "ignore rule") + " and " + assistant.Counted(allow, "allow rule")
}

func (a ImportRules) about() string { return a.Provider }

func (a ImportRules) do(_ context.Context, w *Window) (safetext.Text, error) {
	var added [2]int
	refused := 0
	done, err := w.edited(a.Provider, "", func(s Scope) error {
		all, err := s.Import(Import{Lists: a.Lists})
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.Err != nil {
				refused++
			} else {
				added[r.List]++
			}
		}
		if added[Ignore]+added[Allow] == 0 {
			return importRefused(all)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	done = safetext.Sprintf("added %s%s", countedRules(added[Ignore], added[Allow]), done)
	if refused > 0 {
		done += safetext.Sprintf(" · %d refused", refused)
	}
	return done, nil
}

// importRefused returns the error for an import of which every rule was rejected.
func importRefused(all []Imported) error {
	if len(all) == 0 {
		return errors.New("there are no rules to import")
	}
	rule, why := Rule{all[0].List, all[0].Pattern}, RefusalText(all[0].Err)
	if len(all) == 1 {
		return fmt.Errorf("%s was not added: %s", rule, why)
	}
	return fmt.Errorf("none of the %d rules was added; the first, %s, was refused: %s", len(all), rule, why)
}

// edited changes the rules of a provider. It returns done, followed by the effect on the models
// and by the recently used models that the change hid.
func (w *Window) edited(provider string, done safetext.Text, change func(Scope) error) (safetext.Text, error) {
	s, err := w.On(provider)
	if err != nil {
		return "", err
	}
	w.readUse(provider)
	before := s.snapshot().Models
	if err := change(s); err != nil {
		return "", err
	}
	after := s.snapshot()
	text, hidden := modelsChanged(before, after.Models)
	return withClause(done+text, after.UsedText(hidden)), nil
}

// modelsChanged describes how many models a change to a provider's rules hid and showed, and
// returns the models that it hid.
func modelsChanged(before, after []ModelView) (text safetext.Text, hidden []string) {
	if len(after) == 0 {
		return "", nil // no models are known
	}
	hid := make(map[string]bool, len(before))
	for _, m := range before {
		hid[m.ID] = m.Status == engine.Ignored
	}
	shown := 0
	for _, m := range after {
		was, known := hid[m.ID]
		switch is := m.Status == engine.Ignored; {
		case !known || was == is:
		case is:
			hidden = append(hidden, m.ID)
		default:
			shown++
		}
	}
	switch {
	case len(hidden) > 0 && shown > 0:
		return safetext.Sprintf(": %s hidden, %s shown", assistant.Counted(len(hidden), "model"), assistant.Counted(shown, "model")), hidden
	case len(hidden) > 0:
		return safetext.Sprintf(": %s hidden", assistant.Counted(len(hidden), "model")), hidden
	case shown > 0:
		return safetext.Sprintf(": %s shown", assistant.Counted(shown, "model")), nil
	}
	return ": no model changes", nil
}

// Step implements [assistant.Act].
func (a PickProvider) Step() string { return string("Switch to " + safetext.Visible(a.Provider)) }

func (PickProvider) about() string { return "" }

func (a PickProvider) do(_ context.Context, w *Window) (safetext.Text, error) {
	if err := w.SetProvider(a.Provider); err != nil {
		return "", err
	}
	done := "switched to " + safetext.Visible(a.Provider)
	if c := w.Counts(); c.Total > 0 {
		done += safetext.Sprintf(": %d of %d shown", c.Shown, c.Total)
	}
	return done, nil
}

// Step implements [assistant.Act]; RefreshModels is not a step that can be undone.
func (RefreshModels) Step() string { return "" }

func (RefreshModels) about() string { return "" }

func (a RefreshModels) do(ctx context.Context, w *Window) (safetext.Text, error) {
	if len(a.Providers) != 1 {
		failed := w.refreshAll(ctx, a.Providers)
		return answeredText(a.Providers, failed), w.compareTargets(ctx)
	}
	before, err := w.ModelList(a.Providers[0])
	if err != nil {
		return "", err
	}
	r, err := w.Refresh(ctx, a.Providers[0])
	if err != nil {
		return "", err
	}
	w.compareServed(ctx, r.Provider)
	if before.Source == models.SourceCatalogue { // the provider may never have served what only the catalogue listed
		r.Gone = nil
	}
	return refreshedText(r), nil
}

// maxAsked is the maximum number of providers that are asked at the same time.
const maxAsked = 3

// refreshAll asks providers for their models. It returns the errors by provider.
func (w *Window) refreshAll(ctx context.Context, names []string) map[string]error {
	failed := map[string]error{}
	var mu sync.Mutex
	var group sync.WaitGroup
	free := make(chan struct{}, maxAsked)
	for _, name := range names {
		free <- struct{}{}
		group.Go(func() {
			if _, err := w.Refresh(ctx, name); err != nil {
				mu.Lock()
				failed[name] = err
				mu.Unlock()
			}
			<-free
		})
	}
	group.Wait()
	return failed
}

// Step implements [assistant.Act]; ReadModels is not a step that can be undone.
func (ReadModels) Step() string { return "" }

func (ReadModels) about() string { return "" }

// readAtOnce is the maximum number of model lists that one ReadModels reads. It is small, so that
// the screen shows the first lists before the last ones have been read.
const readAtOnce = 8

func (ReadModels) do(ctx context.Context, w *Window) (safetext.Text, error) {
	w.mu.Lock()
	var names []string
	for _, name := range w.order {
		if w.providerNamed(name).engine == nil && len(names) < readAtOnce {
			names = append(names, name)
		}
	}
	w.mu.Unlock()
	for _, name := range names {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if s, err := w.On(name); err == nil {
			s.Counts()
		}
	}
	return "", nil
}

// Step implements [assistant.Act]; Look is not a step that can be undone.
func (Look) Step() string { return "" }

func (Look) about() string { return "" }

// do updates the window. While the window is locked, a change to the search is ignored.
func (a Look) do(_ context.Context, w *Window) (safetext.Text, error) {
	if tabs[a.Tab] == "" {
		return "", unknownTab(a.Tab)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e, highlight := w.engine(w.providerNamed(w.current)), Highlight{}
	switch {
	case a.Rule.Pattern != "":
		highlight = ruleHighlight(e, a.Rule.List, a.Rule.Pattern)
	case a.Model != "":
		highlight = modelHighlight(e, a.Model)
	}
	if w.tab != a.Tab || !w.highlight.Equal(highlight) {
		w.tab, w.highlight = a.Tab, highlight
		w.changed()
	}
	if !w.locked {
		w.setSearch(a.Search)
	}
	return "", nil
}
