package modelfilter

import (
	"slices"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
)

// FoundModel is a model selected by a condition, with the rule that decides it.
type FoundModel struct {
	condition.Model
	Provider string
	Status   engine.ModelStatus
	Source   string // the source that lists the model; see models.List
}

// Found is the result of Find.
type Found struct {
	Models []FoundModel // by provider in the requested order, then by id
	// Unknown counts models left out because a fact used in the condition is unknown for
	// them.
	Unknown int
	NoUse   int // number of these models whose use is unknown
	// Problems explains why the use of some models cannot be read, in one sentence for each
	// provider concerned.
	Problems []string
}

// unknown counts a model that is left out because a fact is unknown.
func (f *Found) unknown(m FoundModel) {
	f.Unknown++
	if !m.UseKnown {
		f.NoUse++
	}
}

// Find selects models of the named providers, or of all available providers if none is
// named. It returns an *UnknownError for an unknown provider. It reads how the models are
// used, so it may wait for the disk or the proxy.
func (w *Window) Find(where condition.Condition, providers ...string) (Found, error) {
	var found Found
	if len(providers) == 0 {
		providers = withLock(w, func() []string { return slices.Clone(w.order) })
	}
	now := w.opts.Now()
	for _, name := range providers {
		s, err := w.On(name)
		if err != nil {
			return Found{}, err
		}
		provider, all := s.Provider(), s.Models()
		report, err := w.opts.Usage.Report(provider)
		if err != nil {
			found.Problems = append(found.Problems, visible(sentence(err.Error())))
		}
		for _, m := range all {
			f := FoundModel{Provider: provider, Status: m.ModelStatus, Source: m.Source}
			f.Info, _ = w.describe(m.ID)
			f.Info.ID, f.Hidden, f.Allowed, f.New = m.ID, m.Status == engine.Ignored, m.Status == engine.Whitelisted, m.New
			f.Use, f.UseKnown = report.ForModel(m.ID)
			switch where.Match(&f.Model, now) {
			case condition.Yes:
				found.Models = append(found.Models, f)
			case condition.Unknown:
				found.unknown(f)
			default:
			}
		}
	}
	return found, nil
}

// HidePlan contains the rules that hide some models of one provider.
type HidePlan struct {
	Provider string   `json:"provider"`
	Patterns []string `json:"patterns"` // ignore rules to add; of the known models they match only those in Hides
	Hides    []string `json:"hides"`    // ids that the patterns hide
	Allowed  []string `json:"allowed"`  // ids that stay shown because an allow rule matches them
	Left     []string `json:"left"`     // ids that no pattern can distinguish from another model, or that the proxy does not filter
}

// PlanHide plans how to hide the shown models in found. It returns one plan per provider, in the
// order of found, each with a few patterns for the models of its provider.
func (w *Window) PlanHide(found Found) ([]HidePlan, error) {
	var plans []HidePlan
	wanted := map[string][]string{}
	for _, m := range found.Models {
		i := slices.IndexFunc(plans, func(p HidePlan) bool { return p.Provider == m.Provider })
		if m.Hidden {
			continue
		}
		if i < 0 {
			i, plans = len(plans), append(plans, HidePlan{Provider: m.Provider})
		}
		switch p := &plans[i]; {
		case m.Status.Unfiltered:
			p.Left = append(p.Left, m.Info.ID)
		case m.Status.Status == engine.Whitelisted:
			p.Allowed = append(p.Allowed, m.Info.ID)
		default:
			wanted[m.Provider] = append(wanted[m.Provider], m.Info.ID)
		}
	}
	for i := range plans {
		p := &plans[i]
		s, err := w.On(p.Provider)
		if err != nil {
			return nil, err
		}
		p.Patterns = s.Suggest(wanted[p.Provider])
		p.Hides, p.Left = hiddenBy(p.Patterns, wanted[p.Provider], p.Left)
		for _, list := range []*[]string{&p.Patterns, &p.Hides, &p.Allowed, &p.Left} {
			if *list == nil {
				*list = []string{} // encoded as [] instead of null
			}
		}
	}
	return plans, nil
}

// hiddenBy splits ids: hidden contains those that one of the patterns matches, and rest
// contains left, followed by the other ids.
func hiddenBy(patterns, ids, left []string) (hidden, rest []string) {
	compiled := make([]*glob.Pattern, len(patterns))
	for i, text := range patterns {
		compiled[i] = glob.Compile(text)
	}
	for _, id := range ids {
		if slices.ContainsFunc(compiled, func(p *glob.Pattern) bool { return p.MatchID(id) }) {
			hidden = append(hidden, id)
		} else {
			left = append(left, id)
		}
	}
	return hidden, left
}
