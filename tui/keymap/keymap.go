// Package keymap is everything the user can do, and the keys that do it.
//
// # Types
//
// An Action is something the user can do: a row of the table in table.go, data alone. What
// it does is known to the screen, by its name. A Mode is the part of the screen that keys
// are for. A Map has the actions with the keys they are bound to, and writes from them
// what help, palette and README show; a Rebind is a binding of the user.
//
// # Concurrency
//
// A Map belongs to the update loop of its screen; the functions may be called from any
// goroutine.
package keymap

import (
	"fmt"
	"slices"
	"strings"

	"winnow/tui/overlay"
	"winnow/tui/slash"
)

// Action is something the user can do: by a key, or by name in the command palette.
type Action struct {
	Name  string // in the config and the palette: "jump-to-boundary"
	Title string // in the palette; "" keeps it out: it only makes sense by a key
	Help  string // in help, footer and README: what the key does
	Modes []Mode // where its keys work
	Keys  []string
	Hint  string // in the footer; "" is Help
	// Footer says how early the footer shows it: 1 first, 0 never.
	Footer int
	// Anywhere says that its keys work before those of a text line that has the focus.
	Anywhere bool
	// Early says that it works before the session is open.
	Early bool
	// Opens is the overlay that the key opens, and closes again; 0 is none.
	Opens overlay.Kind
}

// Mode is the part of the screen that keys are for.
type Mode int

// The modes.
const (
	Input Mode = iota
	View
	Command
	Pane
	HUD
	modeCount
)

// modeNames are the names shown in the footer and used in the config.
var modeNames = [modeCount]string{Input: "INPUT", View: "VIEW", Command: "COMMAND", Pane: "PANE", HUD: "HUD"}

// String is the mode's name in the footer.
func (m Mode) String() string { return modeNames[m] }

// Map finds actions by key and mode, and the keys of an action.
type Map struct {
	// CtrlEnter says that ctrl+enter is known to arrive. Until then the texts name
	// ctrl+j as the key that sends.
	CtrlEnter bool

	actions []*Action
	byKey   [modeCount]map[string]*Action
	keys    [modeCount]map[*Action][]string
}

// Error is an invalid key binding in the config.
type Error struct {
	Mode   string
	Key    string // or the name of the action, when that or the mode is wrong
	Reason string
}

// Error names the mode, the key and the reason.
func (e *Error) Error() string { return fmt.Sprintf("keys: %s: %s: %s", e.Mode, e.Key, e.Reason) }

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

// New builds the map from the table and the user's bindings. Two actions on one key in
// one mode, an unknown mode or action, or a reserved key is an *Error. enterSends is
// send_key = "enter".
func New(enterSends bool, rebinds []Rebind) (*Map, error) {
	k := &Map{actions: table(enterSends)}
	for m := range k.keys {
		k.byKey[m], k.keys[m] = map[string]*Action{}, map[*Action][]string{}
	}
	for _, a := range k.actions {
		for _, m := range a.Modes {
			k.keys[m][a] = a.Keys
		}
	}
	for _, r := range rebinds {
		m := slices.Index(modeNames[:], strings.ToUpper(r.Mode))
		if m < 0 {
			return nil, &Error{r.Mode, r.Action, "there is no such mode; the modes are input, view, command, pane and hud"}
		}
		a := k.Named(r.Action)
		if a == nil {
			return nil, &Error{r.Mode, r.Action, "there is no such action; the palette lists them all"}
		}
		for _, key := range r.Keys {
			if slices.Contains(reservedKeys, key) {
				return nil, &Error{r.Mode, key, "terminals reserve this key"}
			}
		}
		k.keys[m][a] = r.Keys
	}
	for m := range k.keys {
		for _, a := range k.actions { // in table order, so that errors are always the same
			for _, key := range k.keys[m][a] {
				if other, taken := k.byKey[m][key]; taken {
					return nil, &Error{Mode(m).String(), key, fmt.Sprintf("bound to both %s and %s", other.Name, a.Name)}
				}
				k.byKey[m][key] = a
			}
		}
	}
	return k, nil
}

// Find is the action of a key in a mode; nil is none.
func (k *Map) Find(m Mode, key string) *Action { return k.byKey[m][key] }

// Named is the action of this name; nil is none.
func (k *Map) Named(name string) *Action {
	for _, a := range k.actions {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// In lists the actions that have a key in a mode, in table order.
func (k *Map) In(m Mode) (out []*Action) {
	for _, a := range k.actions {
		if len(k.keys[m][a]) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// Keys are the keys of an action in a mode. Where ctrl+enter may not arrive, ctrl+j
// comes first.
func (k *Map) Keys(m Mode, a *Action) []string {
	keys := slices.Clone(k.keys[m][a])
	if a.Name == "send" && !k.CtrlEnter {
		if i := slices.Index(keys, "ctrl+j"); i > 0 {
			keys = append([]string{"ctrl+j"}, slices.Delete(keys, i, i+1)...)
		}
	}
	return keys
}

// Key is the first key of an action, in mode m or else in another; "" when it has none.
func (k *Map) Key(m Mode, name string) string {
	a := k.Named(name)
	if a == nil {
		return ""
	}
	for _, in := range append([]Mode{m}, a.Modes...) {
		if keys := k.Keys(in, a); len(keys) > 0 {
			return keys[0]
		}
	}
	return ""
}

// Clause formats a clause that names the key of an action; without a key it names the
// entry of the command palette, or is "".
func (k *Map) Clause(m Mode, format, name string) string {
	if key := k.Key(m, name); key != "" {
		return fmt.Sprintf(format, key)
	}
	if key := k.Key(m, "palette"); key != "" && k.Named(name).Title != "" {
		return fmt.Sprintf(format, key+" “"+k.Named(name).Title+"”")
	}
	return ""
}

// offered reports whether the palette has an action; plainChat leaves out those on rules.
func (a *Action) offered(plainChat bool) bool {
	onRules := a.Name == "save" || a.Name == "pane" || slices.Equal(a.Modes, inPane)
	return a.Title != "" && !(plainChat && onRules)
}

// Palette lists the actions of the command palette, each by its name as Value, with its
// keys as Extra and the first of them as Short; plainChat leaves out those on rules.
func (k *Map) Palette(plainChat bool) (entries []overlay.Entry) {
	for _, a := range k.actions {
		if !a.offered(plainChat) {
			continue
		}
		var keys []string
		for _, in := range a.Modes {
			for _, key := range k.Keys(in, a) {
				if !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
		e := overlay.Entry{Value: a.Name, Text: a.Title, Extra: strings.Join(keys, " ")}
		if len(keys) > 0 {
			e.Short = keys[0]
		}
		entries = append(entries, e)
	}
	return entries
}

// Commands lists what can be typed after a slash: the actions of the palette, and what
// else package slash names.
func Commands(plainChat bool) []slash.Command {
	var actions []slash.Command
	for _, a := range table(false) {
		if a.offered(plainChat) {
			actions = append(actions, slash.Command{Action: a.Name, Help: a.Title})
		}
	}
	return slash.Screen(actions)
}

// Use is what the keys of an action do in one mode.
type Use struct {
	Mode   string // as the footer names it
	Action string // in the config
	Help   string // what it does, a clause
	Keys   []string
	Line   [2]string // keys and help as a line; empty where the line before says it, as that of 0 1 2 3 does
}

// Uses lists every action that has keys, mode by mode in the order of help. The
// arguments and the error are those of New.
func Uses(enterSends bool, rebinds []Rebind) (uses []Use, err error) {
	k, err := New(enterSends, rebinds)
	for m := Input; err == nil && m < modeCount; m++ {
		for _, a := range k.In(m) {
			keys, help, _ := a.row(k.keys[m][a])
			uses = append(uses, Use{m.String(), a.Name, a.Help, k.keys[m][a], [2]string{keys, help}})
		}
	}
	return uses, err
}

// The width of the column of keys in help: of nearly all keys of a row, and of the
// first key on a narrow screen.
const (
	helpKeys     = 17
	helpFirstKey = 9
	helpWide     = 70 // cells of a screen that shows all keys
)

// Help lists the keys by mode on a screen of w cells, each with its action as Value.
func (k *Map) Help(w int) (entries []overlay.Entry) {
	column := helpKeys
	if w < helpWide {
		column = helpFirstKey
	}
	for in := Input; in < modeCount; in++ {
		for _, a := range k.In(in) {
			if in != Input && len(a.Modes) == len(inAll) || in == Command && len(a.Modes) == len(notCommand) || in == HUD && len(a.Modes) > 1 {
				continue // actions of all modes are listed once
			}
			all := k.Keys(in, a)
			keys, help, ok := a.row(all)
			if column == helpFirstKey && len(all) > 1 {
				keys = all[0]
			}
			if ok {
				entries = append(entries, overlay.Entry{Value: a.Name, Text: fmt.Sprintf("%-*s  %s", column, keys, help), Group: in.String()})
			}
		}
	}
	return entries
}

// row is an action as a line of help. The first of a row of digits stands for
// all of them; ok is false for the others, and for what needs no help.
func (a *Action) row(bound []string) (keys, help string, ok bool) {
	keys = strings.Join(bound, " ")
	switch {
	case a.Name == "choose-1" && keys == "alt+1":
		return "alt+1 … alt+9", "choose a suggestion", true
	case a.Name == "star-0" && keys == "0":
		return "0 1 2 3", "stars", true
	case slices.Equal(bound, a.Keys) && (strings.HasPrefix(a.Name, "choose-") || strings.HasPrefix(a.Name, "star-")):
		return "", "", false
	}
	return keys, a.Help, a.Help != "" && len(bound) > 0
}
