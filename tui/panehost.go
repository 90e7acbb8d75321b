package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/chat"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// paneAction is the action of the key table that the pane knows by its name.
func paneAction(name string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.perform(m.pane.Do(name)) }
}

// perform does what a pane asks for.
func (m *Model) perform(a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case pane.Edit:
		if m.session.Busy() {
			return m.fail(assistant.ErrBusy)
		}
		return m.change(editWindow(m.work, a))
	case pane.Notify:
		m.notice.show(a.Text, a.Bad)
	case pane.SetFilter:
		return m.runLine(a.Line)
	case pane.Pick:
		return m.open(overlay.Provider, overlay.NewPicker(a.Title, a.Entries, 0), func(c overlay.Chosen) tea.Cmd {
			return m.perform(a.Then(c.Value))
		})
	case pane.Confirm:
		answers := []overlay.Answer{{Key: "y", Label: a.Yes}}
		then := map[string]func() pane.Action{"y": a.Then}
		for _, more := range a.More {
			answers, then[more.Key] = append(answers, overlay.Answer{Key: more.Key, Label: more.Label}), more.Then
		}
		return m.question(overlay.Confirm, a.Title, a.Lines, append(answers, overlay.Answer{Key: "n", Label: "don't " + a.Yes}), "n", func(answer string) tea.Cmd {
			if then[answer] == nil {
				return m.info("nothing was changed")
			}
			return m.perform(then[answer]())
		})
	case pane.Run:
		m.notice.info(a.Doing)
		return runAction(a)
	case pane.Nothing:
	}
	return nil
}

// clientAction runs an action of this program that the model suggested. What
// the screen does not know itself is the pane's; a query in its data is typed
// into the line that the pane opens.
func (m *Model) clientAction(a assistant.SuggestedAction) tea.Cmd {
	name := strings.ReplaceAll(a.Action, "_", "-")
	if name == "open-save" {
		name = "save"
	}
	if known := m.keys.named(name); known != nil {
		return known.do(m)
	}
	cmd := m.perform(m.pane.Do(name))
	var data struct{ Query string }
	if json.Unmarshal(a.Data, &data) == nil && data.Query != "" && m.pane.Typing() {
		m.setMode(modePane)
		cmd = tea.Batch(cmd, m.perform(m.pane.Key("", oneLine(data.Query))))
	}
	return cmd
}

// readPane reads what the pane shows, when that is out of date.
func (m *Model) readPane() tea.Cmd {
	r, ok := m.pane.(pane.Reader)
	if !ok || !r.Stale() {
		return nil
	}
	return func() tea.Msg { return paneReadMsg{r.Read(context.Background())} }
}

func (m *Model) onPaneRead(msg paneReadMsg) tea.Cmd {
	if errors.Is(msg.err, history.ErrClosed) {
		return nil
	}
	return m.fail(msg.err)
}

// onEdited shows a change of the window by hand.
func (m *Model) onEdited(msg editedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.fail(msg.err)
	}
	text := msg.notice + m.hintIn(modePane, " · %s undoes it", "undo")
	if !msg.view && m.pane.Status().Unsaved {
		text += m.hint(", %s saves", "save")
	}
	m.notice.info(text)
	return m.conv.computeEffects()
}

func (m *Model) onRan(msg ranMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return m.info(msg.notice)
}

// onNoticed shows what came out beside the screen, and the model that may be
// another one now.
func (m *Model) onNoticed(msg Noticed) tea.Cmd {
	m.pane.Changed()
	if msg.Text != "" {
		m.notice.show(msg.Text, msg.Bad)
	}
	return computeBoundary(m.session)
}

// onSavedChanged shows the rules that somebody else has written.
func (m *Model) onSavedChanged(msg savedChangedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.change.Conflict != nil {
		m.notice.fail("the file was changed by somebody else, and so were the same rules here" + m.hint(" · %s compares them", "save"))
	} else {
		m.notice.info("the file was changed by somebody else · its rules are loaded")
	}
	return tea.Batch(m.conv.computeEffects(), waitSavedChange(msg.more))
}

// save shows what would be written, and writes when the user says so.
func (m *Model) save() tea.Cmd { return m.planSave(false) }

func (m *Model) planSave(quit bool) tea.Cmd {
	k, ok := m.pane.(pane.Saver)
	switch {
	case !ok:
		return m.info("there is nothing to save here")
	case m.session.Busy():
		return m.fail(assistant.ErrBusy)
	}
	return planSave(k, m.styles, quit)
}

// onSavePlanned asks with what the save would change.
func (m *Model) onSavePlanned(msg savePlannedMsg) tea.Cmd {
	k, ok := m.pane.(pane.Saver)
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case !ok || !msg.changes:
		m.notice.info("nothing to save: the file says the same")
		if msg.quit {
			return m.end()
		}
		return nil
	}
	return m.question(overlay.SaveSheet, "Save these changes?", append(msg.lines, ""), []overlay.Answer{
		{Key: "y", Label: "save"}, {Key: "n", Label: "don't save"},
	}, "n", func(answer string) tea.Cmd {
		if answer != "y" {
			return m.info("nothing was saved")
		}
		return saveWindow(m.session, k, msg.quit)
	})
}

func (m *Model) onSaved(msg savedMsg) tea.Cmd {
	m.pane.Changed()
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.notice.info(msg.notice)
	if msg.quit {
		return m.end()
	}
	return nil
}

// quit asks when rules are unsaved; they can also be kept for the next time.
func (m *Model) quit() tea.Cmd {
	k, saves := m.pane.(pane.Saver)
	if !saves || !m.pane.Status().Unsaved {
		return m.end()
	}
	return m.question(overlay.Confirm, "There are unsaved rules", []string{"The file is as it was."}, []overlay.Answer{
		{Key: "s", Label: "save"}, {Key: "k", Label: "keep for next time"}, {Key: "d", Label: "discard"}, {Key: "n", Label: "stay"},
	}, "n", func(answer string) tea.Cmd {
		switch answer {
		case "s":
			return m.planSave(true)
		case "k":
			return m.end()
		case "d":
			m.work.Cancel()
			return tea.Sequence(editWindow(m.work, pane.Edit{Description: "Discard on quitting", Change: k.Discard}), m.end())
		}
		return nil
	})
}

// end stores the draft and leaves.
func (m *Model) end() tea.Cmd {
	if !m.ready {
		return tea.Quit // see Typed
	}
	return tea.Sequence(storeDraft(m.work, m.input.drafted()), tea.Quit)
}

// computeEffects finds out what the proposals that wait for the user would do,
// which changes with every rule.
func (c *conversation) computeEffects() tea.Cmd {
	f, ok := c.pane.(pane.Forecaster)
	if !ok {
		return nil
	}
	var waiting []assistant.Payload
	for _, p := range c.chat.Undecided() {
		if p.Type == chat.RuleProposal {
			waiting = append(waiting, p)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return func() tea.Msg {
		msg := effectsComputedMsg{effects: map[string]pane.Effect{}}
		for _, p := range waiting {
			e, err := f.Effect(p.Data)
			if err != nil {
				e.Refused = append(e.Refused, err.Error())
			}
			msg.effects[p.ID] = e
		}
		return msg
	}
}

// onEffects shows them on the cards.
func (c *conversation) onEffects(msg effectsComputedMsg) tea.Cmd {
	for id, e := range msg.effects {
		c.chat.Enrich(id, c.chat.EffectRows(e))
	}
	return nil
}

// decide answers a proposal of the newest pair.
func (m *Model) decide(payload string, accept bool) tea.Cmd {
	seq, ok := m.conv.newest()
	if !ok || !m.conv.chat.Decide(payload, accept) {
		return nil
	}
	events, err := m.work.Decide(context.Background(), seq, payload, accept)
	switch {
	case err != nil:
		return m.fail(err)
	case events == nil:
		m.notice.info("rejected; the model is told with the next message")
		return loadPairs(m.session, []int64{seq})
	}
	return m.follow(events, assistant.Prompt{Text: "Accept the proposal"})
}
