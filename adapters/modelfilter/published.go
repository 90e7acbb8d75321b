package modelfilter

import (
	"slices"
	"sync"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
)

// Snapshot is the window at one revision, for drawing. It is immutable and shared by all
// readers.
type Snapshot struct {
	Revision int64 // the revision to pass to Window.Act
	*ProviderSnapshot
	Providers []ProviderView // available providers, in the order of the file
	Unsaved   []RuleChange   // of all providers, with authors
	Dirty     bool           // a staged list differs from the file, if only in its order
	Locked    bool
	Notices   []string
	Highlight Highlight
	Search    string
	Tab       string

	HasTargets bool         // there are other proxies to compare with
	Compared   bool         // the other proxies have been asked, so Targets is valid
	Targets    []TargetView // immutable

	File       string // the file that a save writes
	FileExists bool
}

// ProviderSnapshot holds the rules and models of a provider at a revision. Successive
// Snapshots share it until the provider changes.
type ProviderSnapshot struct {
	Provider string
	Rules    [2][]RuleView // by list
	Removed  [2][]string   // rules in the file whose removal is staged
	Fixed    [2]error      // a *FixedError for a list that cannot be edited, or nil
	Models   []ModelView
	Info     []llm.ModelInfo // facts in the order of Models; nil if not read yet, see ReadFacts
	Counts   Counts
	Source   ModelList // source of Models, without IDs, New and Others

	SourcesText string // where Models come from; "" if unknown

	Drift models.Drift // what differed when the proxy was last asked; see models.Drift

	UseProblem string // why the provider's usage file cannot be used, as a sentence

	engine   *engine.Engine
	lint     func() []engine.Finding
	requests func() []string
	use      *usage.Report
	now      func() time.Time
}

// Snapshot returns the current state of the window, a *Snapshot, and its revision. It
// creates one Snapshot per revision.
func (w *Window) Snapshot() (snapshot any, revision int64) {
	s := withLock(w, w.published)
	return s, s.Revision
}

// Changed returns a channel that is closed at the next revision.
func (w *Window) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{})
	}
	return w.wake
}

// changed starts a new revision and wakes the waiting readers. The caller holds mu.
func (w *Window) changed() {
	w.revision++
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
}

// touch starts a new revision after a change to a provider's rules or models.
func (w *Window) touch(p *provider) {
	w.redraw(p)
	p.revision = w.revision
}

// redraw starts a new revision after a change to displayed properties of a provider other than its
// rules and models.
func (w *Window) redraw(p *provider) {
	w.changed()
	p.shown, p.numbers = nil, nil
}

func (w *Window) published() *Snapshot {
	if s := w.snapshot; s != nil && s.Revision == w.revision {
		return s
	}
	p := w.providerNamed(w.current)
	s := &Snapshot{
		ProviderSnapshot: w.publishedProvider(p), Unsaved: w.diff(), Dirty: w.dirty(), Locked: w.locked,
		Notices: w.allNotices(), Highlight: w.highlight.clone(), Search: w.search, Tab: w.tab,
		HasTargets: w.opts.Targets != nil, Compared: w.compared, Targets: w.targets,
		File: w.source.Path, FileExists: w.source.Exists,
	}
	s.Providers = make([]ProviderView, len(w.order))
	for i, name := range w.order {
		s.Providers[i] = w.providerView(w.providerNamed(name))
	}
	s.Revision = w.revision
	w.snapshot = s
	return s
}

func (s Scope) snapshot() *ProviderSnapshot {
	return withLock(s.w, func() *ProviderSnapshot { return s.w.publishedProvider(s.provider()) })
}

func (w *Window) publishedProvider(p *provider) *ProviderSnapshot {
	if p.shown != nil {
		return p.shown
	}
	e := w.engine(p).Clone()
	s := &ProviderSnapshot{Provider: p.name, Models: modelViews(p, e), Info: p.info, Counts: counts(p, e), Source: p.models, Drift: p.drift, UseProblem: p.useProblem, engine: e, use: p.use, now: w.opts.Now}
	s.SourcesText = SourcesText(p.models)
	s.Source.IDs, s.Source.New, s.Source.Others = nil, nil, nil
	for _, list := range lists {
		s.Rules[list] = ruleViews(p, e, list)
		s.Removed[list] = without(p.lists[list].saved, p.lists[list].rules)
		s.Fixed[list] = p.editable(list)
	}
	s.lint, s.requests = sync.OnceValue(e.Lint), sync.OnceValue(s.findRequests)
	p.shown = s
	return s
}

// numbers holds what the list of providers shows about a provider whose models have been read.
type numbers struct {
	counts  Counts
	source  string
	from    string // description of the sources
	changes int
	effect  ModelEffect // the effect of saving the changes
	news    []News
	models  []ModelView
}

// providerView returns a provider for the list of providers, with its numbers if its models
// have been read.
func (w *Window) providerView(p *provider) ProviderView {
	v := ProviderView{
		Name: p.name, Current: p.name == w.current, Key: p.hasKey, Unsaved: p.dirty(),
		Rules: len(p.lists[Ignore].effective()) + len(p.lists[Allow].effective()),
		Fixed: p.lists[Ignore].fixed != "" || p.lists[Allow].fixed != "", Asking: p.asking > 0,
	}
	if p.engine == nil {
		return v
	}
	if p.numbers == nil {
		n := &numbers{counts: counts(p, p.engine), source: p.models.Source, from: SourcesText(p.models), changes: len(p.changes()), news: w.news(p)}
		if p.shown != nil {
			n.models = p.shown.Models
		} else {
			n.models = modelViews(p, p.engine)
		}
		if n.changes > 0 {
			n.effect = w.effect(p)
		}
		p.numbers = n
	}
	v.SourcesText, v.Models = p.numbers.from, p.numbers.models
	v.Read, v.Counts, v.Source, v.Changes, v.Effect, v.News = true, p.numbers.counts, p.numbers.source, p.numbers.changes, p.numbers.effect, p.numbers.news
	return v
}

// Now returns the time of the window's clock.
func (s *ProviderSnapshot) Now() time.Time { return s.now() }

// Name returns an id in the form used in rules: without the provider.
func (s *ProviderSnapshot) Name(id string) string { return displayName(s.Provider, id) }

// Rule returns the rule with this pattern.
func (s *ProviderSnapshot) Rule(list List, pattern string) (r RuleView, ok bool) {
	i := slices.IndexFunc(s.Rules[list], func(r RuleView) bool { return r.Pattern == pattern })
	if i < 0 {
		return r, false
	}
	return s.Rules[list][i], true
}

// Preview returns the effect of adding a pattern.
func (s *ProviderSnapshot) Preview(list List, pattern string) engine.Effect {
	return s.engine.Preview(list, pattern)
}

// PreviewRemove returns the effect of removing the rule at index.
func (s *ProviderSnapshot) PreviewRemove(list List, index int) engine.Effect {
	return s.engine.PreviewRemove(list, index)
}

// Check reports which rules a new pattern would make redundant. It returns the errors of
// Scope.Check.
func (s *ProviderSnapshot) Check(list List, pattern string) (engine.Verdict, error) {
	if err := s.Fixed[list]; err != nil {
		return engine.Verdict{}, err
	}
	return check(s.engine, list, pattern)
}

// Explain returns why a model has its status.
func (s *ProviderSnapshot) Explain(id string) engine.Explanation { return s.engine.Explain(id) }

// Lint lists the rules that probably do not have the intended effect. The first call is
// slow if there are many rules.
func (s *ProviderSnapshot) Lint() []engine.Finding { return s.lint() }

// Suggest returns patterns that together match these models and no others. A model that no pattern
// can distinguish from another is left out. Suggest is slow.
func (s *ProviderSnapshot) Suggest(ids []string) []string {
	return engine.Suggest(ids, without(s.engine.Models(), ids))
}

// RuleHighlight returns the highlight of a rule with the models that it matches, or the zero
// value if there is no such rule.
func (s *ProviderSnapshot) RuleHighlight(list List, pattern string) Highlight {
	return ruleHighlight(s.engine, list, pattern)
}

// ModelHighlight returns the highlight of a model with the rule that decides it, if any.
func (s *ProviderSnapshot) ModelHighlight(id string) Highlight { return modelHighlight(s.engine, id) }

// Effect returns the effect of a proposal for this provider on its models, and the errors
// of the rules that would be rejected.
func (s *ProviderSnapshot) Effect(p Proposal) (ModelEffect, []error, error) {
	for _, part := range p.edits() {
		if err := s.Fixed[part.list]; err != nil && len(part.patterns) > 0 {
			return ModelEffect{}, nil, err
		}
	}
	e, refused := proposalEffect(s.engine, p)
	return e.withUse(s.use, s.now()), refused, nil
}

// Effect returns what accepting a proposal would do to the models now, and the errors of
// the rules that would be rejected. It may wait for the disk or the proxy.
func (w *Window) Effect(p Proposal) (ModelEffect, []error, error) {
	w.readUse(p.Provider)
	w.mu.Lock()
	target, err := w.findProvider(p.Provider)
	if err != nil {
		w.mu.Unlock()
		return ModelEffect{}, nil, err
	}
	s := w.publishedProvider(target)
	w.mu.Unlock()
	return s.Effect(p)
}

// EmptySnapshot returns the snapshot that a pane shows before there is a window. Its
// revision is 0.
func EmptySnapshot() *Snapshot {
	return &Snapshot{ProviderSnapshot: &ProviderSnapshot{engine: engine.New("", nil), lint: func() []engine.Finding { return nil }, requests: func() []string { return nil }, now: time.Now}}
}

// allNotices returns the notices about the file, including one if other users can read or change it.
func (w *Window) allNotices() (out []string) {
	if open := w.source.ModeNotice(); open != "" {
		out = append(out, open)
	}
	return append(out, w.notices...)
}
