package modelfilter

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Order sorts models by a fact. Models for which the fact is unknown come last, even in
// reverse order.
type Order struct {
	Name  string // for the language model and the command line
	Title string // for users

	// key returns a number that increases with the fact; ok is false if the fact is
	// unknown.
	key func(m *condition.Model) (key int64, ok bool)
}

var orders = []Order{
	{"status", "status", func(m *condition.Model) (int64, bool) {
		if m.Hidden {
			return 0, true
		}
		return 1, true
	}},
	{"price", "output price", func(m *condition.Model) (int64, bool) { return priceKey(m.Info.Facts.PriceOut) }},
	{"price_in", "input price", func(m *condition.Model) (int64, bool) { return priceKey(m.Info.Facts.PriceIn) }},
	{"context", "context window", func(m *condition.Model) (int64, bool) {
		return int64(m.Info.Context), m.Info.Context > 0 && m.Info.Known
	}},
	{"released", "release date", func(m *condition.Model) (int64, bool) { return dateKey(m.Info.Facts.Released) }},
	{"requests", "requests", func(m *condition.Model) (int64, bool) { return m.Use.Requests, m.UseKnown }},
	{"last_used", "last use", func(m *condition.Model) (int64, bool) { return m.Use.Last.Unix(), m.UseKnown }},
}

func priceKey(p llm.Price) (int64, bool) {
	return int64(math.Float64bits(p.USD + 0)), p.Known // non-negative floats are ordered like their bits; + 0 turns -0 into 0
}

// dateKey returns the digits of a date as YYYYMMDD; a missing month or day is 0.
func dateKey(date string) (key int64, ok bool) {
	digits := 0
	for i := 0; i < len(date) && digits < 8; i++ {
		if c := date[i]; '0' <= c && c <= '9' {
			key, digits = 10*key+int64(c-'0'), digits+1
		}
	}
	for ; digits < 8; digits++ {
		key *= 10
	}
	return key, date != ""
}

// Orders returns all sort orders except the order by name. Each is descending: it starts with
// the most expensive, largest, newest or most used models, or with the shown ones.
func Orders() []Order { return slices.Clone(orders) }

// OrderNamed returns the order with this name; ok is false if there is none.
func OrderNamed(name string) (o Order, ok bool) {
	i := slices.IndexFunc(orders, func(o Order) bool { return o.Name == name })
	if i < 0 {
		return Order{}, false
	}
	return orders[i], true
}

// Sorted returns the indexes of n models in this order. Models with equal facts keep their
// order. If reversed is set, the model with the lowest value comes first.
func (o Order) Sorted(n int, model func(i int) *condition.Model, reversed bool) []int {
	type keyed struct {
		key   int64
		index int
	}
	known, unknown := make([]keyed, 0, n), []int(nil)
	for i := range n {
		key, ok := o.key(model(i))
		switch {
		case !ok:
			unknown = append(unknown, i)
		case reversed:
			known = append(known, keyed{key, i})
		default:
			known = append(known, keyed{^key, i}) // the highest first
		}
	}
	slices.SortFunc(known, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return a.index - b.index
	})
	sorted := make([]int, 0, n)
	for _, k := range known {
		sorted = append(sorted, k.index)
	}
	return append(sorted, unknown...)
}

// Model returns what is known about the model at an index of Models. Before ReadFacts, its
// facts are unknown.
func (s *ProviderSnapshot) Model(i int) condition.Model {
	m := s.Models[i].Known()
	id := m.Info.ID
	if s.Info != nil {
		m.Info = s.Info[i]
	}
	m.Info.ID = id
	m.Use, m.UseKnown = s.use.ForModel(id)
	return m
}

// Known returns what conditions can check without the model's facts and use: its id, its status and whether it is new.
func (v ModelView) Known() condition.Model {
	m := condition.Model{Hidden: v.Status == engine.Ignored, Allowed: v.Status == engine.Whitelisted, New: v.New}
	m.Info.ID = v.ID
	return m
}

// Step implements [assistant.Act]; ReadFacts is not a step that can be undone.
func (ReadFacts) Step() string { return "" }

func (ReadFacts) about() string { return "" }

func (a ReadFacts) do(ctx context.Context, w *Window) (safetext.Text, error) {
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
	if p.engine == e { // otherwise the models have changed in the meantime
		p.info = info
		w.redraw(p)
	}
	return "", nil
}

// SameUse reports whether both snapshots have the same usage data.
func (s *ProviderSnapshot) SameUse(other *ProviderSnapshot) bool { return s.use == other.use }
