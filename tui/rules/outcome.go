package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/tui/pane"
)

// edit is a change of the rules of a provider. done says what was done; what
// came of it to the models is added once it is known.
func (p *Pane) edit(scope modelfilter.Scope, description, done string, change func() error) pane.Edit {
	var came outcome
	return pane.Edit{
		Description: description,
		Change: func() error {
			before := scope.Models()
			if err := change(); err != nil {
				return err
			}
			came = compare(before, scope.Models())
			return nil
		},
		Done: func() string { return done + came.words() },
	}
}

// outcome is what an edit did to the models of a provider.
type outcome struct{ known, hidden, shown int }

// compare counts the models that changed sides.
func compare(before, after []modelfilter.ModelView) outcome {
	hid := make(map[string]bool, len(before))
	for _, m := range before {
		hid[m.ID] = m.Status == engine.Ignored
	}
	o := outcome{known: len(after)}
	for _, m := range after {
		was, there := hid[m.ID]
		switch is := m.Status == engine.Ignored; {
		case !there || was == is:
		case is:
			o.hidden++
		default:
			o.shown++
		}
	}
	return o
}

// words end the sentence that says what was done.
func (o outcome) words() string {
	var parts []string
	if o.hidden > 0 {
		parts = append(parts, assistant.Counted(o.hidden, "model")+" hidden")
	}
	if o.shown > 0 {
		parts = append(parts, assistant.Counted(o.shown, "model")+" shown")
	}
	switch {
	case o.known == 0: // then nothing can be said of models
		return ""
	case len(parts) == 0:
		return ": no model changes"
	}
	return ": " + strings.Join(parts, ", ")
}

// ruleWords name a rule with its list.
func ruleWords(list modelfilter.List, pattern string) string {
	return fmt.Sprintf("%s rule %s", list, quote(pattern))
}
