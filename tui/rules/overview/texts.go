package overview

import (
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/tui/pane"
)

// SourceNames say where models come from.
var SourceNames = map[string]string{
	"live": "from the provider", "proxy": "from the proxy", "cache": "as last fetched", models.SourceCatalogue: "from the catalogue",
}

// About is what the line of a provider has no room for.
func (n Numbers) About() string { return n.about(pane.Join(SourceNames[n.Source], n.Remarks())) }

// AboutAll is the same for the sum of all providers.
func AboutAll(rows []Numbers) string {
	sum, unknown := Sum(rows)
	if unknown == 0 {
		return sum.about("")
	}
	return sum.about("models unknown of " + assistant.Counted(unknown, "provider"))
}

func (n Numbers) about(rest string) string {
	saving, allowed := "nothing unsaved", ""
	if n.Changes > 0 {
		saving = "saving " + assistant.Counted(n.Changes, "change") + " " + n.SavingText()
	}
	if n.Counts.Whitelisted > 0 {
		allowed = fmt.Sprintf("%d allowed", n.Counts.Whitelisted)
	}
	return pane.Join(saving, allowed, rest)
}

// RefreshedText says what a refresh found; fresh is how many models are listed as new.
func RefreshedText(r modelfilter.Refreshed, fresh int) string {
	text := fmt.Sprintf("%s: %s", pane.Visible(r.Provider), assistant.Counted(len(r.IDs), "model"))
	if from := SourceNames[r.Source]; from != "" {
		text += " " + from
	}
	if fresh > 0 {
		text += fmt.Sprintf(", %d new", fresh)
	}
	if n := len(r.Gone); n > 0 {
		text += fmt.Sprintf(", %d gone", n)
	}
	return pane.Join(text, r.Err)
}

// AnsweredText says how many of some providers answered, and which did not.
func AnsweredText(names []string, failed map[string]error) string {
	what := assistant.Counted(len(names), "provider")
	if len(failed) == 0 {
		return what + " answered"
	}
	const named = 3
	var silent []string
	for _, name := range names {
		if failed[name] != nil {
			silent = append(silent, pane.Visible(name))
		}
	}
	slices.Sort(silent)
	lists := strings.Join(silent[:min(len(silent), named)], ", ")
	if more := len(silent) - named; more > 0 {
		lists += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %s answered; the lists of %s stay as they were", len(names)-len(silent), what, lists)
}
