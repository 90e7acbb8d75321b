package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/tui/style"
)

// RuleProposal is the payload type of proposed rules.
const RuleProposal = "rule_proposal"

// proposal is what the card reads of a rule_proposal.
type proposal struct {
	Provider     string   `json:"provider"`
	AddIgnore    []string `json:"add_ignore"`
	AddAllow     []string `json:"add_whitelist"`
	RemoveIgnore []string `json:"remove_ignore"`
	RemoveAllow  []string `json:"remove_whitelist"`
	Reasoning    string   `json:"reasoning"`
}

// proposalHandler shows the rules one by one; their effect on the models is
// added with Enrich, see Effect.
func proposalHandler(i style.Icons) Handler {
	return Handler{
		Title: "proposed rules", Icon: i.Pending, Decide: true,
		Render: func(p assistant.Payload) []Row {
			var r proposal
			if json.Unmarshal(p.Data, &r) != nil {
				return nil
			}
			var rows []Row
			for _, part := range []struct {
				sign, words string
				tone        Tone
				patterns    []string
			}{
				{i.Remove, "no longer ignore ", Quiet, r.RemoveIgnore},
				{i.Remove, "no longer allow ", Quiet, r.RemoveAllow},
				{i.Allow, "allow ", Good, r.AddAllow},
				{i.Ignore, "ignore ", Bad, r.AddIgnore},
			} {
				for _, pattern := range part.patterns {
					rows = append(rows, Row{part.sign, part.words + pattern, part.tone})
				}
			}
			if r.Reasoning != "" {
				rows = append(rows, Row{Text: r.Reasoning, Tone: Quiet})
			}
			return rows
		},
	}
}

// Effect is what accepting a proposal would do to the models.
type Effect struct {
	Hidden, Shown []string // models that would become hidden, and available
	Known         bool     // there is a list of models at all
	Refused       []string // reasons of rules that would not be taken
}

// mostNamed is how many models an effect names; the rest is counted.
const mostNamed = 6

// EffectRows tells an effect in the rows of a card, for View.Enrich.
func (v *View) EffectRows(e Effect) []Row {
	i := v.look.st.Icons
	var rows []Row
	tell := func(sign, words string, models []string, tone Tone) {
		if len(models) == 0 {
			return
		}
		names := strings.Join(models[:min(len(models), mostNamed)], ", ")
		if more := len(models) - mostNamed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		noun := "models"
		if len(models) == 1 {
			noun = "model"
		}
		rows = append(rows, Row{sign, fmt.Sprintf("%s %d %s: %s", words, len(models), noun, names), tone})
	}
	tell(i.Hidden, "hides", e.Hidden, Bad)
	tell(i.Available, "shows", e.Shown, Good)
	switch {
	case !e.Known:
		rows = append(rows, Row{Text: "the models are not known: the effect cannot be told", Tone: Quiet})
	case len(rows) == 0:
		rows = append(rows, Row{Text: "changes no model", Tone: Quiet})
	}
	for _, why := range e.Refused {
		rows = append(rows, Row{i.Warn, why, Warn})
	}
	return rows
}
