package modelfilter

import (
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// unmatched returns effects about the added patterns that match none of a provider's known models. A
// pattern that matches models of other providers gets an effect of its own. All other patterns share
// one effect, because a team may have added dozens. The caller holds mu.
func (w *Window) unmatched(p *provider) []assistant.Effect {
	var out []assistant.Effect
	var nowhere []string
	for _, c := range p.changes() {
		text := w.matchesNone(p.name, c.Pattern)
		switch {
		case !c.Added || text == "":
		case text == matchesNothing:
			nowhere = append(nowhere, c.Pattern)
		default:
			out = append(out, assistant.Effect{Sentence: safetext.Sprintf("%s: %s %s", p.name, c.Pattern, text)})
		}
	}
	switch len(nowhere) {
	case 0:
	case 1:
		out = append(out, assistant.Effect{Sentence: safetext.Sprintf("%s: %s "+matchesNothing, p.name, nowhere[0])})
	default:
		out = append(out, assistant.Effect{Sentence: safetext.Sprintf("%s: %d patterns match no known model", p.name, len(nowhere)), Items: nowhere})
	}
	return out
}

const matchesNothing = "matches no known model"

// matchesNone returns a clause saying that a pattern matches no known model of a provider. The
// clause names the other providers in use that have matching models, because the pattern may have
// been meant for them. matchesNone returns "" if the pattern matches a model, or if no models of the
// provider are known. The caller holds mu.
func (w *Window) matchesNone(provider, pattern string) safetext.Text {
	if e := w.engine(w.providerNamed(provider)); e.Total() == 0 || len(e.Matching(pattern)) > 0 {
		return ""
	}
	var others []safetext.Text
	for _, name := range w.order {
		p := w.providerNamed(name)
		if name == provider || !p.hasKey && len(p.lists[Ignore].rules)+len(p.lists[Allow].rules) == 0 {
			continue
		}
		if n := len(w.peek(p).Matching(pattern)); n > 0 {
			others = append(others, safetext.Sprintf("%s of %s", assistant.Counted(n, "model"), name))
		}
	}
	if len(others) == 0 {
		return matchesNothing
	}
	return matchesNothing + "; elsewhere it matches " + safetext.Join(others, ", ")
}

// peek returns an engine with the models of a provider. Unlike Window.engine, it does not load the
// models into the window, because all screens would have to draw that change. A new engine has no
// rules.
func (w *Window) peek(p *provider) *engine.Engine {
	if p.engine != nil {
		return p.engine
	}
	return engine.New(p.name, w.cached(p).IDs)
}
