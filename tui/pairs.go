package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
)

// onPair is an action on the pair with the focus. Later keys wait for its result.
func onPair(do func(*Model, assistant.Pair) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if p, ok := m.conv.chat.Focused(); ok {
			return m.change(do(m, p))
		}
		return nil
	}
}

// whenIdle is an action on the pair with the focus that is refused during a turn.
func whenIdle(do func(*Model, assistant.Pair) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.session.Busy() {
			return m.fail(assistant.ErrBusy)
		}
		return onPair(do)(m)
	}
}

// markPair changes star, flag or topic of a pair; change returns a notice.
func (c *conversation) markPair(seq int64, change func(context.Context) (notice string, err error)) tea.Cmd {
	return async(change, func(notice string, err error) tea.Cmd {
		if err != nil {
			return c.fail(err)
		}
		c.notice.Info(notice)
		recompute := c.computeBoundary
		if transfer.ReadsMarks(c.session.Filter()) {
			recompute = c.refilter
		}
		return tea.Batch(recompute(), c.loadNames(), c.load(seq))
	})
}

// stars is the action that gives the pair n stars; -1 adds one to those in the store,
// which may be ahead of the screen, and goes from three to none.
func stars(n int) func(*Model) tea.Cmd {
	return onPair(func(m *Model, p assistant.Pair) tea.Cmd {
		return m.conv.markPair(p.Seq, func(ctx context.Context) (string, error) {
			star := n
			if n < 0 {
				pairs, err := m.session.Pairs(ctx, []int64{p.Seq})
				if err != nil || len(pairs) == 0 {
					return "", err
				}
				star = (pairs[0].Star + 1) % 4
			}
			return assistant.Counted(star, "star"), m.work.SetStars(ctx, p.Seq, star)
		})
	})
}

// flagPair toggles the flag of a pair.
func (c *conversation) flagPair(p assistant.Pair) tea.Cmd {
	return c.markPair(p.Seq, func(ctx context.Context) (string, error) {
		flag, err := c.work.ToggleFlag(ctx, p.Seq)
		return map[bool]string{true: "flagged", false: "flag removed"}[flag], err
	})
}

// retryPair tries a failed pair again in its place, or regenerates the last one.
func (m *Model) retryPair(p assistant.Pair) tea.Cmd {
	var retry workspace.Retry
	return m.confirming(func(ctx context.Context, confirmed bool) (c *workspace.Confirm, err error) {
		retry, c, err = m.work.Retry(ctx, p.Seq, confirmed)
		return c, err
	}, func(err error) tea.Cmd {
		switch {
		case errors.Is(err, workspace.ErrNotLast):
			return m.info("only the last answer can be regenerated" + m.hint(" · %s edits and asks again", "re-ask"))
		case err != nil:
			return m.fail(err)
		}
		return m.startPrompt(retry.Prompt)
	})
}

// chooseAnswer makes the answer before or after the chosen one the chosen one.
func chooseAnswer(step int) func(*Model, assistant.Pair) tea.Cmd {
	return func(m *Model, p assistant.Pair) tea.Cmd {
		all, chosen := p.Answers()
		switch next := chosen + step; {
		case len(all) == 1:
			return m.info("the message has one answer" + m.hint(" · %s asks for another", "retry"))
		case next < 0 || next == len(all):
			return m.info(fmt.Sprintf("this is answer %d of %d", chosen+1, len(all)))
		default:
			return m.conv.markPair(p.Seq, func(ctx context.Context) (string, error) {
				_, err := m.work.Choose(ctx, p.Seq, next)
				return fmt.Sprintf("answer %d of %d is the one that is sent", next+1, len(all)), err
			})
		}
	}
}

// reAskPair puts the message of a pair into the box, to be edited and sent again.
func (m *Model) reAskPair(p assistant.Pair) tea.Cmd {
	var text string
	return async(func(ctx context.Context) (replaces bool, err error) {
		text, replaces, err = m.work.BeginReAsk(ctx, p.Seq)
		return replaces, err
	}, func(replaces bool, err error) tea.Cmd {
		if err != nil {
			return m.fail(err)
		}
		m.setMode(keymap.Input)
		m.input.draft.Set(text)
		if replaces {
			m.notice.Info("sending replaces the failed message" + m.hint(" · %s gives up", "escape"))
		}
		return m.input.draftChanged()
	})
}

// deletePair removes a pair for good.
func (c *conversation) deletePair(p assistant.Pair) tea.Cmd {
	return c.confirming(func(ctx context.Context, confirmed bool) (*workspace.Confirm, error) {
		return c.work.Delete(ctx, []int64{p.Seq}, confirmed)
	}, func(err error) tea.Cmd {
		if err != nil {
			return c.fail(err)
		}
		c.notice.Info("deleted")
		return tea.Batch(c.computeBoundary(), c.loadNames())
	})
}
