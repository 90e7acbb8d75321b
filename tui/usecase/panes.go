package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

type (
	// Edited is the outcome of Edit.
	Edited struct {
		Reply
		Done safetext.Text // what was done, in a sentence; may be ""
	}
	// EffectsRead contains the effects that proposals would have now.
	EffectsRead struct {
		Reply
		Effects map[string][]assistant.Effect // effects by payload ID
	}
)

// Edit carries out an act of a pane; revision is the revision that the pane showed. The
// outcome is Edited.
func (c *Commands) Edit(request int64, act assistant.Act, revision int64) tea.Cmd {
	return c.command(request, "change the window", func(ctx context.Context, c call) (Outcome, error) {
		done, err := c.Act(ctx, act, revision)
		return Edited{c.reply(), done}, err
	})
}

// ReadEffects computes the effects that proposals would have now. The outcome is
// EffectsRead.
func (c *Commands) ReadEffects(request int64, proposals []assistant.Payload) tea.Cmd {
	return c.command(request, "read the effects of the proposals", func(_ context.Context, c call) (Outcome, error) {
		effects := map[string][]assistant.Effect{}
		for _, p := range proposals {
			effects[p.ID] = c.Effects(p)
		}
		return EffectsRead{c.reply(), effects}, nil
	})
}
