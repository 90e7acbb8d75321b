package modelfilter

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	// usedLately is the time within which the last use of a model counts as recent.
	usedLately = 7 * 24 * time.Hour
	// longUnused is the time after which a shown model counts as unused.
	longUnused = 90 * 24 * time.Hour
)

// UsedModel is a recently used model.
type UsedModel struct {
	ID string
	usage.Use
}

// readUse reads how the models of the given providers are used. It waits for the disk or, if
// there is no usage file, for the proxy. Names are interpreted as in findProvider; unknown
// names are ignored.
func (w *Window) readUse(names ...string) {
	for _, name := range names {
		w.mu.Lock()
		p, err := w.findProvider(name)
		w.mu.Unlock()
		if err != nil {
			continue
		}
		report, err := w.opts.Usage.Report(p.name)
		problem := ""
		if err != nil {
			problem = visible(sentence(err.Error()))
		}
		w.mu.Lock()
		if p.use != report || p.useProblem != problem {
			p.use, p.useProblem = report, problem
			w.redraw(p)
		}
		w.mu.Unlock()
	}
}

// readUseOfUnsaved calls readUse for the providers with staged changes.
func (w *Window) readUseOfUnsaved() {
	w.readUse(withLock(w, func() (names []string) {
		for _, p := range w.dirtyProviders() {
			names = append(names, p.name)
		}
		return names
	})...)
}

// usedSince returns the models used after start, most recently used first.
func usedSince(r *usage.Report, ids []string, start time.Time) (used []UsedModel) {
	for _, id := range ids {
		if u, known := r.ForModel(id); known && u.Last.After(start) {
			used = append(used, UsedModel{id, u})
		}
	}
	slices.SortStableFunc(used, func(a, b UsedModel) int { return b.Last.Compare(a.Last) })
	return used
}

// withUse sets Used, and moves the used models to the front of Hidden.
func (e ModelEffect) withUse(r *usage.Report, now time.Time) ModelEffect {
	e.now, e.Used = now, usedSince(r, e.Hidden, now.Add(-usedLately))
	if len(e.Used) > 0 {
		var first []string
		for _, u := range e.Used {
			first = append(first, u.ID)
		}
		e.Hidden = append(first, without(e.Hidden, first)...)
	}
	return e
}

// UsedText names the hidden models that were used recently; "" if there are none.
func (e ModelEffect) UsedText() safetext.Text {
	return usedText(e.Provider, e.Used, len(e.Hidden), e.now)
}

// UsedText is like ModelEffect.UsedText, for hidden models of this provider.
func (s *ProviderSnapshot) UsedText(hidden []string) safetext.Text {
	return ModelEffect{Provider: s.Provider, Hidden: hidden}.withUse(s.use, s.now()).UsedText()
}

// UsedText is like ModelEffect.UsedText, for hidden models of this provider. It may wait for
// the disk or the proxy.
func (s Scope) UsedText(hidden []string) safetext.Text {
	s.w.readUse(s.Provider())
	return s.snapshot().UsedText(hidden)
}

// usedText names the recently used models among n hidden models of a provider.
func usedText(provider string, used []UsedModel, n int, now time.Time) safetext.Text {
	if len(used) == 0 {
		return ""
	}
	if n == 1 {
		return safetext.Sprintf("it was last used %s, with %s in all", agoText(now.Sub(used[0].Last)), countedRequests(used[0].Requests))
	}
	const named = 3
	var names []safetext.Text
	for _, u := range used[:min(len(used), named)] {
		names = append(names, safetext.Sprintf("%s (%s)", displayName(provider, u.ID), lastUsedText(u.Use, now)))
	}
	if more := len(used) - named; more > 0 {
		names = append(names, safetext.Sprintf("%d more", more))
	}
	were := "were"
	if len(used) == 1 {
		were = "was"
	}
	return safetext.Sprintf("%d of them %s used in the last 7 days: %s", len(used), were, safetext.Join(names, ", "))
}

// lastUsedText describes the use of a model: "last used 2 h ago, 1,204 requests in all".
func lastUsedText(u usage.Use, now time.Time) string {
	return fmt.Sprintf("last used %s, %s in all", agoText(now.Sub(u.Last)), countedRequests(u.Requests))
}

func countedRequests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return thousands(n) + " requests"
}

// thousands formats a number with commas: "1,204".
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// agoText formats an age: "2 h ago".
func agoText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 2*24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d/time.Hour))
	}
	return fmt.Sprintf("%d days ago", int(d/(24*time.Hour)))
}

// UseFindings lists rules and models that look wrong given how the provider's models are
// used.
type UseFindings struct {
	Provider string    `json:"provider"`
	Rules    []UseRule `json:"rules"`  // ignore rules that hide recently used models
	Unused   []string  `json:"unused"` // ids of shown models that have not been used for 90 days
	Known    bool      `json:"known"`  // false if the use of the models is unknown
	Problem  string    `json:"problem,omitempty"`
}

// UseRule is an ignore rule with the recently used models that it hides.
type UseRule struct {
	Pattern string        `json:"pattern"`
	Models  []UsedModel   `json:"models"`
	Text    safetext.Text `json:"text"` // a sentence that names the models
}

// UseFindings compares the rules of the provider with the use of its models. If their use is
// unknown, there are no findings. It may wait for the disk or the proxy.
func (s Scope) UseFindings() UseFindings {
	s.w.readUse(s.Provider())
	shown := s.snapshot()
	now := shown.now()
	f := UseFindings{Provider: shown.Provider, Known: shown.use != nil, Problem: shown.UseProblem, Rules: []UseRule{}, Unused: []string{}}
	if shown.use == nil {
		return f
	}
	counted := shown.use.Since() // use before this time is unknown
	hiddenBy := make([][]string, len(shown.Rules[Ignore]))
	for _, m := range shown.Models {
		use, _ := shown.use.ForModel(m.ID)
		switch {
		case m.Status == engine.Ignored && m.Index < len(hiddenBy):
			hiddenBy[m.Index] = append(hiddenBy[m.Index], m.ID)
		case m.Status != engine.Ignored && !counted.IsZero() && now.Sub(counted) > longUnused && now.Sub(use.Last) > longUnused:
			f.Unused = append(f.Unused, m.ID)
		}
	}
	for i, ids := range hiddenBy {
		if used := usedSince(shown.use, ids, now.Add(-usedLately)); len(used) > 0 {
			pattern := shown.Rules[Ignore][i].Pattern
			f.Rules = append(f.Rules, UseRule{Pattern: pattern, Models: used, Text: safetext.Sprintf("ignore rule “%s” hides %s; %s",
				pattern, assistant.Counted(len(ids), "model"), usedText(shown.Provider, used, len(ids), now))})
		}
	}
	return f
}
