package modelfilter

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/llm"
)

// Order is an order for listing models. Models for which its fact is unknown come last,
// even if it is reversed.
type Order struct {
	Name  string // for the language model and the command line
	Title string // for users

	known   func(m *condition.Model) bool
	compare func(a, b *condition.Model) int
}

var orders = []Order{
	{"status", "shown or hidden", func(*condition.Model) bool { return true }, func(a, b *condition.Model) int { return hiddenLast(a) - hiddenLast(b) }},
	{"price", "output price", func(m *condition.Model) bool { return m.Info.Facts.PriceOut.Known }, func(a, b *condition.Model) int {
		return cmp.Compare(b.Info.Facts.PriceOut.USD, a.Info.Facts.PriceOut.USD)
	}},
	{"price_in", "input price", func(m *condition.Model) bool { return m.Info.Facts.PriceIn.Known }, func(a, b *condition.Model) int {
		return cmp.Compare(b.Info.Facts.PriceIn.USD, a.Info.Facts.PriceIn.USD)
	}},
	{"context", "context window", func(m *condition.Model) bool { return m.Info.Context > 0 && m.Info.Known }, func(a, b *condition.Model) int { return cmp.Compare(b.Info.Context, a.Info.Context) }},
	{"released", "release date", func(m *condition.Model) bool { return m.Info.Facts.Released != "" }, func(a, b *condition.Model) int { return strings.Compare(b.Info.Facts.Released, a.Info.Facts.Released) }},
	{"requests", "requests", func(m *condition.Model) bool { return m.UseKnown }, func(a, b *condition.Model) int { return cmp.Compare(b.Use.Requests, a.Use.Requests) }},
	{"last_used", "last use", func(m *condition.Model) bool { return m.UseKnown }, func(a, b *condition.Model) int { return b.Use.Last.Compare(a.Use.Last) }},
}

func hiddenLast(m *condition.Model) int {
	if m.Hidden {
		return 1
	}
	return 0
}

// Orders lists the orders other than by name. Each starts with the highest: the most
// expensive, the largest, the newest, the most used, the shown ones.
func Orders() []Order { return slices.Clone(orders) }

// OrderNamed returns the order with this name; ok is false if there is none.
func OrderNamed(name string) (o Order, ok bool) {
	i := slices.IndexFunc(orders, func(o Order) bool { return o.Name == name })
	if i < 0 {
		return Order{}, false
	}
	return orders[i], true
}

// Sorted returns the indexes of n models in the order. Equal models keep their order. With
// reversed, the lowest comes first.
func (o Order) Sorted(n int, model func(i int) *condition.Model, reversed bool) []int {
	sorted, unknown := make([]int, 0, n), []int(nil)
	for i := range n {
		if o.known(model(i)) {
			sorted = append(sorted, i)
		} else {
			unknown = append(unknown, i)
		}
	}
	slices.SortFunc(sorted, func(a, b int) int {
		c := o.compare(model(a), model(b))
		if reversed {
			c = -c
		}
		if c == 0 {
			return a - b
		}
		return c
	})
	return append(sorted, unknown...)
}

// Model returns what is known about the model at an index of Models. Before ReadFacts, of
// its facts only the id is known.
func (s *ProviderSnapshot) Model(i int) condition.Model {
	v := s.Models[i]
	m := condition.Model{Hidden: v.Status == engine.Ignored, Allowed: v.Status == engine.Whitelisted, New: v.New}
	if s.Info != nil {
		m.Info = s.Info[i]
	}
	m.Info.ID = v.ID
	m.Use, m.UseKnown = s.use.Of(v.ID)
	return m
}

// Step implements [assistant.Act]; it is not an undoable step.
func (ReadFacts) Step() string { return "" }

func (ReadFacts) about() string { return "" }

func (a ReadFacts) do(ctx context.Context, w *Window) (string, error) {
	w.mu.Lock()
	p, err := w.findProvider(a.Provider)
	if err != nil {
		w.mu.Unlock()
		return "", err
	}
	e := w.engine(p)
	ids := e.Models()
	w.mu.Unlock()
	w.readUse(p.name)
	info := make([]llm.ModelInfo, len(ids))
	for i, id := range ids {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		info[i], _ = w.describe(id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.engine == e { // otherwise the models have changed
		p.info = info
		w.redraw(p)
	}
	return "", nil
}

// SameUse reports whether both snapshots have the same usage data.
func (s *ProviderSnapshot) SameUse(other *ProviderSnapshot) bool { return s.use == other.use }
