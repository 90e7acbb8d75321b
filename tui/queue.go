package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// enqueueMessage queues what is in the box until the response is complete, in the
// place of a message that is queued already. Its card appears once it is durable;
// when the turn has ended meanwhile it is sent.
func (m *Model) enqueueMessage(p assistant.Prompt) tea.Cmd {
	typed, before := m.input.draft.Take(), m.turn.queuedText()
	return attempt(func(ctx context.Context) error {
		_, _, err := m.work.Queue(ctx, p)
		return err
	}, func(err error) tea.Cmd {
		switch {
		case errors.Is(err, assistant.ErrNotBusy):
			cmd, ok := m.begin(p, typed)
			if !ok {
				m.input.giveBack(typed)
			}
			return tea.Batch(cmd, m.input.storeDraft())
		case err != nil:
			m.input.giveBack(typed)
			return m.fail(err)
		}
		if before != "" {
			m.input.draft.AddSent(before)
		}
		m.turn.queued = typed
		return m.input.storeDraft()
	})
}

// queuedText is the queued message as it was typed, or as an earlier run has
// stored it; "" is none.
func (t *turnState) queuedText() string {
	p, ok := t.work.Queued()
	if !ok {
		return ""
	}
	return orElse(t.queued, p.Text)
}

// takeQueued removes the queued message and returns it.
func (t *turnState) takeQueued() (p assistant.Prompt, typed string, ok bool) {
	typed = t.queuedText()
	p, ok = t.work.TakeQueued()
	t.queued, t.sendNow = "", false
	return p, typed, ok
}

// sendQueuedNext sends the queued message if it is due. One that is refused goes
// back to the input.
func (m *Model) sendQueuedNext(due bool) tea.Cmd {
	if !due {
		return nil
	}
	p, typed, ok := m.turn.takeQueued()
	if !ok {
		return nil
	}
	cmd, sent := m.begin(p, typed)
	if !sent {
		m.input.giveBack(typed)
	}
	return cmd
}

// onQueued is an action on the queued message.
func onQueued(do func(*Model) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if _, ok := m.work.Queued(); !ok {
			return m.info("no message is queued")
		}
		return do(m)
	}
}

// editQueued puts the message back into the box. What is in the box comes back
// with undo.
func (m *Model) editQueued() tea.Cmd {
	_, typed, _ := m.turn.takeQueued()
	m.work.EndReAsk()
	m.input.draft.Set(typed)
	m.setMode(modeInput)
	return m.input.draftChanged()
}

// sendQueued sends the message at once: a running turn is cancelled first.
func (m *Model) sendQueued() tea.Cmd {
	if m.session.Busy() {
		m.turn.sendNow = true
		return m.cancel()
	}
	return m.sendQueuedNext(true)
}

// dropQueued removes the message; it can be recalled as a sent one.
func (m *Model) dropQueued() tea.Cmd {
	_, typed, _ := m.turn.takeQueued()
	m.input.draft.AddSent(typed)
	m.notice.info("the queued message is dropped" + m.hint(" · %s in an empty input calls it back", "older-message"))
	return attempt(func(ctx context.Context) error {
		return errors.Join(m.work.AddSent(ctx, typed), m.session.ForgetQueued(ctx))
	}, m.fail)
}

// openQueued shows the whole queued message.
func (m *Model) openQueued() tea.Cmd {
	title := "Queued: it is sent when this response is complete"
	if m.work.QueuedHeld() {
		title = "Queued: it waits for you"
	}
	return m.question(overlay.Queued, title, cleanLines(m.turn.queuedText(), safetext.Clean), "", func(answer string) tea.Cmd {
		if do := map[string]func(*Model) tea.Cmd{"e": (*Model).editQueued, "s": (*Model).sendQueued, "d": (*Model).dropQueued}[answer]; do != nil {
			return do(m)
		}
		return nil
	}, "e", "edit", "s", "send now", "d", "drop")
}

// queuedCard is the queued message as the last line of the conversation; "" is
// none. Where there is no room for its keys they give way to its beginning.
func (t *turnState) queuedCard(w int) string {
	text := t.queuedText()
	if text == "" {
		return ""
	}
	text, keys := "queued: "+oneLine(text), ""
	for _, all := range [...][][2]string{{{"edit-queued", "edit"}, {"send-queued", "send now"}, {"drop-queued", "drop"}}, {{"queued", "edit, send, drop"}}, {}} {
		keys = ""
		for _, k := range all {
			if key := t.key(k[0]); key != "" {
				keys += "  " + t.styles.Chat.Number.Render(key) + " " + t.styles.Chat.Time.Render(k[1])
			}
		}
		if w-queuedFrame-ansi.StringWidth(keys) >= min(ansi.StringWidth(text), w/3) {
			break
		}
	}
	text = textwidth.Truncate(text, max(0, w-queuedFrame-ansi.StringWidth(keys)), t.styles.Icons.Ellipsis)
	return textwidth.Fit("  "+t.styles.Chat.User.Render(text)+keys, w, "")
}
