package overlay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"

	"winnow/tui/style"
)

// goneFor is how long a model that its endpoint no longer lists is still shown, with a mark.
// Models that the user has chosen are shown for ever.
const goneFor = 30 * 24 * time.Hour

// ModelList contains the models to choose from.
type ModelList struct {
	Models, Gone       []llm.ModelInfo      // from llm.Registry
	Favourites, Recent []string             // ids
	Current            string               // id of the current model; "" if none
	Offline            func(id string) bool // reports whether a model is built in; nil means that none is
	Now                time.Time
	Icons              style.Icons
}

// ModelsOf returns the list of a registry, without favourites and recent models.
func ModelsOf(r *llm.Registry, now time.Time) ModelList {
	return ModelList{Models: r.Models(), Gone: r.Gone(), Now: now}
}

// All returns the chat models to choose from, sorted by id. They include models that are no
// longer listed if they disappeared recently or the user has chosen them.
func (l ModelList) All() []llm.ModelInfo {
	all := slices.DeleteFunc(slices.Clone(l.Models), func(m llm.ModelInfo) bool { return m.NoChat })
	for _, m := range l.Gone {
		m.Gone = true
		chosen := m.ID == l.Current || slices.Contains(l.Favourites, m.ID) || slices.Contains(l.Recent, m.ID)
		if !m.NoChat && (chosen || l.Now.Sub(m.Retrieved) < goneFor) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b llm.ModelInfo) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Entries returns the entries of the picker and the index of the selected model, or 0 if it is
// not listed. Each model is listed once: as a favourite, as a recent one, or by its provider.
func (l ModelList) Entries(selected string) (entries []Entry, at int) {
	all, ages := l.All(), l.Ages()
	byID := map[string]llm.ModelInfo{}
	for _, m := range all {
		byID[m.ID] = m
	}
	for _, group := range []struct {
		name string
		ids  []string
	}{{"favourites", l.Favourites}, {"recent", l.Recent}} {
		for _, id := range group.ids {
			if m, ok := byID[id]; ok {
				delete(byID, id)
				entries = append(entries, l.entry(m, group.name, id))
			}
		}
	}
	for _, m := range all {
		if _, unlisted := byID[m.ID]; !unlisted {
			continue
		}
		endpoint, name, _ := strings.Cut(m.ID, "/")
		group := endpoint
		if provider, _, ok := strings.Cut(name, "/"); ok {
			group += " · " + provider
		}
		if age := ages[endpoint]; age != "" {
			group += " · listed " + age
		}
		entries = append(entries, l.entry(m, group, name))
	}
	return entries, max(0, slices.IndexFunc(entries, func(e Entry) bool { return e.Value == selected }))
}

// Legend explains the text at the right edge of the entries; "" if no entry needs an
// explanation.
func (l ModelList) Legend() string {
	var parts []string
	for _, one := range []struct {
		text  string
		shown func(llm.ModelInfo) bool
	}{
		{"$in/$out per million tokens", priced},
		{"last number: context limit in tokens", func(m llm.ModelInfo) bool { return m.Context > 0 && !l.offline(m.ID) }},
	} {
		if slices.ContainsFunc(l.All(), func(m llm.ModelInfo) bool { return !m.Gone && one.shown(m) }) {
			parts = append(parts, one.text)
		}
	}
	return strings.Join(parts, " · ")
}

// dollars formats a price for the list: "$2.5"; "?" if unknown.
func dollars(p llm.Price) string {
	if !p.Known {
		return "?"
	}
	return fmt.Sprintf("$%.4g", p.USD)
}

// priced reports whether the price of a model is known.
func priced(m llm.ModelInfo) bool { return m.Facts.PriceIn.Known || m.Facts.PriceOut.Known }

// offline reports whether a model is built in.
func (l ModelList) offline(id string) bool { return l.Offline != nil && l.Offline(id) }

func (l ModelList) entry(m llm.ModelInfo, group, text string) Entry {
	var extra []string
	switch {
	case m.Gone:
		extra = []string{GoneSince(m)}
	case l.offline(m.ID):
		extra = []string{"built in, not a language model"}
	default:
		if m.Tools {
			extra = append(extra, "tools")
		}
		if m.Reasons {
			extra = append(extra, "reasons")
		}
		if priced(m) {
			extra = append(extra, dollars(m.Facts.PriceIn)+"/"+dollars(m.Facts.PriceOut))
		}
		extra = append(extra, tokens(m.Context))
	}
	e := Entry{Value: m.ID, Text: text, Full: m.ID, Group: group, Extra: strings.Join(extra, " · ")}
	switch {
	case m.Gone:
		e.Mark = l.Icons.ToolBad
	case m.ID == l.Current:
		e.Mark = l.Icons.Marked
	}
	return e
}

// GoneSince says that a model is gone and, if known, when it was last listed.
func GoneSince(m llm.ModelInfo) string {
	if m.Retrieved.IsZero() {
		return "gone"
	}
	return "gone · last seen " + m.Retrieved.Local().Format("2006-01-02")
}

// Ages returns, for each endpoint whose list is from an earlier run, how long ago it was
// fetched.
func (l ModelList) Ages() map[string]string {
	newest := map[string]time.Time{}
	for _, m := range l.Models {
		if endpoint, _, _ := strings.Cut(m.ID, "/"); m.Source == "cache" && m.Retrieved.After(newest[endpoint]) {
			newest[endpoint] = m.Retrieved
		}
	}
	ages := map[string]string{}
	for endpoint, at := range newest {
		ages[endpoint] = ago(l.Now.Sub(at))
	}
	return ages
}

// ago formats how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return assistant.Counted(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return assistant.Counted(int(d/time.Hour), "hour") + " ago"
	}
	return assistant.Counted(int(d/(24*time.Hour)), "day") + " ago"
}

// tokens formats a number of tokens; 0 means unknown.
func tokens(n int) string {
	switch {
	case n <= 0:
		return "limit unknown"
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
