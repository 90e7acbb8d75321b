package style

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// DefaultTheme is the theme of an empty Options.Theme.
const DefaultTheme = "winnow"

// ruleColourCount is the number of rule colours; more rules than this share colours.
const ruleColourCount = 8

// palette names colours by their purpose, never by their look. Each is "#rrggbb", or "0" to
// "15" for one of the terminal's sixteen colours; a missing colour is the terminal's
// default. The names are:
//
//	back       assumed background of the terminal, never painted; text on accent
//	panel      background of code, overlays and chips
//	base       ordinary text
//	muted      time stamps, hints, reasoning
//	edge       borders and rules; not text
//	accent     what can be acted on, focus, headings
//	bubble     background of the user's messages and of the selected row
//	on_bubble  text on bubble
//	mark       background of search hits and highlighted models
//	good       success, allow rules, added lines
//	bad        failure, ignore rules, removed lines
//	warn       unsaved, near a limit, needs care
//	info       links, names of tools, hunk lines
//	special    models, badges, numbers in code
type palette struct {
	Colours     map[string]string
	Xterm       map[string]string       // hand-picked from the 256 colours where the nearest colour looks wrong
	RuleColours [ruleColourCount]string // colours of the rules in the pane, used in turn
}

// theme has a palette for each kind of background.
type theme struct {
	About       string
	Dark, Light palette
}

// catalogue holds the themes and icons of catalogue.json. In the sixteen-colour palettes
// muted text has the terminal's default colour, faint, because bright black is unreadable in
// several common schemes. Green, yellow and cyan are too pale on white, so "good" is the
// default colour there and only the icon shows the meaning.
var catalogue = sync.OnceValue(func() (c struct {
	Themes         map[string]theme
	Ansi16         theme
	WordMark       []string
	Unicode, ASCII Icons
},
) {
	if err := json.Unmarshal(catalogueJSON, &c); err != nil {
		panic("style: catalogue.json: " + err.Error())
	}
	return c
})

//go:embed catalogue.json
var catalogueJSON []byte

// Themes lists the names of the themes, sorted.
func Themes() []string { return slices.Sorted(maps.Keys(catalogue().Themes)) }

// About says in a few words what a theme looks like; "" if there is no such theme.
func About(name string) string { return catalogue().Themes[name].About }

// ColourNames lists the names that Options.Palette may override, sorted.
func ColourNames() []string {
	return slices.Sorted(maps.Keys(catalogue().Themes[DefaultTheme].Dark.Colours))
}

// Check returns the first problem in o that New ignores: an unknown theme or colour, or a
// value that is not "#rrggbb".
func Check(o Options) error {
	if _, ok := catalogue().Themes[o.theme()]; !ok {
		return fmt.Errorf("style: no theme %q; want one of %v", o.Theme, Themes())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Palette)) {
		if !slices.Contains(ColourNames(), name) {
			return fmt.Errorf("style: no colour %q; want one of %v", name, ColourNames())
		}
		if !hexColour.MatchString(o.Palette[name]) {
			return fmt.Errorf("style: colour %s is %q, want #rrggbb", name, o.Palette[name])
		}
	}
	return nil
}

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// palette returns the palette for o, with the user's own colours.
func (o Options) palette() palette {
	t, ok := catalogue().Themes[o.theme()]
	switch {
	case o.Profile == NoColor:
		t = theme{}
	case o.Profile == ANSI16:
		t = catalogue().Ansi16
	case !ok:
		t = catalogue().Themes[DefaultTheme]
	}
	p := t.Light
	if o.Dark {
		p = t.Dark
	}
	if o.Profile == NoColor || o.Profile == ANSI16 {
		return p
	}
	p.Colours = maps.Clone(p.Colours)
	if o.Profile == ANSI256 {
		maps.Copy(p.Colours, p.Xterm)
	}
	for name, hex := range o.Palette {
		if _, ok := p.Colours[name]; ok && hexColour.MatchString(hex) {
			p.Colours[name] = hex
		}
	}
	return p
}

// Profile says how many colours the terminal shows.
type Profile int

// The profiles. The zero value is TrueColor.
const (
	TrueColor Profile = iota // 24 bit
	ANSI256                  // the 256 colours of xterm
	ANSI16                   // the terminal's own sixteen colours
	NoColor                  // no colour at all (NO_COLOR): bold, faint, underline and reverse only
)

// color returns a colour of a palette in this profile; nil means the terminal's default
// colour.
func (p Profile) color(value string) color.Color {
	switch {
	case value == "":
		return nil
	case p == ANSI256:
		return ansi.Convert256(lipgloss.Color(value))
	}
	return lipgloss.Color(value)
}

// colours is a palette resolved for one terminal; nil means the terminal's default colour.
type colours struct {
	panel, base, muted, edge, accent, onAccent, bubble, onBubble, mark color.Color
	good, bad, warn, info, special                                     color.Color

	ruleColours [ruleColourCount]color.Color
}

// resolve returns the colours for o.
func resolve(o Options) colours {
	p := o.palette()
	colour := func(name string) color.Color { return o.Profile.color(p.Colours[name]) }
	c := colours{
		panel: colour("panel"), base: colour("base"), muted: colour("muted"), edge: colour("edge"), accent: colour("accent"), onAccent: colour("back"),
		bubble: colour("bubble"), onBubble: colour("on_bubble"), mark: colour("mark"), good: colour("good"), bad: colour("bad"),
		warn: colour("warn"), info: colour("info"), special: colour("special"),
	}
	for i, value := range p.RuleColours {
		c.ruleColours[i] = o.Profile.color(value)
	}
	return c
}

// fg returns a style with the foreground c; nil keeps the terminal's default.
func fg(c color.Color) lipgloss.Style {
	if c == nil {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Foreground(c)
}

// on returns s with the background c; nil keeps the terminal's default.
func on(s lipgloss.Style, c color.Color) lipgloss.Style {
	if c == nil {
		return s
	}
	return s.Background(c)
}
