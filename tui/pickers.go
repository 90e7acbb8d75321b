package tui

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"
	"winnow/tui/modelpicker"
	"winnow/tui/overlay"
	"winnow/tui/sessionlist"
	"winnow/tui/usecase"
)

// pickers are the lists to choose from.
type pickers struct {
	*shared
	conv   *conversation
	input  *input
	models modelList

	rolling rollingBack
	reading int64 // the last request that reads requests
}

// modelList is what the list of models shows first.
type modelList struct{ recent, favourites []string }

const (
	connectEntry = "connect" // the line of the list of models that connects another
)

// onPickers is the action that opens a list.
func onPickers(do func(*pickers) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.pickers) }
}

// openSessions lists the sessions that have pairs, by folder, the one used last
// first. Choosing one shows its pairs; another key continues it.
func (m *Model) openSessions() tea.Cmd { return m.commands.ListSessions(m.query()) }

// onSessions opens the list of sessions.
func (m *Model) onSessions(o usecase.SessionsListed) tea.Cmd {
	if len(o.Sessions) == 0 {
		return m.info("there is no session with messages yet")
	}
	picker := overlay.NewPicker("Sessions", sessionlist.Entries(o.Sessions, m.shownSession(), m.width, m.styles.Icons), 0).Offer(keymap.SessionList,
		keymap.To("shows its pairs", keymap.LineAccept), keymap.To("continues it", keymap.ResumeSession))
	return m.open(overlay.Sessions, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Value == m.shownSession():
			return m.runLine("x")
		case c.Action == keymap.ResumeSession:
			return m.act(func(request int64) tea.Cmd { return m.commands.ResumeSession(request, c.Value) })
		}
		return m.runLine("x'" + c.Value + "'")
	})
}

// newSession starts a new session; it asks when rules are unsaved.
func (m *Model) newSession() tea.Cmd { return m.act(m.commands.NewSession) }

// onSessionOpened shows the current session, and an error although it has switched.
func (m *Model) onSessionOpened(o usecase.SessionOpened) tea.Cmd {
	notice := "the session continues; the previous one is in the history"
	if o.New {
		notice = "a new session; the old one is in the history" + m.hint(" (%s, then an empty line)", keymap.Filter)
	}
	m.turn = turn{n: m.turn.n}
	m.setMode(keymap.Input)
	m.conv.chat.Bottom()
	m.notice.Info(notice)
	m.fail(o.Err)
	return m.conv.loadMissing()
}

// openModels lets the user choose the model: favourites and recent ones first,
// then by provider. Meanwhile it asks the endpoints for new ones.
func (p *pickers) openModels() tea.Cmd {
	p.showModels("")
	return p.commands.RefreshModels(p.query())
}

// onModels shows the models that the endpoints have named, in the list if it is still open.
func (p *pickers) onModels(o usecase.ModelsRefreshed) tea.Cmd {
	for _, name := range slices.Sorted(maps.Keys(o.Failed)) {
		p.notice.Fail(name + ": its models could not be listed: " + sentence(o.Failed[name]))
	}
	if errors.Is(o.Gone, llm.ErrModelGone) {
		p.fail(o.Gone)
	}
	if list, open := p.overlay.Find(overlay.Models); open {
		entries, _, legend := p.modelEntries(p.modelID())
		list.(*overlay.Picker).WithLegend(legend).SetEntries(entries)
	}
	return nil
}

// showModels lists the known models; selected is the line it opens on; "" is the
// current model.
func (p *pickers) showModels(selected string) {
	entries, at, legend := p.modelEntries(cmp.Or(selected, p.modelID()))
	picker := overlay.NewPicker("Model", entries, at).WithLegend(legend).Offer(keymap.ModelList,
		keymap.To("selects", keymap.LineAccept), keymap.To("favourite or not", keymap.FavouriteModel))
	p.open(overlay.Models, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Value == connectEntry:
			return p.connect(false)
		case c.Action == keymap.FavouriteModel:
			return p.act(func(request int64) tea.Cmd { return p.commands.ToggleFavourite(request, c.Value) })
		}
		return p.pickModel(c.Value)
	})
}

// pickModel selects the model of the messages to come.
func (p *pickers) pickModel(id string) tea.Cmd {
	return p.act(func(request int64) tea.Cmd { return p.commands.PickModel(request, id) })
}

// onModelPicked shows the model of the messages to come.
func (p *pickers) onModelPicked(o usecase.ModelPicked) tea.Cmd {
	p.models.recent = o.Recent
	return p.info(safetext.Visible(o.ID) + " answers from the next message on")
}

// modelEntries are the lines of the selector, the place of a model among those of its
// provider, and what the marks mean.
func (p *pickers) modelEntries(selected string) (entries []overlay.Entry, at int, legend string) {
	list := modelpicker.Of(p.commands.Models(), p.now())
	list.Favourites, list.Recent, list.Current, list.Icons = p.models.favourites, p.models.recent, p.modelID(), p.styles.Icons
	if entries, at = list.Entries(selected); p.opts.Connect != nil {
		entries = append(entries, overlay.Entry{Value: connectEntry, Text: "connect a model" + p.styles.Icons.Ellipsis, Group: "another endpoint"})
	}
	return entries, at, list.Legend()
}

// connect opens the card that connects a model; an offered one opens by itself.
func (p *pickers) connect(offered bool) tea.Cmd {
	if p.opts.Connect == nil {
		return p.info("to connect a model, run winnow config connect on the machine that runs winnow")
	}
	card := connectcard.New(p.opts.Connect, offered, p.now)
	p.open(overlay.Connect, card, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return tea.Batch(p.dismiss(), p.input.paste(c.Query))
		}
		p.notice.Info(safetext.Visible(c.Value) + " answers from the next message on")
		return nil
	})
	return p.onOutcome(card.Start())
}

// dismiss stores that the card is not offered again.
func (p *pickers) dismiss() tea.Cmd {
	connect := p.opts.Connect
	return func() tea.Msg { return connectDismissedMsg{connect.Dismiss(context.Background())} }
}
