package modelfilter

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"winnow/assistant"
)

// The names of the window's page and of its tabs.
const (
	PageName   = "model_filter"
	TabRules   = "rules"
	TabModels  = "models"
	TabChanges = "changes"
	TabAll     = "all"
)

// tabs describes the content of each tab.
var tabs = map[string]string{
	TabRules:   "the list of rules",
	TabModels:  "the list of models",
	TabChanges: "the unsaved changes of all providers",
	TabAll:     "the counts of all providers",
}

// Client actions that the language model can suggest on this page.
const (
	ActionShowModels  = "show_models"
	ActionShowRules   = "show_rules"
	ActionShowChanges = "show_changes"
	ActionOpenSave    = "open_save"
	ActionFindModels  = "find_models" // data: query
)

//go:embed prompt.md
var prompt string

// Describe returns instructions for the language model on how to work in this window.
func (w *Window) Describe() string { return prompt }

// Where returns the page and the open tab.
func (w *Window) Where() assistant.Location {
	return assistant.Location{Page: PageName, Tab: withLock(w, func() string { return w.tab })}
}

// SetTab opens a tab, one of the Tab constants. It returns an *UnknownError for other
// names.
func (w *Window) SetTab(tab string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tabs[tab] == "" {
		return unknownTab(tab)
	}
	w.tab = tab
	w.changed()
	return nil
}

func unknownTab(name string) error {
	return &UnknownError{What: "tab", Name: name, Known: slices.Sorted(maps.Keys(tabs))}
}

// position is the user's position in the window.
type position struct {
	Provider string `json:"provider"`
	Tab      string `json:"tab"`
	Search   string `json:"search,omitempty"`
}

// Position implements [assistant.Positioned].
func (w *Window) Position() (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return json.Marshal(position{w.current, w.tab, w.search})
}

// SetPosition implements [assistant.Positioned]. A new position is not recorded as a change
// by the user.
func (w *Window) SetPosition(raw json.RawMessage) error {
	var stored position
	if err := json.Unmarshal(raw, &stored); err != nil {
		return fmt.Errorf("the position in the window cannot be read: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, err := w.findProvider(stored.Provider); err == nil && stored.Provider != "" {
		w.setCurrent(p)
	}
	if tabs[stored.Tab] != "" {
		w.tab = stored.Tab
	}
	w.search = stored.Search
	w.changed()
	return nil
}

// findModels is the data of ActionFindModels.
type findModels struct {
	Query string `json:"query,omitempty"`
}

// Register adds the window's page and its payload type. The tools come from Window.Tools.
func Register(pages *assistant.Pages, w *Window) error {
	if err := pages.AddPayload(proposalType(w)); err != nil {
		return err
	}
	return pages.AddPage(assistant.Page{
		Name:     PageName,
		Context:  w.pageContext,
		Payloads: []string{PayloadProposal},
		ClientActions: []assistant.ClientAction{
			{Action: ActionShowModels, Description: "open the list of models with their status"},
			{Action: ActionShowRules, Description: "open the list of rules"},
			{Action: ActionShowChanges, Description: "show how the staged rules differ from the file"},
			{Action: ActionOpenSave, Description: "open the save preview, where the user can save"},
			assistant.NewClientAction[findModels](ActionFindModels, "open the list of models and search it", nil),
		},
		Tabs: map[string]assistant.Tab{TabRules: {}, TabModels: {}, TabChanges: {}, TabAll: {}},
	})
}

// pageContext describes what the user is looking at.
func (w *Window) pageContext(where assistant.Location) string {
	what := tabs[where.Tab]
	if what == "" {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	current := visible(w.current)
	switch where.Tab {
	case TabAll:
		return fmt.Sprintf("The user is looking at %s. %sThe current provider is %s.", what, w.shownCounts(), current)
	case TabChanges:
		return fmt.Sprintf("The user is looking at %s. The current provider is %s.", what, current)
	}
	return fmt.Sprintf("The user is looking at %s of %s.", what, current)
}

// shownCounts returns sentences about the number of shown models of each provider, each
// followed by a space. The caller holds mu.
func (w *Window) shownCounts() (text string) {
	var known []string
	for _, name := range w.order {
		if e := w.providerNamed(name).engine; e != nil && e.Total() > 0 {
			known = append(known, fmt.Sprintf("%s %d of %d", visible(name), e.Shown(), e.Total()))
		}
	}
	if len(known) > 0 {
		text = "Shown models: " + joined(known, maxListed) + ". "
	}
	if n := len(w.order) - len(known); n > 0 {
		text += fmt.Sprintf("The models of %s are not known yet. ", assistant.Counted(n, "provider"))
	}
	return text
}
