package modelfilter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// News is a change to a provider's models since the user last looked at them.
type News struct {
	Provider string
	models.Change
	Model condition.Model // with its current facts, without its use
}

// Word describes the change: "new", "gone", "deprecated", "new price".
func (n News) Word() string {
	switch n.Kind {
	case models.Vanished:
		return "gone"
	case models.Repriced:
		return "new price"
	default:
		return string(n.Kind)
	}
}

// Price returns the current prices, each with the previous one if it has changed: "$2.5 in
// (was $3), $10 out". It returns "" if they are unknown or the model is gone.
func (n News) Price() string {
	in, out := n.Model.Info.Facts.PriceIn, n.Model.Info.Facts.PriceOut
	if n.Kind == models.Vanished || !in.Known && !out.Known {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{priceText(in, n.PriceIn, "in"), priceText(out, n.PriceOut, "out")}, func(s string) bool { return s == "" }), ", ")
}

func priceText(now, before llm.Price, word string) string {
	switch {
	case !now.Known:
		return ""
	case before.Known && before.USD != now.USD:
		return fmt.Sprintf("$%s %s (was $%s)", now, word, before)
	}
	return fmt.Sprintf("$%s %s", now, word)
}

// Context returns the context window in tokens; 0 if unknown or the model is gone.
func (n News) Context() int {
	if n.Kind == models.Vanished || !n.Model.Info.Known {
		return 0
	}
	return n.Model.Info.Context
}

// newsSource returns what has changed about a provider's models.
type newsSource interface {
	News(provider string) []models.Change
}

// news returns the changes to a provider's models, reading them if necessary. The caller
// holds mu.
func (w *Window) news(p *provider) (out []News) {
	source, ok := w.opts.Models.(newsSource)
	if !ok {
		return nil
	}
	if !p.newsRead {
		p.news, p.newsRead = source.News(p.name), true
	}
	e := w.engine(p)
	for _, c := range p.news {
		n := News{Provider: p.name, Change: c}
		n.Model.Info, _ = w.describe(c.ID)
		n.Model.Info.ID = c.ID
		n.Model.Hidden, n.Model.New = e.Status(c.ID).Status == engine.Ignored, c.Kind == models.Appeared
		out = append(out, n)
	}
	return out
}

// News lists the changes since MarkSeen to the models of the named providers, or of all
// providers if none is named. It may wait for the disk. It returns an *UnknownError for an
// unknown provider.
func (w *Window) News(providers ...string) (out []News, err error) {
	if len(providers) == 0 {
		providers = withLock(w, func() []string { return slices.Clone(w.order) })
	}
	for _, name := range providers {
		w.mu.Lock()
		p, err := w.findProvider(name)
		if err == nil {
			out = append(out, w.news(p)...)
		}
		w.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxNews is the maximum number of changes that the context lists.
const maxNews = 20

// ContextNews is a change to a model in the form that the language model gets.
type ContextNews struct {
	ID      string `json:"id"`
	Change  string `json:"change"` // "new", "vanished", "deprecated", "repriced"
	Status  string `json:"status"` // "hidden" or "shown"; "" for a vanished model
	Price   string `json:"price,omitempty"`
	Context int    `json:"context_window,omitempty"`
}

// contextNews returns the first maxNews changes to models, for the providers whose models have
// been read. The caller holds mu.
func (w *Window) contextNews() (out []ContextNews) {
	for _, name := range w.order {
		p := w.providerNamed(name)
		if p.engine == nil {
			continue
		}
		for _, n := range w.news(p) {
			if len(out) == maxNews {
				return out
			}
			c := ContextNews{ID: visible(n.ID), Change: string(n.Kind), Price: n.Price(), Context: n.Context()}
			if n.Kind != models.Vanished {
				c.Status = shownWord(n.Model.Hidden)
			}
			out = append(out, c)
		}
	}
	return out
}

func shownWord(hidden bool) string {
	if hidden {
		return "hidden"
	}
	return "shown"
}

// Text describes the change in one line, safe to show: "new: openai/gpt-5 · $1.25 in, $10
// out · 400,000 tokens · shown".
func (n News) Text() string {
	parts := []string{n.Word() + ": " + string(safetext.Visible(n.ID))}
	if price := n.Price(); price != "" {
		parts = append(parts, price)
	}
	if c := n.Context(); c > 0 {
		parts = append(parts, thousands(int64(c))+" tokens")
	}
	if n.Kind != models.Vanished {
		parts = append(parts, shownWord(n.Model.Hidden))
	}
	return strings.Join(parts, " · ")
}

// Step implements [assistant.Act]; MarkSeen is not a step that can be undone.
func (MarkSeen) Step() string { return "" }

func (MarkSeen) about() string { return "" }

func (a MarkSeen) do(_ context.Context, w *Window) (safetext.Text, error) {
	s, err := w.On(a.Provider)
	if err != nil {
		return "", err
	}
	what := assistant.Counted(s.Counts().New, "new model")
	if all, err := w.News(a.Provider); err == nil && slices.ContainsFunc(all, func(n News) bool { return n.Kind != models.Appeared }) {
		what = assistant.Counted(len(all), "change")
	}
	if err := w.MarkSeen(a.Provider); err != nil {
		return "", err
	}
	return safetext.Sprintf("%s of %s marked as seen", what, a.Provider), nil
}
