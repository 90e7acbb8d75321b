package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// exactRequest shows the newest request of the focused pair as it was sent, between the
// others and the one that would be sent now; with now, and from elsewhere than VIEW, that
// one alone. An error beside them is that of a damaged one.
func (m *Model) exactRequest(now bool) tea.Cmd {
	pair, text := int64(0), m.input.draft.Text()
	if focused, ok := m.conv.chat.Focused(); ok && !now && m.mode == keymap.View {
		pair = focused.Seq
	}
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	m.reading = m.acts.query()
	return m.commands.ReadRequests(m.reading, pair, text)
}

// onRequests opens the view of requests, unless others were asked for since.
func (m *Model) onRequests(o usecase.RequestsRead) tea.Cmd {
	if o.Request != m.reading {
		return nil
	}
	m.fail(o.Err)
	all := chat.SentRequests(o.Sent)
	sent := len(all)
	if o.Next != nil {
		all = append(all, chat.ShownRequest{Title: "the request that would be sent now", Body: o.Next})
	}
	switch {
	case len(all) == 0:
		return nil
	case sent == 0 && o.Pair != 0:
		m.notice.Info("what was sent for this pair is no longer stored · this would be sent now")
	}
	return m.openRequest(all, max(0, sent-1))
}

// openRequest reads one of several requests beside the screen: it may be long.
func (m *Model) openRequest(all []chat.ShownRequest, i int) tea.Cmd {
	estimate := m.inUse().Budget.Estimate
	m.reading = m.acts.query()
	request := m.reading
	return func() tea.Msg {
		return requestReadMsg{request, all, i, chat.NewRequestView(all[i].Title, all[i].Body, estimate, len(all) > 1)}
	}
}

// onRequestRead shows the request, unless others were asked for since.
func (m *Model) onRequestRead(msg requestReadMsg) tea.Cmd {
	if msg.request != m.reading {
		return nil
	}
	all, i := msg.all, msg.at
	return m.open(overlay.Request, msg.view, func(c overlay.Chosen) tea.Cmd {
		switch c.Action {
		case keymap.OlderRequest:
			return m.openRequest(all, max(0, i-1))
		case keymap.NewerRequest:
			return m.openRequest(all, min(len(all)-1, i+1))
		default:
			return m.copySafe("the request", string(all[i].Body), func(body string) string { return string(safetext.JSON([]byte(body))) })
		}
	})
}
