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

// requestList shows requests as they were sent.
type requestList struct {
	reading int64 // number of the last query that reads requests or prepares one for display
}

// exactRequest shows the newest request of the focused pair as it was sent, together with
// the pair's other requests and the request that would be sent now. If now is set or no pair
// is focused in VIEW, it shows only the request that would be sent now. If a request cannot
// be read or built, the error is shown together with the other requests.
func (m *Model) exactRequest(now bool) tea.Cmd {
	pair, text := int64(0), m.input.draft.Text()
	if focused, ok := m.conv.chat.Focused(); ok && !now && m.mode == keymap.View {
		pair = focused.Seq
	}
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	return m.carryOut(m.requests.read(pair, text))
}

func (l *requestList) read(pair int64, text string) intent {
	return query(func(c *usecase.Commands, request int64) tea.Cmd {
		l.reading = request
		return c.ReadRequests(request, pair, text)
	})
}

// on opens the view of requests, unless the user has asked for other requests since.
func (l *requestList) on(o usecase.RequestsRead, estimate func(string) int) intent {
	if o.Request != l.reading {
		return nil
	}
	all := chat.SentRequests(o.Sent)
	sent := len(all)
	if o.Next != nil {
		all = append(all, chat.ShownRequest{Title: "the request that would be sent now", Body: o.Next})
	}
	todo := several{showError{o.Err}}
	switch {
	case len(all) == 0:
		return todo
	case sent == 0 && o.Pair != 0:
		todo = append(todo, notify{text: "this message's request is no longer stored · this would be sent now"})
	}
	return append(todo, l.open(all, max(0, sent-1), estimate))
}

// open prepares one of several requests for display, outside the update loop because the
// request may be long.
func (l *requestList) open(all []chat.ShownRequest, i int, estimate func(string) int) intent {
	return query(func(_ *usecase.Commands, request int64) tea.Cmd {
		l.reading = request
		return func() tea.Msg {
			return requestReadMsg{request, all, i, chat.NewRequestView(all[i].Title, all[i].Body, estimate, len(all) > 1)}
		}
	})
}

// show shows a request, unless the user has asked for other requests since.
func (l *requestList) show(msg requestReadMsg, estimate func(string) int) intent {
	if msg.request != l.reading {
		return nil
	}
	all, i := msg.all, msg.at
	return open{overlay.Request, msg.view, func(c overlay.Chosen) intent {
		switch c.Action {
		case keymap.OlderRequest:
			return l.open(all, max(0, i-1), estimate)
		case keymap.NewerRequest:
			return l.open(all, min(len(all)-1, i+1), estimate)
		default:
			return copyText{"the request", string(all[i].Body), func(body string) safetext.Text { return safetext.Clean(string(safetext.JSON([]byte(body)))) }}
		}
	}}
}
