package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/overlay"
)

// action is something the user can do: by a key, or by name in the command
// palette. actionTable is the only place that names default keys.
type action struct {
	name  string // in the config and the palette: "jump-to-boundary"
	title string // in the palette
	help  string // in help, footer and README: what the key does
	modes []mode // where its keys work
	keys  []string
	do    func(*Model) tea.Cmd
	hint  string // in the footer; "" is help
	// footer says how early the footer shows it: 1 first, 0 never.
	footer int
	// inside keeps it out of the palette: it only makes sense in its own mode.
	inside bool
	// anywhere: its keys work before those of a text line that has the focus.
	anywhere bool
	// opens is the overlay that the key opens, and closes again; 0 is none.
	opens overlay.Kind
}

// keyMap finds actions by key and mode, and the keys of an action.
type keyMap struct {
	actions []*action
	byKey   [modeCount]map[string]*action
	keys    [modeCount]map[*action][]string
}

// KeyError is an invalid key binding in the config.
type KeyError struct {
	Mode   string
	Key    string
	Reason string
}

// Error names the mode, the key and the reason.
func (e *KeyError) Error() string {
	return fmt.Sprintf("keys: %s: %s: %s", e.Mode, e.Key, e.Reason)
}

// Rebind is one line of [keys.MODE] of the config: the action by name and its
// keys there, which take the place of the default ones.
type Rebind struct {
	Mode   string
	Action string
	Keys   []string
}

// reservedKeys belong to terminals and multiplexers: ctrl+b is tmux's prefix,
// and ctrl+m, ctrl+i and ctrl+h arrive as enter, tab and backspace.
var reservedKeys = []string{"ctrl+b", "ctrl+m", "ctrl+i", "ctrl+h"}

// newKeyMap builds the map from the table and the user's changes. Two actions
// on one key in one mode, an unknown mode or action, or a reserved key is a *KeyError.
func newKeyMap(enterSends bool, rebinds []Rebind) (*keyMap, error) {
	k := &keyMap{actions: actionTable(enterSends)}
	for m := range k.keys {
		k.byKey[m], k.keys[m] = map[string]*action{}, map[*action][]string{}
	}
	for _, a := range k.actions {
		for _, m := range a.modes {
			k.keys[m][a] = a.keys
		}
	}
	for _, r := range rebinds {
		m := slices.Index(modeNames[:], strings.ToUpper(r.Mode))
		if m < 0 {
			return nil, &KeyError{r.Mode, r.Action, "there is no such mode; the modes are input, view, command and pane"}
		}
		a := k.named(r.Action)
		if a == nil {
			return nil, &KeyError{r.Mode, r.Action, "there is no such action; the palette lists them all"}
		}
		for _, key := range r.Keys {
			if slices.Contains(reservedKeys, key) {
				return nil, &KeyError{r.Mode, key, "terminals reserve this key"}
			}
		}
		k.keys[m][a] = r.Keys
	}
	for m := range k.keys {
		for _, a := range k.actions { // in table order, so that errors are always the same
			for _, key := range k.keys[m][a] {
				if other, taken := k.byKey[m][key]; taken {
					return nil, &KeyError{mode(m).String(), key, fmt.Sprintf("bound to both %s and %s", other.name, a.name)}
				}
				k.byKey[m][key] = a
			}
		}
	}
	return k, nil
}

// find is the action of a key in a mode; nil is none.
func (k *keyMap) find(m mode, key string) *action { return k.byKey[m][key] }

// inMode lists the actions that have a key in a mode, in table order.
func (k *keyMap) inMode(m mode) (out []*action) {
	for _, a := range k.actions {
		if len(k.keys[m][a]) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// named is the action of this name; nil is none.
func (k *keyMap) named(name string) *action {
	for _, a := range k.actions {
		if a.name == name {
			return a
		}
	}
	return nil
}

// shownKeys are the keys of an action. Where ctrl+enter may not arrive, ctrl+j comes
// first.
func (s *shared) shownKeys(m mode, a *action) []string {
	keys := slices.Clone(s.keys.keys[m][a])
	if a.name == "send" && !s.kitty {
		if i := slices.Index(keys, "ctrl+j"); i > 0 {
			keys = append([]string{"ctrl+j"}, slices.Delete(keys, i, i+1)...)
		}
	}
	return keys
}

// mode is the part of the screen that keys are for.
type mode int

const (
	modeInput mode = iota
	modeView
	modeCommand
	modePane
	modeCount
)

// modeNames are the names shown in the footer and used in the config.
var modeNames = [modeCount]string{modeInput: "INPUT", modeView: "VIEW", modeCommand: "COMMAND", modePane: "PANE"}

// String is the mode's name in the footer.
func (m mode) String() string { return modeNames[m] }

// KeyUse is what a key does in one mode.
type KeyUse struct {
	Mode   string // as the footer names it
	Action string // in the config
	Help   string // what it does, a clause
}

// Keys tells what a key does, mode by mode, by the name of tea.KeyPressMsg.String; a
// *KeyError when a binding is invalid. enterSends is send_key = "enter".
func Keys(rebinds []Rebind, enterSends bool) (uses func(key string) []KeyUse, err error) {
	keys, err := newKeyMap(enterSends, rebinds)
	if err != nil {
		return nil, err
	}
	return func(key string) (out []KeyUse) {
		for m := range modeCount {
			if a := keys.find(m, key); a != nil {
				out = append(out, KeyUse{m.String(), a.name, a.help})
			}
		}
		return out
	}, nil
}

// The width of the column of keys in help: of nearly all keys of a row, and of the
// first key on a narrow screen.
const (
	helpKeys     = 17
	helpFirstKey = 12
	helpWide     = 70 // cells of a screen that shows all keys
)

// openHelp lists the keys of the key map, and selects the first of the current mode.
// An action that is not inside can be chosen.
func (m *Model) openHelp() tea.Cmd {
	entries := m.helpEntries()
	at := max(0, slices.IndexFunc(entries, func(e overlay.Entry) bool { return e.Group == m.mode.String() }))
	return m.open(overlay.Help, overlay.NewPicker("Keys", entries, at), func(c overlay.Chosen) tea.Cmd {
		if a := m.keys.named(c.Value); a == nil || a.inside {
			return nil
		}
		return m.runAction(c.Value)
	})
}

func (m *Model) helpEntries() (out []overlay.Entry) {
	column := helpKeys
	if m.width < helpWide {
		column = helpFirstKey
	}
	for _, in := range []mode{modeInput, modeView, modeCommand, modePane} {
		for _, a := range m.keys.inMode(in) {
			if in != modeInput && len(a.modes) == len(inAll) || in == modeCommand && len(a.modes) == len(notCommand) {
				continue // actions of all modes are listed once
			}
			shown := m.shownKeys(in, a)
			keys, help, ok := a.row(shown)
			if column == helpFirstKey && len(shown) > 1 {
				keys = shown[0]
			}
			if ok {
				out = append(out, overlay.Entry{Value: a.name, Text: fmt.Sprintf("%-*s  %s", column, keys, help), Group: in.String()})
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
