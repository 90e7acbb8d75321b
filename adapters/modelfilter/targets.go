package modelfilter

import (
	"context"

	"winnow/assistant/safetext"
)

// TargetView describes how another proxy differs from this one.
type TargetView struct {
	Name    string
	Rules   int    // number of rules that only one of the two proxies has
	Models  int    // number of models that only one of the two proxies shows
	Problem string // why it could not be compared, as a clause; "" if it was
}

// CompareTargets compares the saved rules with the rules of the other proxies. It is an act of a
// user.
type CompareTargets struct{}

// Step implements [assistant.Act]; CompareTargets is not a step that can be undone.
func (CompareTargets) Step() string { return "" }

func (CompareTargets) about() string { return "" }

func (CompareTargets) do(ctx context.Context, w *Window) (safetext.Text, error) {
	return "", w.compareTargets(ctx)
}

// compareTargets compares the window with the other proxies, which are asked over the network.
func (w *Window) compareTargets(ctx context.Context) error {
	if w.opts.Targets == nil {
		return nil
	}
	own, err := w.Export(ctx)
	if err != nil {
		return err
	}
	views := w.opts.Targets(ctx, own.(Exported))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.targets, w.compared = views, true
	w.changed()
	return nil
}
