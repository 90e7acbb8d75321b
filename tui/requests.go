package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/overlay"
)

// shownRequest is a request as its overlay shows it.
type shownRequest struct {
	title string
	lines []string
	body  string // as it is copied: byte for byte what goes out
}

// exactRequest shows the requests of the focused pair as they were sent, and
// from everywhere else the one that would be sent now.
func (m *Model) exactRequest() tea.Cmd {
	if p, ok := m.conv.chat.Focused(); ok && m.mode == modeView {
		return loadRequests(m.session, p.Seq)
	}
	return m.nextRequest()
}

// nextRequest shows the request that would be sent now.
func (m *Model) nextRequest() tea.Cmd {
	pair := int64(0)
	if p, ok := m.conv.chat.Focused(); ok && m.mode == modeView {
		pair = p.Seq
	}
	return buildRequest(m.session, m.input.draft.Text(), pair)
}

// loadRequests reads the requests of a pair.
func loadRequests(s *assistant.Session, seq int64) tea.Cmd {
	return func() tea.Msg {
		sent, err := s.SentRequests(context.Background(), seq)
		msg := requestsLoadedMsg{pair: seq, sent: true, err: err}
		for i, r := range sent {
			title := fmt.Sprintf("sent %s to %s", r.At.Local().Format(time.TimeOnly), oneLine(r.Model))
			if len(sent) > 1 {
				title += fmt.Sprintf(" · request %d of %d", i+1, len(sent))
			}
			if r.Trimmed > 0 {
				title += " · without " + assistant.Counted(r.Trimmed, "pair")
			}
			msg.requests = append(msg.requests, showRequest(title, r.Body))
		}
		return msg
	}
}

// buildRequest builds the request that would be sent now.
func buildRequest(s *assistant.Session, text string, pair int64) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	return func() tea.Msg {
		_, body, err := s.Request(context.Background(), text)
		if err != nil {
			return requestsLoadedMsg{err: err}
		}
		return requestsLoadedMsg{pair: pair, requests: []shownRequest{showRequest("the request that would be sent now", body)}}
	}
}

func showRequest(title string, body json.RawMessage) shownRequest {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		pretty.Write(body) // it is shown as it is
	}
	return shownRequest{title: title, lines: cleanLines(pretty.String()), body: string(body)}
}

func (m *Model) onRequests(msg requestsLoadedMsg) tea.Cmd {
	switch {
	case msg.err != nil && len(msg.requests) == 0:
		return m.fail(msg.err)
	case msg.err != nil:
		m.notice.fail(sentence(msg.err))
	case len(msg.requests) == 0:
		m.notice.info("what was sent for this pair is no longer stored · this would be sent now")
		return m.nextRequest()
	}
	return m.openRequest(msg, len(msg.requests)-1)
}

// openRequest shows one of the requests.
func (m *Model) openRequest(msg requestsLoadedMsg, i int) tea.Cmd {
	r := msg.requests[i]
	hint, keys := "y copies it", []string{"y"}
	switch {
	case msg.sent:
		hint, keys = "n the one that would be sent now · "+hint, append(keys, "n")
	case msg.pair != 0:
		hint, keys = "s what was sent for the pair · "+hint, append(keys, "s")
	}
	if len(msg.requests) > 1 {
		hint, keys = "← → the others · "+hint, append(keys, "left", "right")
	}
	text := overlay.NewText(r.title, r.lines).WithKeys(hint, keys...)
	return m.open(overlay.Request, text, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "left":
			return m.openRequest(msg, max(0, i-1))
		case "right":
			return m.openRequest(msg, min(len(msg.requests)-1, i+1))
		case "n":
			return m.nextRequest()
		case "s":
			return loadRequests(m.session, msg.pair)
		}
		return m.copyOut("the request", r.body)
	})
}
