// Package keymap defines everything the user can do, with the keys and slash commands for
// it.
//
// # Types
//
// An Action names something the user can do; a Row of the table describes the action as
// pure data. The screen implements the action. A Mode is a part of the screen with its own
// keys; overlays such as a list or a question have modes too. A Map contains the actions
// with the keys they are bound to, and generates help, hints and the key table of the
// README; a Rebind is a key binding set by the user. A Key has the name that Bubble Tea
// uses.
//
// A SlashCommand is what the user types into the message box, such as /help or /model NAME.
// CommandTable lists the commands of both front ends; Commands adds every other action of
// the screen under its own name. ParseCommand distinguishes a command from a message, and
// FindCommand looks up a command.
//
// # How to add an action
//
// Name the action in actions.go and describe it in table.go, or in overlays.go if its key
// works in a list, a text or a question. Implement it in package tui, in actions.go or
// where the overlay is opened. Add it to TestSpecifiedKeys and to the tests of the key
// table. Help, footer, palette, slash command and rebinding are derived from the Row; hints
// that depend on the state are in tui/header.go.
//
// # Caveats
//
// A draft is a command, known or unknown, only if it is a single line whose first word is a
// slash followed by letters, digits or hyphens; for example, /etc/hosts begins a message.
// To send a message that looks like a command, begin it with two slashes or a space.
//
// # Concurrency
//
// A Map must be used only by the update loop of its screen; the package's functions may be
// called from any goroutine.
package keymap

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"charm.land/bubbles/v2/key"

	"winnow/assistant/safetext"
)

// Row describes something the user can do with a key, or by name in the command palette.
type Row struct {
	Name  Action
	Title string // title in the palette; "" excludes the action, because it only makes sense with a key
	Help  string // what the key does, for help, footer and README
	Modes []Mode // modes in which the keys work
	Keys  []Key  // default keys
	Hint  string // text in the footer; "" means Help
	Group string // heading in the palette; "" means that Modes determines it
	// Footer is the rank of the action in the footer: 1 is first, 0 is never shown. Actions of
	// equal rank are in table order; what does not fit is left out.
	Footer int
	// Anywhere means that the keys of the action take precedence over a focused text line.
	Anywhere bool
	// Early means that the action works before the session is open.
	Early bool
}

// Key is the name of a key: "enter", "ctrl+s".
type Key string

func names(keys []Key) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = string(key)
	}
	return all
}

// label returns the key in the form used in hints.
func (k Key) label() string {
	if arrow, ok := arrows[k]; ok {
		return arrow
	}
	return string(k)
}

var arrows = map[Key]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

// Mode is a part of the screen with its own keys.
type Mode int

// The modes: first the modes of the screen, then the modes of overlays and text lines.
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
	SettingList
	Text
	RequestText
	Question
	QueueQuestion
	UndoQuestion
	RecoveryQuestion
	Editing
	modeCount
)

// modeNames are the names of the modes in the footer and the config.
var modeNames = [modeCount]string{
	Input: "INPUT", View: "VIEW", Command: "COMMAND", Pane: "PANE", HUD: "HUD",
	Line: "LINE", List: "LIST", ModelList: "MODELS", SessionList: "SESSIONS", CheckpointList: "CHECKPOINTS", TopicList: "TOPICS", FilterList: "FILTERS", SettingList: "SETTINGS",
	Text: "TEXT", RequestText: "REQUEST", Question: "QUESTION", QueueQuestion: "QUEUE", UndoQuestion: "UNDO", RecoveryQuestion: "RECOVERY", Editing: "EDITING",
}

// extends maps a mode to another mode whose keys also work in it. The keys of the extending
// mode take precedence.
var extends = map[Mode]Mode{
	List: Line, ModelList: List, SessionList: List, CheckpointList: List, TopicList: List, FilterList: List, SettingList: List,
	RequestText: Text, QueueQuestion: Question, UndoQuestion: Question, RecoveryQuestion: Question,
}

// String returns the name of the mode in the footer.
func (m Mode) String() string { return modeNames[m] }

// Map finds actions by key and mode, and the keys of actions.
type Map struct {
	// CtrlEnter means that the terminal is known to send ctrl+enter. Until then, texts name
	// ctrl+j as the send key.
	CtrlEnter bool

	actions []*Row
	byKey   [modeCount]map[Key]*Row
	keys    [modeCount]map[*Row][]Key
}

// Error reports an invalid key binding in the config.
type Error struct {
	Mode   string
	Key    string // the key, or the name of the action if the mode or the action is invalid
	Reason string
}

// Error names the mode, the key and the reason.
func (e *Error) Error() string { return fmt.Sprintf("keys: %s: %s: %s", e.Mode, e.Key, e.Reason) }

// Rebind is one line of [keys.MODE] in the config: an action and the keys that replace its
// default keys in that mode.
type Rebind struct {
	Mode   string
	Action string
	Keys   []string
}

// reservedKeys are used by terminals and multiplexers: ctrl+b is the prefix of tmux, and
// ctrl+m, ctrl+i and ctrl+h arrive as enter, tab and backspace.
var reservedKeys = []Key{"ctrl+b", "ctrl+m", "ctrl+i", "ctrl+h"}

// New builds the map from the table and the user's bindings. It returns an *Error if two
// actions have the same key in one mode, or if a binding has an unknown mode, an unknown
// action or a reserved key. enterSends means that the config has send_key = "enter".
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
				return nil, &Error{r.Mode, key, "terminals or tmux use this key themselves"}
			}
		}
		k.keys[m][a] = keys
	}
	for m := range k.keys {
		for _, a := range k.actions { // in table order, so that the same error is reported each time
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

// standard returns the Map without the user's bindings.
var standard = sync.OnceValue(func() *Map {
	k, err := New(false, nil)
	if err != nil {
		panic(err) // the table has conflicting keys
	}
	return k
})

// orStandard returns k or, if k is nil, the Map without the user's bindings.
func (k *Map) orStandard() *Map {
	if k == nil {
		return standard()
	}
	return k
}

// Find returns the action that a key has in a mode or in the modes that it extends; nil if
// there is none.
func (k *Map) Find(m Mode, key Key) *Row {
	for k = k.orStandard(); ; {
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

// Action returns the name of the action that a key has in a mode, or "".
func (k *Map) Action(m Mode, key Key) Action {
	if a := k.Find(m, key); a != nil {
		return a.Name
	}
	return ""
}

// Named returns the action with the given name, or nil.
func (k *Map) Named(name Action) *Row { return k.orStandard().named(name) }

func (k *Map) named(name Action) *Row {
	for _, a := range k.actions {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Home returns the first of the modes in which an action has keys.
func Home(name Action) Mode { return standard().named(name).Modes[0] }

// Arrived records that the terminal has sent a key.
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

// Keys returns the keys of an action in a mode. Until ctrl+enter is known to arrive, ctrl+j
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

// Key returns the first key of an action in the form used in hints: its key in mode m or,
// if there is none, in another mode; "" if the action has no key.
func (k *Map) Key(m Mode, name Action) string {
	k = k.orStandard()
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

// Clause formats a clause with the key of an action. If the key does not work in mode m,
// the clause names the screen mode in which it works. If the action has no key, the clause
// names its entry in the command palette; without such an entry, Clause returns "".
func (k *Map) Clause(m Mode, format string, name Action) safetext.Text {
	if key := k.Key(m, name); key != "" {
		return safetext.Sprintf(format, key+k.elsewhere(m, name))
	}
	if key := k.Key(m, Palette); key != "" && k.Named(name).Title != "" {
		return safetext.Sprintf(format, key+" “"+k.Named(name).Title+"”")
	}
	return ""
}

// elsewhere returns " in MODE" if an action has a key only in another mode of the screen.
// It never names the mode of an overlay, because overlay keys are only shown while the
// overlay is open.
func (k *Map) elsewhere(m Mode, name Action) string {
	if k.Binding(m, name).Enabled() {
		return ""
	}
	k = k.orStandard()
	a := k.Named(name)
	for _, in := range a.Modes {
		if len(k.Keys(in, a)) == 0 {
			continue
		}
		if in == View || in == Pane || in == Input {
			return " in " + in.String()
		}
		return ""
	}
	return ""
}

// Binding returns the keys of an action in a mode or, if it has none there, in the modes that
// the mode extends. Without any keys, the binding is disabled.
func (k *Map) Binding(m Mode, name Action) key.Binding {
	k = k.orStandard()
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

// Hint describes in a word or two what some actions do.
type Hint struct {
	Text    string
	Actions []Action
}

// To returns a Hint for actions that share one text, as in "↑ ↓ move".
func To(text string, actions ...Action) Hint { return Hint{text, actions} }

// Hints lists the keys of actions in a mode, each with what it does; actions without a key
// are left out.
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
