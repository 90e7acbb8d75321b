package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

// Update routes a message from the session, the workspace or the terminal. Afterwards it
// adjusts the height of the box, reads what the pane needs if the pane is out of date, and
// lays out part of the long texts.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.same = m.drawn && m.known(msg)
	m.drawn = m.same
	cmd, routed := m.onWorkMsg(msg)
	for _, route := range [...]func(tea.Msg) (tea.Cmd, bool){m.onTerminalMsg, m.onScreenMsg} {
		if !routed {
			cmd, routed = route(msg)
		}
	}
	m.checkResend()
	m.conv.chat.SetUnsaved(m.pane.Status().Unsaved > 0)
	m.conv.chat.SetBusy(m.turn.running || m.numbersOf() != ofAnswer)
	m.fitInput()
	m.opts.Input.AcceptText(m.mode == keymap.Input && !m.overlay.Open() && !m.layout.Small)
	for _, more := range [...]tea.Cmd{m.paneWants(), m.attend(), m.carryOut(m.conv.layOut()), m.checkStart()} {
		if more != nil {
			cmd = tea.Batch(cmd, more)
		}
	}
	return m, cmd
}

// onTurnEvent routes the events of the running turn.
func (m *Model) onTurnEvent(e assistant.Event) tea.Cmd {
	switch e := e.(type) {
	case assistant.TurnStarted:
		return m.onTurnStarted(e)
	case assistant.TextDelta, assistant.ReasoningDelta:
		m.onText(e)
	case assistant.PayloadFound:
		m.conv.chat.Apply(e)
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		m.onTool(e)
	case assistant.ContextTrimmed:
		m.turn.onTrimmed(e)
		m.conv.onTrimmed(e)
	case assistant.Retrying:
		m.turn.onRetry(e)
	case assistant.Status:
		m.turn.setStatus(e.Message)
	case assistant.CheckpointCreated:
		m.turn.checkpointed = true
	case assistant.ConfirmRequest:
		return m.askTool(e)
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		return m.onTurnEnd(e)
	case assistant.Queued: // the parts contain the queued message
	}
	return nil
}

// onWorkMsg routes messages from the workspace and the surrounding program.
func (m *Model) onWorkMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case usecase.LogRead:
		return m.onLog(msg), true
	case usecase.Outcome:
		return m.onEnded(msg), true
	case startLoadedMsg:
		return m.onStart(msg), true
	case savedChangedMsg:
		return m.onSavedChanged(msg), true
	case computedMsg:
		return m.onComputed(msg), true
	case Noticed:
		return m.onNoticed(msg), true
	case layOutMsg:
		m.conv.layingOut = false
		return nil, true
	case terminal.SuspendFailed:
		return m.onNoticed(Noticed{Err: msg.Err}), true
	}
	return nil, false
}

// onTerminalMsg routes messages from the terminal and the timers.
func (m *Model) onTerminalMsg(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height), true
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseMsg:
		m.outcome = terminal.Attention{}
		return m.onInput(msg), true
	case tea.BackgroundColorMsg:
		return m.onBackground(msg), true
	case tea.KeyboardEnhancementsMsg:
		m.keys.CtrlEnter = m.keys.CtrlEnter || msg.SupportsKeyDisambiguation()
		m.refreshKeys()
	case tea.FocusMsg:
		m.focused, m.outcome = true, terminal.Attention{}
	case tea.BlurMsg:
		m.focused = false
	default:
		return nil, false
	}
	return nil, true
}

// Noticed reports an event outside the screen, for example that a model was chosen after
// asking the endpoints. The surrounding program sends it; the current model may have
// changed.
type Noticed struct {
	Text safetext.Text // a sentence for the footer; "" shows nothing
	Err  error         // a failure, shown with advice; nil if none
	// NoAnswer is why the endpoint of the current model did not list its models. The first
	// screen reports it briefly; sending a message shows the full error.
	NoAnswer error
	// Pairs means that other users have changed pairs: the view and its pairs are read again.
	Pairs bool
	By    string // the user who changed them, for a notice if pairs came into view; "" shows none
}

// savedChangedMsg reports a change to the saved state by another program.
type savedChangedMsg struct{ change assistant.SavedChange }
