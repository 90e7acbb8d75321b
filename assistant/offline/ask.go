package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// proposal is the data of a rule_proposal payload.
type proposal struct {
	Provider     string   `json:"provider"`
	AddIgnore    []string `json:"add_ignore,omitempty"`
	AddAllow     []string `json:"add_whitelist,omitempty"`
	RemoveIgnore []string `json:"remove_ignore,omitempty"`
	RemoveAllow  []string `json:"remove_whitelist,omitempty"`
	Reasoning    string   `json:"reasoning"`
}

// ask proposes instead of acting, where that was wanted, where more than half
// of what a provider shows would be hidden, or where rules of all providers
// would change. False means that there is nothing to ask.
func (t *turn) ask(plans []*plan) bool {
	var edits []edit
	cats := map[string]*catalog{}
	wanted, every := false, false
	for _, p := range plans {
		edits = append(edits, p.edits...)
		wanted = wanted || p.step.kind == propose
		at := p.step.what.scope
		every = every || len(p.edits) > 0 && len(t.w.providers) > 1 && (at.every || len(at.without) > 0)
		for _, tg := range p.targets {
			cats[tg.cat.provider] = tg.cat
		}
	}
	var providers, lines []string
	large := false
	for _, e := range edits {
		if slices.Contains(providers, e.provider) {
			continue
		}
		providers = append(providers, e.provider)
		cat := cats[e.provider]
		if cat == nil {
			cat = t.catalog(e.provider, nil)
		}
		newly, unlisted := cat.hides(edits)
		n := min(len(newly)+unlisted, cat.shownCount())
		large = large || 2*n > cat.shownCount()
		line := fmt.Sprintf("%s: %d of the %s it shows would be hidden", clean(e.provider), n, count(cat.shownCount(), "model"))
		if len(newly) > 0 {
			line += ": " + codes(names(newly))
		}
		lines = append(lines, line)
		t.proposals = append(t.proposals, propose1(cat, edits))
	}
	if len(edits) == 0 || !wanted && !large && !every {
		t.proposals = nil
		if wanted {
			t.notes(plans)
		}
		return wanted
	}
	t.notes(plans)
	head := "That would change rules on all providers, so I ask first."
	switch {
	case wanted:
		head = "I propose: " + inWords(edits) + "."
	case large && !every:
		head = "That would hide more than half of the models that are shown, so I ask first."
	}
	t.say("%s", bullets(head, lines, len(lines)))
	if t.teaches("RULE_PROPOSAL") {
		t.say("%s Accept the proposal%s, or say `yes`.", nothingChanged, verbFor(len(providers), "", "s"))
	} else {
		t.say("%s To do it, say `yes`.", nothingChanged)
	}
	t.offer("Yes, do it", "yes")
	t.offer("No, leave it", "no")
	return true
}

func (t *turn) notes(plans []*plan) {
	for _, p := range plans {
		for _, n := range p.notes {
			t.say("%s", n)
		}
	}
}

// propose1 is the proposal for one provider.
func propose1(cat *catalog, edits []edit) proposal {
	p := proposal{Provider: cat.provider}
	var own []edit
	for _, e := range edits {
		if e.provider != cat.provider {
			continue
		}
		own = append(own, e)
		list := map[string]*[]string{ignoreList: &p.AddIgnore, allowList: &p.AddAllow}
		if !e.add {
			list = map[string]*[]string{ignoreList: &p.RemoveIgnore, allowList: &p.RemoveAllow}
		}
		if e.clear {
			*list[e.list] = patternsOf(cat.rules(e.list))
		} else {
			*list[e.list] = append(*list[e.list], e.pattern)
		}
	}
	newly, unlisted := cat.hides(edits)
	p.Reasoning = upperFirst(inWords(own)) + fmt.Sprintf(": hides %s.", count(len(newly)+unlisted, "more model"))
	return p
}

// inWords says what edits do: "hide `*mini*` and allow `gpt-4o`".
func inWords(edits []edit) string {
	var parts []string
	for _, g := range editGroups(edits) {
		var ps []string
		for _, e := range g {
			ps = append(ps, e.pattern)
		}
		switch e := g[0]; {
		case e.clear:
			parts = append(parts, "remove all "+e.list+" rules")
		case e.add && e.list == ignoreList:
			parts = append(parts, "hide "+codes(unique(ps)))
		case e.add:
			parts = append(parts, "allow "+codes(unique(ps)))
		default:
			parts = append(parts, "remove "+verbFor(len(ps), "the ", "")+e.list+" "+verbFor(len(ps), "rule ", "rules ")+codes(unique(ps)))
		}
	}
	return joinAnd(unique(parts))
}

// editGroups are the edits by what they do, in the order of the first of each.
func editGroups(edits []edit) [][]edit {
	var out [][]edit
	for _, e := range edits {
		i := slices.IndexFunc(out, func(g []edit) bool {
			return g[0].list == e.list && g[0].add == e.add && g[0].clear == e.clear
		})
		if i < 0 {
			out = append(out, []edit{e})
		} else {
			out[i] = append(out[i], e)
		}
	}
	return out
}

// teaches reports whether the prompt teaches a payload marker.
func (t *turn) teaches(marker string) bool {
	_, after, ok := strings.Cut(t.prompt, "STRUCTURED RESPONSES")
	return ok && strings.Contains(after, marker)
}

// markers writes the payloads of the answer, each on its own line.
func (t *turn) markers() string {
	out := ""
	write := func(name string, v any) {
		if b, err := json.Marshal(v); err == nil && t.teaches(name) {
			out += "\n\n" + name + ": " + string(b)
		}
	}
	for _, p := range t.proposals {
		write("RULE_PROPOSAL", p)
	}
	if len(t.offers) > 0 {
		write("SUGGESTED_VALUES", map[string]any{"values": t.offers})
	}
	if as := t.buttons(); len(as) > 0 {
		write("SUGGESTED_ACTIONS", map[string]any{"actions": as})
	}
	return out
}

// button is one suggested action.
type button struct {
	Label   string `json:"label"`
	Action  string `json:"action"`
	Handler string `json:"handler"`
	Style   string `json:"style"`
}

// buttonLabels are the client actions that fit an answer about a change, when
// the prompt lists them.
var buttonLabels = []struct{ action, label string }{
	{"open_checkpoints", "Checkpoints"}, {"show_models", "Show models"}, {"show_changes", "Show changes"},
}

func (t *turn) buttons() []button {
	_, listed, ok := strings.Cut(t.prompt, "== CLIENT ACTIONS ==")
	if !ok || !t.changed {
		return nil
	}
	var out []button
	for _, b := range buttonLabels {
		if strings.Contains(listed, "- "+b.action+":") {
			out = append(out, button{b.label, b.action, "client", "secondary"})
		}
	}
	return out[:min(len(out), 2)]
}
