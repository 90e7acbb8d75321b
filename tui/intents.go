package tui

import (
	tea "charm.land/bubbletea/v2"
)

// intent is what a child asks the Model to do, at once, in the order of the keys: one of these;
// nil is nothing. A child knows neither the Model nor the use cases.
//
//sumtype:decl
type intent interface{ intent() }

// countPairs counts the pairs that a filter line selects, see (*commandLine).onCounted.
type countPairs struct{ line string }

func (countPairs) intent() {}

// carryOut does what a child asks for.
func (m *Model) carryOut(i intent) tea.Cmd {
	switch i := i.(type) {
	case countPairs:
		if !m.commands.Stores() {
			m.command.line.SetHint("")
			return nil
		}
		return m.commands.CountFilter(m.query(), i.line)
	case nil:
	}
	return nil
}
