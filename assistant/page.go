package assistant

import (
	"fmt"
	"slices"
	"strings"
)

// Page is what is available where the user is: a window's page with its tabs
// and subtabs. What counts is the sum of global, page, tab and subtab.
type Page struct {
	Name string
	// Identity replaces the base prompt on this page; "" keeps it.
	Identity string
	// Context tells the model what the user looks at; nil leaves it to the window.
	Context       func(Location) string
	Tools         []string // by name
	Payloads      []string
	ClientActions []ClientAction
	Tabs          map[string]Tab
}

// Tab adds to its page.
type Tab struct {
	Tools    []string
	Payloads []string
	Subtabs  map[string]Subtab
}

// Subtab adds to its tab.
type Subtab struct {
	Tools    []string
	Payloads []string
}

// ClientAction is something the program can do that the model may suggest.
type ClientAction struct {
	Action      string
	Description string
	Parameters  []string // names of the fields of its data
}

// Pages is a registry of pages, tools and payload types. The zero value is empty.
type Pages struct {
	pages    map[string]Page
	payloads map[string]PayloadType
	tools    map[string]Tool
	order    []string // of tools, as registered
}

// AddPage registers a page. A name that is taken, or a tool or payload it lists
// that nobody registered, is a *ConfigError.
func (r *Pages) AddPage(p Page) error {
	if p.Name == "" {
		return &ConfigError{"page", "a page needs a name"}
	}
	if _, taken := r.pages[p.Name]; taken {
		return &ConfigError{"page", fmt.Sprintf("page %q is registered twice", p.Name)}
	}
	if r.pages == nil {
		r.pages = map[string]Page{}
	}
	for _, name := range p.toolNames() {
		if _, ok := r.tools[name]; !ok {
			return &ConfigError{"page", fmt.Sprintf("page %q lists tool %q, which is not registered", p.Name, name)}
		}
	}
	for _, name := range p.payloadNames() {
		if _, ok := r.payloads[name]; !ok {
			return &ConfigError{"page", fmt.Sprintf("page %q lists payload %q, which is not registered", p.Name, name)}
		}
	}
	r.pages[p.Name] = p
	return nil
}

// AddTool registers a tool; a name that is taken is a *ConfigError.
func (r *Pages) AddTool(t Tool) error {
	if _, taken := r.tools[t.Name]; taken || t.Name == "" || t.Run == nil {
		return &ConfigError{"tools", fmt.Sprintf("tool %q is registered twice, or has no name or function", t.Name)}
	}
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	r.tools[t.Name] = t
	r.order = append(r.order, t.Name)
	return nil
}

// AddPayload registers a payload type; a name that is taken, or a model's
// payload without marker, is a *ConfigError.
func (r *Pages) AddPayload(t PayloadType) error {
	switch _, taken := r.payloads[t.Name]; {
	case taken || t.Name == "":
		return &ConfigError{"payloads", fmt.Sprintf("payload type %q is registered twice or has no name", t.Name)}
	case t.Source == FromLLM && t.Marker == "":
		return &ConfigError{"payloads", fmt.Sprintf("payload type %q comes from the model and needs a marker", t.Name)}
	}
	for _, have := range append(r.markers(), suggestedValues().Marker, suggestedActions(nil).Marker) {
		if t.Source == FromLLM && (strings.Contains(have, t.Marker) || strings.Contains(t.Marker, have)) {
			return &ConfigError{"payloads", fmt.Sprintf("marker %q of payload type %q is part of %q, or the other way round", t.Marker, t.Name, have)}
		}
	}
	if r.payloads == nil {
		r.payloads = map[string]PayloadType{}
	}
	r.payloads[t.Name] = t
	return nil
}

// Available is what a place offers.
type Available struct {
	Page     Page
	Tools    []Tool
	Payloads []PayloadType // in name order
}

// At resolves global + page + tab + subtab. An unknown page, tab or subtab adds
// nothing. Nothing is listed twice.
func (r *Pages) At(at Location) Available {
	page := r.pages[at.Page]
	tab := page.Tabs[at.Tab]
	subtab := tab.Subtabs[at.Subtab]
	out := Available{Page: page}
	for _, name := range r.order {
		t := r.tools[name]
		if t.Global || slices.Contains(page.Tools, name) || slices.Contains(tab.Tools, name) || slices.Contains(subtab.Tools, name) {
			out.Tools = append(out.Tools, t)
		}
	}
	for _, name := range sortedKeys(r.payloads) {
		t := r.payloads[name]
		if t.Global || slices.Contains(page.Payloads, name) || slices.Contains(tab.Payloads, name) || slices.Contains(subtab.Payloads, name) {
			out.Payloads = append(out.Payloads, t)
		}
	}
	return out
}

func (r *Pages) markers() []string {
	var out []string
	for _, name := range sortedKeys(r.payloads) {
		if t := r.payloads[name]; t.Source == FromLLM {
			out = append(out, t.Marker)
		}
	}
	return out
}

func (p Page) toolNames() []string {
	names := slices.Clone(p.Tools)
	for _, t := range p.Tabs {
		names = append(names, t.Tools...)
		for _, s := range t.Subtabs {
			names = append(names, s.Tools...)
		}
	}
	return names
}

func (p Page) payloadNames() []string {
	names := slices.Clone(p.Payloads)
	for _, t := range p.Tabs {
		names = append(names, t.Payloads...)
		for _, s := range t.Subtabs {
			names = append(names, s.Payloads...)
		}
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
