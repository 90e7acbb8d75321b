package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/offline/wire"
)

// nothingChanged ends every answer that refuses to act.
const nothingChanged = "Nothing was changed."

// edit is one change of a provider's rules.
type edit struct {
	provider string
	list     string
	add      bool
	pattern  string // "": all rules of the list are removed
}

// editTools are the tools that change rules.
var editTools = map[string]edit{
	"add_ignore_rule": {list: ignoreList, add: true}, "remove_ignore_rule": {list: ignoreList}, "clear_all_ignore_rules": {list: ignoreList},
	"add_whitelist_rule": {list: allowList, add: true}, "remove_whitelist_rule": {list: allowList}, "clear_all_whitelist_rules": {list: allowList},
}

// tool is the tool that makes an edit.
func (e edit) tool() string {
	switch {
	case e.pattern == "":
		return "clear_all_" + e.list + "_rules"
	case e.add:
		return "add_" + e.list + "_rule"
	}
	return "remove_" + e.list + "_rule"
}

// plan is what a step is going to do.
type plan struct {
	*conversation // which says what is not done, and why
	step          step
	targets       []target
	refused       bool // a part cannot be done, which is reported: nothing is
	edits         []edit
}

func (p *plan) addEdit(tg *target, list string, add bool, pattern string) {
	if e := (edit{tg.provider, list, add, pattern}); !slices.Contains(p.edits, e) {
		p.edits = append(p.edits, e)
	}
}

// allowEach adds allow rules that are not there yet.
func (p *plan) allowEach(tg *target, patterns []string) {
	for _, pattern := range patterns {
		if !tg.has(allowList, pattern) {
			p.addEdit(tg, allowList, true, pattern)
		}
	}
}

// planStep works out a step; nil when calls are made now or the step cannot be
// done, which is reported.
func (c *conversation) planStep(s step) *plan {
	p := &plan{conversation: c, step: s}
	switch {
	case !s.kind.selects(), s.kind.in(rankModels, showRules, rankRules, check):
		return p
	case s.kind.aboutRules():
		for _, name := range c.narrow(s, item{}, c.providersOf(s.selection.scope)) {
			if cat := c.catalog(name); cat != nil {
				p.targets = append(p.targets, target{catalog: cat})
			}
		}
	default:
		p.targets = c.resolve(s)
	}
	if c.waiting() || c.stuck || len(p.targets) == 0 && !s.kind.asks() && !s.kind.aboutRules() || len(c.paragraphs) > 0 && len(p.targets) == 0 {
		return nil
	}
	for i := range p.targets {
		tg := &p.targets[i]
		if tg.vague && s.kind.changesRules() {
			c.reportf("%s%s fit, too many to name one by one, and no pattern fits just these. %s", assistant.UpperFirst(counted(len(tg.models), "model")), tg.on(), nothingChanged)
			return nil
		}
		p.planTarget(tg)
	}
	if p.refused {
		return nil
	}
	return p
}

// planTarget plans a change of rules on one provider.
func (p *plan) planTarget(tg *target) {
	everything := tg.all && len(tg.excepted) == 0
	written := func(r string) bool { return hasWildcard(r) && (tg.has(ignoreList, r) || tg.has(allowList, r)) }
	switch k := p.step.kind; {
	case k == clearRules:
		for _, list := range []string{ignoreList, allowList} {
			if p.step.list == "" || p.step.list == list {
				p.clear(tg, list)
			}
		}
	case k == removeRule, k == remove && slices.ContainsFunc(tg.patterns, written):
		p.removeRules(tg)
	case everything && k.in(unhide, allow):
		p.clear(tg, ignoreList)
	case everything && k == only:
		p.reportf("Rules are per provider, so %s needs no change. %s", clean(tg.provider), nothingChanged)
	case k == only:
		p.only(tg, tg.models, tg.exactPatterns())
	case tg.all && k == hide && !everything:
		p.only(tg, tg.excepted, tg.exceptPatterns)
	case tg.all && k == allow: // "keep everything but mini"
		p.hide(&target{catalog: tg.catalog, models: tg.excepted, patterns: tg.exceptPatterns})
	case k.in(hide, remove):
		p.hide(tg)
	case k == unhide:
		p.unhide(tg)
	case k == allow:
		p.allow(tg)
	}
}

// hide adds ignore rules, and allow rules for the exceptions: an allow rule wins.
func (p *plan) hide(tg *target) {
	verbatim := slices.ContainsFunc(p.step.selection.items, func(it item) bool {
		return slices.ContainsFunc(it.in(tg.catalog).words, func(w term) bool { return w.verbatim })
	})
	if len(tg.models) > 0 && !verbatim && !slices.ContainsFunc(tg.models, model.isShown) {
		p.reportf("%s%s hidden already%s.", assistant.UpperFirst(codes(names(tg.models))), verbFor(len(tg.models), " is", " are"), tg.on())
		return
	}
	if slices.ContainsFunc(tg.patterns, hasWildcard) {
		p.allowEach(tg, tg.exceptPatterns)
	}
	for _, pattern := range tg.patterns {
		if !hasWildcard(pattern) && slices.ContainsFunc(tg.excepted, func(m model) bool { return m.named(pattern) }) {
			continue
		}
		if tg.has(allowList, pattern) {
			p.addEdit(tg, allowList, false, pattern)
		}
		p.addEdit(tg, ignoreList, true, pattern)
	}
	kept := filter(tg.models, func(m model) bool { return m.isAllowed() && !slices.Contains(tg.patterns, m.rule) })
	if n := len(kept); n > 0 {
		p.reportf("%s%s shown, because an allow rule wins: %s.", assistant.UpperFirst(counted(n, "model")), verbFor(n, " stays", " stay"), codes(names(kept)))
	}
}

// only allows the models by patterns, removes the allow rules that match others,
// and hides the rest.
func (p *plan) only(tg *target, models []model, patterns []string) {
	switch {
	case len(models) == 0:
		p.reportf("No model%s matches, and hiding the rest would hide everything. %s", tg.on(), nothingChanged)
		return
	case len(patterns) == 0:
		p.reportf("These are too many models to name one by one. %s", nothingChanged)
		return
	}
	before := len(p.edits)
	for _, r := range tg.rules[allowList] {
		if !slices.Contains(patterns, r) && len(without(tg.matching(r), models)) > 0 {
			p.addEdit(tg, allowList, false, r)
		}
	}
	p.allowEach(tg, patterns)
	if !tg.has(ignoreList, "*") {
		p.addEdit(tg, ignoreList, true, "*")
	}
	if len(p.edits) == before {
		p.reportf("The rules%s already do that.", tg.on())
	}
}

// unhide removes the ignore rules that hide only models that are meant, or
// allows the models when a broader rule hides them.
func (p *plan) unhide(tg *target) {
	start := len(p.edits)
	for _, r := range tg.rules[ignoreList] {
		hides := filter(tg.matching(r), model.isHidden)
		meant := len(intersect(hides, tg.models)) > 0
		switch {
		case slices.Contains(tg.patterns, r), meant && len(without(hides, tg.models)) == 0:
			p.addEdit(tg, ignoreList, false, r)
		case meant: // it hides others, too
			p.edits = p.edits[:start]
			p.allow(tg)
			return
		}
	}
	if len(p.edits) == start {
		p.reportf("No model%s that matches %s is hidden.", tg.on(), codes(tg.patterns))
	}
}

// exactPatterns are patterns that match the models without the exceptions.
func (tg *target) exactPatterns() []string {
	if len(tg.excepted) > 0 {
		return choosePatterns(tg.catalog, tg.models, nil)
	}
	return tg.patterns
}

func (p *plan) allow(tg *target) {
	patterns := tg.exactPatterns()
	p.allowEach(tg, patterns)
	if there := filter(patterns, func(r string) bool { return tg.has(allowList, r) }); len(there) > 0 {
		p.reportf("Allowed%s already: %s.", tg.on(), codes(there))
	}
}

func (p *plan) clear(tg *target, list string) {
	if len(tg.rules[list]) == 0 {
		p.reportf("There are no %s rules%s.", listName[list], tg.on())
		return
	}
	p.addEdit(tg, list, false, "")
}

// removeRules removes the rules whose patterns are the words of the step, else for
// each word the only rule that has it in its pattern.
func (p *plan) removeRules(tg *target) {
	var wanted []string
	for _, it := range p.step.selection.items {
		wanted = append(wanted, it.texts()...)
		if it.all && it.provider == "" {
			wanted = append(wanted, "*")
		}
	}
	if len(wanted) == 0 {
		p.reportf("Say which rule, exactly as written. %s", nothingChanged)
	}
	for _, w := range wanted {
		var exact, near []edit
		for _, list := range []string{ignoreList, allowList} {
			for _, r := range tg.rules[list] {
				e := edit{tg.provider, list, false, r}
				switch {
				case p.step.list != "" && p.step.list != list:
				case r == w:
					exact = append(exact, e)
				case term{text: w}.inName().MatchString(r):
					near = append(near, e)
				}
			}
		}
		if len(exact) == 0 {
			exact = near
		}
		if len(exact) == 1 {
			p.edits = append(p.edits, exact...)
			continue
		}
		p.refused = true
		p.reportf("There is no single rule %s%s: the rules are %s. %s", code(w), tg.on(), cmp.Or(codes(slices.Concat(tg.rules[ignoreList], tg.rules[allowList])), "none"), nothingChanged)
		for _, e := range exact {
			p.try("remove the " + listName[e.list] + " rule " + e.pattern + tg.on())
		}
	}
}

// effect lists the models that edits of the provider would hide and show. n counts with the
// hidden ones those that are not listed and may be.
func (c *catalog) effect(edits []edit) (hidden, shown []model, n int) {
	patterns := map[string][]string{ignoreList: slices.Clone(c.rules[ignoreList]), allowList: slices.Clone(c.rules[allowList])}
	for _, e := range edits {
		switch {
		case e.provider != c.provider:
		case e.pattern == "":
			patterns[e.list] = nil
		case e.add:
			patterns[e.list] = append(patterns[e.list], e.pattern)
			if e.list == ignoreList {
				n = c.unlisted
			}
		default:
			patterns[e.list] = slices.DeleteFunc(patterns[e.list], func(p string) bool { return p == e.pattern })
		}
	}
	ignored, allowed := matcher(patterns[ignoreList]), matcher(patterns[allowList])
	hides := func(m model) bool { return !allowed(m) && ignored(m) }
	hidden = filter(c.models, func(m model) bool { return m.isShown() && hides(m) })
	shown = filter(c.models, func(m model) bool { return m.isHidden() && !hides(m) })
	return hidden, shown, min(n+len(hidden), c.total-c.hidden)
}

// ask proposes edits instead of making them, where that was wanted or asked, where more
// than half of what a provider shows would be hidden, or where rules of all
// providers would change. False means that there is nothing to ask.
func (c *conversation) ask(plans []*plan) bool {
	var edits []edit
	wanted, every, large := false, false, false
	for _, p := range plans {
		edits = append(edits, p.edits...)
		wanted = wanted || p.step.propose || p.step.question && p.step.kind.changesRules()
		every = every || len(p.edits) > 0 && len(c.providers) > 1 && p.step.selection.scope.all()
	}
	var lines, providers []string
	var proposals []wire.Args
	for _, e := range edits {
		if slices.Contains(providers, e.provider) {
			continue
		}
		providers = append(providers, e.provider)
		cat := c.catalog(e.provider)
		hidden, again, n := cat.effect(edits)
		large = large || 2*n > cat.total-cat.hidden
		line := fmt.Sprintf("%s: %d of the %s it shows would be hidden", clean(e.provider), n, counted(cat.total-cat.hidden, "model"))
		if len(hidden) > 0 {
			line += ": " + codes(names(hidden))
		}
		if len(again) > 0 {
			line += "; shown again: " + codes(names(again))
		}
		lines, proposals = append(lines, line), append(proposals, cat.proposal(edits, n))
	}
	head := "That would change rules on all providers, so I ask first."
	switch {
	case !wanted && !large && !every || len(edits) == 0:
		return wanted
	case wanted:
		head = "I propose: " + inWords(edits) + "."
	case !every:
		head = "That would hide more than half of the models that are shown, so I ask first."
	}
	for i, p := range proposals { // the user sees them as cards
		if r := c.callOrReport("propose_rules", p); r != nil {
			if _, use, used := strings.Cut(r.Data.Get("effects.0").String(), "; "); used {
				lines[i] += "; " + withCode(use)
			}
		}
	}
	c.reportf("%s", bullets(head, lines))
	c.reportf("%s Accept what is proposed, or say `yes`.", nothingChanged)
	return true
}

// proposal are the arguments of propose_rules for what edits do to the provider, of which
// they hide n more models.
func (c *catalog) proposal(edits []edit, n int) wire.Args {
	own := filter(edits, func(e edit) bool { return e.provider == c.provider })
	p := wire.Args{"provider": c.provider, "reasoning": assistant.UpperFirst(inWords(own)) + fmt.Sprintf(": hides %s.", counted(n, "more model"))}
	for _, e := range own {
		key, patterns := "remove_"+e.list, []string{e.pattern}
		if e.add {
			key = "add_" + e.list
		}
		if e.pattern == "" {
			patterns = c.rules[e.list]
		}
		list, _ := p[key].([]string)
		p[key] = append(list, patterns...)
	}
	return p
}
