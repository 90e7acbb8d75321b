package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/overlay"
)

// openHelp shows every key, written from the key map. What is chosen there and
// makes sense from anywhere is done.
func (m *Model) openHelp() tea.Cmd {
	entries := m.helpEntries()
	at := max(0, slices.IndexFunc(entries, func(e overlay.Entry) bool { return e.Group == m.mode.String() }))
	picker := overlay.NewPicker("Keys", entries, at)
	return m.open(overlay.Help, picker, func(c overlay.Chosen) tea.Cmd {
		if a := m.keys.named(c.Value); a == nil || a.inside {
			return nil
		}
		return m.runAction(c.Value)
	})
}

// How wide the keys stand before what they do: all of them, and the first one
// where there is no room for more.
const (
	helpKeys     = 17 // all of nearly every row
	helpFirstKey = 12
	helpRoom     = 70 // cells of the screen from which on all keys are shown
)

func (m *Model) helpEntries() []overlay.Entry {
	var out []overlay.Entry
	column := helpKeys
	if m.width < helpRoom {
		column = helpFirstKey
	}
	for _, mode := range []mode{modeInput, modeView, modeCommand, modePane} {
		for _, a := range m.keys.inMode(mode) {
			if (mode != modeInput && len(a.modes) == len(inAll)) || (mode == modeCommand && len(a.modes) == 3) {
				continue // what works everywhere stands once
			}
			shown := m.shownKeys(mode, a)
			keys, help, ok := a.row(shown)
			if column == helpFirstKey && len(shown) > 1 {
				keys = shown[0]
			}
			if ok {
				out = append(out, overlay.Entry{
					Value: a.name, Text: fmt.Sprintf("%-*s  %s", column, keys, help), Group: mode.String(),
				})
			}
		}
	}
	return out
}

// row is an action as a line of help. The first of a row of digits stands for
// all of them; ok is false for the others, and for what needs no help.
func (a *action) row(keys []string) (shown, help string, ok bool) {
	shown = strings.Join(keys, " ")
	switch {
	case a.name == "choose-1" && shown == "alt+1":
		return "alt+1 … alt+9", "choose a suggestion", true
	case a.name == "star-0" && shown == "0":
		return "0 1 2 3", "stars", true
	case slices.Equal(keys, a.keys) && (strings.HasPrefix(a.name, "choose-") || strings.HasPrefix(a.name, "star-")):
		return "", "", false
	}
	return shown, a.help, a.help != "" && len(keys) > 0
}

// shownKeys are the keys of an action as they work in this terminal: the send
// key that certainly arrives comes first.
func (s *shared) shownKeys(mode mode, a *action) []string {
	keys := slices.Clone(s.keys.keysOf(mode, a))
	if a.name == "send" && !s.kitty {
		if i := slices.Index(keys, "ctrl+j"); i > 0 {
			keys = append([]string{"ctrl+j"}, slices.Delete(keys, i, i+1)...)
		}
	}
	return keys
}

// KeyTable tells what keys do, to whoever explains them outside of the program.
type KeyTable struct{ keys *keyMap }

// KeyUse is what a key does in one mode.
type KeyUse struct {
	Mode   string // as the footer names it
	Action string // in the config
	Help   string // a clause
}

// Keys is the key table as these settings make it; a *KeyError when they cannot
// be. enterIs is send_key = "enter".
func Keys(rebinds []Rebind, enterIs bool) (*KeyTable, error) {
	table := actionTable()
	if enterIs {
		table = enterSends(table)
	}
	keys, err := newKeyMap(table, rebinds)
	if err != nil {
		return nil, err
	}
	return &KeyTable{keys}, nil
}

// Uses is what a key does, mode by mode; none when no mode binds it. name is
// that of tea.KeyPressMsg.String.
func (k *KeyTable) Uses(name string) []KeyUse {
	var out []KeyUse
	for m := range mode(len(modeNames)) {
		if a := k.keys.find(m, name); a != nil {
			out = append(out, KeyUse{m.String(), a.name, a.help})
		}
	}
	return out
}
