package modelfilter

import (
	"encoding/json"
	"maps"
	"slices"

	"winnow/assistant"
)

// Mark implements [assistant.Proposer].
func (w *Window) Mark() (restore func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, changes, by := w.state(), w.changes, map[string][len(lists)]map[string]assistant.Author{}
	for name, p := range w.providers {
		by[name] = [len(lists)]map[string]assistant.Author{maps.Clone(p.lists[Ignore].by), maps.Clone(p.lists[Allow].by)}
	}
	return func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.apply(was)
		for name, p := range w.providers {
			for list := range p.lists {
				p.lists[list].by = by[name][list]
			}
		}
		w.changes = changes
		w.changed()
		return nil
	}
}

// Proposals implements [assistant.Proposer]. It returns a proposal for each provider whose
// rules differ, or several if more than maxProposed rules differ.
func (w *Window) Proposals(before, after json.RawMessage) ([]assistant.Payload, error) {
	was, is, err := readStates(before, after)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name := range was.Rules {
		names[name] = true
	}
	for name := range is.Rules {
		names[name] = true
	}
	var out []assistant.Payload
	for _, name := range slices.Sorted(maps.Keys(names)) {
		changes := ruleChanges(name, was.Rules[name].set(), is.Rules[name].set())
		for part := range slices.Chunk(changes, maxProposed) {
			raw, err := json.Marshal(proposalOf(name, part))
			if err != nil {
				return nil, err
			}
			out = append(out, assistant.Payload{Type: PayloadProposal, Data: raw})
		}
	}
	return out, nil
}

// proposalOf returns a proposal with the changes to one provider.
func proposalOf(provider string, changes []RuleChange) Proposal {
	p := Proposal{Provider: provider}
	for _, c := range changes {
		into := &p.RemoveIgnore
		switch {
		case c.List == Ignore && c.Added:
			into = &p.AddIgnore
		case c.List == Allow && c.Added:
			into = &p.AddAllow
		case c.List == Allow:
			into = &p.RemoveAllow
		}
		*into = append(*into, c.Pattern)
	}
	return p
}
