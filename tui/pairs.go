package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history/transfer"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/usecase"
)

// onPair returns an action that works on the focused pair. Later keys wait for its outcome.
func onPair(do func(m *Model, request int64, p assistant.Pair) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		return m.acts.add(func(request int64) tea.Cmd {
			if p, ok := m.conv.chat.Focused(); ok {
				return do(m, request, p)
			}
			return m.noPair()
		})
	}
}

// noPair says that no pair has the focus because the conversation is empty. A pair that is not
// loaded yet is not reported.
func (m *Model) noPair() tea.Cmd {
	if m.conv.chat.Len() > 0 {
		return nil
	}
	return m.info("there is no message here")
}

// whenIdle returns an action that works on the focused pair and is not allowed during a
// turn.
func whenIdle(do func(m *Model, request int64, p assistant.Pair) tea.Cmd) func(*Model) tea.Cmd {
	return onPair(func(m *Model, request int64, p assistant.Pair) tea.Cmd {
		if m.turn.running {
			return m.fail(assistant.ErrBusy)
		}
		return do(m, request, p)
	})
}

// stars returns the action that gives the pair n stars; -1 adds a star, or removes all
// three.
func stars(n int) func(*Model) tea.Cmd {
	return onPair(func(m *Model, request int64, p assistant.Pair) tea.Cmd {
		return m.commands.SetStars(request, p.Seq, n)
	})
}

// flagPair toggles the flag of a pair.
func (m *Model) flagPair(request int64, p assistant.Pair) tea.Cmd {
	return m.commands.ToggleFlag(request, p.Seq)
}

// retryPair retries a failed pair in place, or regenerates the last one.
func (m *Model) retryPair(request int64, p assistant.Pair) tea.Cmd {
	return m.commands.Retry(request, p.Seq)
}

// chooseAnswer returns the action that selects an answer relative to the current one: 1 is the
// next answer, -1 the previous.
func chooseAnswer(step int) func(*Model, int64, assistant.Pair) tea.Cmd {
	return func(m *Model, request int64, p assistant.Pair) tea.Cmd {
		all, chosen := p.Answers()
		switch next := chosen + step; {
		case len(all) == 1:
			another := m.hint(" · %s edits and asks again", keymap.ReAsk)
			if refs := m.parts.Shown.Refs; len(refs) > 0 && refs[len(refs)-1].Seq == p.Seq {
				another = m.hint(" · %s asks for another", keymap.Retry)
			}
			return m.info("the message has only one answer" + another)
		case next < 0 || next == len(all):
			return m.info(safetext.Sprintf("this is answer %d of %d", chosen+1, len(all)))
		default:
			return m.commands.ChooseAnswer(request, p.Seq, next, len(all))
		}
	}
}

// reAskPair puts the message of a pair into the box, where the user can edit it and send it
// again.
func (m *Model) reAskPair(request int64, p assistant.Pair) tea.Cmd {
	return m.commands.BeginReAsk(request, p.Seq)
}

// deletePair deletes a pair permanently.
func (m *Model) deletePair(request int64, p assistant.Pair) tea.Cmd {
	return m.commands.Delete(request, p.Seq)
}

// onPairOutcome shows what was done to a pair; ok is false for other outcomes.
func (m *Model) onPairOutcome(o usecase.Outcome) (cmd tea.Cmd, ok bool) {
	switch o := o.(type) {
	case usecase.PairsLoaded:
		return m.onPairs(o), true
	case usecase.Starred:
		return m.marked(o.Pair, safetext.Clean(assistant.Counted(o.Stars, "star")), o.ViewErr), true
	case usecase.Flagged:
		var done safetext.Text = "unflagged: grey · the filter b leaves grey messages out"
		if o.On {
			done = "flagged"
		}
		return m.marked(o.Pair, done, o.ViewErr), true
	case usecase.TopicSet:
		done := "topic: " + oneLine(o.Path)
		if o.Path == "" {
			done = "the message now has no topic"
		}
		return m.marked(o.Pair, done, o.ViewErr), true
	case usecase.AnswerChosen:
		return m.marked(o.Pair, safetext.Sprintf("from now on, requests contain answer %d of %d", o.Answer+1, o.Of), o.ViewErr), true
	case usecase.Deleted:
		m.notice.Info("deleted")
		return m.loadNames(), true
	case usecase.RetryReady:
		return m.startPrompt(o.Prompt), true
	case usecase.ReAskBegun:
		return m.onReAsk(o), true
	}
	return nil, false
}

// marked shows the new marks of a pair. viewErr is why the active filter could not be
// evaluated again, or nil.
func (m *Model) marked(seq int64, notice safetext.Text, viewErr error) tea.Cmd {
	m.notice.Info(notice)
	if viewErr != nil {
		m.failView(viewErr)
	}
	return tea.Batch(m.loadNames(), m.load(seq))
}

// onReAsk puts the message of the pair into the box.
func (m *Model) onReAsk(o usecase.ReAskBegun) tea.Cmd {
	m.setMode(keymap.Input)
	m.input.draft.Set(o.Text)
	m.input.editing = o.Pair
	if o.Replaces {
		m.notice.Info("sending replaces the failed message" + m.hint(" · %s cancels", keymap.Escape))
	}
	return m.carryOut(m.input.draftChanged())
}

// loadMissing loads the visible pairs that are not loaded yet.
func (m *Model) loadMissing() tea.Cmd {
	return m.load(m.conv.unrequested(append(m.conv.chat.Missing(), m.hud.Missing()...))...)
}

// load reads pairs. If several requests read the same pair, only the last result is shown.
func (m *Model) load(seqs ...int64) tea.Cmd {
	if len(seqs) == 0 {
		return nil
	}
	request := m.acts.query()
	m.conv.await(request, seqs)
	return m.commands.LoadPairs(request, seqs)
}

// onPairs shows loaded pairs. The pair of the running turn is not changed.
func (m *Model) onPairs(o usecase.PairsLoaded) tea.Cmd {
	pairs := m.conv.arrived(o)
	if o.Err != nil {
		return m.fail(fmt.Errorf("the history could not be read: %w", o.Err))
	}
	if m.turn.running {
		pairs = slices.DeleteFunc(pairs, func(p assistant.Pair) bool { return p.Seq == m.turn.seq })
	}
	m.conv.chat.Load(pairs)
	m.hud.Load(pairs...)
	return tea.Batch(m.loadMissing(), m.carryOut(m.conv.copySelection()), m.computeEffects())
}

// reloadStale reloads the pairs whose stored form has changed.
func (m *Model) reloadStale(stale *assistant.StalePairs) tea.Cmd {
	if stale.All {
		m.hud.Reload()
	}
	return m.load(slices.DeleteFunc(m.conv.chat.Loaded(), func(seq int64) bool { return !stale.Has(seq) })...)
}

// reload reads the loaded pairs again. If the filter depends on marks, reload evaluates it
// again too, because a tool may have changed marks.
func (m *Model) reload() tea.Cmd {
	m.hud.Reload()
	load := m.load(m.conv.chat.Loaded()...)
	if transfer.ReadsMarks(m.parts.filterLine()) {
		return tea.Batch(load, m.refilter())
	}
	return load
}

// checkPair marks the pair that was just answered if the user's filter line hides it.
func (m *Model) checkPair(seq int64) tea.Cmd {
	if line := m.parts.filterLine(); !m.commands.Stores() || seq == 0 || line == "" || line == "x" {
		return nil
	}
	return m.commands.Matches(m.acts.query(), seq)
}

// computeEffects computes the effects of the proposals that wait for the user; the effects may
// change whenever a rule changes.
func (m *Model) computeEffects() tea.Cmd {
	waiting := m.conv.chat.Undecided()
	if len(waiting) == 0 {
		return nil
	}
	m.conv.forecast = m.acts.query()
	return m.commands.ReadEffects(m.conv.forecast, waiting)
}

// refilter evaluates the active filter line again after pairs have changed.
func (m *Model) refilter() tea.Cmd { return m.commands.Refilter(m.acts.query(), "") }

// loadNames reads the names for completion, which a command may have changed.
func (m *Model) loadNames() tea.Cmd { return m.commands.ReadNames(m.acts.query()) }
