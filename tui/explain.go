package tui

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
