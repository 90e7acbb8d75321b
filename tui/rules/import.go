package rules

import (
	"errors"
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// importRules adds the rules in the text line. It asks first: the question shows what the
// rules change and which of them are rejected.
func (p *Pane) importRules() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	rules := p.input.rules
	if rules.Len() == 0 {
		p.closeInput()
		return pane.Nothing{}
	}
	for _, list := range lists {
		if refusal := p.refuseFixed(list); refusal != nil && len(rules[list]) > 0 {
			return refusal
		}
	}
	edit := p.edit(modelfilter.ImportRules{Provider: p.data.Provider, Lists: rules})
	title, yes := safetext.Sprintf("Import into %s?", p.data.Provider), "import"
	if p.input.chosen {
		yes = verbs[p.input.list]
		title = safetext.Sprintf("%s models of %s?", assistant.UpperFirst(yes), p.data.Provider)
	}
	return pane.Confirm{
		Title: title, Lines: p.importLines(rules), Yes: yes,
		Then: func() pane.Action {
			p.closeInput()
			return edit
		},
	}
}

const (
	maxListed   = 20     // maximum number of list lines in a question
	maxCompared = 20_000 // maximum number of pairs of rules that the preview of an import compares, in about 10 ms
)

// importLines returns the rules of an import, their combined effect, and why rules are
// rejected.
func (p *Pane) importLines(rules importedRules) []string {
	head := rules.String()
	refused := map[string]error{}
	if rules.Len()*(rules.Len()+len(p.data.Rules[0])+len(p.data.Rules[1])) <= maxCompared {
		e, errs, err := p.data.Effect(modelfilter.Proposal{
			AddIgnore: rules[modelfilter.Ignore], AddAllow: rules[modelfilter.Allow],
		})
		if err == nil && e.Known {
			head += ": " + changeText(len(e.Hidden), len(e.Shown))
			if used := e.UsedText(); used != "" {
				head += "; " + string(used)
			}
		}
		for _, err := range errs {
			var r *engine.Refusal
			if errors.As(err, &r) {
				refused[ruleID(r.List, r.Pattern)] = err
			}
		}
	}
	lines := []string{head}
	for _, list := range lists {
		for _, pattern := range rules[list] {
			if len(lines) > maxListed {
				return append(lines, fmt.Sprintf("and %d more", rules.Len()-maxListed))
			}
			text := signUnsaved.in(&p.st.Icons) + " " + listAndPattern(list, pattern)
			if err := refused[ruleID(list, strings.TrimSpace(pattern))]; err != nil {
				text = p.st.Icons.ToolBad + " " + listAndPattern(list, pattern) + ": " + string(modelfilter.RefusalText(err))
			}
			lines = append(lines, text)
		}
	}
	return lines
}
