// Package savetext says what a save would change, in lines of text: those of the file,
// then the models of each provider. Every front end shows these lines.
//
// A line that is added begins with +, one that is removed with -; others are headings.
// All lines are safe to show. The functions may be called from any goroutine.
package savetext

import (
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// maxModels is how many models of each kind are named for a provider.
const maxModels = 100

// Lines are a plan that changes something, for a user: they say what others have staged of
// it. "" is no user in particular.
func Lines(p assistant.SavePlan, user string) []string {
	lines := []string{safetext.Visible(p.Path)}
	if p.Creates {
		lines[0] += " (new file)"
	}
	for _, l := range p.Lines {
		lines = append(lines, l.Kind+safetext.Visible(l.Text))
	}
	lines = append(lines, OthersLines(p.Rules, user)...)
	for _, e := range p.Effects {
		lines = append(append(lines, ""), EffectLines(e)...)
	}
	return lines
}

// DiscardLines are what a discard would lose, for a user.
func DiscardLines(p assistant.SavePlan, user string) []string {
	lines := []string{"These unsaved changes would be lost:"}
	for _, c := range p.Rules {
		lines = append(lines, ruleLine(c))
	}
	lines = append(lines, OthersLines(p.Rules, user)...)
	for _, e := range p.Effects {
		e.Shown, e.Hidden = e.Hidden, e.Shown // a discard is the reverse of a save
		lines = append(append(lines, ""), EffectLines(e)...)
	}
	return lines
}

func ruleLine(c assistant.RuleChange) string {
	sign := "- "
	if c.Added {
		sign = "+ "
	}
	list := "ignore "
	if c.Type == "whitelisted" {
		list = "whitelist "
	}
	return sign + safetext.Visible(c.Provider+" "+list+c.Pattern)
}

// OthersLines say which of the changes are by others than the user, as a block of its
// own; none when there are none.
func OthersLines(changes []assistant.RuleChange, user string) (lines []string) {
	for _, name := range assistant.Authors(changes, user) {
		if user == "" && name == assistant.UnknownUser {
			continue
		}
		lines = append(lines, "", "changed by "+safetext.Visible(name)+":")
		for _, c := range changes {
			if c.By.Name() == name {
				lines = append(lines, ruleLine(c))
			}
		}
	}
	return lines
}

// EffectLines are an effect on the models of a provider: the numbers, then the models.
func EffectLines(e assistant.ModelEffect) []string {
	lines := []string{Effect(e)}
	add := func(sign string, ids []string) {
		for _, id := range ids[:min(len(ids), maxModels)] {
			lines = append(lines, sign+" "+safetext.Visible(strings.TrimPrefix(id, e.Provider+"/")))
		}
		if n := len(ids) - maxModels; n > 0 {
			lines = append(lines, fmt.Sprintf("%s and %d more", sign, n))
		}
	}
	add("+", e.Shown)
	add("-", e.Hidden)
	return lines
}

// Effect says in one line what a save does to the models of a provider.
func Effect(e assistant.ModelEffect) string {
	var parts []string
	if n := len(e.Shown); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more will be shown", n))
	}
	if n := len(e.Hidden); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more will be hidden", n))
	}
	switch {
	case !e.Known:
		parts = []string{"no models are known"}
	case parts == nil:
		parts = []string{"no model changes"}
	}
	return safetext.Visible(e.Provider) + ": " + strings.Join(parts, ", ")
}
