package main

import (
	"strings"

	"github.com/charmbracelet/colorprofile"

	"winnow/tui/style"
)

// colours is how many colours the terminal shows.
func (a *app) colours() style.Profile {
	if !a.colour() {
		return style.None
	}
	switch colorprofile.Env(a.environ) {
	case colorprofile.TrueColor:
		return style.True
	case colorprofile.ANSI256:
		return style.Col256
	case colorprofile.ANSI:
		return style.Col16
	default:
		return style.None
	}
}

// unicode says whether the terminal shows more than ASCII, as far as the locale tells.
func (a *app) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(a.env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return a.env("TERM") != "linux"
}

// look is the style of what is printed without asking the terminal for its
// background: with theme = "auto" the sixteen colours that are readable on
// either.
func (a *app) look() style.Styles {
	o := style.Options{Dark: true, Colors: a.colours(), Unicode: a.unicode()}
	switch {
	case a.settings != nil && a.settings.Theme != "auto":
		o.Dark = a.settings.Theme == "dark"
	case o.Colors < style.Col16:
		o.Colors = style.Col16
	}
	return style.New(o)
}
