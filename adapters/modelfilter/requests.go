package modelfilter

import (
	"slices"
	"strings"
	"unicode"

	"winnow/adapters/modelfilter/engine"
)

// requestGroups are words in the names of models that a user is likely to hide together.
var requestGroups = []string{"preview", "mini", "embedding"}

// requestFamilies are model families of which a user is likely to keep only the newest
// models.
var requestFamilies = []string{"Claude", "GPT", "Gemini", "Llama", "Mistral", "Grok"}

// ExampleRequests returns three example requests that make sense for the rules and models of the
// current provider, best first. The slice is shared; do not change it.
func (s *Snapshot) ExampleRequests() []string { return s.requests() }

func (s *ProviderSnapshot) findRequests() []string {
	const most = 3
	var all []string
	if s.Counts.Hidden > 0 {
		all = append(all, "which models of "+s.Provider+" are hidden, and why?")
	}
	for _, group := range requestGroups {
		if s.shows(group, engine.Normal) { // a model that an allow rule shows is meant to be shown
			all = append(all, "hide every "+group+" model of "+s.Provider)
		}
	}
	if len(s.Rules[Ignore])+len(s.Rules[Allow]) > 1 {
		all = append(all, "find redundant rules of "+s.Provider)
	}
	for _, family := range requestFamilies {
		if name := strings.ToLower(family); s.shows(name, engine.Normal) || s.shows(name, engine.Whitelisted) {
			all = append(all, "only keep the newest "+family+" models of "+s.Provider)
			break
		}
	}
	all = append(all, "show the rules of "+s.Provider, "list the models of "+s.Provider, "list the cheapest models of "+s.Provider)
	return all[:most]
}

// shows reports whether a model with the given status has a name that contains part between
// separators, as gpt-4o-mini contains mini.
func (s *ProviderSnapshot) shows(part string, status engine.Status) bool {
	return slices.ContainsFunc(s.Models, func(m ModelView) bool {
		return m.Status == status && slices.Contains(strings.FieldsFunc(m.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), part)
	})
}
