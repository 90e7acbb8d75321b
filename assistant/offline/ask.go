package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
)

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
	var lines []string
	var proposals []map[string]any
	asked := map[string]bool{}
	for _, e := range edits {
		provider, cat := e.provider, c.catalogs[e.provider]
		if asked[provider] {
			continue
		}
		asked[provider] = true
		hidden, n := cat.hiddenBy(edits)
		large = large || 2*n > cat.shownCount()
		line := fmt.Sprintf("%s: %d of the %s it shows would be hidden", clean(provider), n, count(cat.shownCount(), "model"))
		if len(hidden) > 0 {
			line += ": " + codes(names(hidden))
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
	c.reportf("%s", bullets(head, lines))
	c.reportf("%s Accept what is proposed, or say `yes`.", nothingChanged)
	c.proposals = proposals
	return true
}

// hiddenBy lists the models that edits of the provider would hide. n counts with
// them those that are not listed and may be hidden.
func (c *catalog) hiddenBy(edits []edit) (models []model, n int) {
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
	models = filter(c.models, func(m model) bool { return m.isShown() && !allowed(m) && ignored(m) })
	return models, min(n+len(models), c.shownCount())
}

// proposal is the rule_proposal payload of what edits do to the provider, of
// which they hide n more models.
func (c *catalog) proposal(edits []edit, n int) map[string]any {
	own := slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return e.provider != c.provider })
	p := map[string]any{"provider": c.provider, "reasoning": assistant.UpperFirst(inWords(own)) + fmt.Sprintf(": hides %s.", count(n, "more model"))}
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

// markers writes the payloads of the answer that the prompt teaches, each on its
// own line.
func (c *conversation) markers() string {
	out := ""
	_, taught, _ := strings.Cut(c.prompt, "STRUCTURED RESPONSES")
	write := func(name string, v any) {
		if b, err := json.Marshal(v); err == nil && strings.Contains(taught, name) {
			out += "\n\n" + name + ": " + string(b)
		}
	}
	for _, p := range c.proposals {
		write("RULE_PROPOSAL", p)
	}
	if len(c.suggestions) > 0 {
		write("SUGGESTED_VALUES", map[string]any{"values": c.suggestions})
	}
	return out
}
