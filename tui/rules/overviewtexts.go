package rules

import (
	"fmt"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/pane"
)

// About returns what does not fit in the line of a provider in the table.
func (n providerNumbers) About() string {
	return n.about(pane.Join(n.SourcesText, n.Remarks()))
}

// aboutAllProviders is like About, for the total of all providers.
func aboutAllProviders(rows []modelfilter.ProviderView) string {
	sum, unknown := sumNumbers(rows)
	if unknown == 0 {
		return sum.about("")
	}
	return sum.about("models of " + assistant.Counted(unknown, "provider") + " unknown")
}

func (n providerNumbers) about(rest string) string {
	saving, allowed := "nothing unsaved", ""
	switch {
	case n.Changes > 0 && n.Effect.Known:
		saving = "saving " + assistant.Counted(n.Changes, "change") + " " + n.SavingText()
	case n.Changes > 0:
		saving = assistant.Counted(n.Changes, "unsaved change") + ", " + n.SavingText()
	}
	if n.Counts.Allowed > 0 {
		allowed = fmt.Sprintf("%d allowed", n.Counts.Allowed)
	}
	return pane.Join(saving, allowed, rest)
}
