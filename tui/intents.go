package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// intent is what a child asks the Model to do. The Model carries it out at once, except that
// an act waits for the acts before it; nil means nothing. A child does not know the Model.
//
//sumtype:decl
type intent interface{ intent() }

type (
	// several contains intents that are carried out in order.
	several []intent
	// run starts a command that needs nothing from the Model: a timer, or work that would take
	// longer than a frame.
	run struct{ cmd tea.Cmd }
	// notify shows a sentence in the footer: the text, followed by the clauses in keys whose
	// actions have a key.
	notify struct {
		text safetext.Text
		keys []clause
	}
	// warn shows a sentence about a failure.
	warn struct{ text safetext.Text }
	// clearNotice removes the sentence in the footer.
	clearNotice struct{}
	// showError shows an error, with advice.
	showError struct{ err error }
	// open opens an overlay; chosen returns the intent for the user's choice in the overlay.
	open struct {
		kind    overlay.Kind
		overlay overlay.Overlay
		chosen  func(overlay.Chosen) intent
	}
	// question asks the user; see (*Model).question.
	question struct {
		kind     overlay.Kind
		title    safetext.Text
		lines    []string
		fallback keymap.Action
		answered func(keymap.Action) intent
		answers  []overlay.Answer
	}
	// act starts a change after the acts before it have ended or, if now is set, at once. begin
	// is called only when the act starts, and reads the parts then.
	act struct {
		now   bool
		begin func(p *parts, request int64) intent
	}
	// useCase runs a use case.
	useCase func(*usecase.Commands) tea.Cmd
	// query numbers and runs a use case that only reads.
	query func(c *usecase.Commands, request int64) tea.Cmd
	// giveBack returns the text of a sent message to the box, if the box is empty.
	giveBack struct{ text string }
	// restored shows the window and the conversation after a rollback; warning says what
	// failed afterwards, "" if nothing did.
	restored struct {
		said    notify
		warning safetext.Text
	}
	// readEffects reads the effects of the proposals that wait for the user.
	readEffects struct{}
	// cancelTurn cancels the running turn.
	cancelTurn struct{}
	// saveAndQuit saves, and then ends the program.
	saveAndQuit struct{}
	// end ends the program.
	end struct{}
	// completeWord lists the completions of the word before the cursor of the box.
	completeWord struct{ word string }
	// storeDraft stores the content of the box.
	storeDraft struct{ draft history.Draft }
	// loadMissing loads the pairs on the screen that are not loaded yet.
	loadMissing struct{}
	// loadPairs loads pairs.
	loadPairs struct{ seqs []int64 }
	// findText finds the pairs of the whole history that contain a text, see
	// (*conversation).onFound; it is an act, so later keys wait for the result.
	findText struct {
		text string
		back markdown.Direction
	}
	// copyText copies text to the clipboard.
	copyText struct {
		what string // what the notice calls the text
		text string
		safe func(string) safetext.Text // makes the text safe to paste; nil means safetext.Clean
	}
	// waitApplied waits until a save made on this screen is applied; escape cancels applying it.
	waitApplied struct{}
	// endReAsk means that the text in the box no longer replaces a failed message.
	endReAsk struct{}
	// countPairs counts the pairs that a filter line selects, see (*commandLine).onCounted.
	countPairs struct{ line string }
)

func (several) intent()      {}
func (run) intent()          {}
func (notify) intent()       {}
func (warn) intent()         {}
func (question) intent()     {}
func (act) intent()          {}
func (open) intent()         {}
func (query) intent()        {}
func (useCase) intent()      {}
func (giveBack) intent()     {}
func (restored) intent()     {}
func (readEffects) intent()  {}
func (cancelTurn) intent()   {}
func (saveAndQuit) intent()  {}
func (waitApplied) intent()  {}
func (end) intent()          {}
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

// clause is a format with the action whose key it names, as in " · %s brings it back".
type clause struct {
	format string
	action keymap.Action
}

// change returns an act that runs a use case and does not read the parts.
func change(do func(c *usecase.Commands, request int64) tea.Cmd) act {
	return act{begin: func(_ *parts, request int64) intent {
		return useCase(func(c *usecase.Commands) tea.Cmd { return do(c, request) })
	}}
}

// confirm returns a question with the answers AnswerYes, which carries out do, and AnswerNo.
// yes and no are the labels of the answers.
func confirm(title safetext.Text, lines []string, yes, no string, do intent) question {
	return question{overlay.Confirm, title, lines, keymap.AnswerNo, func(answer keymap.Action) intent {
		if answer != keymap.AnswerYes {
			return notify{text: "nothing was changed"}
		}
		return do
	}, []overlay.Answer{says(keymap.AnswerYes, yes), says(keymap.AnswerNo, no)}}
}

// carryOut does what an intent asks for.
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
	case warn:
		m.notice.Fail(i.text)
	case clearNotice:
		m.notice.Clear()
	case showError:
		return m.fail(i.err)
	case question:
		answered := func(answer keymap.Action) tea.Cmd { return m.carryOut(i.answered(answer)) }
		return m.question(i.kind, i.title, i.lines, i.fallback, answered, i.answers...)
	case act:
		begin := func(request int64) tea.Cmd { return m.carryOut(i.begin(&m.parts, request)) }
		if i.now {
			return begin(m.acts.query())
		}
		return m.acts.add(begin)
	case useCase:
		return i(&m.commands)
	case query:
		return i(&m.commands, m.acts.query())
	case open:
		return m.open(i.kind, i.overlay, func(c overlay.Chosen) tea.Cmd { return m.carryOut(i.chosen(c)) })
	case end:
		return m.end()
	default:
		return m.carryOutPart(i)
	}
	return nil
}

// carryOutPart is the second half of carryOut.
func (m *Model) carryOutPart(i intent) tea.Cmd {
	switch i := i.(type) {
	case completeWord:
		return m.completeWord(i.word)
	case storeDraft:
		return m.commands.StoreDraft(m.acts.query(), i.draft, 0)
	case endReAsk:
		m.input.editing = 0
		m.commands.EndReAsk()
	case giveBack:
		m.input.giveBack(i.text)
	case loadMissing:
		return m.loadMissing()
	case loadPairs:
		return m.load(i.seqs...)
	case findText:
		if !m.commands.Stores() { // without a history, only the loaded pairs are searched
			return m.carryOut(m.conv.onFound(usecase.Found{Text: i.text, Backward: i.back}))
		}
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.FindText(request, i.text, i.back) })
	case copyText:
		return m.copyOut(i)
	case countPairs:
		if !m.commands.Stores() {
			m.command.line.SetHint("")
			return nil
		}
		return m.commands.CountFilter(m.acts.query(), i.line)
	case restored:
		return m.restored(i.said, i.warning)
	case readEffects:
		return m.computeEffects()
	case cancelTurn:
		m.commands.Cancel()
	case waitApplied:
		m.applying = m.acts.query()
		return m.commands.WaitApplied(m.applying)
	case saveAndQuit:
		return m.carryOut(m.saving.begin(true))
	case several, run, notify, warn, clearNotice, showError, open, question, act, useCase, query, end: // handled by carryOut
	}
	return nil
}
