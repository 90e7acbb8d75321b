package tui

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/status"
	"winnow/tui/usecase"
)

// perform carries out an action of a pane.
func (m *Model) perform(a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case pane.Edit:
		return m.edit(a)
	case pane.Notify:
		m.notice.Show(a.Text, a.IsError)
	case pane.SetFilter:
		return m.runLine(a.Line)
	case pane.SelectTopic:
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.SelectTopic(request, a.Path) })
	case pane.Pick:
		return m.open(overlay.Provider, overlay.NewPicker(a.Title, a.Entries, 0), func(c overlay.Chosen) tea.Cmd {
			return m.perform(a.Then(c.Value))
		})
	case pane.Confirm:
		return m.ask(a.Title, a.Lines, a.Yes, "don't "+a.Yes, func() tea.Cmd { return m.perform(a.Then()) })
	case pane.Compute:
		m.notice.Info(a.Doing)
		return func() tea.Msg {
			result, err := a.Run()
			return computedMsg{result, err}
		}
	case pane.Discard:
		return m.carryOut(m.discarding.begin(discardUnsaved, false))
	case pane.Nothing:
	}
	return nil
}

// computedMsg is the result of a pane.Compute.
type computedMsg struct {
	result any
	err    error
}

func (m *Model) onComputed(msg computedMsg) tea.Cmd {
	receiver, ok := m.pane.(pane.Receiver)
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case !ok:
		return nil
	}
	return m.perform(receiver.Receive(msg.result))
}

// edits are acts of the pane that are in progress. The zero value contains none.
type edits struct {
	begun        map[int64]pane.Edit // by request number
	quiet        []pane.Edit         // requested without a key press, see paneWants; the first is running
	quietRequest int64               // request of the running quiet act
}

// edit carries out an act of the pane. If the act makes a step, it waits for the acts before
// it, and keys wait for it to end.
func (m *Model) edit(e pane.Edit) tea.Cmd {
	if e.Act.Step() == "" {
		m.notice.Info(e.Doing)
		return m.beginEdit(m.acts.query(), e)
	}
	return m.acts.add(func(request int64) tea.Cmd {
		if err := m.parts.refused(); err != nil {
			return m.fail(err)
		}
		return m.beginEdit(request, e)
	})
}

func (m *Model) beginEdit(request int64, e pane.Edit) tea.Cmd {
	if m.edits.begun == nil {
		m.edits.begun = map[int64]pane.Edit{}
	}
	m.edits.begun[request] = e
	return m.commands.Edit(request, e.Act, e.Revision)
}

// onEditEnded shows how an act of the pane has ended.
func (m *Model) onEditEnded(e pane.Edit, o usecase.Outcome) tea.Cmd {
	edited, ok := o.(usecase.Edited)
	if failed, isFailed := o.(usecase.Failed); isFailed {
		return m.fail(failed.Err)
	}
	switch {
	case !ok:
		return nil
	case e.Act.Step() == "":
		return m.info(edited.Done)
	}
	notice := edited.Done + m.hint(" · %s undoes it", keymap.Undo)
	if !e.ViewOnly && m.pane.Status().Unsaved > 0 {
		notice += m.hint(", %s saves", keymap.Save)
	}
	m.notice.Info(notice)
	return m.computeEffects()
}

// paneWants starts the acts that the pane requests without a key press, one at a time. Of
// waiting acts with the same type, only the newest is kept.
func (m *Model) paneWants() tea.Cmd {
	if m.loading {
		return nil
	}
	e, ok := m.pane.Wants()
	if !ok {
		return nil
	}
	q := &m.edits.quiet
	for i := 1; i < len(*q); i++ {
		if reflect.TypeOf((*q)[i].Act) == reflect.TypeOf(e.Act) {
			(*q)[i] = e
			return nil
		}
	}
	if *q = append(*q, e); len(*q) > 1 {
		return nil
	}
	return m.nextQuiet()
}

func (m *Model) nextQuiet() tea.Cmd {
	if len(m.edits.quiet) == 0 {
		return nil
	}
	e := m.edits.quiet[0]
	m.edits.quietRequest = m.acts.query()
	return m.commands.Edit(m.edits.quietRequest, e.Act, e.Revision)
}

// onQuiet starts the next quiet act. Of the act that has ended it reports only a failure.
func (m *Model) onQuiet(o usecase.Outcome) tea.Cmd {
	m.edits.quiet = m.edits.quiet[1:]
	if failed, ok := o.(usecase.Failed); ok && !errors.Is(failed.Err, history.ErrClosed) {
		m.fail(failed.Err)
	}
	return m.nextQuiet()
}

// clientAction performs an action suggested by the model: an action of the key table, or
// else an action of the pane. The query of a pane action, if there is one, is typed into the
// text line that the pane opens.
func (m *Model) clientAction(a assistant.SuggestedAction) tea.Cmd {
	name := pane.ActionName(a.Action)
	if m.keys.Named(name) != nil {
		return m.do(name)
	}
	cmd := m.perform(m.pane.Do(name))
	var data struct{ Query string }
	if json.Unmarshal(a.Data, &data) == nil && data.Query != "" && m.pane.Typing() {
		m.setMode(keymap.Pane)
		cmd = tea.Batch(cmd, m.perform(m.pane.Key("", string(oneLine(data.Query)))))
	}
	return cmd
}

// onNoticed shows a notice that comes from outside the screen.
func (m *Model) onNoticed(msg Noticed) tea.Cmd {
	m.pane.Changed()
	if msg.Text != "" {
		m.notice.Info(msg.Text)
	}
	m.fail(msg.Err)
	if msg.Err != nil && m.parts.modelID() == "" {
		m.noModel = msg.Err
	}
	if msg.NoAnswer != nil {
		m.unanswered.model, m.unanswered.why = m.parts.modelID(), msg.NoAnswer
	}
	if msg.Pairs {
		m.hud.Reload()
		return tea.Batch(m.commands.Refilter(m.acts.query(), msg.By), m.load(m.conv.chat.Loaded()...))
	}
	return nil
}

// onOthers shows what other users have done in a shared window.
func (m *Model) onOthers(msg usecase.LogRead) tea.Cmd {
	for _, c := range msg.Done {
		m.notice.Add(status.ChangeSentence(c))
	}
	marked := len(msg.Done) > 0 && !m.parts.saves() // the window is the chat history: its changes are marks of pairs
	if !marked && !msg.Missed {
		return nil
	}
	return m.onNoticed(Noticed{Pairs: true})
}

// waitSavedChange waits for the next change that another program makes to the saved state.
func waitSavedChange(changes <-chan assistant.SavedChange) tea.Cmd {
	if changes == nil {
		return nil
	}
	return func() tea.Msg {
		if change, open := <-changes; open {
			return savedChangedMsg{change}
		}
		return nil
	}
}

// onSavedChanged reports a change to the saved rules by another program: a conflict, a deleted
// file, or rules that are now loaded.
func (m *Model) onSavedChanged(msg savedChangedMsg) tea.Cmd {
	m.pane.Changed()
	switch {
	case msg.change.Conflict != nil:
		m.notice.Fail("another program changed the file, and its changes conflict with yours" + m.hint(" · %s compares them", keymap.Save))
	case msg.change.Deleted:
		m.notice.Fail(oneLine(msg.change.Outcome()) + m.hint(" · %s creates it again with only the "+m.parts.state(), keymap.Save))
	default:
		m.notice.Info(oneLine(msg.change.Outcome()) + " · its rules are loaded")
	}
	return tea.Batch(m.computeEffects(), waitSavedChange(m.opts.Changes))
}

// quitTime limits how long quitting waits: first for acts and keys, then for the draft to
// be stored.
const quitTime = time.Second

// end stores the draft and quits.
func (m *Model) end() tea.Cmd {
	if !m.ready {
		return tea.Quit // see Typed
	}
	m.ending = m.acts.query()
	return m.commands.StoreDraft(m.ending, m.input.drafted(), quitTime)
}

// StoreDraft stores an unsaved draft, for example after a signal, unless storing it has
// already failed when quitting. Call it after the program has ended. Typed returns the
// texts that could not be stored.
func (m *Model) StoreDraft(ctx context.Context) error {
	stored := m.input.draft.Text() == m.input.saved && len(m.input.outbox) == 0
	if m.ready && m.unstored == nil && !stored {
		m.unstored = m.commands.SaveDraft(ctx, m.input.drafted())
	}
	return m.unstored
}

// choose handles a number key; i counts from 0. The numbers choose an answer to the question
// about enter, a button of the cancelled card, a line of the welcome, or a suggestion of the
// newest answer.
func (m *Model) choose(i int) tea.Cmd {
	switch m.numbersOf() {
	case ofEnterQuestion:
		return m.answerEnter(i)
	case ofCancelled:
		return m.chooseCancelled(i)
	case ofAnswer:
	}
	choices := m.conv.chat.Choices()
	switch {
	case m.conv.welcomes(m.parts.filterLine()) && !m.turn.running:
		return m.chooseWelcome(i)
	case m.turn.running:
		return m.fail(assistant.ErrBusy)
	case i >= len(choices):
		return m.info(safetext.Sprintf("there is no suggestion %d", i+1))
	}
	c := choices[i]
	switch {
	case c.KeyAction != "":
		m.conv.chat.FocusLast()
		return m.do(c.KeyAction)
	case c.Proposals != nil:
		return m.decide(c.Proposals, c.Accept)
	}
	if c.Message != "" {
		return m.startPrompt(assistant.Prompt{Text: c.Message})
	}
	return m.clientAction(*c.Action)
}

// decide accepts or rejects proposals of the newest pair. Keys do not wait for the decision
// to be stored.
func (m *Model) decide(proposals []string, accept bool) tea.Cmd {
	seq, ok := m.conv.newest()
	if !ok {
		return nil
	}
	return m.commands.Decide(m.acts.query(), seq, proposals, accept, m.conv.effects)
}

func (m *Model) onDecided(o usecase.Decided) tea.Cmd {
	if o.Accepted {
		return nil // the turn that carries out the proposals arrives in the log
	}
	return m.info("rejected; the next message will tell the model")
}

// askTool shows what a tool wants to change, and asks the user. In a shared window, a question
// that stays unanswered is declined after AnswerWait.
func (m *Model) askTool(ask assistant.ConfirmRequest) tea.Cmd {
	yes, _, _ := strings.Cut(string(oneLine(ask.Tool)), "_")
	title, lines := "The assistant wants to run "+oneLine(ask.Tool), pane.DiffLines(ask.Diff.Lines(), &m.styles)
	if ask.Note != "" {
		lines = append([]string{m.styles.Rules.Warn.Render(m.styles.Icons.Warn + " " + string(ask.Note)), ""}, lines...)
	}
	if ask.Server != "" {
		title, yes = "The assistant wants to use the MCP server "+oneLine(ask.Server), "run"
	}
	if yes == "save" { // the same dialog as for the save key
		title = safetext.Sprintf("The assistant wants to save the %s", m.parts.state())
	}
	m.question(overlay.Confirm, title, lines, keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		if err := m.commands.Answer(ask.ID, answer == keymap.AnswerYes); err != nil {
			m.notice.Info("the turn had already ended")
		}
		return nil
	}, says(keymap.AnswerYes, yes), says(keymap.AnswerNo, "don't "+yes))
	question, _, _ := m.overlay.Top()
	m.turn.asks = question
	wait := m.commands.AnswerWait()
	if wait == 0 {
		return nil
	}
	return tick(wait, answerDueMsg{ask.ID, question, wait})
}

// onAnswerDue declines a question that was not answered in time.
func (m *Model) onAnswerDue(msg answerDueMsg) tea.Cmd {
	if m.commands.Answer(msg.id, false) != nil {
		return nil // the question has been answered
	}
	m.overlay.Remove(msg.question)
	return m.info(safetext.Sprintf("declined: no answer within %v", msg.wait))
}
