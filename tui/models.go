package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// openModels lets the user choose the model: favourites and recent ones first,
// then by provider. It asks the endpoints for what is new meanwhile.
func (m *Model) openModels() tea.Cmd {
	return tea.Batch(m.showModels(""), refreshModels(m.session))
}

// showModels shows the models that are known; selected is the first, "" the
// current one.
func (m *Model) showModels(selected string) tea.Cmd {
	if selected == "" {
		selected = m.session.Model()
	}
	entries, at := m.modelEntries(selected)
	picker := overlay.NewPicker("Model", entries, at).WithKeys("enter selects · alt+f favourite or not", "alt+f")
	return m.open(overlay.Models, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Key == "alt+f" {
			return m.toggleFavourite(c.Value)
		}
		return m.setModel(c.Value)
	})
}

// modelEntries are the lines of the selector, and the place of a model among
// those of its provider.
func (m *Model) modelEntries(selected string) (entries []overlay.Entry, at int) {
	byID := map[string]assistant.ModelInfo{}
	all := m.session.Registry().Models()
	for _, info := range all {
		byID[info.ID] = info
	}
	for _, first := range [...]struct {
		group string
		ids   []string
	}{{"favourites", m.names.favourites}, {"recent", m.names.recent}} {
		for _, id := range first.ids {
			if info, ok := byID[id]; ok {
				entries = append(entries, modelEntry(info, first.group, id, m))
			}
		}
	}
	for _, info := range all {
		if info.NoChat {
			continue
		}
		provider, name, _ := strings.Cut(info.ID, "/")
		if info.ID == selected {
			at = len(entries)
		}
		entries = append(entries, modelEntry(info, provider, name, m))
	}
	return entries, at
}

// toggleFavourite makes a model a favourite, or no longer; the list stays open.
func (m *Model) toggleFavourite(id string) tea.Cmd {
	if i := slices.Index(m.names.favourites, id); i >= 0 {
		m.names.favourites = slices.Delete(m.names.favourites, i, i+1)
	} else {
		m.names.favourites = append(m.names.favourites, id)
	}
	return tea.Batch(m.showModels(id), keepModels(m.opts.History, favouritesKey, m.names.favourites))
}

func modelEntry(info assistant.ModelInfo, group, text string, m *Model) overlay.Entry {
	var extra []string
	if info.Tools {
		extra = append(extra, "tools")
	}
	if info.Reasons {
		extra = append(extra, "reasons")
	}
	if info.PriceIn > 0 || info.PriceOut > 0 {
		extra = append(extra, fmt.Sprintf("$%.4g/$%.4g", info.PriceIn, info.PriceOut))
	}
	if info.Context > 0 {
		extra = append(extra, tokens(info.Context))
	} else {
		extra = append(extra, "~")
	}
	e := overlay.Entry{Value: info.ID, Text: text, Group: group, Extra: strings.Join(extra, " · ")}
	if info.ID == m.session.Model() {
		e.Mark = m.styles.Icons.Marked
	}
	return e
}

// tokens says a number of tokens for people.
func tokens(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

func (m *Model) setModel(id string) tea.Cmd {
	if err := m.session.SetModel(id); err != nil {
		return m.complain(err)
	}
	m.names.recent = append([]string{id}, slices.DeleteFunc(m.names.recent, func(have string) bool { return have == id })...)
	m.notice.say(id + " answers from the next message on")
	return tea.Batch(computeBoundary(m.session), keepModels(m.opts.History, recentKey, m.names.recent[:min(len(m.names.recent), recentKept)]))
}

func (m *Model) onModels(msg modelsLoadedMsg) tea.Cmd {
	for name, err := range msg.failed {
		m.notice.bad(name + ": its models could not be listed: " + sentence(err))
	}
	o, open := m.overlay.Find(overlay.Models)
	if !open {
		return nil
	}
	entries, _ := m.modelEntries(m.session.Model())
	o.(*overlay.Picker).SetEntries(entries)
	return computeBoundary(m.session)
}

// keepModels stores a list of models under a key of the history.
func keepModels(h history.Store, key string, ids []string) tea.Cmd {
	if h == nil {
		return nil
	}
	text := strings.Join(ids, " ")
	return func() tea.Msg {
		if err := h.Set(context.Background(), key, text); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

// keptModels reads such a list; what cannot be read is empty.
func keptModels(ctx context.Context, h history.Store, key string) []string {
	text, _ := h.Get(ctx, key)
	return strings.Fields(text)
}
