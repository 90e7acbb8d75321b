package history

import (
	_ "embed"

	"winnow/assistant"
)

// PageName is the page that this window is.
const PageName = "history"

//go:embed prompt.md
var prompt string

// Prompt tells the model how to work in this window.
func (w *Window) Prompt() string { return prompt }

// Where names the page. It has no tabs.
func (w *Window) Where() assistant.Location { return assistant.Location{Page: PageName} }

// Register adds the page of the window. The tools come from Window.Tools.
func Register(pages *assistant.Pages, w *Window) error {
	return pages.AddPage(assistant.Page{Name: PageName, Context: w.pageContext})
}

// pageContext says what the user looks at.
func (w *Window) pageContext(assistant.Location) string {
	if line := w.selected().Line; line != "" {
		return "The user looks at the pairs that the filter line " + quote(line) + " shows."
	}
	return "The user looks at all pairs of the history."
}
