package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/overlay"
)

// action is something the user can do: by a key, or by name in the command
// palette. The table of all of them is the only place where keys stand.
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
	// inside keeps it out of the palette: it means nothing without its place.
	inside bool
	// anywhere keys work in every mode of modes, also while an overlay is open.
	anywhere bool
	// opens is the overlay that the key opens, and closes again; 0 is none.
	opens overlay.Kind
}

// keyMap finds actions by key and mode.
type keyMap struct {
	actions []*action
	byKey   map[mode]map[string]*action
}

// KeyError is a binding in the config that cannot be.
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
// on one key in one mode, an unknown action, mode or reserved key: a *KeyError.
func newKeyMap(table []*action, rebinds []Rebind) (*keyMap, error) {
	k := &keyMap{actions: table, byKey: map[mode]map[string]*action{}}
	bound := map[mode]map[*action][]string{}
	for m := range mode(len(modeNames)) {
		bound[m] = map[*action][]string{}
		k.byKey[m] = map[string]*action{}
	}
	for _, a := range table {
		for _, m := range a.modes {
			bound[m][a] = a.keys
		}
	}
	for _, r := range rebinds {
		m, a, err := k.resolve(r)
		if err != nil {
			return nil, err
		}
		bound[m][a] = r.Keys
	}
	for m := range bound {
		for _, a := range table { // in table order, so that errors are always the same
			for _, key := range bound[m][a] {
				if other, taken := k.byKey[m][key]; taken {
					return nil, &KeyError{m.String(), key, fmt.Sprintf("bound to both %s and %s", other.name, a.name)}
				}
				k.byKey[m][key] = a
			}
		}
	}
	return k, nil
}

func (k *keyMap) resolve(r Rebind) (mode, *action, error) {
	m := slices.Index(modeNames[:], strings.ToUpper(r.Mode))
	if m < 0 {
		return 0, nil, &KeyError{r.Mode, r.Action, "there is no such mode; there is input, view, command, pane"}
	}
	for _, key := range r.Keys {
		if slices.Contains(reservedKeys, key) {
			return 0, nil, &KeyError{r.Mode, key, "terminals keep this key for themselves"}
		}
	}
	for _, a := range k.actions {
		if a.name == r.Action {
			return mode(m), a, nil
		}
	}
	return 0, nil, &KeyError{r.Mode, r.Action, "there is no such action; the palette lists them all"}
}

// find is the action of a key in a mode; nil is none.
func (k *keyMap) find(m mode, key string) *action { return k.byKey[m][key] }

// keysOf lists the keys of an action in a mode, as bound now.
func (k *keyMap) keysOf(m mode, a *action) []string {
	var keys []string
	for _, key := range a.keys {
		if k.byKey[m][key] == a {
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		return keys
	}
	for key, have := range k.byKey[m] {
		if have == a {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// inMode lists the actions of a mode in table order.
func (k *keyMap) inMode(m mode) []*action {
	var out []*action
	for _, a := range k.actions {
		if slices.Contains(a.modes, m) && len(k.keysOf(m, a)) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// named is the action of this name.
func (k *keyMap) named(name string) *action {
	for _, a := range k.actions {
		if a.name == name {
			return a
		}
	}
	return nil
}

// mode is where the keys go.
type mode int

const (
	modeInput mode = iota
	modeView
	modeCommand
	modePane
)

// modeNames are the names shown in the footer and used in the config.
var modeNames = [...]string{modeInput: "INPUT", modeView: "VIEW", modeCommand: "COMMAND", modePane: "PANE"}

// String is the mode's name in the footer.
func (m mode) String() string { return modeNames[m] }
