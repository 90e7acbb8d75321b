package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

type (
	// Edited ends Edit.
	Edited struct {
		Reply
		Done string // what was done, as a sentence; "" is nothing to tell
	}
	// EffectsRead is what carrying out some proposals would do now.
	EffectsRead struct {
		Reply
		Effects map[string][]assistant.Effect // by the ID of the payload
	}
)

// Edit carries out an act on what a pane showed at a revision: Edited.
func (c *Commands) Edit(request int64, act assistant.Act, revision int64) tea.Cmd {
	return c.command(request, "change the window", func(ctx context.Context, c call) (Outcome, error) {
		done, err := c.Act(ctx, act, revision)
		return Edited{c.reply(), done}, err
	})
}

// ReadEffects reads what carrying out some proposals would do now: EffectsRead.
func (c *Commands) ReadEffects(request int64, proposals []assistant.Payload) tea.Cmd {
	return c.command(request, "read what the proposals do", func(_ context.Context, c call) (Outcome, error) {
		effects := map[string][]assistant.Effect{}
		for _, p := range proposals {
			effects[p.ID] = c.Effects(p)
		}
		return EffectsRead{c.reply(), effects}, nil
	})
}
