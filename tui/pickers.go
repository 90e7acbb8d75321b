package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// pickers are the lists to choose from.
type pickers struct {
	*shared
	conv   *conversation
	input  *input
	models modelList
}

// modelList is what the list of models shows first.
type modelList struct{ recent, favourites []string }

const (
	resumeKey    = "alt+o" // continues a session of the list
	favouriteKey = "alt+f" // marks a model, or removes the mark
	// The title of a session has the cells beside border, mark, date and count of a
	// line, at least enough for its first words.
	minTitle    = 16
	besideTitle = 42
)

// onPickers is the action that opens a list.
func onPickers(do func(*pickers) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.pickers) }
}

// openSessions lists the sessions that have pairs, by folder, the one used last
// first. Choosing one shows its pairs; another key continues it.
func (m *Model) openSessions() tea.Cmd {
	return async(m.work.Sessions, func(all []history.Session, err error) tea.Cmd {
		switch {
		case err != nil:
			return m.fail(err)
		case len(all) == 0:
			return m.info("there is no session with messages yet")
		}
		picker := overlay.NewPicker("Sessions", m.sessionEntries(all), 0).WithKeys("enter shows its pairs · "+resumeKey+" continues it", resumeKey)
		return m.open(overlay.Sessions, picker, func(c overlay.Chosen) tea.Cmd {
			switch {
			case c.Value == m.session.ID():
				return m.runLine("x")
			case c.Key == resumeKey:
				return m.resumeSession(c.Value)
			}
			return m.runLine("x'" + c.Value + "'")
		})
	})
}

func (s *shared) sessionEntries(all []history.Session) (entries []overlay.Entry) {
	var folders []string
	for _, session := range all {
		if !slices.Contains(folders, session.Folder) {
			folders = append(folders, session.Folder)
		}
	}
	slices.SortStableFunc(all, func(a, b history.Session) int {
		return slices.Index(folders, a.Folder) - slices.Index(folders, b.Folder)
	})
	room := max(minTitle, s.width*9/10-besideTitle)
	for _, session := range all {
		e := overlay.Entry{
			Value: session.ID, Group: cmp.Or(session.Folder, "no folder"),
			Text:  textwidth.Truncate(cmp.Or(oneLine(session.Title), "(no text)"), room, s.styles.Icons.Ellipsis),
			Extra: session.Used.Local().Format("2006-01-02 15:04") + " · " + assistant.Counted(session.Pairs, "pair"),
		}
		if session.ID == s.session.ID() {
			e.Mark = s.styles.Icons.Marked
		}
		entries = append(entries, e)
	}
	return entries
}

// newSession starts a new session; it asks when rules are unsaved.
func (m *Model) newSession() tea.Cmd {
	return m.confirming(m.work.NewSession, func(err error) tea.Cmd {
		return m.sessionChanged(err == nil, err, "a new session; the old one is in the history"+m.hint(" (%s, then an empty line)", "filter"))
	})
}

// resumeSession continues another session.
func (m *Model) resumeSession(id string) tea.Cmd {
	return m.confirming(func(ctx context.Context, confirmed bool) (*workspace.Confirm, error) {
		return m.work.ResumeSession(ctx, id, confirmed)
	}, func(err error) tea.Cmd {
		return m.sessionChanged(m.session.ID() == id, err, "the session continues; the previous one is in the history")
	})
}

// sessionChanged shows the current session, and an error although it has switched.
func (m *Model) sessionChanged(switched bool, err error, notice string) tea.Cmd {
	if !switched {
		return m.fail(err)
	}
	m.turn.turn, m.turn.queued = turn{n: m.turn.n + 1}, ""
	m.setMode(modeInput)
	m.conv.showRefs(m.session.Visible())
	m.conv.chat.Bottom()
	m.notice.info(notice)
	m.fail(err)
	return tea.Batch(computeBoundary(m.session), m.conv.loadMissing())
}

// openModels lets the user choose the model: favourites and recent ones first,
// then by provider. Meanwhile it asks the endpoints for new ones.
func (p *pickers) openModels() tea.Cmd {
	p.showModels("")
	return async(func(ctx context.Context) (map[string]error, error) { return p.work.RefreshModels(ctx), nil }, func(failed map[string]error, _ error) tea.Cmd {
		for name, err := range failed {
			p.notice.fail(name + ": its models could not be listed: " + sentence(err))
		}
		if _, _, _, err := p.session.Registry().Open(p.session.Model()); errors.Is(err, llm.ErrModelGone) {
			p.notice.fail(sentence(err))
		}
		o, open := p.overlay.Find(overlay.Models)
		if !open {
			return nil
		}
		entries, _ := p.modelEntries(p.session.Model())
		o.(*overlay.Picker).SetEntries(entries)
		return computeBoundary(p.session)
	})
}

// showModels lists the known models; selected is the line it opens on; "" is the
// current model.
func (p *pickers) showModels(selected string) {
	entries, at := p.modelEntries(cmp.Or(selected, p.session.Model()))
	picker := overlay.NewPicker("Model", entries, at).WithKeys("enter selects · "+favouriteKey+" favourite or not", favouriteKey)
	p.open(overlay.Models, picker, func(c overlay.Chosen) tea.Cmd {
		if c.Key == favouriteKey {
			return async(func(ctx context.Context) ([]string, error) { return p.work.ToggleFavourite(ctx, c.Value) }, func(all []string, err error) tea.Cmd {
				if err == nil {
					p.models.favourites = all
					p.showModels(c.Value)
				}
				return p.fail(err)
			})
		}
		return async(func(ctx context.Context) ([]string, error) {
			err := p.work.PickModel(ctx, c.Value)
			return p.work.RecentModels(ctx), err
		}, func(recent []string, err error) tea.Cmd {
			if err != nil {
				return p.fail(err)
			}
			p.models.recent = recent
			p.notice.info(safetext.Visible(c.Value) + " answers from the next message on")
			return computeBoundary(p.session)
		})
	})
}

// modelEntries are the lines of the selector, and the place of a model among
// those of its provider.
func (p *pickers) modelEntries(selected string) (entries []overlay.Entry, at int) {
	all := p.session.Registry().Models()
	byID := map[string]llm.ModelInfo{}
	for _, info := range all {
		byID[info.ID] = info
	}
	for _, group := range []struct {
		name string
		ids  []string
	}{{"favourites", p.models.favourites}, {"recent", p.models.recent}} {
		for _, id := range group.ids {
			if info, ok := byID[id]; ok {
				entries = append(entries, p.modelEntry(info, group.name, id))
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
		entries = append(entries, p.modelEntry(info, provider, name))
	}
	return entries, at
}

func (p *pickers) modelEntry(info llm.ModelInfo, group, text string) overlay.Entry {
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
	e := overlay.Entry{Value: info.ID, Text: safetext.Visible(text), Group: safetext.Visible(group), Extra: strings.Join(append(extra, tokens(info.Context)), " · ")}
	if info.ID == p.session.Model() {
		e.Mark = p.styles.Icons.Marked
	}
	return e
}

// tokens formats a number of tokens; 0 is not known.
func tokens(n int) string {
	switch {
	case n <= 0:
		return "~"
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// openPalette lists every command.
func (m *Model) openPalette() tea.Cmd {
	var entries []overlay.Entry
	for _, a := range m.keys.actions {
		if a.title == "" || a.inside || m.plainChat() && (a.name == "save" || slices.Equal(a.modes, inPane)) {
			continue
		}
		var keys []string
		for _, in := range a.modes {
			for _, k := range m.shownKeys(in, a) {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		entries = append(entries, overlay.Entry{Value: a.name, Text: a.title, Extra: strings.Join(keys, " ")})
	}
	return m.open(overlay.Palette, overlay.NewPicker("Commands", entries, 0), func(c overlay.Chosen) tea.Cmd {
		return m.runAction(c.Value)
	})
}

// runAction performs an action by its name, in the mode it belongs to.
func (m *Model) runAction(name string) tea.Cmd {
	a := m.keys.named(name)
	switch {
	case a == nil:
		return nil
	case slices.Equal(a.modes, inPane):
		m.setMode(modePane)
	case slices.Equal(a.modes, inView):
		m.setMode(modeView)
	}
	return a.do(m)
}
