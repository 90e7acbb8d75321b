package offline

import (
	"fmt"
	"strings"
)

// maxExplained is how many models one question is answered for.
const maxExplained = 3

// explain asks the window why models have their status.
func (t *turn) explain(s step) { t.each(s, "explain_model_status", "ask the window about") }

// details asks the window for what it knows of models.
func (t *turn) details(s step) {
	if len(s.what) == 0 {
		r := t.do("get_model_details", args{})
		t.answer(r, "an overview of the models")
		return
	}
	t.each(s, "get_model_details", "look up")
}

// each calls a tool with {model} for the models a step names.
func (t *turn) each(s step, tool, doing string) {
	sels := t.meant(s)
	if len(sels) == 0 {
		if len(s.what) == 0 {
			t.say("Name the model, for example `why is %s hidden`.", t.example())
		}
		return
	}
	var ids []string
	for _, sel := range sels {
		for _, g := range t.w.goals(sel) {
			ids = append(ids, t.modelIDs(sel, g)...)
		}
	}
	ids = unique(ids)
	more := len(ids) - maxExplained
	if more > 0 {
		ids = ids[:maxExplained]
	}
	for _, id := range ids {
		t.answer(t.do(tool, args{"model": id}), doing+" "+code(id))
	}
	if more > 0 && !t.waiting() {
		t.say("%d more match; name one to ask about it.", more)
	}
}

// modelIDs are the whole ids a selector names, its own words when the list
// has none.
func (t *turn) modelIDs(sel selector, g goal) []string {
	if g.problem == "" && g.provider == "" {
		var out []string
		for _, m := range fitting(t.w.models, g.pattern) {
			out = append(out, m.id)
			if len(out) > 2*maxExplained {
				break
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	words := make([]string, len(sel.terms))
	for i, x := range sel.terms {
		words[i] = x.text
	}
	return []string{strings.Join(words, "-")}
}

// answer passes a query's result on.
func (t *turn) answer(r *result, doing string) {
	switch {
	case r == nil:
		t.plan("I'll %s.", strings.TrimPrefix(doing, "an "))
	case r.missing:
	case r.Success:
		t.say("%s", sentence(r.Message))
		if f := facts(r.Data); f != "" {
			t.say("%s", f)
		}
	default:
		t.say("%s", sentence(r.why()))
	}
}

// facts lists the plain values of a result, in a fixed order.
func facts(data map[string]any) string {
	var lines []string
	for _, k := range []string{"id", "provider", "status", "affecting_rule", "context_window", "total_count", "available_count", "hidden_count"} {
		switch v := data[k].(type) {
		case string:
			if v != "" {
				lines = append(lines, "- "+strings.ReplaceAll(k, "_", " ")+": "+code(v))
			}
		case float64:
			lines = append(lines, fmt.Sprintf("- %s: %.0f", strings.ReplaceAll(k, "_", " "), v))
		case map[string]any:
			if p, ok := v["pattern"].(string); ok {
				lines = append(lines, "- "+strings.ReplaceAll(k, "_", " ")+": "+code(p))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// unusedRules lists the rules that decide no model.
func (t *turn) unusedRules() {
	var lines []string
	for _, l := range []struct {
		rules []rule
		name  string
	}{{t.w.ignore, "ignore"}, {t.w.allow, "allow"}} {
		for _, r := range l.rules {
			if r.count == 0 {
				lines = append(lines, "- "+l.name+" rule "+code(r.pattern))
				t.offer("Remove "+r.pattern, "remove the "+l.name+" rule \""+r.pattern+"\"")
			}
		}
	}
	switch {
	case len(t.w.ignore)+len(t.w.allow) == 0:
		t.say("There are no rules of %s.", providerName(t.w.provider))
	case len(lines) == 0:
		t.say("Each rule of %s decides a model: %s.", providerName(t.w.provider), rulesInWords(t.w))
	default:
		t.say("%s of %s decide%s no model now:\n\n%s", sentenceCase(count(len(lines), "rule")), providerName(t.w.provider), third(len(lines)), strings.Join(lines, "\n"))
	}
}

// find lists the models that match, from the window.
func (t *turn) find(s step) {
	gs, ok := t.resolve(s)
	if !ok {
		if len(s.what) == 0 {
			t.say("Say what to look for, for example `find %s`.", t.example())
		}
		return
	}
	for _, g := range gs {
		if g.sel.newest || g.sel.old {
			if ids, ok := t.enumerate(s, g); ok {
				t.say("The %s%s: %s.", clean(g.sel.text()), on(t.provider(g)), orNone(someCodes(ids)))
				t.offer("Only these", "only allow the "+g.sel.text()+" models")
			}
			continue
		}
		t.findPattern(g)
	}
}

func (t *turn) findPattern(g goal) {
	p := g.pattern
	r := t.do("get_models_matching_pattern", args{"pattern": p, "provider": t.provider(g)})
	if r != nil && r.Success && r.total() == 0 && !wild(p) {
		p = "*" + p + "*"
		r = t.do("get_models_matching_pattern", args{"pattern": p, "provider": t.provider(g)})
	}
	switch {
	case r == nil:
		t.plan("I look for models matching %s%s.", code(p), on(t.provider(g)))
	case r.missing:
		if ms := fitting(t.w.models, p); len(ms) > 0 {
			t.say("From the list I was given, %s match %s: %s.", count(len(ms), "model"), code(p), someCodes(names(ms)))
		}
	case !r.Success:
		t.say("I could not search for %s: %s.", code(p), lowerFirst(r.why()))
	case r.total() == 0 && len(r.Data) == 0:
		t.say("%s", sentence(r.Message))
	case r.total() == 0:
		t.say("No model matches %s%s.", code(p), on(t.provider(g)))
	default:
		n := r.total()
		verb := "match"
		if n == 1 {
			verb = "matches"
		}
		t.say("%s %s %s%s: %s.", sentenceCase(count(n, "model")), verb, code(p), on(t.provider(g)), listed(r.models(), n))
		t.offer("Hide them", "hide \""+p+"\"")
	}
}

// listed names some of n models.
func listed(ids []string, n int) string {
	if len(ids) == n || len(ids) == 0 {
		return orNone(someCodes(ids))
	}
	if len(ids) > namesShown {
		ids = ids[:namesShown]
	}
	return codes(ids) + fmt.Sprintf(" and %d more", n-len(ids))
}

func orNone(s string) string {
	if s == "" {
		return "none is named"
	}
	return s
}

// list answers from the context.
func (t *turn) list(s step) {
	if t.w.kind == "" {
		t.say("I see no window here, so I cannot list anything.")
		return
	}
	if t.wrote {
		t.say("This is how it was before the changes of this message:")
	}
	for _, g := range t.goalsOf(s) {
		if g.provider != "" {
			t.say("I only see the models and rules of %s. Say `switch to %s` first.", providerName(t.w.provider), clean(g.provider))
			t.offer("Switch to "+g.provider, "switch to "+g.provider)
			return
		}
	}
	if s.list == "" { // "why?" by itself
		if them := t.before(s); len(them) > 0 {
			s.kind, s.what = explain, them
			t.explain(s)
			return
		}
		s.list = topicHidden
	}
	switch s.list {
	case topicRules, topicIgnore, topicAllow:
		t.listRules(s.list)
	case topicProviders:
		t.say("Providers here: %s. Shown now: %s.", orNone(codes(t.w.providers)), code(t.w.provider))
	case topicChanges:
		t.listChanges()
	case topicModels:
		t.say("%s of %s, %d available, %d hidden: %s.", sentenceCase(count(t.w.total, "model")), providerName(t.w.provider),
			t.w.available, t.w.total-t.w.available, orNone(someCodes(names(t.w.models))))
		t.cut()
		t.offer("What is hidden?", "what is hidden")
	default:
		t.listModels(s)
	}
}

// listModels lists the models of one status, narrowed to a selector.
func (t *turn) listModels(s step) {
	var ms []model
	for _, m := range t.w.models {
		if s.list == topicHidden == (m.status == "ignored") && (s.list != topicAllowed || m.status == "whitelisted") {
			ms = append(ms, m)
		}
	}
	about := ""
	n := len(ms)
	switch {
	case len(s.what) > 0:
		var ps []string
		for _, sel := range t.meant(s) {
			for _, g := range t.w.goals(sel) {
				ps = append(ps, g.pattern)
			}
		}
		kept := ms[:0:0]
		for _, m := range ms {
			if fitsAny(m, ps) {
				kept = append(kept, m)
			}
		}
		ms, n, about = kept, len(kept), " among "+codes(unique(ps))
	case s.list == topicHidden:
		n = t.w.total - t.w.available
	case s.list == topicAvailable:
		n = t.w.available
	}
	switch {
	case s.reason && s.list == topicHidden && len(s.what) == 0:
		t.tellHidden(n)
		return
	case n == 0:
		t.say("No model of %s is %s%s.", providerName(t.w.provider), s.list, about)
		if s.list == topicHidden {
			t.sayNothingHidden()
		}
	default:
		t.say("%s of %s %s %s%s: %s.", sentenceCase(count(n, "model")), providerName(t.w.provider), are(n), s.list, about, listed(names(ms), n))
	}
	t.cut()
	switch {
	case s.list == topicHidden && n > 0:
		t.listRules(topicIgnore)
	case s.reason && s.list == topicAvailable && n > 0:
		t.tellAvailable()
	case s.reason && s.list == topicAllowed && n > 0:
		t.listRules(topicAllow)
	}
}

// cut says when the list in the context is only a part.
func (t *turn) cut() {
	if t.w.truncated {
		t.say("The list I was given is cut; the counts are exact. Say `find` and a word to look in the whole list.")
	}
}

func (t *turn) listRules(topic string) {
	one := func(rs []rule, noun string) {
		if len(rs) == 0 {
			t.say("There are no %ss.", noun)
			return
		}
		const most = 30
		lines := []string{sentenceCase(count(len(rs), noun)) + ":", ""}
		for i, r := range rs {
			if i == most {
				lines = append(lines, fmt.Sprintf("- and %d more", len(rs)-most))
				break
			}
			lines = append(lines, fmt.Sprintf("- %s: %s", code(r.pattern), count(r.count, "model")))
		}
		t.say("%s", strings.Join(lines, "\n"))
	}
	if topic != topicAllow {
		one(t.w.ignore, "ignore rule")
	}
	if topic != topicIgnore {
		one(t.w.allow, "allow rule")
	}
}

func rulesInWords(w window) string {
	return count(len(w.ignore), "ignore rule") + " and " + count(len(w.allow), "allow rule")
}

// listChanges tells what the user did since the last message, and what is unsaved.
func (t *turn) listChanges() {
	var lines []string
	for _, c := range t.w.changes {
		line := "- " + strings.ReplaceAll(clean(c.kind), "_", " ")
		if c.pattern != "" {
			line += " " + code(c.pattern)
		}
		if c.list != "" {
			line += " (" + clean(c.list) + ")"
		}
		if c.from != "" || c.to != "" {
			line += ": " + code(c.from) + " → " + code(c.to)
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		t.say("Since your last message:\n\n%s", strings.Join(lines, "\n"))
	} else {
		t.say("Nothing changed since your last message.")
	}
	switch {
	case !t.w.state:
	case t.w.unsaved:
		t.say("There are unsaved changes.")
		t.offer("Save", "save the changes")
		t.offer("Discard", "discard the changes")
	default:
		t.say("Everything is saved.")
	}
}
