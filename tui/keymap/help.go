package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// offered reports whether the palette contains an action; plainChat excludes those about
// rules.
func (a *Row) offered(plainChat bool) bool {
	onRules := a.Name == Save || a.Name == GoToPane || slices.Equal(a.Modes, inPane)
	return a.Title != "" && !(plainChat && onRules)
}

// Entry is an action in a list of actions.
type Entry struct {
	Action             Action
	Text, Extra, Short string // Short replaces Extra if that does not fit
	Brief              string // Text with the main clause alone; "" if that is all of it
	Group              string
}

// Palette returns the actions of the command palette, with their keys as Extra and the
// first key as Short; plainChat excludes those about rules.
func (k *Map) Palette(plainChat bool) (entries []Entry) {
	k = k.or()
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

// group returns an action's heading in the palette.
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

// UsualActions are the actions that the palette shows before the user types, after the recent
// ones.
var UsualActions = []Action{Save, Undo, AddIgnore, AddAllow, Models, Connect, NewSession, Sessions, Checkpoints, Filter, Settings, Help, Quit}

// Use describes what the keys of an action do in one mode.
type Use struct {
	Mode   string // as shown in the footer
	Action string // as named in the config
	Help   string // what it does, as a clause
	Keys   []string
	Line   [2]string // keys and help for a line; empty if the previous line covers it, as for 0 1 2 3
}

// Uses lists every action that has keys, by mode in the order of the help. Arguments and
// errors are those of New.
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

// Widths of the key column in help: enough for nearly all keys of a row, and for the first
// key on a narrow screen.
const (
	helpKeys     = 17
	helpFirstKey = 9
	helpWide     = 70 // minimum width of a screen that shows all keys
)

// Anywhere is the heading for actions available in INPUT and at least two more modes of the
// screen.
const Anywhere = "ANYWHERE"

// Help lists the keys by mode on a screen of w cells; keys that several modes have are
// listed once. Extra contains all keys of an action.
func (k *Map) Help(w int) []Entry {
	column := helpKeys
	if w < helpWide {
		column = helpFirstKey
	}
	k = k.or()
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

// mainClause returns a help text without what follows its first clause: "send" of "send;
// while a turn runs: queue".
func mainClause(help string) string {
	for _, end := range []string{"; ", ": ", ", ", " ("} {
		help, _, _ = strings.Cut(help, end)
	}
	return help
}

// HelpOnScreen lists the keys of the screen's modes on few lines: the first key of each
// action, an action and its opposite on one line, and the HUD's only in the HUD.
func (k *Map) HelpOnScreen(now Mode) (entries []Entry) {
	for _, e := range k.Help(0) {
		in := slices.IndexFunc(modeNames[:], func(name string) bool { return name == e.Group })
		if Mode(in) > HUD || Mode(in) == HUD && now != HUD {
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

// opposites merges two entries whose help texts differ only in one word and its opposite.
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

// helpGroup returns the heading of an action in a mode: all modes of the screen in which it
// has these keys. first is false if one of these modes came before.
func (k *Map) helpGroup(a *Row, in Mode) (group string, first bool) {
	if in > HUD {
		return in.String(), true
	}
	keys := k.Keys(in, a)
	var shared []string
	first = true
	for m := Input; m <= HUD; m++ {
		if m != Command && slices.Equal(k.Keys(m, a), keys) {
			first = first && (len(shared) > 0 || m == in)
			shared = append(shared, m.String())
		}
	}
	switch {
	case in == Command: // Command also has the keys of all modes
		return in.String(), len(shared) == 0
	case len(shared) > 2 && shared[0] == Input.String():
		return Anywhere, first
	case len(shared) > 2:
		shared = shared[:len(shared)-1] // the HUD need not be mentioned
	}
	return strings.Join(shared, ", "), first
}

// row returns an action as a line of help.
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
