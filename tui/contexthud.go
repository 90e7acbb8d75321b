package tui

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/status"
	"winnow/tui/usecase"
)

// openHUD opens the context HUD, which shows statistics about the context.
func (m *Model) openHUD() tea.Cmd {
	m.sum.read = nil
	text := overlay.NewText("Context", m.numbers())
	if key := m.key(keymap.DockContext); key != "" {
		text.WithHint(key + " docks the list of messages next to the conversation")
	}
	return tea.Batch(m.open(overlay.HUD, text, nil), m.sumUp())
}

// sessionSum is the cost of the session's answers, as shown in the HUD.
type sessionSum struct {
	request int64             // last request to read the cost for the HUD
	read    *usecase.CostRead // nil until the cost has been read
}

// sumUp reads the cost of the session's answers if the HUD is open.
func (m *Model) sumUp() tea.Cmd {
	if _, open := m.overlay.Find(overlay.HUD); !open || m.parts.Shown == nil {
		return nil
	}
	m.sum.request = m.acts.query()
	return m.commands.ReadCost(m.sum.request)
}

// onCost shows the cost of the session's answers: in the HUD if the HUD asked for it,
// otherwise as a notice.
func (m *Model) onCost(o usecase.CostRead) {
	if o.Request == m.sum.request {
		m.sum.read = &o
		return
	}
	m.notice.Info(safetext.Clean(o.Cost.String()))
}

// numbers returns the lines of the HUD: statistics about the context.
func (m *Model) numbers() []string {
	if m.parts.Shown == nil {
		return nil
	}
	focused, _ := m.conv.chat.Focused()
	sum := []status.Row{{Name: "answers", Value: m.styles.Icons.Ellipsis}}
	if m.sum.read != nil {
		sum = sumRows(m.sum.read)
	}
	return status.ContextNumbers{
		Session: sum,
		State:   m.parts.State, Now: m.now(), Boundary: m.conv.boundary.Boundary, Counter: m.conv.boundary.Counter,
		Draft: m.draftCost(), Focused: focused, UserText: m.conv.chat.UserText,
	}.Lines(m.width, m.styles.Overlay)
}

// sumRows returns the rows with the cost of the session's answers.
func sumRows(o *usecase.CostRead) []status.Row {
	if o.Cost.Answers == 0 {
		return []status.Row{{Name: "answers", Value: "none yet"}}
	}
	return []status.Row{{Name: "answers", Value: o.Cost.AnswersText()}, {Name: "their tokens", Value: o.Cost.TokensText()}, {Name: "their cost", Value: o.Cost.PriceText()}}
}

// onHUD returns an action that moves in the docked HUD, and then loads the pairs that have
// come into view.
func onHUD(move func(*status.ContextPanel)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		move(&m.hud)
		return m.loadMissing()
	}
}

// dockHUD docks or undocks the HUD, and stores this choice for the next start.
func (m *Model) dockHUD() tea.Cmd {
	m.opts.HUD = !m.opts.HUD
	cmd := m.showHUD()
	switch {
	case !m.opts.HUD:
		m.notice.Info("HUD closed" + m.hint(" · %s docks it again", keymap.DockContext))
	case m.layout.HUD.Empty(): // a low screen shows the HUD only while it has the focus
		m.notice.Info("HUD docked" + m.hint(" · %s shows it", keymap.NextRegion))
	default:
		m.notice.Info("HUD docked" + m.hint(" · %s moves to it", keymap.NextRegion) + m.hint(" · %s closes it", keymap.DockContext))
	}
	return tea.Batch(cmd, m.storeSetting("hud", strconv.FormatBool(m.opts.HUD)))
}

// showHUD lays out the screen with or without the docked HUD.
func (m *Model) showHUD() tea.Cmd {
	if m.mode == keymap.HUD && !m.opts.HUD {
		m.setMode(keymap.Input)
	}
	m.arrange()
	return tea.Batch(m.feedHUD(), m.loadMissing())
}

// feedHUD tells the docked HUD what the boundary does not contain: which pairs the last
// request left out and, once they are counted, how many pairs the filter hides.
func (m *Model) feedHUD() tea.Cmd {
	if !m.opts.HUD || !m.ready {
		return nil
	}
	if m.parts.Shown == nil {
		return nil
	}
	m.hud.SetLast(m.parts.Shown.LastSend)
	line := m.parts.Shown.Filter
	if line == "" || !m.commands.Stores() {
		m.hud.SetHidden(0)
		return nil
	}
	m.hiding = m.acts.query()
	return m.commands.CountFilter(m.hiding, "!("+line+")")
}

// onHidden shows how many pairs the filter hides.
func (m *Model) onHidden(o usecase.Counted) {
	if o.Err == nil && o.Request == m.hiding {
		m.hud.SetHidden(o.N)
	}
}

// showFromHUD scrolls the conversation to the pair under the cursor of the HUD.
func (m *Model) showFromHUD() tea.Cmd {
	seq, ok := m.hud.Current()
	if !ok {
		return nil
	}
	m.setMode(keymap.View)
	m.conv.chat.JumpTo(seq)
	return m.loadMissing()
}

// estimated caches the cost of sending the draft, together with the values that the cost was computed from.
type estimated struct {
	text  string
	shown *assistant.Shown
	turn  *assistant.TurnState
	assistant.DraftCost
}

// draftCost returns the cost of sending the draft. It is computed once for each text,
// boundary and turn state, not for each frame. Until startup is complete, only the size of
// the text is known.
func (m *Model) draftCost() assistant.DraftCost {
	text := m.input.draft.Shown()
	if e := &m.estimated; e.text != text || e.shown != m.parts.Shown || e.turn != m.parts.Turn {
		*e = estimated{text, m.parts.Shown, m.parts.Turn, m.cost(assistant.Prompt{Text: m.input.draft.Text()})}
	}
	return m.estimated.DraftCost
}

// cost returns the cost of sending a message. Until startup is complete, only the size of the
// message is known.
func (m *Model) cost(p assistant.Prompt) assistant.DraftCost {
	params := m.opts.Settings.Budget
	if m.parts.Shown != nil {
		params.CharsPerToken = m.parts.Shown.CPT
	}
	return m.parts.Draft(p, params, m.now())
}

// estimate describes the size of the draft and how the draft affects which pairs are sent
// with it; "" for an empty draft.
func (m *Model) estimate() string {
	if m.input.draft.Empty() {
		return ""
	}
	c := m.draftCost()
	text := fmt.Sprintf(" ~%d", c.AUT)
	if warning := status.Warning(c); warning != "" {
		text += " · " + warning
	}
	return text + " "
}
