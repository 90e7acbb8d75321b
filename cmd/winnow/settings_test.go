package main

import (
	"slices"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// TestThemesOfTheSettings checks that each theme can be set, for each background, and reaches the style.
func TestThemesOfTheSettings(t *testing.T) {
	for _, name := range style.Themes() {
		for end, want := range map[string]style.Options{
			"":       {Theme: name, Dark: true},
			"-dark":  {Theme: name, Dark: true},
			"-light": {Theme: name},
		} {
			s, err := config.Load(config.Options{Environ: []string{"WINNOW_THEME=" + name + end}, Themes: style.Themes()})
			if err != nil {
				t.Errorf("%s%s: %v", name, end, err)
				continue
			}
			a := &app{environ: []string{"NO_COLOR=1"}, settings: s}
			got, fixed := a.theme(s)
			if got.Theme != want.Theme || got.Dark != want.Dark || fixed != (end != "") {
				t.Errorf("%s%s gives %q, dark %v, fixed %v", name, end, got.Theme, got.Dark, fixed)
			}
		}
	}
}

// The settings file accepts the modes of the key table.
func TestTheModesOfTheSettings(t *testing.T) {
	uses, err := keymap.Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var modes []string
	for _, u := range uses {
		if mode := strings.ToLower(u.Mode); !slices.Contains(modes, mode) {
			modes = append(modes, mode)
		}
	}
	if !slices.Equal(modes, config.Modes) {
		t.Errorf("the settings take %q, the key table has %q", config.Modes, modes)
	}
}
