package modelfilter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// PayloadProposal is the payload type of a Proposal.
const PayloadProposal = "rule_proposal"

// Proposal is a set of rule changes that the language model proposes and the user
// accepts or rejects.
type Proposal struct {
	Provider     string   `json:"provider,omitempty"` // "" means the current provider
	AddIgnore    []string `json:"add_ignore,omitempty"`
	AddAllow     []string `json:"add_whitelist,omitempty"`
	RemoveIgnore []string `json:"remove_ignore,omitempty"`
	RemoveAllow  []string `json:"remove_whitelist,omitempty"`
	Reasoning    string   `json:"reasoning"`
}

// maxProposed is the maximum number of rules that a proposal may change. Nobody would read
// more before accepting the proposal.
const maxProposed = 100

// ReadProposal decodes and validates the data of a proposal payload.
func ReadProposal(data json.RawMessage) (Proposal, error) {
	var p Proposal
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("the proposal cannot be read: %w", err)
	}
	switch n := len(p.changes()); {
	case n == 0:
		return p, fmt.Errorf("the proposal changes no rule")
	case n > maxProposed:
		return p, fmt.Errorf("the proposal changes %d rules; at most %d are allowed", n, maxProposed)
	}
	for _, c := range p.changes() {
		if strings.TrimSpace(c.Pattern) == "" {
			return p, fmt.Errorf("the proposal contains an empty pattern")
		}
	}
	return p, nil
}

// listEdits are the rules that a proposal adds to one list, or removes from it.
type listEdits struct {
	list     List
	added    bool
	verb     string
	patterns []string
}

// edits returns the changes in the order in which they are made.
func (p Proposal) edits() []listEdits {
	return []listEdits{
		{Ignore, false, "no longer ignore", p.RemoveIgnore},
		{Allow, false, "no longer allow", p.RemoveAllow},
		{Allow, true, "allow", p.AddAllow},
		{Ignore, true, "ignore", p.AddIgnore},
	}
}

func (p Proposal) changes() []RuleChange {
	var out []RuleChange
	for _, part := range p.edits() {
		for _, pattern := range part.patterns {
			out = append(out, RuleChange{Provider: p.Provider, List: part.list, Pattern: pattern, Added: part.added})
		}
	}
	return out
}

// proposalEffect returns the effect of a proposal on the models of an engine, which is not
// changed, and the errors of the rules that would be rejected.
func proposalEffect(before *engine.Engine, p Proposal) (ModelEffect, []error) {
	after := before.Clone()
	var refused []error
	for _, c := range p.changes() {
		if c.Added {
			v, err := after.Check(c.List, c.Pattern)
			if err != nil {
				refused = append(refused, err)
				continue
			}
			after.Add(c.List, v.Pattern)
		} else if after.Remove(c.List, strings.TrimSpace(c.Pattern)) == 0 {
			refused = append(refused, &UnknownError{What: c.List.String() + " rule", Name: c.Pattern})
		}
	}
	return effectOf(before, after), refused
}

// ruleTool returns the name of the tool that adds or removes a rule of a list.
func ruleTool(list List, add bool) string {
	switch {
	case list == Ignore && add:
		return "add_ignore_rule"
	case list == Ignore:
		return "remove_ignore_rule"
	case add:
		return "add_whitelist_rule"
	default:
		return "remove_whitelist_rule"
	}
}

// resolveProposal decodes a proposal. If it names no provider, it fills in the current one,
// because another provider may be current when the proposal is accepted.
func (w *Window) resolveProposal(data json.RawMessage) (Proposal, error) {
	return proposalFor(w.Provider(), data)
}

// proposalFor decodes a proposal. If it names no provider, it is for the given one.
func proposalFor(provider string, data json.RawMessage) (Proposal, error) {
	p, err := ReadProposal(data)
	p.Provider = cmp.Or(p.Provider, provider)
	return p, err
}

// beginProposals returns the function that decodes the proposals of a turn. A proposal that
// names no provider is for the provider that is current when beginProposals is called.
func beginProposals(window assistant.Window) func(raw json.RawMessage) (json.RawMessage, error) {
	provider := ""
	if w, at := placeOf(window); w != nil {
		provider = withLock(w, func() string { return at.current(w) })
	}
	return func(raw json.RawMessage) (json.RawMessage, error) {
		p, err := proposalFor(provider, raw)
		if err != nil {
			return nil, err
		}
		return json.Marshal(p)
	}
}

// proposalEffects describes what accepting a proposal would do to the models now, and why
// some of its rules would be rejected.
func (w *Window) proposalEffects(data json.RawMessage) ([]assistant.Effect, error) {
	p, err := ReadProposal(data)
	if err != nil {
		return nil, err
	}
	e, refused, err := w.Effect(p)
	if err != nil {
		return nil, err
	}
	var out []assistant.Effect
	if n := len(e.Hidden); n > 0 {
		out = append(out, assistant.Effect{Kind: assistant.EffectRemoves, Sentence: withClause(safetext.Sprintf("hides %s", assistant.Counted(n, "model")), e.UsedText()), Items: e.Hidden})
	}
	if n := len(e.Shown); n > 0 {
		out = append(out, assistant.Effect{Kind: assistant.EffectAdds, Sentence: safetext.Sprintf("shows %s", assistant.Counted(n, "model")), Items: e.Shown})
	}
	switch {
	case !e.Known:
		out = append(out, assistant.Effect{Sentence: "no models are known, so the effect is unknown"})
	case out == nil:
		out = append(out, assistant.Effect{Sentence: "changes no model"})
	}
	for _, why := range refused {
		out = append(out, assistant.Effect{Kind: assistant.EffectAsks, Sentence: safetext.Visible(why.Error())})
	}
	return out, nil
}

// calls returns the tool calls that carry out a proposal.
func (w *Window) calls(data json.RawMessage) ([]llm.Call, error) {
	p, err := w.resolveProposal(data)
	if err != nil {
		return nil, err
	}
	changes := p.changes()
	out := make([]llm.Call, len(changes))
	for i, c := range changes {
		args, err := json.Marshal(ruleArgs{Pattern: c.Pattern, Provider: p.Provider})
		if err != nil {
			return nil, err
		}
		out[i] = llm.Call{ID: fmt.Sprintf("proposal_%d", i+1), Name: ruleTool(c.List, c.Added), Arguments: string(args)}
	}
	return out, nil
}

func summarizeProposal(data json.RawMessage) string {
	p, err := ReadProposal(data)
	if err != nil {
		return ""
	}
	var parts []string
	for _, part := range p.edits() {
		if len(part.patterns) > 0 {
			parts = append(parts, part.verb+" "+quoteList(part.patterns))
		}
	}
	s := strings.Join(parts, "; ")
	if p.Provider != "" {
		s += " for " + visible(p.Provider)
	}
	return s
}

// proposalInstructions explains the payload to the language model.
const proposalInstructions = `RULE_PROPOSAL - when the user asks for a suggestion instead of a change, propose the rules; the user sees their effect and accepts or rejects them. Leave out empty lists; "provider" may be left out:

RULE_PROPOSAL: {"add_ignore": ["*-preview*"], "add_whitelist": ["gpt-4o"], "remove_ignore": [], "remove_whitelist": [], "reasoning": "hide previews, keep gpt-4o"}`

func proposalType(w *Window) assistant.PayloadType {
	schema, err := jsonschema.For[Proposal](nil)
	if err != nil {
		panic("modelfilter: the schema of a proposal: " + err.Error()) // cannot happen: the type is fixed
	}
	schema.AdditionalProperties = nil // language models add fields, which are ignored
	return assistant.PayloadType{
		Name: PayloadProposal, Description: "proposed rule changes", Source: assistant.FromBoth,
		Schema: schema, Summarize: summarizeProposal, Marker: "RULE_PROPOSAL:", Instructions: proposalInstructions,
		Begin: beginProposals,
		Calls: w.calls, Effects: w.proposalEffects,
	}
}
