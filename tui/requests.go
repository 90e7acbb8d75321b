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
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
)

// shownRequest is a request as its overlay shows it.
type shownRequest struct {
	title string
	lines []string
	body  string // as it is copied: byte for byte what is sent
}

func newShownRequest(title string, body json.RawMessage) shownRequest {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, body, "", "  "); err != nil {
		pretty.Write(body) // it is shown as it is
	}
	return shownRequest{title, cleanLines(pretty.String(), safetext.Clean), string(body)}
}

// exactRequest shows the requests of the focused pair as they were sent, and
// from elsewhere the one that would be sent now.
func (p *pickers) exactRequest() tea.Cmd {
	if focused, ok := p.conv.chat.Focused(); ok && p.mode == modeView {
		return p.sentRequests(focused.Seq)
	}
	return p.nextRequest()
}

// sentRequests shows the requests of a pair, the newest first on the screen. An
// error beside them is that of a damaged one.
func (p *pickers) sentRequests(pair int64) tea.Cmd {
	return async(func(ctx context.Context) (all []shownRequest, err error) {
		sent, err := p.session.SentRequests(ctx, pair)
		for i, r := range sent {
			title := fmt.Sprintf("sent %s to %s", r.At.Local().Format(time.TimeOnly), oneLine(r.Model))
			if len(sent) > 1 {
				title += fmt.Sprintf(" · request %d of %d", i+1, len(sent))
			}
			if r.Trimmed > 0 {
				title += " · without " + assistant.Counted(r.Trimmed, "pair")
			}
			all = append(all, newShownRequest(title, r.Body))
		}
		return all, err
	}, func(all []shownRequest, err error) tea.Cmd {
		p.fail(err)
		switch {
		case len(all) > 0:
			return p.openRequest(all, len(all)-1, pair, true)
		case err != nil:
			return nil
		}
		p.notice.info("what was sent for this pair is no longer stored · this would be sent now")
		return p.nextRequest()
	})
}

// nextRequest shows the request that would be sent now.
func (p *pickers) nextRequest() tea.Cmd {
	pair, text := int64(0), p.input.draft.Text()
	if focused, ok := p.conv.chat.Focused(); ok && p.mode == modeView {
		pair = focused.Seq
	}
	if strings.TrimSpace(text) == "" {
		text = "(your next message)"
	}
	return async(func(ctx context.Context) (json.RawMessage, error) {
		_, body, err := p.work.Request(ctx, text)
		return body, err
	}, func(body json.RawMessage, err error) tea.Cmd {
		if err != nil {
			return p.fail(err)
		}
		return p.openRequest([]shownRequest{newShownRequest("the request that would be sent now", body)}, 0, pair, false)
	})
}

// openRequest shows one of the requests of a pair, or with sent false the next
// one; pair 0 is none.
func (p *pickers) openRequest(all []shownRequest, i int, pair int64, sent bool) tea.Cmd {
	hint, keys := "y copies it", []string{"y"}
	switch {
	case sent:
		hint, keys = "n the one that would be sent now · "+hint, append(keys, "n")
	case pair != 0:
		hint, keys = "s what was sent for the pair · "+hint, append(keys, "s")
	}
	if len(all) > 1 {
		hint, keys = "← → the others · "+hint, append(keys, "left", "right")
	}
	text := overlay.NewText(all[i].title, all[i].lines).WithKeys(hint, keys...)
	return p.open(overlay.Request, text, func(c overlay.Chosen) tea.Cmd {
		switch c.Key {
		case "left":
			return p.openRequest(all, max(0, i-1), pair, sent)
		case "right":
			return p.openRequest(all, min(len(all)-1, i+1), pair, sent)
		case "n":
			return p.nextRequest()
		case "s":
			return p.sentRequests(pair)
		}
		return p.copyOut("the request", all[i].body)
	})
}
