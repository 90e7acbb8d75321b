package rules

import (
	"errors"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/tui/pane"
)

// refuse says why something cannot be done.
func refuse(err error) pane.Action {
	return pane.Notify{Text: pane.Visible(err.Error()), IsError: true}
}

// refuseLocked refuses what is not possible while the assistant works; nil when
// it does not.
func (p *Pane) refuseLocked() pane.Action {
	if p.window.Locked() {
		return pane.Notify{Text: p.lockedText(), IsError: true}
	}
	return nil
}

// refuseFixed refuses to edit a list that the environment decides; nil for any
// other list.
func (p *Pane) refuseFixed(list modelfilter.List) pane.Action {
	_, err := p.window.Check(list, "")
	var fixed *modelfilter.FixedError
	if errors.As(err, &fixed) {
		return refuse(fixed)
	}
	return nil
}

// edit is a change of the rules of a provider. done says what was done; the
// notice adds what it did to the models.
func (p *Pane) edit(provider, description, done string, change func(s modelfilter.Scope) error) pane.Action {
	scope, err := p.window.On(provider)
	if err != nil {
		return refuse(err)
	}
	outcome := ""
	return pane.Edit{
		Description: description,
		Change: func() error {
			before := scope.Models()
			if err := change(scope); err != nil {
				return err
			}
			outcome = modelsChangedText(before, scope.Models())
			return nil
		},
		Done: func() string { return done + outcome },
	}
}

// modelsChangedText says how many models a change of a provider's rules hid and showed.
func modelsChangedText(before, after []modelfilter.ModelView) string {
	if len(after) == 0 {
		return "" // no models are known
	}
	hid := make(map[string]bool, len(before))
	for _, m := range before {
		hid[m.ID] = m.Status == engine.Ignored
	}
	hidden, shown := 0, 0
	for _, m := range after {
		was, known := hid[m.ID]
		switch is := m.Status == engine.Ignored; {
		case !known || was == is:
		case is:
			hidden++
		default:
			shown++
		}
	}
	var parts []string
	if hidden > 0 {
		parts = append(parts, assistant.Counted(hidden, "model")+" hidden")
	}
	if shown > 0 {
		parts = append(parts, assistant.Counted(shown, "model")+" shown")
	}
	if parts == nil {
		return ": no model changes"
	}
	return ": " + strings.Join(parts, ", ")
}

func ruleName(list modelfilter.List, pattern string) string {
	return list.String() + " rule " + quote(pattern)
}
