package style

import (
	"fmt"
	"maps"
	"slices"
)

// palette names colours by what they are for, never by what they look like.
// Each is a "#rrggbb" string.
type palette struct {
	Back     string // assumed background of the terminal; never painted
	Panel    string // background of code, overlays and chips
	Base     string // ordinary text
	Muted    string // time stamps, hints, reasoning
	Edge     string // borders and rules; not text
	Accent   string // what can be acted on, focus, headings
	Bubble   string // background of the user's messages and of the selection
	OnBubble string // text on Bubble
	Mark     string // background of search hits and highlighted models
	Good     string // success, allow rules, added lines
	Bad      string // failure, ignore rules, removed lines
	Warn     string // unsaved, near a limit, needs care
	Info     string // links, names of tools, hunk lines
	Special  string // models, badges, numbers in code
}

// roles gives access to a palette by the names used in the configuration.
func (p *palette) roles() map[string]*string {
	return map[string]*string{
		"back": &p.Back, "panel": &p.Panel, "base": &p.Base, "muted": &p.Muted,
		"edge": &p.Edge, "accent": &p.Accent, "bubble": &p.Bubble, "on_bubble": &p.OnBubble,
		"mark": &p.Mark, "good": &p.Good, "bad": &p.Bad, "warn": &p.Warn,
		"info": &p.Info, "special": &p.Special,
	}
}

// override replaces the colours that are named in colours; names and values
// that mean nothing are passed over (Check reports them).
func (p *palette) override(colours map[string]string) {
	roles := p.roles()
	for name, hex := range colours {
		if at, ok := roles[name]; ok && isHex(hex) {
			*at = hex
		}
	}
}

// ColourNames lists the names that Options.Palette may override, sorted.
func ColourNames() []string {
	return slices.Sorted(maps.Keys((&palette{}).roles()))
}

// Check reports the first thing in o that New would pass over: a theme or a
// colour that does not exist, or a value that is not "#rrggbb". A nil error
// means that New uses all of o.
func Check(o Options) error {
	if _, ok := themes[o.theme()]; !ok {
		return fmt.Errorf("style: no theme %q; there are %v", o.Theme, Themes())
	}
	roles := (&palette{}).roles()
	for _, name := range slices.Sorted(maps.Keys(o.Palette)) {
		if _, ok := roles[name]; !ok {
			return fmt.Errorf("style: no colour %q; there are %v", name, ColourNames())
		}
		if !isHex(o.Palette[name]) {
			return fmt.Errorf("style: colour %s is %q, want #rrggbb", name, o.Palette[name])
		}
	}
	return nil
}

// isHex reports whether s is "#rrggbb".
func isHex(s string) bool {
	if len(s) != len("#rrggbb") || s[0] != '#' {
		return false
	}
	for _, c := range []byte(s[1:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
