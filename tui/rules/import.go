package rules

import (
	"errors"
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/tui/pane"
)

// ruleSet are patterns by list.
type ruleSet [2][]string

// listWords are the words of an import after which the patterns of a list follow.
var listWords = map[string]modelfilter.List{
	"ignore:": modelfilter.Ignore, "hide:": modelfilter.Ignore, "allow:": modelfilter.Allow, "whitelist:": modelfilter.Allow,
}

// parseRules parses an import: patterns separated by commas or white space. They
// are ignore rules up to "allow:", or to a variable of the file.
func parseRules(text string) ruleSet {
	var rules ruleSet
	list := modelfilter.Ignore
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \n\t\r", r) }) {
		if key, value, ok := strings.Cut(word, "="); ok {
			switch {
			case strings.HasPrefix(key, "IGNORE_MODELS_"):
				list, word = modelfilter.Ignore, value
			case strings.HasPrefix(key, "WHITELIST_MODELS_"):
				list, word = modelfilter.Allow, value
			}
		}
		if to, ok := listWords[strings.ToLower(word)]; ok {
			list = to
			continue
		}
		if word = strings.Trim(word, `"'`); word != "" && word != "export" {
			rules[list] = append(rules[list], word)
		}
	}
	return rules
}

func (r ruleSet) len() int { return len(r[0]) + len(r[1]) }

// String is the number of rules of each list.
func (r ruleSet) String() string {
	var parts []string
	for _, list := range lists {
		if n := len(r[list]); n > 0 {
			parts = append(parts, assistant.Counted(n, list.String()+" rule"))
		}
	}
	return strings.Join(parts, " and ")
}

// importRules adds the rules of the line, after a question that shows what they
// change and which are refused.
func (p *Pane) importRules() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	rules := p.input.rules
	if rules.len() == 0 {
		p.closeInput()
		return pane.Nothing{}
	}
	for _, list := range lists {
		if refusal := p.refuseFixed(list); refusal != nil && len(rules[list]) > 0 {
			return refusal
		}
	}
	return pane.Confirm{
		Title: "Import into " + pane.Visible(p.data.provider) + "?", Lines: p.importLines(rules), Yes: "import",
		Then: func() pane.Action {
			p.closeInput()
			return p.importEdit(rules)
		},
	}
}

// importEdit adds all rules in one step.
func (p *Pane) importEdit(rules ruleSet) pane.Action {
	var out []modelfilter.Imported
	a := p.edit(p.data.provider, "Import "+rules.String(), "", func(s modelfilter.Scope) (err error) {
		if out, err = s.Import(modelfilter.Import{Lists: rules}); err != nil {
			return err
		}
		if added, _ := addedRules(out); added.len() == 0 {
			return fmt.Errorf("none of the rules was added: %s", refusalText(out[0].Err))
		}
		return nil
	})
	e, ok := a.(pane.Edit)
	if !ok {
		return a
	}
	outcome := e.Done
	e.Done = func() string {
		added, refused := addedRules(out)
		text := "imported " + added.String() + outcome()
		if refused > 0 {
			text += fmt.Sprintf(" · %d refused", refused)
		}
		return text
	}
	return e
}

// addedRules are the rules of an import that were added, and how many were not.
func addedRules(out []modelfilter.Imported) (added ruleSet, refused int) {
	for _, r := range out {
		if r.Err != nil {
			refused++
			continue
		}
		added[r.List] = append(added[r.List], r.Pattern)
	}
	return added, refused
}

const (
	maxListed   = 20     // lines of a list in a question
	maxCompared = 20_000 // pairs of rules that the preview of an import compares, some 10 ms
)

// importLines are the rules of an import, what they change together, and why a
// rule is refused.
func (p *Pane) importLines(rules ruleSet) []string {
	head := rules.String()
	refused := map[string]error{}
	if rules.len()*(rules.len()+len(p.data.rules[0])+len(p.data.rules[1])) <= maxCompared {
		e, errs, err := p.window.Effect(modelfilter.Proposal{
			Provider: p.data.provider, AddIgnore: rules[modelfilter.Ignore], AddAllow: rules[modelfilter.Allow],
		})
		if err == nil && e.Known {
			head += ": " + changeText(len(e.Hidden), len(e.Shown))
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
				return append(lines, fmt.Sprintf("and %d more", rules.len()-maxListed))
			}
			text := p.st.Icons.Add + " " + listAndPattern(list, pattern)
			if err := refused[ruleID(list, strings.TrimSpace(pattern))]; err != nil {
				text = p.st.Icons.ToolBad + " " + listAndPattern(list, pattern) + ": " + refusalText(err)
			}
			lines = append(lines, text)
		}
	}
	return lines
}
