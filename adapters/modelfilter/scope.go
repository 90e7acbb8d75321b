package modelfilter

import (
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
)

// Scope is the part of the window for one provider. Create it with Window.On; the zero
// value is not usable.
type Scope struct {
	w    *Window
	name string // "" means the provider that is current when a method is called
}

// On returns the Scope of a provider; "" follows the current one. It returns an
// *UnknownError for an unknown provider.
func (w *Window) On(provider string) (Scope, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.findProvider(provider)
	if err != nil || provider == "" {
		return Scope{w: w}, err
	}
	return Scope{w, p.name}, nil
}

// provider returns the provider of the scope. The caller holds mu.
func (s Scope) provider() *provider {
	if s.name == "" {
		return s.w.providerNamed(s.w.current)
	}
	return s.w.providerNamed(s.name)
}

// withEngine calls f with the provider of the scope and its engine, holding mu.
func withEngine[T any](s Scope, f func(p *provider, e *engine.Engine) T) T {
	return withLock(s.w, func() T {
		p := s.provider()
		return f(p, s.w.engine(p))
	})
}

// Provider returns the name of the provider.
func (s Scope) Provider() string {
	return withEngine(s, func(p *provider, _ *engine.Engine) string { return p.name })
}

// RuleView is a rule with the properties that a list of rules shows.
type RuleView struct {
	engine.RuleInfo
	Unsaved bool   `json:"unsaved"`
	Fixed   bool   `json:"fixed"`  // the rule cannot be edited
	Source  string `json:"source"` // the place that sets the list: ".env:12", "the environment"; "" if the rule is unsaved
}

// Rules lists the rules of a list in order.
func (s Scope) Rules(list List) []RuleView {
	return withEngine(s, func(p *provider, e *engine.Engine) []RuleView { return ruleViews(p, e, list) })
}

func ruleViews(p *provider, e *engine.Engine, list List) []RuleView {
	l := &p.lists[list]
	saved := make(map[string]bool, len(l.saved))
	for _, r := range l.saved {
		saved[r] = true
	}
	out := make([]RuleView, 0, len(l.rules))
	for _, info := range e.Rules(list) {
		v := RuleView{RuleInfo: info, Source: l.origin, Fixed: l.fixed != ""}
		if !l.fromEnv && !saved[info.Pattern] {
			v.Unsaved, v.Source = true, ""
		}
		out = append(out, v)
	}
	return out
}

// Removed lists the rules in the file whose removal is staged.
func (s Scope) Removed(list List) []string {
	return withEngine(s, func(p *provider, _ *engine.Engine) []string {
		return without(p.lists[list].saved, p.lists[list].rules)
	})
}

// ModelView is a model with the properties that a list of models shows.
type ModelView struct {
	engine.ModelStatus
	Name   string // in the form used in rules
	New    bool   // first listed after the user last looked
	Source string // the source that lists the model; see models.List
}

// Models lists the models with their status.
func (s Scope) Models() []ModelView { return withEngine(s, modelViews) }

func modelViews(p *provider, e *engine.Engine) []ModelView {
	statuses := e.Statuses()
	out := make([]ModelView, len(statuses))
	for i, m := range statuses {
		_, isNew := slices.BinarySearch(p.models.New, m.ID)
		out[i] = ModelView{m, displayName(p.name, m.ID), isNew, p.models.SourceOf(m.ID)}
	}
	return out
}

// Counts holds the numbers of models and rules of a provider.
type Counts struct {
	Total, Shown, Hidden    int
	Allowed, Unfiltered     int
	New                     int
	IgnoreRules, AllowRules int
}

// Counts returns the counts of the provider.
func (s Scope) Counts() Counts { return withEngine(s, counts) }

func counts(p *provider, e *engine.Engine) Counts {
	c := Counts{
		Total: e.Total(), Shown: e.Shown(), Unfiltered: len(e.Unfiltered()), New: len(p.models.New),
		IgnoreRules: len(p.lists[Ignore].effective()), AllowRules: len(p.lists[Allow].effective()),
	}
	c.Hidden = c.Total - c.Shown
	for _, r := range e.Rules(Allow) {
		c.Allowed += r.Decides
	}
	return c
}

// Expected returns the ids that the proxy should serve after a restart: the provider's
// models that the rules in the file (not the staged rules) leave shown. If the provider's
// own list is unknown, the proxy's list is used. served contains the ids that the proxy serves
// now. A model that only the catalogue lists is included only if it is in served, because it is
// unknown whether the key may use the model.
func (s Scope) Expected(served ...string) []string {
	return withEngine(s, func(p *provider, e *engine.Engine) []string {
		ids := slices.DeleteFunc(e.Models(), func(id string) bool { return !p.models.Listed(id) })
		for _, id := range served {
			if first, name, ok := strings.Cut(id, "/"); ok && strings.EqualFold(first, p.name) {
				ids = append(ids, p.name+"/"+name)
			}
		}
		saved := engine.New(p.name, ids)
		saved.Set(p.lists[Ignore].inForce(), p.lists[Allow].inForce())
		return without(saved.Models(), saved.Hidden())
	})
}

// Preview returns the effect of adding a pattern, without adding it.
func (s Scope) Preview(list List, pattern string) engine.Effect {
	return withEngine(s, func(_ *provider, e *engine.Engine) engine.Effect { return e.Preview(list, pattern) })
}

// Check reports which rules a new pattern would make redundant. It returns the errors of Add,
// except ErrLocked.
func (s Scope) Check(list List, pattern string) (v engine.Verdict, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	p := s.provider()
	if err := p.editable(list); err != nil {
		return v, err
	}
	return check(s.w.engine(p), list, pattern)
}

// PreviewRemove returns the effect of removing the rule at index.
func (s Scope) PreviewRemove(list List, index int) engine.Effect {
	return withEngine(s, func(_ *provider, e *engine.Engine) engine.Effect { return e.PreviewRemove(list, index) })
}

// Explain returns why a model has its status. Any id is accepted.
func (s Scope) Explain(id string) engine.Explanation {
	return withEngine(s, func(_ *provider, e *engine.Engine) engine.Explanation { return e.Explain(id) })
}

// Lint lists the rules that probably do not have the intended effect. It compares each rule
// with all others in its list, which is slow if there are many rules.
func (s Scope) Lint() []engine.Finding {
	return withEngine(s, func(_ *provider, e *engine.Engine) []engine.Finding { return e.Lint() })
}

// Suggest returns patterns that together match these models of the provider and no others. A model
// that no pattern can distinguish from another is left out.
func (s Scope) Suggest(ids []string) []string {
	return withEngine(s, func(_ *provider, e *engine.Engine) []string {
		return engine.Suggest(ids, without(e.Models(), ids))
	})
}

// maxSearch is the maximum length of a stored search, in bytes.
const maxSearch = 500

// SetSearch sets the search text of the window, truncated to maxSearch. It returns ErrLocked while
// the assistant works.
func (w *Window) SetSearch(query string) error {
	return w.asUser(func() error {
		w.setSearch(query)
		return nil
	})
}

func (w *Window) setSearch(query string) {
	query = strings.ToValidUTF8(query[:min(len(query), maxSearch)], "") // JSON requires valid UTF-8
	if query != w.search {
		w.search = query
		w.changed()
		w.record(searchChanged, map[string]any{"query": visible(query)})
	}
}

// Search returns the search text.
func (w *Window) Search() string { return withLock(w, func() string { return w.search }) }

// Highlight is what the user has highlighted: a rule and the models that it matches, or a
// model and the rule that decides it, if any. The zero value highlights nothing.
type Highlight struct {
	Rule   string // pattern; "" if none
	List   List   // the list that contains the rule
	Models []string
}

// HighlightRule highlights a rule of the current provider with the models it matches. It
// returns the new highlight, which is empty if there is no such rule.
func (w *Window) HighlightRule(list List, pattern string) Highlight {
	return w.setHighlight(func(e *engine.Engine) Highlight { return ruleHighlight(e, list, pattern) })
}

func ruleHighlight(e *engine.Engine, list List, pattern string) Highlight {
	if !slices.Contains(e.Patterns(list), pattern) {
		return Highlight{}
	}
	return Highlight{pattern, list, e.Matching(pattern)}
}

// HighlightModel highlights a model of the current provider with the rule that decides it.
func (w *Window) HighlightModel(id string) Highlight {
	return w.setHighlight(func(e *engine.Engine) Highlight { return modelHighlight(e, id) })
}

func modelHighlight(e *engine.Engine, id string) Highlight {
	s := e.Status(id)
	return Highlight{s.Rule, s.List, []string{id}}
}

// ClearHighlight removes the highlight.
func (w *Window) ClearHighlight() {
	w.setHighlight(func(*engine.Engine) Highlight { return Highlight{} })
}

// Highlighted returns the current highlight.
func (w *Window) Highlighted() Highlight {
	return withLock(w, func() Highlight { return w.highlight.clone() })
}

func (w *Window) setHighlight(of func(*engine.Engine) Highlight) Highlight {
	return withEngine(w.Scope, func(_ *provider, e *engine.Engine) Highlight {
		w.highlight = of(e)
		w.changed()
		return w.highlight.clone()
	})
}

// Equal reports whether both highlights are the same.
func (h Highlight) Equal(other Highlight) bool {
	return h.Rule == other.Rule && h.List == other.List && slices.Equal(h.Models, other.Models)
}

func (h Highlight) clone() Highlight {
	h.Models = slices.Clone(h.Models)
	return h
}
