package assistant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/assistant/llm"
	"winnow/assistant/nearest"
)

// Page describes what is available at a place in the window: a page with tabs
// and subtabs. The model is offered the Global tools and payloads, and the
// tools and payloads listed by the page, its open tab and its open subtab. The
// tools of Window.Tools are available on every page.
type Page struct {
	Name string
	// Identity replaces the base prompt on this page: Options.Identity and the
	// instructions about tools and data. "" keeps the base prompt.
	Identity string
	// Context describes for the model what the user is looking at; nil uses
	// Window.Context.
	Context       func(Location) string
	Tools         []string // names
	Payloads      []string // names of payload types that the prompt describes here; tools may return any registered type
	ClientActions []ClientAction
	Tabs          map[string]Tab
}

// Tab adds tools and payloads to its page or, as a subtab, to its tab. Subtabs
// have no subtabs.
type Tab struct {
	Tools    []string
	Payloads []string
	Subtabs  map[string]Tab
}

// Pages is a registry of pages, tools and payload types. Add tools and payloads
// before the pages that list them, and everything before NewSession. The zero
// value is empty.
type Pages struct {
	pages    map[string]Page
	payloads []PayloadType
	tools    []Tool
}

func sameTool(name string) func(Tool) bool { return func(t Tool) bool { return t.Name == name } }

func samePayload(name string) func(PayloadType) bool {
	return func(t PayloadType) bool { return t.Name == name }
}

func toolNames(tools []Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

func namesOf(types []PayloadType) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	return names
}

// AddPage registers a page. It returns a *llm.ConfigError if the page lists an
// unregistered tool or payload, or if the name of the page or of one of its
// client actions is missing or in use.
func (r *Pages) AddPage(p Page) error {
	if _, taken := r.pages[p.Name]; taken || p.Name == "" {
		return &llm.ConfigError{Field: "page", Reason: fmt.Sprintf("page %q is registered twice or has no name", p.Name)}
	}
	tools, payloads := p.listed()
	for _, name := range tools {
		if !slices.ContainsFunc(r.tools, sameTool(name)) {
			return &llm.ConfigError{Field: "page", Reason: fmt.Sprintf("page %q lists tool %q, which is not registered.%s", p.Name, name, nearest.Hint(name, toolNames(r.tools)))}
		}
	}
	if err := checkActions(p); err != nil {
		return err
	}
	for _, name := range payloads {
		if !slices.ContainsFunc(r.payloads, samePayload(name)) {
			return &llm.ConfigError{Field: "page", Reason: fmt.Sprintf("page %q lists payload %q, which is not registered.%s", p.Name, name, nearest.Hint(name, namesOf(r.payloads)))}
		}
	}
	if r.pages == nil {
		r.pages = map[string]Page{}
	}
	r.pages[p.Name] = p
	return nil
}

// AddTool registers a tool. It returns a *llm.ConfigError if the name is in use
// or not a valid tool name, or if the tool has no Run.
func (r *Pages) AddTool(t Tool) error {
	all := append(slices.Clip(r.tools), t)
	if _, err := newToolbox(all); err != nil {
		return err
	}
	r.tools = all
	return nil
}

// AddPayload registers a payload type. It returns a *llm.ConfigError if the
// name is missing or in use, if the fields contradict each other, or if a type
// that models write has no marker or one that overlaps another.
func (r *Pages) AddPayload(t PayloadType) error {
	wrong := ""
	switch {
	case t.Name == "" || slices.ContainsFunc(r.payloads, samePayload(t.Name)):
		wrong = "is registered twice or has no name"
	case t.Source == FromTool && (t.Marker != "" || t.Parse != nil || t.Begin != nil || t.Instructions != ""):
		wrong = "has a Marker, Parse, Begin or Instructions, which are only for payloads that a model writes"
	case t.Source != FromLLM && t.Source != FromTool && t.Source != FromBoth:
		wrong = fmt.Sprintf("has the unknown source %q; it must be FromTool, FromLLM or FromBoth", t.Source)
	case t.Source != FromTool && t.Marker == "":
		wrong = "has no Marker, the text that the model writes before the payload"
	case t.Rejected != nil && !t.Proposal():
		wrong = "can be rejected, but not accepted: it has neither Calls nor Accepted"
	}
	if wrong != "" {
		return &llm.ConfigError{Field: "payloads", Reason: fmt.Sprintf("payload type %q %s", t.Name, wrong)}
	}
	for _, have := range append(slices.Clip(r.payloads), suggestedValues(), suggestedActions(nil)) {
		both := t.Source != FromTool && have.Source != FromTool
		if both && (strings.Contains(have.Marker, t.Marker) || strings.Contains(t.Marker, have.Marker)) {
			return &llm.ConfigError{Field: "payloads", Reason: fmt.Sprintf("the marker %q of payload type %q overlaps the marker %q", t.Marker, t.Name, have.Marker)}
		}
	}
	r.payloads = append(r.payloads, t)
	return nil
}

// PayloadTypes returns the payload types that the program has registered. A
// user interface draws their cards with Title, Icon and Text.
func (s *Session) PayloadTypes() []PayloadType {
	if s.opts.Pages == nil {
		return nil
	}
	return slices.Clone(s.opts.Pages.payloads)
}

// Available is what is offered at a location.
type Available struct {
	Page     Page
	Tools    []Tool
	Payloads []PayloadType
}

// At returns what is Global and what the page, tab and subtab list, in order of
// registration. For an unknown page, tab or subtab, it returns a
// *llm.ConfigError; but a page without Tabs accepts any tab, and a tab without
// Subtabs any subtab. Page "" offers only what is Global.
func (r *Pages) At(at Location) (Available, error) {
	page, pageKnown := r.pages[at.Page]
	tab, tabKnown := page.Tabs[at.Tab]
	subtab, subtabKnown := tab.Subtabs[at.Subtab]
	out := Available{Page: page}
	unknown := func(what, name string, known []string) (Available, error) {
		return out, &llm.ConfigError{Field: "page", Reason: fmt.Sprintf("the window is on %s %q, which is not registered.%s", what, name, nearest.Hint(name, known))}
	}
	switch {
	case at.Page != "" && !pageKnown:
		return unknown("page", at.Page, slices.Sorted(maps.Keys(r.pages)))
	case at.Tab != "" && !tabKnown && len(page.Tabs) > 0:
		return unknown("tab", at.Tab, slices.Sorted(maps.Keys(page.Tabs)))
	case at.Subtab != "" && !subtabKnown && len(tab.Subtabs) > 0:
		return unknown("subtab", at.Subtab, slices.Sorted(maps.Keys(tab.Subtabs)))
	}
	for _, t := range r.tools {
		if t.Global || slices.Contains(slices.Concat(page.Tools, tab.Tools, subtab.Tools), t.Name) {
			out.Tools = append(out.Tools, t)
		}
	}
	for _, t := range r.payloads {
		if t.Global || slices.Contains(slices.Concat(page.Payloads, tab.Payloads, subtab.Payloads), t.Name) {
			out.Payloads = append(out.Payloads, t)
		}
	}
	return out, nil
}

// listed returns the names of the tools and payload types that a page lists.
func (p Page) listed() (tools, payloads []string) {
	tools, payloads = slices.Clone(p.Tools), slices.Clone(p.Payloads)
	for _, tab := range p.Tabs {
		tools, payloads = append(tools, tab.Tools...), append(payloads, tab.Payloads...)
		for _, subtab := range tab.Subtabs {
			tools, payloads = append(tools, subtab.Tools...), append(payloads, subtab.Payloads...)
		}
	}
	return tools, payloads
}

// unlisted returns an error for a tool or payload type that is not Global and
// not listed by any page: it would never be offered to a model.
func (r *Pages) unlisted() error {
	var tools, payloads []string
	for _, p := range r.pages {
		t, c := p.listed()
		tools, payloads = append(tools, t...), append(payloads, c...)
	}
	for _, t := range r.tools {
		if !t.Global && !slices.Contains(tools, t.Name) {
			return &llm.ConfigError{Field: "tools", Reason: fmt.Sprintf("tool %q is not Global and no page lists it", t.Name)}
		}
	}
	for _, t := range r.payloads {
		if !t.Global && !slices.Contains(payloads, t.Name) {
			return &llm.ConfigError{Field: "payloads", Reason: fmt.Sprintf("payload type %q is not Global and no page lists it", t.Name)}
		}
	}
	return nil
}
