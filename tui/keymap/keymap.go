// Package keymap is everything the user can do, and the keys that do it.
//
// # Types
//
// An Action names something the user can do; a Row of the table describes it, data alone.
// What it does is known to the screen. A Mode is the part of the screen that keys are for,
// overlays included: those of a list, of a question. A Map has the actions with the keys
// they are bound to, and writes from them what help, hints and README show; a Rebind is a
// binding of the user. A Key is written as Bubble Tea names it.
//
// # How to add an action
//
// Name it in actions.go and describe it in table.go, or in overlays.go if its key works in a
// list, a text or a question. What it does goes into package tui, actions.go, or to where the
// overlay is opened. TestSpecifiedKeys and the tests of the key table want it, too. Help, footer, palette, /command and rebinding come from the Row; a hint that
// depends on the state is in tui/header.go.
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
	"sync"

	"charm.land/bubbles/v2/key"
)

// Row is something the user can do: by a key, or by name in the command palette.
type Row struct {
	Name  Action
	Title string // in the palette; "" keeps it out: it only makes sense by a key
	Help  string // in help, footer and README: what the key does
	Modes []Mode // where its keys work
	Keys  []Key
	Hint  string // in the footer; "" is Help
	Group string // in the palette; "" is by Modes
	// Footer says how early the footer shows it: 1 first, 0 never. Equal ranks follow the
	// table, and what has no room is left out.
	Footer int
	// Anywhere says that its keys work before those of a text line that has the focus.
	Anywhere bool
	// Early says that it works before the session is open.
	Early bool
}

// Key is a key by its name: "enter", "ctrl+s".
type Key string

func names(keys []Key) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = string(key)
	}
	return all
}

// label is how hints write a key.
func (k Key) label() string {
	if arrow, ok := arrows[k]; ok {
		return arrow
	}
	return string(k)
}

var arrows = map[Key]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

// Mode is the part of the screen that keys are for.
type Mode int

// The modes: those of the screen, then those of overlays and of lines of text.
const (
	Input Mode = iota
	View
	Command
	Pane
	HUD

	Line
	List
	ModelList
	SessionList
	CheckpointList
	TopicList
	FilterList
	Text
	RequestText
	Question
	QueueQuestion
	UndoQuestion
	RecoveryQuestion
	Editing
	modeCount
)

// modeNames are the names shown in the footer and used in the config.
var modeNames = [modeCount]string{
	Input: "INPUT", View: "VIEW", Command: "COMMAND", Pane: "PANE", HUD: "HUD",
	Line: "LINE", List: "LIST", ModelList: "MODELS", SessionList: "SESSIONS", CheckpointList: "CHECKPOINTS", TopicList: "TOPICS", FilterList: "FILTERS",
	Text: "TEXT", RequestText: "REQUEST", Question: "QUESTION", QueueQuestion: "QUEUE", UndoQuestion: "UNDO", RecoveryQuestion: "RECOVERY", Editing: "EDITING",
}

// extends are the modes with the keys of another as well; a key of their own goes first.
var extends = map[Mode]Mode{
	List: Line, ModelList: List, SessionList: List, CheckpointList: List, TopicList: List, FilterList: List,
	RequestText: Text, QueueQuestion: Question, UndoQuestion: Question, RecoveryQuestion: Question,
}

// String is the mode's name in the footer.
func (m Mode) String() string { return modeNames[m] }

// Map finds actions by key and mode, and the keys of an action.
type Map struct {
	// CtrlEnter says that ctrl+enter is known to arrive. Until then the texts name
	// ctrl+j as the key that sends.
	CtrlEnter bool

	actions []*Row
	byKey   [modeCount]map[Key]*Row
	keys    [modeCount]map[*Row][]Key
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
var reservedKeys = []Key{"ctrl+b", "ctrl+m", "ctrl+i", "ctrl+h"}

// New builds the map from the table and the user's bindings. Two actions on one key in
// one mode, an unknown mode or action, or a reserved key is an *Error. enterSends is
// send_key = "enter".
func New(enterSends bool, rebinds []Rebind) (*Map, error) {
	k := &Map{actions: table(enterSends)}
	for m := range k.keys {
		k.byKey[m], k.keys[m] = map[Key]*Row{}, map[*Row][]Key{}
	}
	for _, a := range k.actions {
		for _, m := range a.Modes {
			k.keys[m][a] = a.Keys
		}
	}
	for _, r := range rebinds {
		m := slices.Index(modeNames[:], strings.ToUpper(r.Mode))
		if m < 0 {
			return nil, &Error{r.Mode, r.Action, "there is no such mode; the modes are " + strings.ToLower(strings.Join(modeNames[:], ", "))}
		}
		a := k.named(Action(r.Action))
		if a == nil {
			return nil, &Error{r.Mode, r.Action, "there is no such action; winnow help keys lists them all"}
		}
		keys := make([]Key, len(r.Keys))
		for i, key := range r.Keys {
			if keys[i] = Key(key); slices.Contains(reservedKeys, keys[i]) {
				return nil, &Error{r.Mode, key, "terminals reserve this key"}
			}
		}
		k.keys[m][a] = keys
	}
	for m := range k.keys {
		for _, a := range k.actions { // in table order, so that errors are always the same
			for _, key := range k.keys[m][a] {
				if other, taken := k.byKey[m][key]; taken {
					return nil, &Error{Mode(m).String(), string(key), fmt.Sprintf("bound to both %s and %s", other.Name, a.Name)}
				}
				k.byKey[m][key] = a
			}
		}
	}
	return k, nil
}

// standard is the Map without bindings of the user.
var standard = sync.OnceValue(func() *Map {
	k, err := New(false, nil)
	if err != nil {
		panic(err) // the table contradicts itself
	}
	return k
})

// or is k, or for nil the Map without bindings of the user.
func (k *Map) or() *Map {
	if k == nil {
		return standard()
	}
	return k
}

// Find is the action of a key in a mode; nil for none.
func (k *Map) Find(m Mode, key Key) *Row {
	for k = k.or(); ; {
		if a := k.byKey[m][key]; a != nil {
			return a
		}
		more, ok := extends[m]
		if !ok {
			return nil
		}
		m = more
	}
}

// Action is the name of what a key does in a mode; "" is nothing.
func (k *Map) Action(m Mode, key Key) Action {
	if a := k.Find(m, key); a != nil {
		return a.Name
	}
	return ""
}

// Named is the action of this name; nil for none.
func (k *Map) Named(name Action) *Row { return k.or().named(name) }

func (k *Map) named(name Action) *Row {
	for _, a := range k.actions {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Home is the first mode of an action.
func Home(name Action) Mode { return standard().named(name).Modes[0] }

// Arrived learns from a key that the terminal sends it.
func (k *Map) Arrived(key Key) { k.CtrlEnter = k.CtrlEnter || key == ctrlEnter }

// In lists the actions that have a key in a mode, in table order.
func (k *Map) In(m Mode) (out []*Row) {
	for _, a := range k.actions {
		if len(k.keys[m][a]) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// Keys are the keys of an action in a mode. Where ctrl+enter may not arrive, ctrl+j
// comes first.
func (k *Map) Keys(m Mode, a *Row) []Key {
	keys := slices.Clone(k.keys[m][a])
	if a.Name == Send && !k.CtrlEnter {
		if i := slices.Index(keys, ctrlJ); i > 0 {
			keys = append([]Key{ctrlJ}, slices.Delete(keys, i, i+1)...)
		}
	}
	return keys
}

// Key is the first key of an action as hints write it, in mode m or else in another; "" when it has none.
func (k *Map) Key(m Mode, name Action) string {
	k = k.or()
	a := k.Named(name)
	if a == nil {
		return ""
	}
	for _, in := range append([]Mode{m}, a.Modes...) {
		if keys := k.Keys(in, a); len(keys) > 0 {
			return keys[0].label()
		}
	}
	return ""
}

// Clause formats a clause that names the key of an action; without a key it names the
// entry of the command palette, or is "".
func (k *Map) Clause(m Mode, format string, name Action) string {
	if key := k.Key(m, name); key != "" {
		return fmt.Sprintf(format, key)
	}
	if key := k.Key(m, Palette); key != "" && k.Named(name).Title != "" {
		return fmt.Sprintf(format, key+" “"+k.Named(name).Title+"”")
	}
	return ""
}

// Binding is an action with its keys in a mode, also those of the mode that it extends.
func (k *Map) Binding(m Mode, name Action) key.Binding {
	k = k.or()
	a := k.Named(name)
	for {
		if keys := k.Keys(m, a); len(keys) > 0 {
			return key.NewBinding(key.WithKeys(names(keys)...), key.WithHelp(keys[0].label(), a.Help))
		}
		more, ok := extends[m]
		if !ok {
			return key.NewBinding(key.WithDisabled())
		}
		m = more
	}
}

// Hint says what some actions do, in a word or two.
type Hint struct {
	Text    string
	Actions []Action
}

// To is the Hint of actions that have one text: "↑ ↓ move".
func To(text string, actions ...Action) Hint { return Hint{text, actions} }

// Hints names the keys of actions in a mode with what they do; an action without a key is
// left out.
func (k *Map) Hints(m Mode, hints ...Hint) string {
	var all []string
	for _, h := range hints {
		var keys []string
		for _, a := range h.Actions {
			if b := k.Binding(m, a); b.Enabled() {
				keys = append(keys, b.Help().Key)
			}
		}
		if len(keys) > 0 {
			all = append(all, strings.Join(append(keys, h.Text), " "))
		}
	}
	return strings.Join(all, " · ")
}
