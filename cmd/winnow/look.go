package main

import (
	"strings"

	"github.com/charmbracelet/colorprofile"

	"winnow/adapters/config"
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

// signs shows winnow's own signs in words as the terminal can, as the screen does.
func (a *app) signs(words string) string {
	if a.unicode() {
		return words
	}
	return style.ASCII(words)
}

// theme is the style that the settings ask for; fixed says that they name the
// background, too, and the terminal is not to be asked.
func (a *app) theme(s *config.Settings) (o style.Options, fixed bool) {
	name, background := s.Background()
	return style.Options{Dark: background != "light", Colors: a.colours(), Unicode: a.unicode(), Theme: name}, background != "auto"
}

// look is the style of what is printed without asking the terminal for its
// background: where the settings do not name it, the sixteen colours that are
// readable on either.
func (a *app) look() style.Styles {
	settings := a.settings
	if settings == nil {
		settings = &config.Settings{}
	}
	o, fixed := a.theme(settings)
	if !fixed && o.Colors < style.Col16 {
		o.Colors = style.Col16
	}
	return style.New(o)
}
