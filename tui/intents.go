package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/usecase"
)

// intent is what a child asks the Model to do, at once, in the order of the keys: one of
// these; nil is nothing. A child knows neither the Model nor the use cases.
//
//sumtype:decl
type intent interface{ intent() }

type (
	// several are carried out in order.
	several []intent
	// run starts a command that needs nothing but the child: a timer, or what would take
	// longer than a frame.
	run struct{ cmd tea.Cmd }
	// notify shows a sentence in the footer: the text, then the clauses whose keys are bound.
	notify struct {
		text string
		keys []clause
	}
	// clearNotice shows no sentence.
	clearNotice struct{}
	// showError shows an error, with what to do about it.
	showError struct{ err error }
	// completeWord lists what completes the word before the cursor of the box.
	completeWord struct{ word string }
	// storeDraft stores what is in the box.
	storeDraft struct{ draft history.Draft }
	// loadMissing loads the pairs on the screen that are not loaded.
	loadMissing struct{}
	// loadPairs loads pairs.
	loadPairs struct{ seqs []int64 }
	// findText finds the pairs of the whole history that contain a text, see
	// (*conversation).onFound; keys wait for it.
	findText struct {
		text string
		back bool
	}
	// copyText copies a text; what says in words what it is.
	copyText struct{ what, text string }
	// endReAsk says that the text in the box no longer replaces a failed message.
	endReAsk struct{}
	// countPairs counts the pairs that a filter line selects, see (*commandLine).onCounted.
	countPairs struct{ line string }
)

func (several) intent()      {}
func (run) intent()          {}
func (notify) intent()       {}
func (clearNotice) intent()  {}
func (showError) intent()    {}
func (completeWord) intent() {}
func (storeDraft) intent()   {}
func (loadMissing) intent()  {}
func (loadPairs) intent()    {}
func (findText) intent()     {}
func (copyText) intent()     {}
func (endReAsk) intent()     {}
func (countPairs) intent()   {}

// clause names the key of an action, as in " · %s brings it back".
type clause struct {
	format string
	action keymap.Action
}

// carryOut does what a child asks for.
func (m *Model) carryOut(i intent) tea.Cmd {
	switch i := i.(type) {
	case nil:
	case several:
		cmds := make([]tea.Cmd, len(i))
		for n, each := range i {
			cmds[n] = m.carryOut(each)
		}
		return tea.Batch(cmds...)
	case run:
		return i.cmd
	case notify:
		for _, key := range i.keys {
			i.text += m.hint(key.format, key.action)
		}
		m.notice.Info(i.text)
	case clearNotice:
		m.notice.Clear()
	case showError:
		return m.fail(i.err)
	case completeWord:
		return m.completeWord(i.word)
	case storeDraft:
		return m.commands.StoreDraft(m.acts.query(), i.draft, 0)
	case loadMissing:
		return m.loadMissing()
	case loadPairs:
		return m.load(i.seqs...)
	case findText:
		if !m.commands.Stores() { // the loaded ones alone
			return m.carryOut(m.conv.onFound(usecase.Found{Text: i.text, Back: i.back}))
		}
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.FindText(request, i.text, i.back) })
	case copyText:
		return m.copyOut(i.what, i.text)
	case endReAsk:
		m.commands.EndReAsk()
	case countPairs:
		if !m.commands.Stores() {
			m.command.line.SetHint("")
			return nil
		}
		return m.commands.CountFilter(m.acts.query(), i.line)
	}
	return nil
}
