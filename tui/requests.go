package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/requestview"
	"winnow/tui/usecase"
)

// exactRequest shows the newest request of the focused pair as it was sent, between the
// others and the one that would be sent now; with now, and from elsewhere than VIEW, that
// one alone. An error beside them is that of a damaged one.
func (p *pickers) exactRequest(now bool) tea.Cmd {
	pair, text := int64(0), p.input.draft.Text()
	if focused, ok := p.conv.chat.Focused(); ok && !now && p.mode == keymap.View {
		pair = focused.Seq
	}
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	p.reading = p.query()
	return p.commands.ReadRequests(p.reading, pair, text)
}

// onRequests opens the view of requests, unless others were asked for since.
func (p *pickers) onRequests(o usecase.RequestsRead) tea.Cmd {
	if o.Request != p.reading {
		return nil
	}
	p.fail(o.Err)
	all := requestview.Sent(o.Sent)
	sent := len(all)
	if o.Next != nil {
		all = append(all, requestview.Request{Title: "the request that would be sent now", Body: o.Next})
	}
	switch {
	case len(all) == 0:
		return nil
	case sent == 0 && o.Pair != 0:
		p.notice.Info("what was sent for this pair is no longer stored · this would be sent now")
	}
	return p.openRequest(all, max(0, sent-1))
}

// openRequest reads one of several requests beside the screen: it may be long.
func (p *pickers) openRequest(all []requestview.Request, i int) tea.Cmd {
	estimate := p.inUse().Budget.Estimate
	p.reading = p.query()
	request := p.reading
	return func() tea.Msg {
		return requestReadMsg{request, all, i, requestview.New(all[i].Title, all[i].Body, estimate, len(all) > 1)}
	}
}

// onRequestRead shows the request, unless others were asked for since.
func (p *pickers) onRequestRead(msg requestReadMsg) tea.Cmd {
	if msg.request != p.reading {
		return nil
	}
	all, i := msg.all, msg.at
	return p.open(overlay.Request, msg.view, func(c overlay.Chosen) tea.Cmd {
		switch c.Action {
		case keymap.OlderRequest:
			return p.openRequest(all, max(0, i-1))
		case keymap.NewerRequest:
			return p.openRequest(all, min(len(all)-1, i+1))
		default:
			return p.copySafe("the request", string(all[i].Body), func(body string) string { return string(safetext.JSON([]byte(body))) })
		}
	})
}
