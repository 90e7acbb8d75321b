package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
)

// shownRequest is a request in the overlay.
type shownRequest struct {
	title string
	lines []string
	body  string // what is copied: the exact bytes
	sent  bool   // it was sent; otherwise it would be sent now
}

func newShownRequest(title string, body json.RawMessage, sent bool) shownRequest {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		pretty.Write(body) // it is shown as it is
	}
	return shownRequest{title, cleanLines(pretty.String(), safetext.Clean), string(body), sent}
}

// exactRequest shows the newest request of the focused pair as it was sent, between the
// others and the one that would be sent now; with now, and from elsewhere than VIEW, that
// one alone. An error beside them is that of a damaged one.
func (p *pickers) exactRequest(now bool) tea.Cmd {
	pair, text := int64(0), p.input.draft.Text()
	if focused, ok := p.conv.chat.Focused(); ok && !now && p.mode == modeView {
		pair = focused.Seq
	}
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	return async(func(ctx context.Context) (all []shownRequest, err error) {
		if pair != 0 {
			all, err = sentRequests(ctx, p.session, pair)
		}
		_, next, failed := p.work.Request(ctx, text)
		if failed == nil {
			all = append(all, newShownRequest("the request that would be sent now", next, false))
		}
		return all, errors.Join(err, failed)
	}, func(all []shownRequest, err error) tea.Cmd {
		p.fail(err)
		sent := len(all)
		if sent > 0 && !all[sent-1].sent {
			sent--
		}
		switch {
		case len(all) == 0:
			return nil
		case sent == 0 && pair != 0:
			p.notice.info("what was sent for this pair is no longer stored · this would be sent now")
		}
		return p.openRequest(all, max(0, sent-1))
	})
}

func sentRequests(ctx context.Context, s *assistant.Session, pair int64) (all []shownRequest, err error) {
	sent, err := s.SentRequests(ctx, pair)
	for i, r := range sent {
		title := fmt.Sprintf("sent %s to %s", r.At.Local().Format(time.TimeOnly), oneLine(r.Model))
		if len(sent) > 1 {
			title += fmt.Sprintf(" · request %d of %d", i+1, len(sent))
		}
		if r.Trimmed > 0 {
			title += " · without " + assistant.Counted(r.Trimmed, "pair")
		}
		all = append(all, newShownRequest(title, r.Body, true))
	}
	return all, err
}

// openRequest shows one of several requests.
func (p *pickers) openRequest(all []shownRequest, i int) tea.Cmd {
	hint, keys := "y copies it", []string{"y"}
	if len(all) > 1 {
		hint, keys = "← → the others · "+hint, append(keys, "left", "right")
	}
	text := overlay.NewText(all[i].title, all[i].lines).WithKeys(hint, keys...)
	return p.open(overlay.Request, text, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "left":
			return p.openRequest(all, max(0, i-1))
		case "right":
			return p.openRequest(all, min(len(all)-1, i+1))
		}
		return p.copyOut("the request", all[i].body)
	})
}
