package modelfilter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/glob"
)

type planArgs struct {
	Action   string   `json:"action" jsonschema:"hide; show: no longer hide; allow: show even what ignore rules match; only: show nothing else; remove: remove the rules named by pattern or word; clear: remove all rules"`
	Models   []string `json:"models,omitempty" jsonschema:"each an id, a pattern, words of names (mini does not match gemini), newest plus words, or a condition as in find_models; a model is selected if it fits any of them"`
	Except   []string `json:"except,omitempty" jsonschema:"models to leave unchanged"`
	List     string   `json:"list,omitempty" jsonschema:"for remove and clear: only this list"`
	Provider string   `json:"provider,omitempty" jsonschema:"the provider, or several separated by spaces; * for all; -name excludes one; by default the current one or, if it has no such model, the only one with that id or family"`
}

// planTool returns the tool plan_rules. The tool may wait for the disk or the proxy, so it holds the
// window's lock only for lookups.
func (w *Window) planTool() assistant.Tool {
	t := tool("Query", "plan_rules",
		"Work out the exact rules that hide, show, allow or keep models named in words or by conditions, with their effect. No other known model is affected. This changes nothing; to apply the rules, add or propose them.",
		func(_ context.Context, a planArgs) assistant.ToolResult { return w.toolPlanRules(a) })
	t.Schema.Properties["action"].Enum = []any{"hide", "show", "allow", "only", "remove", "clear"}
	t.Schema.Properties["list"].Enum = []any{ruleType[Ignore], ruleType[Allow]}
	return t
}

// rulePlan contains the changes to the rules of one provider that an action needs.
type rulePlan struct {
	Proposal
	notes []string // what already applies or is not possible
}

// toolPlanRules determines the rules for an action. It changes nothing.
func (w *Window) toolPlanRules(a planArgs) assistant.ToolResult {
	r := w.finder()
	plans, err := r.plan(a)
	switch {
	case err != nil:
		return errorResult(err)
	case len(r.unmatched) > 0:
		f := assistant.Fail(assistant.CodeFailed, "%s", strings.Join(r.text, " "))
		f.Data = fields{"unmatched": r.unmatched, "unknown_count": r.unknown}
		return f
	}
	listed, says, hint := []fields{}, []string(nil), ""
	unnamed := ""
	if all := len(w.Providers()); !namesEach(a.Provider) && all > 1 {
		unnamed = unnamedProviders(changing(plans), all)
	}
	for i, p := range plans {
		if i == 0 {
			p.notes = append(slices.Clone(r.text), p.notes...)
			if about := aboutPrices(strings.Join(a.Models, " ")); about != "" {
				p.notes = append(p.notes, about)
			}
		}
		data, say, err := w.planFields(p, unnamed)
		if err != nil {
			return errorResult(err)
		}
		listed, says = append(listed, data), append(says, say)
		if why := data["confirm"]; why != nil {
			hint = fmt.Sprintf("Use propose_rules, because the plan would %v.", why)
		}
	}
	if r.unknown > 0 {
		says = append(says, fmt.Sprintf("Left out because a property is unknown: %s.", assistant.Counted(r.unknown, "model")))
	}
	done := assistant.OK(strings.Join(says, " "), fields{"plans": listed, "unknown_count": r.unknown})
	done.Hint = hint
	return done
}

// unnamedProviders names the providers of plans that were not named one by one. all is the number
// of all providers.
func unnamedProviders(plans []rulePlan, all int) string {
	switch n := len(plans); n {
	case all:
		return "all providers"
	case 1:
		return visible(plans[0].Provider) + ", which was not named"
	default:
		return fmt.Sprintf("%d providers", n)
	}
}

// planFields returns a plan with its effect as data and as text. unnamed names the providers with
// changed rules if the user did not name them, and must confirm the plan; else it is "".
func (w *Window) planFields(p rulePlan, unnamed string) (fields, string, error) {
	s, err := w.On(p.Provider)
	if err != nil {
		return nil, "", err
	}
	c := s.Counts()
	out := fields{
		"provider": visible(p.Provider), "add_ignore": visibleAll(p.AddIgnore), "remove_ignore": visibleAll(p.RemoveIgnore), "add_whitelist": visibleAll(p.AddAllow),
		"remove_whitelist": visibleAll(p.RemoveAllow), "notes": p.notes, "shown_count": c.Shown, "total_count": c.Total, "hides_count": 0, "shows_count": 0,
	}
	if len(p.changes()) == 0 {
		return out, strings.Join(p.notes, " "), nil
	}
	data, err := json.Marshal(p.Proposal)
	if err != nil {
		return nil, "", err
	}
	effects, err := w.proposalEffects(data)
	if err != nil {
		return nil, "", err
	}
	sentences := []string{}
	for _, e := range effects {
		names := displayNames(p.Provider, e.Items)
		sentences = append(sentences, string(e.Sentence))
		switch e.Kind {
		case assistant.EffectRemoves:
			out["hides"], out["hides_count"] = names[:min(len(names), maxListed)], len(names)
		case assistant.EffectAdds:
			out["shows"], out["shows_count"] = names[:min(len(names), maxListed)], len(names)
		default:
		}
	}
	t := planTexts(effects, p.Provider, c.Shown)
	rules := summarizeProposal(data)
	out["effects"], out["effect"], out["does"], out["done"] = sentences, rules+": "+t.effect, t.does, t.done
	says := append([]string{sentence(t.does + ": " + strings.TrimSuffix(rules, " for "+visible(p.Provider)))}, p.notes...)
	if why := confirmation(unnamed, out["hides_count"].(int), c.Shown); why != "" {
		out["confirm"] = why
	}
	return out, strings.Join(says, " "), nil
}

// confirmation describes, in words that follow "would", an effect that the user must confirm first;
// "" if there is none.
func confirmation(unnamed string, hides, shown int) string {
	switch {
	case unnamed != "":
		return "change rules on " + unnamed
	case 2*hides > shown:
		return "hide more than half of the models that are shown"
	}
	return ""
}

// plan plans an action on each provider that it concerns.
func (r *finder) plan(a planArgs) (out []rulePlan, err error) {
	phrases, err := readPhrases(a.Models)
	if err != nil {
		return nil, err
	}
	except, err := readPhrases(a.Except)
	if err != nil {
		return nil, err
	}
	if a.Action == "remove" || a.Action == "clear" {
		return r.planRemoval(a)
	}
	if len(phrases) == 0 {
		return nil, errors.New("no models are named: say which models you mean")
	}
	providers, on, err := r.locateAll(phrases, a)
	if err != nil {
		return nil, err
	}
	for _, p := range except {
		if found, missing, _, err := r.fits(p, providers, true); err != nil {
			return nil, err
		} else if len(found) == 0 && len(providers) > 0 && !p.isKind() {
			r.miss(p, missing, nil)
		}
	}
	if len(r.unmatched) > 0 {
		return nil, nil
	}
	for _, name := range providers {
		m, err := r.mean(a.Action, name, on[name], except)
		if err != nil {
			return nil, err
		}
		s, err := r.w.On(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s.useful(m.plan(a.Action)))
	}
	everything := slices.ContainsFunc(phrases, phrase.all) && len(out) > 0
	if (a.Action == "only" || everything) && a.Provider == "" && len(r.w.Providers()) > len(out) {
		r.text = append(r.text, onlyMeant(providers)+": each provider has its own rules, and the other providers are unchanged.")
	} else if err := r.sayWhere(phrases, providers, a); err != nil {
		return nil, err
	}
	if namesEach(a.Provider) { // the user gets an answer about each provider, even if its rules do not change
		return out, nil
	}
	return changing(out), nil
}

// sayWhere notes which providers are meant, if none was named and other providers also have models
// that meet a condition.
func (r *finder) sayWhere(phrases []phrase, meant []string, a planArgs) error {
	if a.Provider != "" || !slices.ContainsFunc(phrases, func(p phrase) bool { return len(p.facts) > 0 }) {
		return nil
	}
	all, err := r.providersOrCurrent("*")
	if err != nil {
		return err
	}
	var others []string
	for _, p := range phrases {
		found, _, _, err := r.fits(p, without(all, meant), true)
		if err != nil {
			return err
		}
		others = append(others, without(found, others)...)
	}
	if len(others) > 0 && len(meant) > 0 {
		r.text = append(r.text, onlyMeant(meant)+"; "+haveSuch(others, "such models, too"))
	}
	return nil
}

// locateAll returns the providers on which phrases select models, and the phrases that do so on
// each.
func (r *finder) locateAll(phrases []phrase, a planArgs) (providers []string, on map[string][]phrase, err error) {
	on = map[string][]phrase{}
	for _, p := range phrases {
		n := len(r.unmatched)
		found, err := r.locate(p, a.Provider)
		if err != nil {
			return nil, nil, err
		}
		if len(r.unmatched) > n && a.Action == "only" && len(phrases) > 1 && len(p.names) == 1 && slices.Contains(knownFamilies, strings.ToLower(p.names[0])) && len(r.unmatched[n]["elsewhere"].([]string)) == 0 {
			r.unmatched = r.unmatched[:n] // there is no such model to keep; r.text contains a sentence about it
		}
		for _, name := range found {
			if on[name] = append(on[name], p); len(on[name]) == 1 {
				providers = append(providers, name)
			}
		}
	}
	return providers, on, nil
}

// changing returns the plans that change rules, or all plans if none does.
func changing(plans []rulePlan) []rulePlan {
	some := slices.DeleteFunc(slices.Clone(plans), func(p rulePlan) bool { return len(p.changes()) == 0 })
	if len(some) > 0 || len(plans) == 0 {
		return some
	}
	return plans
}

// isKind reports whether an exception names a kind of model, as in "only gpt models, no previews",
// or contains no name. There need not be such a model.
func (p phrase) isKind() bool {
	const kinds = " preview mini nano embedding image audio beta exp experimental snapshot latest "
	return len(p.names) == 0 || len(p.names) == 1 && strings.Contains(kinds, " "+strings.TrimSuffix(strings.ToLower(p.names[0]), "s")+" ")
}

// maxExact is the maximum number of models that a condition hides by name. If more models meet
// the condition, patterns hide them.
const maxExact = 12

// meaning holds the models that phrases select on one provider, and patterns that match them.
type meaning struct {
	provider        string
	all             bool         // a phrase means every model
	verbatim        bool         // a phrase is a pattern
	wide            bool         // patterns replace a condition, which a model added later may not meet
	models          []FoundModel // all models of the provider
	meant, excepted []FoundModel
	left            []FoundModel // models that "only" leaves hidden, because a rule other than * hides them
	stay            []FoundModel // hidden exceptions that are not selected
	patterns        []string     // match all of meant and, apart from what keep matches, no other model
	keep            []string     // patterns that match excepted
	rules           [2][]string
}

// exactly returns patterns that match the models in wanted, perhaps models in tolerated, and no
// others.
func (m *meaning) exactly(wanted, tolerated []FoundModel) []string {
	return engine.Suggest(ids(wanted), ids(minus(m.models, append(tolerated, wanted...))))
}

// mean finds the models that the phrases select, and patterns that match them.
func (r *finder) mean(action, provider string, phrases, except []phrase) (*meaning, error) {
	models, err := r.models(provider)
	if err != nil {
		return nil, err
	}
	s, err := r.w.On(provider)
	if err != nil {
		return nil, err
	}
	now := r.w.opts.Now()
	m := &meaning{provider: provider, models: models}
	for _, list := range lists {
		for _, rule := range s.Rules(list) {
			m.rules[list] = append(m.rules[list], rule.Pattern)
		}
	}
	m.except(except, false, now)
	var loose []FoundModel // models of phrases that no single pattern covers
	for _, p := range phrases {
		loose = append(loose, m.add(p, action, now)...)
	}
	m.except(except, true, now)
	m.stay = minus(kept(m.excepted, func(f FoundModel) bool { return f.Hidden }), m.meant)
	m.excepted = common(m.excepted, m.meant)
	m.patterns = append(m.patterns, m.exactly(minus(loose, m.excepted), m.meant)...)
	m.meant = minus(m.meant, m.excepted)
	if !covers(m.keep, m.excepted, minus(m.models, m.excepted)) {
		m.keep = m.exactly(m.excepted, nil)
	}
	return m, nil
}

// add adds the models that a phrase selects to meant, and patterns that match them to patterns. If
// the phrase yields no patterns, add returns the models, and the caller has to find patterns for
// them.
func (m *meaning) add(p phrase, action string, now time.Time) (loose []FoundModel) {
	from := m.models
	if p.newest {
		from = minus(from, m.excepted)
	}
	fit, _, _ := p.in(from, now)
	if shown := kept(fit, func(f FoundModel) bool { return !f.Hidden }); len(p.facts) > 0 && action == "hide" && len(shown) > 0 {
		fit = shown
	}
	m.all, m.verbatim = m.all || p.all(), m.verbatim || p.pattern() != ""
	left := kept(fit, func(f FoundModel) bool { return !f.Hidden || f.Status.Rule == "*" })
	if action == "only" && !p.all() && 0 < len(left) && len(left) < len(fit) { // "only" hides the other models, but does not show hidden ones
		m.left = append(m.left, minus(fit, left)...)
		m.meant = append(m.meant, minus(left, m.meant)...)
		return left
	}
	m.meant = append(m.meant, minus(fit, m.meant)...)
	switch text := p.written(m.models, fit); {
	case text != "":
		m.patterns = append(m.patterns, text)
	case p.newest || len(p.facts) > 0 && action == "hide" && len(fit) <= maxExact: // by id, because a pattern could match models added later
		var exact []string
		for _, f := range fit {
			exact = append(exact, glob.Quote(displayName(m.provider, f.Info.ID)))
		}
		if !p.newest {
			slices.Sort(exact)
		}
		m.patterns = append(m.patterns, exact...)
	default:
		m.wide = m.wide || len(p.facts) > 0
		return fit
	}
	return nil
}

// except adds to excepted the models that phrases select. If newest is set, it uses only the phrases
// that select the newest models, and chooses these from meant; otherwise it uses only the others.
func (m *meaning) except(except []phrase, newest bool, now time.Time) {
	for _, p := range except {
		if p.newest != newest {
			continue
		}
		from := m.models
		if newest {
			from = m.meant
		}
		fit, _, _ := p.in(from, now)
		m.excepted = append(m.excepted, minus(fit, m.excepted)...)
		if text := p.written(m.models, fit); text != "" && !newest {
			m.keep = append(m.keep, text)
		}
	}
}

// covers reports whether patterns match all of wanted and none of others.
func covers(patterns []string, wanted, others []FoundModel) bool {
	matches := func(f FoundModel) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return glob.Compile(p).MatchID(f.Info.ID) })
	}
	return !slices.ContainsFunc(others, matches) && len(kept(wanted, matches)) == len(wanted)
}
