package style

import (
	"image/color"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// The least contrast that WCAG 2.2 asks of text (1.4.3) and of the parts of a
// component (1.4.11), and what its AAA level asks of text (1.4.6).
const (
	textAA  = 4.5
	partsAA = 3.0
	textAAA = 7.0
)

// luminance is the relative luminance of WCAG.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrastIsKnown(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#ffffff", "#ffffff", 1}} {
		if got := contrast(lipgloss.Color(c.a), lipgloss.Color(c.b)); math.Abs(got-c.want) > 0.01 {
			t.Errorf("contrast(%s, %s) = %.2f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

func TestEveryThemeHasContrast(t *testing.T) {
	for _, name := range Themes() {
		for _, dark := range []bool{true, false} {
			for _, profile := range []Profile{TrueColor, ANSI256} {
				o := Options{Dark: dark, Theme: name, Profile: profile}
				p := o.palette()
				atLeast := textAA
				if name == "high-contrast" {
					atLeast = textAAA
				}
				check := func(what, text, back string, atLeast float64) {
					if got := contrast(profile.color(text), profile.color(back)); got < atLeast {
						t.Errorf("%s dark=%v profile=%d: %s has contrast %.2f, want %.1f", name, dark, profile, what, got, atLeast)
					}
				}
				for _, role := range []string{"base", "muted", "accent", "good", "bad", "warn", "info", "special"} {
					c := p.Colours[role]
					check(role+" on back", c, p.Colours["back"], atLeast)
					check(role+" on panel", c, p.Colours["panel"], atLeast)
				}
				for i, c := range p.RuleColours {
					check("wheel "+string(rune('0'+i)), c, p.Colours["back"], atLeast)
				}
				check("selected text", p.Colours["back"], p.Colours["accent"], atLeast)
				check("on_bubble on bubble", p.Colours["on_bubble"], p.Colours["bubble"], atLeast)
				check("base on mark", p.Colours["base"], p.Colours["mark"], atLeast)
				check("edge on back", p.Colours["edge"], p.Colours["back"], partsAA)
			}
		}
	}
}

// Of the 256 colours a grey is shown as a grey, and a colour as a colour.
func TestGreysStayGreyIn256Colours(t *testing.T) {
	spread := func(c color.Color) int {
		r, g, b, _ := c.RGBA()
		return int(max(r, g, b)>>8) - int(min(r, g, b)>>8)
	}
	for _, name := range Themes() {
		for _, dark := range []bool{true, false} {
			full := Options{Dark: dark, Theme: name}.palette()
			for role, value := range (Options{Dark: dark, Theme: name, Profile: ANSI256}).palette().Colours {
				is, want := spread(ANSI256.color(value)), spread(lipgloss.Color(full.Colours[role]))
				if want <= 20 && is > 20 || want >= 64 && is < 30 {
					t.Errorf("%s dark=%v: %s is %s with a spread of %d, and %v of the 256 with %d", name, dark, role, full.Colours[role], want, ANSI256.color(value), is)
				}
			}
		}
	}
}

// xterm16 are the sixteen colours that xterm ships; those of package ansi are VGA's.
var xterm16 = [16]color.RGBA{
	{0, 0, 0, 255},
	{205, 0, 0, 255},
	{0, 205, 0, 255},
	{205, 205, 0, 255},
	{0, 0, 238, 255},
	{205, 0, 205, 255},
	{0, 205, 205, 255},
	{229, 229, 229, 255},
	{127, 127, 127, 255},
	{255, 0, 0, 255},
	{0, 255, 0, 255},
	{255, 255, 0, 255},
	{92, 92, 255, 255},
	{255, 0, 255, 255},
	{0, 255, 255, 255},
	{255, 255, 255, 255},
}

func TestSixteenColoursHaveContrast(t *testing.T) {
	at := func(index string) int {
		i, err := strconv.Atoi(index)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	schemes := map[string]func(int) color.Color{
		"vga":   func(i int) color.Color { return ansi.BasicColor(i) },
		"xterm": func(i int) color.Color { return xterm16[i] },
	}
	for scheme, of := range schemes {
		for name, c := range map[string]struct {
			palette
			back color.Color
		}{"dark": {catalogue().Ansi16.Dark, color.Black}, "light": {catalogue().Ansi16.Light, color.White}} {
			colour := func(role string) color.Color { return of(at(c.Colours[role])) }
			text := c.RuleColours[:]
			for _, role := range []string{"muted", "accent", "good", "bad", "warn", "info", "special"} {
				text = append(text, c.Colours[role])
			}
			for _, i := range text {
				if i == "" {
					continue // the terminal's own text colour
				}
				if got := contrast(of(at(i)), c.back); got < textAA {
					t.Errorf("%s %s: colour %s has contrast %.2f, want %.1f", scheme, name, i, got, textAA)
				}
			}
			if got := contrast(colour("on_bubble"), colour("bubble")); got < textAA {
				t.Errorf("%s %s: bubble has contrast %.2f, want %.1f", scheme, name, got, textAA)
			}
			if got := contrast(colour("back"), colour("accent")); got < textAA {
				t.Errorf("%s %s: the selection has contrast %.2f, want %.1f", scheme, name, got, textAA)
			}
			if got := contrast(colour("edge"), c.back); got < partsAA {
				t.Errorf("%s %s: edge has contrast %.2f, want %.1f", scheme, name, got, partsAA)
			}
		}
	}
}

func TestEveryThemeIsDescribedAndItsOwn(t *testing.T) {
	if n := len(Themes()); n < 6 {
		t.Errorf("%d themes", n)
	}
	looks := map[string]string{}
	for _, name := range Themes() {
		if About(name) == "" {
			t.Errorf("nothing says what %s looks like", name)
		}
		for _, dark := range []bool{true, false} {
			for _, profile := range []Profile{TrueColor, ANSI256} {
				s := New(Options{Dark: dark, Theme: name, Profile: profile, Unicode: true})
				all := ""
				eachStyle(reflect.ValueOf(s), "", func(_, x string) { all += x })
				if other, seen := looks[all]; seen {
					t.Errorf("%s looks like %s", name, other)
				}
				looks[all] = name
				seen := map[string]bool{}
				for i := range ruleColourCount {
					st := s.Rules.RuleColours[i]
					seen[st.Render("x")] = true
				}
				if profile == TrueColor && len(seen) != ruleColourCount {
					t.Errorf("%s has %d different rule colours, want %d", name, len(seen), ruleColourCount)
				}
			}
			for _, profile := range []Profile{ANSI16, NoColor} { // the terminal's own: no theme changes them
				a, b := New(Options{Dark: dark, Theme: name, Profile: profile}), New(Options{Dark: dark, Profile: profile})
				if a.Chat.ToolOK.Render("x") != b.Chat.ToolOK.Render("x") {
					t.Errorf("%s does not fall back on the terminal's colours", name)
				}
			}
		}
	}
	if About("pink") != "" {
		t.Error("a theme that does not exist is described")
	}
}

// The selection must be told from what it lies on, the user's message as well.
func TestSelectionStandsOut(t *testing.T) {
	for _, name := range Themes() {
		for _, dark := range []bool{true, false} {
			p := Options{Dark: dark, Theme: name}.palette()
			for what, back := range map[string]string{"back": p.Colours["back"], "bubble": p.Colours["bubble"], "panel": p.Colours["panel"]} {
				if got := contrast(TrueColor.color(p.Colours["accent"]), TrueColor.color(back)); got < partsAA {
					t.Errorf("%s dark=%v: a selection on %s has contrast %.2f, want %.1f", name, dark, what, got, partsAA)
				}
			}
		}
	}
}

func TestPaletteIsSmall(t *testing.T) {
	if n := len(ColourNames()); n > 14 {
		t.Errorf("the palette has %d colours, want at most 14", n)
	}
	for _, name := range Themes() {
		for _, p := range []palette{catalogue().Themes[name].Dark, catalogue().Themes[name].Light} {
			if got := slices.Sorted(maps.Keys(p.Colours)); !slices.Equal(got, ColourNames()) {
				t.Errorf("%s has the colours %v, want %v", name, got, ColourNames())
			}
		}
	}
}

// eachStyle calls f with the path of every style in v, and with the letter x in that style.
func eachStyle(v reflect.Value, path string, f func(path, x string)) {
	switch s := v.Interface().(type) {
	case lipgloss.Style:
		f(path, s.Render("x"))
		return
	case Style:
		f(path, s.Render("x"))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := v.Interface().(lipgloss.Border); ok {
			return
		}
		for i := range v.NumField() {
			eachStyle(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachStyle(v.Index(i), path, f)
		}
	default:
	}
}

func TestNoColourMeansNoColour(t *testing.T) {
	count := 0
	for _, dark := range []bool{true, false} {
		eachStyle(reflect.ValueOf(New(Options{Dark: dark, Profile: NoColor})), "", func(path, out string) {
			count++
			for _, seq := range strings.Split(out, "\x1b[")[1:] {
				params, _, _ := strings.Cut(seq, "m")
				for _, p := range strings.Split(params, ";") {
					if len(p) > 1 {
						t.Errorf("%s renders %q: a colour", path, out)
					}
				}
			}
		})
	}
	if count < 100 {
		t.Fatalf("only %d styles were looked at", count)
	}
}

func TestProfilesUseTheirOwnColours(t *testing.T) {
	for _, c := range []struct {
		profile     Profile
		has, hasNot string
	}{
		{TrueColor, "38;2;", "38;5;"},
		{ANSI256, "38;5;", "38;2;"},
		{ANSI16, "\x1b[", "38;"},
	} {
		all := ""
		eachStyle(reflect.ValueOf(New(Options{Dark: true, Profile: c.profile})), "", func(_, x string) { all += x })
		if !strings.Contains(all, c.has) || strings.Contains(all, c.hasNot) {
			t.Errorf("profile %d: want %q and no %q in the sequences", c.profile, c.has, c.hasNot)
		}
	}
}

// Without colour the states that share a place must differ in their sign.
func TestStatesDifferWithoutColour(t *testing.T) {
	for _, unicode := range []bool{true, false} {
		i := icons(unicode)
		for name, group := range map[string][]string{
			"tool":      append([]string{i.ToolOK, i.ToolBad}, i.Running[0]),
			"fold":      {i.Folded, i.Open},
			"saved":     {i.Saved, i.Unsaved, i.Lock},
			"rule":      {i.Ignore, i.Allow, i.Pending, i.Shadowed, i.Dead},
			"wheel":     i.RuleIcons,
			"model":     {i.Available, i.Hidden},
			"bar":       {i.BarFull, i.BarEmpty},
			"diff":      {i.Add, i.Remove},
			"task":      {i.Ticked, i.Blank},
			"selection": {i.Selected, i.Marked},
		} {
			seen := map[string]bool{}
			for _, sign := range group {
				if sign == "" || seen[sign] {
					t.Errorf("unicode=%v %s: %q is empty or used twice", unicode, name, sign)
				}
				seen[sign] = true
			}
		}
	}
	b := New(Options{Profile: NoColor}).Border
	if b.Shape == b.FocusedShape {
		t.Error("the focus cannot be seen without colour")
	}
}

func TestSignsAreOneCell(t *testing.T) {
	each := func(i Icons, f func(name, sign string)) {
		v := reflect.ValueOf(i)
		for n := range v.NumField() {
			switch s := v.Field(n).Interface().(type) {
			case string:
				f(v.Type().Field(n).Name, s)
			case []string:
				for _, s := range s {
					f(v.Type().Field(n).Name, s)
				}
			}
		}
	}
	for _, unicode := range []bool{true, false} {
		each(icons(unicode), func(name, sign string) {
			if ansi.StringWidth(sign) != 1 {
				t.Errorf("%s %q is %d cells wide, want 1", name, sign, ansi.StringWidth(sign))
			}
			if !unicode && (sign < " " || sign > "~") {
				t.Errorf("%s %q is not ASCII", name, sign)
			}
		})
		if n := len(icons(unicode).RuleIcons); n != ruleColourCount {
			t.Errorf("%d signs for %d rule colours", n, ruleColourCount)
		}
	}
}

func TestOverrides(t *testing.T) {
	s := New(Options{Dark: true, Palette: map[string]string{"good": "#010203", "bad": "red", "no": "#000000"}})
	if got := s.Chat.ToolOK.Render("x"); !strings.Contains(got, "38;2;1;2;3") {
		t.Errorf("good renders %q, want the user's colour", got)
	}
	if got, want := s.Chat.ToolBad.Render("x"), New(Options{Dark: true}).Chat.ToolBad.Render("x"); got != want {
		t.Errorf("bad renders %q, want the theme's %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"zero":     {Options{}, ""},
		"all good": {Options{Theme: "high-contrast", Palette: map[string]string{"on_bubble": "#ABCdef"}}, ""},
		"theme":    {Options{Theme: "pink"}, `no theme "pink"`},
		"colour":   {Options{Palette: map[string]string{"good ": "#000000"}}, `no colour "good "`},
		"value":    {Options{Palette: map[string]string{"good": "#00000g"}}, `want #rrggbb`},
		"length":   {Options{Palette: map[string]string{"good": "#fff"}}, `want #rrggbb`},
	} {
		err := Check(c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Check = %v, want %q", name, err, c.want)
		}
	}
}

func TestRenderIsWhatLipglossRenders(t *testing.T) {
	styles := map[string]lipgloss.Style{
		"plain": lipgloss.NewStyle(), "colours": on(fg(lipgloss.Color("#123456")), lipgloss.Color("3")).Bold(true).Italic(true), "reversed": lipgloss.NewStyle().Reverse(true).Faint(true),
	}
	for name, st := range styles {
		for _, text := range []string{"x", "two words", "漢字 é", "one\ntwo"} {
			if got, want := Compile(st).Render(text), st.Render(text); got != want {
				t.Errorf("%s: %q is %q, lipgloss makes %q", name, text, got, want)
			}
		}
	}
	underlined := Compile(fg(lipgloss.Color("2"))).With(ansi.AttrUnderline).Render("two words")
	if underlined != "\x1b[32m\x1b[4mtwo words\x1b[m" {
		t.Errorf("underlined: %q", underlined)
	}
}
