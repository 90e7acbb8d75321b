package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/chat"
	"winnow/tui/pane"
)

// forecast finds out what the proposals that wait for the user would do, which
// changes with every rule.
func (m *Model) forecast() tea.Cmd {
	f, ok := m.pane.(pane.Forecaster)
	if !ok {
		return nil
	}
	var waiting []assistant.Payload
	for _, p := range m.chat.Undecided() {
		if p.Type == chat.RuleProposal {
			waiting = append(waiting, p)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return func() tea.Msg {
		msg := forecastMadeMsg{effects: map[string]pane.Effect{}}
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

// onForecast shows it on the cards.
func (m *Model) onForecast(msg forecastMadeMsg) tea.Cmd {
	for id, e := range msg.effects {
		m.chat.Enrich(id, m.chat.EffectRows(chat.Effect(e)))
	}
	return nil
}

// decide answers a proposal of the newest pair.
func (m *Model) decide(payload string, accept bool) tea.Cmd {
	seq, ok := m.newestVisible()
	if !ok || !m.chat.Decided(payload, accept) {
		return nil
	}
	events, err := m.session.Decide(context.Background(), seq, payload, accept)
	switch {
	case err != nil:
		return m.complain(err)
	case events == nil:
		m.notice.say("rejected; the model is told with the next message")
		return loadPairs(m.session, []int64{seq})
	}
	return m.follow(events, assistant.Prompt{Text: "Accept the proposal"})
}
