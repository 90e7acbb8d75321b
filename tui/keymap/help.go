package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// offered reports whether the palette contains an action; plainChat excludes the actions
// about rules.
func (a *Row) offered(plainChat bool) bool {
	onRules := a.Name == Save || a.Name == GoToPane || slices.Equal(a.Modes, inPane)
	return a.Title != "" && !(plainChat && onRules)
}

// Entry is an action in a list of actions.
type Entry struct {
	Action             Action
	Text, Extra, Short string // Short replaces Extra if Extra does not fit
	Brief              string // the main clause of Text; "" if Text has no other clause
	Group              string
}

// Palette returns the actions of the command palette, with all keys as Extra and the first
// key as Short. plainChat excludes the actions about rules.
func (k *Map) Palette(plainChat bool) (entries []Entry) {
	k = k.orStandard()
	for _, a := range k.actions {
		if !a.offered(plainChat) {
			continue
		}
		var keys []Key
		for _, in := range a.Modes {
			for _, key := range k.Keys(in, a) {
				if !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
		e := Entry{Action: a.Name, Text: a.Title, Extra: strings.Join(names(keys), " "), Group: a.group()}
		if len(keys) > 0 {
			e.Short = string(keys[0])
		}
		entries = append(entries, e)
	}
	return entries
}

// group returns the heading of an action in the palette.
func (a *Row) group() string {
	switch {
	case a.Group != "":
		return a.Group
	case slices.Equal(a.Modes, inPane):
		return "Rules"
	case slices.Equal(a.Modes, inView):
		return "Messages"
	}
	return "winnow"
}

// UsualActions are the actions that the palette shows before the user types, after the
// recently chosen actions.
var UsualActions = []Action{Save, Undo, AddIgnore, AddAllow, Models, Connect, NewSession, Sessions, Checkpoints, Filter, Settings, Help, Quit}

// Use describes what the keys of an action do in one mode.
type Use struct {
	Mode   string // name of the mode, as shown in the footer
	Action string // name of the action, as used in the config
	Help   string // what the keys do, as a clause
	Keys   []string
	Line   [2]string // keys and help text for one line; empty if an earlier line covers the action, as for 0 1 2 3
}

// Uses lists every action that has keys, by mode in the order of the help. The arguments
// and errors are the same as for New.
func Uses(enterSends bool, rebinds []Rebind) (uses []Use, err error) {
	k, err := New(enterSends, rebinds)
	for m := Input; err == nil && m < modeCount; m++ {
		for _, a := range k.In(m) {
			keys, help, _ := a.row(k.keys[m][a])
			uses = append(uses, Use{m.String(), string(a.Name), a.Help, names(k.keys[m][a]), [2]string{keys, help}})
		}
	}
	return uses, err
}

// Widths of the key column in the help: helpKeys holds nearly all lists of keys,
// helpFirstKey holds one key and is used on narrow screens.
const (
	helpKeys     = 17
	helpFirstKey = 9
	helpWide     = 70 // minimum width of a screen whose help shows all keys
)

// Anywhere is the heading for actions that are available in INPUT and in at least two other
// modes of the screen.
const Anywhere = "ANYWHERE"

// Help lists the keys by mode for a screen of w cells; keys that work in several modes are
// listed once. Text and Brief contain the first key or all keys, depending on w; Extra always
// contains all keys and the help text.
func (k *Map) Help(w int) []Entry {
	column := helpKeys
	if w < helpWide {
		column = helpFirstKey
	}
	k = k.orStandard()
	var order []string
	groups := map[string][]Entry{}
	for in := Input; in < modeCount; in++ {
		for _, a := range k.In(in) {
			group, first := k.helpGroup(a, in)
			all := k.Keys(in, a)
			keys, help, ok := a.row(all)
			if !ok || !first {
				continue
			}
			e := Entry{Action: a.Name, Extra: keys + "  " + help, Group: group}
			if column == helpFirstKey && len(all) > 1 {
				keys = string(all[0])
			}
			e.Text = fmt.Sprintf("%-*s  %s", column, keys, help)
			if main := mainClause(help); main != help {
				e.Brief = fmt.Sprintf("%-*s  %s", column, keys, main)
			}
			if groups[group] == nil {
				order = append(order, group)
			}
			groups[group] = append(groups[group], e)
		}
	}
	var entries []Entry
	for _, group := range order {
		entries = append(entries, groups[group]...)
	}
	return entries
}

// mainClause returns the first clause of a help text: "send" for "send; while a turn runs:
// queue".
func mainClause(help string) string {
	for _, end := range []string{"; ", ": ", ", ", " ("} {
		help, _, _ = strings.Cut(help, end)
	}
	return help
}

// HelpOnScreen lists the keys of the screen's modes on few lines. An action and its
// opposite share a line, and the keys of the HUD are listed only if current is the HUD.
func (k *Map) HelpOnScreen(current Mode) (entries []Entry) {
	for _, e := range k.Help(0) {
		in := slices.IndexFunc(modeNames[:], func(name string) bool { return name == e.Group })
		if Mode(in) > HUD || Mode(in) == HUD && current != HUD {
			continue
		}
		if last := len(entries) - 1; last >= 0 && entries[last].Group == e.Group {
			if both, ok := opposites(entries[last], e); ok {
				entries[last] = both
				continue
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// opposite maps words in help texts to their opposites.
var opposite = map[string]string{"next": "previous", "previous": "next", "down": "up", "first": "last", "earlier": "later"}

// opposites merges two entries whose help texts differ in a single word, if these words are
// opposites.
func opposites(a, b Entry) (both Entry, ok bool) {
	aKeys, aHelp, _ := strings.Cut(a.Text, " ")
	bKeys, bHelp, _ := strings.Cut(b.Text, " ")
	was, is := strings.Fields(aHelp), strings.Fields(bHelp)
	if len(was) != len(is) {
		return a, false
	}
	for i, word := range was {
		switch {
		case word == is[i]:
		case opposite[word] == is[i] && !ok:
			ok, was[i] = true, word+"/"+is[i]
		default:
			return a, false
		}
	}
	a.Text = fmt.Sprintf("%-*s  %s", helpFirstKey, aKeys+" "+bKeys, strings.Join(was, " "))
	a.Extra += " · " + b.Extra
	a.Brief = ""
	return a, ok
}

// helpGroup returns the heading of an action in a mode: Anywhere, or the names of the screen
// modes in which the action has the same keys. first is false if one of these modes comes
// before mode.
func (k *Map) helpGroup(a *Row, mode Mode) (group string, first bool) {
	if mode > HUD {
		return mode.String(), true
	}
	keys := k.Keys(mode, a)
	var shared []string
	first = true
	for m := Input; m <= HUD; m++ {
		if m != Command && slices.Equal(k.Keys(m, a), keys) {
			first = first && (len(shared) > 0 || m == mode)
			shared = append(shared, m.String())
		}
	}
	switch {
	case mode == Command: // a key that COMMAND shares with other modes is listed with them
		return mode.String(), len(shared) == 0
	case len(shared) > 2 && shared[0] == Input.String():
		return Anywhere, first
	case len(shared) > 2:
		shared = shared[:len(shared)-1] // leave out the HUD, the last of the modes
	}
	return strings.Join(shared, ", "), first
}

// row returns an action as the keys and the text of a help line; ok is false if another
// line covers the action.
func (a *Row) row(bound []Key) (keys, help string, ok bool) {
	keys = strings.Join(names(bound), " ")
	isDigit := strings.HasPrefix(string(a.Name), "choose-") || strings.HasPrefix(string(a.Name), "star-")
	switch {
	case a.Name == Choose(1) && keys == "alt+1":
		return "alt+1 … alt+9", "choose a suggestion", true
	case a.Name == Stars(0) && keys == "0":
		return "0 1 2 3", "stars", true
	case slices.Equal(bound, a.Keys) && isDigit:
		return "", "", false
	}
	return keys, a.Help, a.Help != "" && len(bound) > 0
}
