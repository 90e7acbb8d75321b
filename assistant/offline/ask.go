package offline

import (
	"encoding/json"
	"fmt"
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
	wanted, every, large := false, false, false
	cats := map[string]*catalog{}
	for _, p := range plans {
		edits = append(edits, p.edits...)
		wanted = wanted || p.step.propose
		at := p.step.what.scope
		every = every || len(p.edits) > 0 && len(t.w.providers) > 1 && (at.every || len(at.without) > 0)
		for _, tg := range p.targets {
			cats[tg.cat.provider] = tg.cat
		}
	}
	var lines []string
	var proposals []proposal
	for _, provider := range providersOf(edits) {
		cat := cats[provider]
		if cat == nil {
			cat = t.catalog(provider, nil)
		}
		newly, unlisted := cat.hides(edits)
		n := min(len(newly)+unlisted, cat.shownCount())
		large = large || 2*n > cat.shownCount()
		line := fmt.Sprintf("%s: %d of the %s it shows would be hidden", clean(provider), n, count(cat.shownCount(), "model"))
		if len(newly) > 0 {
			line += ": " + codes(names(newly))
		}
		lines = append(lines, line)
		proposals = append(proposals, proposalFor(cat, edits, n))
	}
	if !wanted && !large && !every {
		return false
	}
	for _, p := range plans {
		t.notes(p)
	}
	if len(edits) == 0 {
		return wanted
	}
	head := "That would change rules on all providers, so I ask first."
	switch {
	case wanted:
		head = "I propose: " + inWords(edits) + "."
	case large && !every:
		head = "That would hide more than half of the models that are shown, so I ask first."
	}
	t.say("%s", bullets(head, lines, len(lines)))
	t.say("%s Accept what is proposed, or say `yes`.", nothingChanged)
	t.proposals = proposals
	t.offer("Yes, do it", "yes")
	t.offer("No, leave it", "no")
	return true
}

// proposalFor is the proposal for one provider, which hides n more models.
func proposalFor(cat *catalog, edits []edit, n int) proposal {
	p := proposal{Provider: cat.provider}
	var own []edit
	for _, e := range edits {
		if e.provider != cat.provider {
			continue
		}
		own = append(own, e)
		list := map[string]*[]string{"ignore true": &p.AddIgnore, "allow true": &p.AddAllow, "ignore false": &p.RemoveIgnore, "allow false": &p.RemoveAllow}[fmt.Sprint(e.list, " ", e.add)]
		if e.clear {
			*list = patternsOf(cat.rules(e.list))
		} else {
			*list = append(*list, e.pattern)
		}
	}
	p.Reasoning = upperFirst(inWords(own)) + fmt.Sprintf(": hides %s.", count(n, "more model"))
	return p
}

// markers writes the payloads of the answer that the prompt teaches, each on its
// own line.
func (t *turn) markers() string {
	out := ""
	_, taught, _ := strings.Cut(t.prompt, "STRUCTURED RESPONSES")
	write := func(name string, v any) {
		if b, err := json.Marshal(v); err == nil && strings.Contains(taught, name) {
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

// buttons are at most two client actions for an answer about a change, of those
// that the prompt lists.
func (t *turn) buttons() []map[string]string {
	_, listed, _ := strings.Cut(t.prompt, "== CLIENT ACTIONS ==")
	var out []map[string]string
	for _, b := range [][2]string{{"open_checkpoints", "Checkpoints"}, {"show_models", "Show models"}, {"show_changes", "Show changes"}} {
		if t.changed && len(out) < 2 && strings.Contains(listed, "- "+b[0]+":") {
			out = append(out, map[string]string{"label": b[1], "action": b[0], "handler": "client", "style": "secondary"})
		}
	}
	return out
}
