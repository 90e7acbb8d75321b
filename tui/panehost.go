package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/assistant/share"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/presence"
)

// perform carries out an action of a pane.
func (m *Model) perform(a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case pane.Edit:
		if err := m.refused(); err != nil {
			return m.fail(err)
		}
		return m.change(m.edit(a))
	case pane.Notify:
		m.notice.Show(a.Text, a.IsError)
	case pane.SetFilter:
		return m.runLine(a.Line)
	case pane.Pick:
		return m.open(overlay.Provider, overlay.NewPicker(a.Title, a.Entries, 0), func(c overlay.Chosen) tea.Cmd {
			return m.perform(a.Then(c.Value))
		})
	case pane.Confirm:
		answers, then := []string{"y", a.Yes}, map[string]func() pane.Action{"y": a.Then}
		for _, more := range a.More {
			answers, then[more.Key] = append(answers, more.Key, more.Label), more.Then
		}
		return m.question(overlay.Confirm, a.Title, a.Lines, "n", func(answer string) tea.Cmd {
			if then[answer] == nil {
				return m.info("nothing was changed")
			}
			return m.perform(then[answer]())
		}, append(answers, "n", "don't "+a.Yes)...)
	case pane.Run:
		m.notice.Info(a.Doing)
		return async(a.Run, func(notice string, err error) tea.Cmd {
			m.pane.Changed()
			if err != nil {
				return m.fail(err)
			}
			return m.info(notice)
		})
	case pane.Discard:
		return m.planDiscard()
	case pane.Nothing:
	}
	return nil
}

// edit makes a change of the window by hand, as one step that can be undone.
func (m *Model) edit(e pane.Edit) tea.Cmd {
	return async(func(context.Context) (notice string, err error) {
		if err = m.work.Edit(e.Description, e.Change); err == nil {
			notice = e.Notice()
		}
		return notice, err
	}, func(notice string, err error) tea.Cmd {
		m.pane.Changed()
		if err != nil {
			return m.fail(err)
		}
		notice += m.hint(" · %s undoes it", "undo")
		if !e.ViewOnly && m.pane.Status().Unsaved {
			notice += m.hint(", %s saves", "save")
		}
		m.notice.Info(notice)
		return m.conv.computeEffects()
	})
}

// clientAction performs an action that the model suggested: one of the key table, else
// one of the pane. A query in its data is typed into the line that the pane opens.
func (m *Model) clientAction(a assistant.SuggestedAction) tea.Cmd {
	name := pane.ActionName(a.Action)
	if m.keys.Named(name) != nil {
		return m.do(name)
	}
	cmd := m.perform(m.pane.Do(name))
	var data struct{ Query string }
	if json.Unmarshal(a.Data, &data) == nil && data.Query != "" && m.pane.Typing() {
		m.setMode(keymap.Pane)
		cmd = tea.Batch(cmd, m.perform(m.pane.Key("", oneLine(data.Query))))
	}
	return cmd
}

// readPane reads what the pane shows, when that is out of date.
func (s *shared) readPane() tea.Cmd {
	r, ok := s.pane.(pane.Loader)
	if !ok || !r.Stale() {
		return nil
	}
	return attempt(r.Read, func(err error) tea.Cmd {
		if errors.Is(err, history.ErrClosed) {
			return nil
		}
		return s.fail(err)
	})
}

// onNoticed shows a notice from outside of the screen.
func (m *Model) onNoticed(msg Noticed) tea.Cmd {
	m.pane.Changed()
	if msg.Text != "" {
		m.notice.Info(msg.Text)
	}
	m.fail(msg.Err)
	if msg.Pairs {
		m.hud.Reload()
		return tea.Batch(m.refilter(), m.conv.load(m.conv.chat.Loaded()...))
	}
	return nil
}

// onOthers shows what the others in a shared window did.
func (m *Model) onOthers(msg presence.Changed) tea.Cmd {
	cmds := []tea.Cmd{m.others.Apply(msg)}
	m.pane.Changed()
	pairs := msg.Missed
	for _, c := range msg.Changes {
		m.notice.Add(presence.Sentence(c))
		pairs = pairs || c.Kind == share.RolledBack || !m.saves() // others' pairs come back, or their marks are the window
	}
	if pairs {
		cmds = append(cmds, m.onNoticed(Noticed{Pairs: true}))
	}
	if len(msg.Changes) > 0 {
		cmds = append(cmds, m.conv.computeEffects())
	}
	return tea.Batch(cmds...)
}

// waitSavedChange waits for the next change that another program makes to what is
// saved.
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

// onSavedChanged shows the rules that another program has saved.
func (m *Model) onSavedChanged(msg savedChangedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.change.Conflict != nil {
		m.notice.Fail("the file was changed by somebody else, and so were the same rules here" + m.hint(" · %s compares them", "save"))
	} else {
		m.notice.Info("the file was changed by somebody else · its rules are loaded")
	}
	return tea.Batch(m.conv.computeEffects(), waitSavedChange(m.opts.Changes))
}

// quitTime bounds how long quitting waits for the draft to be stored.
const quitTime = 2 * time.Second

// end stores the draft and quits.
func (m *Model) end() tea.Cmd {
	if !m.ready {
		return tea.Quit // see Typed
	}
	m.ending = m.query()
	return m.commands.StoreDraft(m.ending, m.input.drafted(), quitTime)
}

// StoreDraft stores a draft that is not stored yet. It is called after a signal has
// ended the program.
func (m *Model) StoreDraft(ctx context.Context) error {
	if !m.ready || m.input.draft.Text() == m.input.saved && len(m.input.outbox) == 0 {
		return nil
	}
	return m.work.SaveDraft(ctx, m.input.drafted())
}

// computeEffects computes what the proposals that wait for the user would do,
// which changes with every rule.
func (c *conversation) computeEffects() tea.Cmd {
	f, ok := c.pane.(pane.Forecaster)
	if !ok {
		return nil
	}
	waiting := slices.DeleteFunc(c.chat.Undecided(), func(p assistant.Payload) bool { return p.Type != pane.RuleProposal })
	if len(waiting) == 0 {
		return nil
	}
	return async(func(context.Context) (map[string]pane.Effect, error) {
		effects := map[string]pane.Effect{}
		for _, p := range waiting {
			e, err := f.Effect(p.Data)
			if err != nil {
				e.Refused = append(e.Refused, err.Error())
			}
			effects[p.ID] = e
		}
		return effects, nil
	}, func(effects map[string]pane.Effect, _ error) tea.Cmd {
		for id, e := range effects {
			c.chat.SetExtraRows(id, c.chat.EffectRows(e))
		}
		return nil
	})
}

// choose takes suggestion i of the newest answer, or example i of the welcome.
func (m *Model) choose(i int) tea.Cmd {
	choices := m.conv.chat.Choices()
	if m.conv.welcomes() && i < len(m.opts.Examples) {
		m.work.EndReAsk()
		m.input.draft.Set(m.opts.Examples[i])
		m.setMode(keymap.Input)
		return m.input.draftChanged()
	}
	if i >= len(choices) {
		return m.info(fmt.Sprint("there is no suggestion ", i+1))
	}
	c := choices[i]
	switch {
	case c.KeyAction != "":
		m.conv.chat.FocusLast()
		return m.do(c.KeyAction)
	case m.session.Busy():
		return m.fail(assistant.ErrBusy)
	case c.PayloadID != "":
		return m.decide(c.PayloadID, c.Accept)
	}
	if c.Message != "" {
		return m.startPrompt(assistant.Prompt{Text: c.Message})
	}
	return m.clientAction(*c.Action)
}

// decidedMsg is a proposal of a pair that was answered: the turn that carries it out, or
// no events when it was rejected.
type decidedMsg struct {
	seq    int64
	events <-chan assistant.Event
	err    error
}

// decide answers a proposal of the newest pair. Storing that takes its time; keys go on.
func (m *Model) decide(payload string, accept bool) tea.Cmd {
	seq, ok := m.conv.newest()
	if !ok {
		return nil
	}
	work := m.work
	return func() tea.Msg {
		events, err := work.Decide(context.Background(), seq, payload, accept)
		return decidedMsg{seq, events, err}
	}
}

func (m *Model) onDecided(msg decidedMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case msg.events == nil:
		m.notice.Info("rejected; the model is told with the next message")
		return m.conv.load(msg.seq)
	}
	return nil // the log brings its turn
}

// askTool shows what a tool wants to change, and asks the user. It spells out
// invisible characters, so that the user sees all that is confirmed.
// In a shared window a question that nobody answers is declined after a while.
func (m *Model) askTool(ask assistant.ConfirmRequest) tea.Cmd {
	verb := oneLine(strings.ReplaceAll(ask.Tool, "_", " "))
	yes, _, _ := strings.Cut(verb, " ")
	title, lines := "The assistant wants to "+verb, append(pane.DiffLines(safetext.Lines(ask.Diff, safetext.Visible), &m.styles), "")
	if ask.Note != "" {
		lines = append([]string{m.styles.Rules.Warn.Render(m.styles.Icons.Warn + " " + oneLine(ask.Note)), ""}, lines...)
	}
	if yes == "save" { // the dialog of the save key
		title = "The assistant wants to save"
	}
	m.question(overlay.Confirm, title, lines, "n", func(answer string) tea.Cmd {
		if err := m.work.Answer(ask.ID, answer == "y"); err != nil {
			m.notice.Info("the turn had already ended")
		}
		return nil
	}, "y", yes, "n", "don't "+yes)
	question, _, _ := m.overlay.Top()
	m.turn.asks = question
	if m.others.AnswerWait == 0 {
		return nil
	}
	return after(m.others.AnswerWait, func() tea.Cmd {
		if m.work.Answer(ask.ID, false) != nil {
			return nil // it was answered
		}
		if top, _, _ := m.overlay.Top(); top == question {
			m.overlay.Pop()
		}
		return m.info("declined: no answer within " + m.others.AnswerWait.String())
	})
}
