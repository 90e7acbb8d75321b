package tui

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/usecase"
)

// modelList contains the models that the list of models shows first.
type modelList struct{ recent, favourites []string }

const (
	connectEntry = "connect" // entry of the list of models that connects another model
)

// openSessions lists the sessions that have pairs, by folder, most recently used first.
// Choosing a session continues it; another key shows its pairs.
func (m *Model) openSessions() tea.Cmd { return m.commands.ListSessions(m.acts.query()) }

// onSessions opens the list of sessions.
func (m *Model) onSessions(o usecase.SessionsListed) tea.Cmd {
	if len(o.Sessions) == 0 {
		return m.info("there is no session with messages yet")
	}
	picker := overlay.NewPicker("Sessions", overlay.SessionEntries(o.Sessions, m.parts.shownSession(), m.width, m.styles.Icons), 0).Offer(keymap.SessionList,
		keymap.To("continues it", keymap.LineAccept), keymap.To("shows its messages", keymap.ShowSession))
	return m.open(overlay.Sessions, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Value == m.parts.shownSession():
			return m.runLine("x")
		case c.Action == keymap.ShowSession:
			return m.runLine("x'" + c.Value + "'")
		}
		return m.resumeSession(c.Value)
	})
}

// resumeSession continues another session.
func (m *Model) resumeSession(id string) tea.Cmd {
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.ResumeSession(request, id) })
}

// newSession starts a new session; it asks first if rules are unsaved.
func (m *Model) newSession() tea.Cmd { return m.acts.add(m.commands.NewSession) }

// onSessionOpened shows the session that was opened, and any error that occurred after
// switching to it.
func (m *Model) onSessionOpened(o usecase.SessionOpened) tea.Cmd {
	var notice safetext.Text = "the session continues"
	switch {
	case o.Branched:
		notice = "this is a new session that continues from here · /sessions lists the old one"
	case o.New:
		notice = "this is a new session · /sessions lists the old one"
	default:
		if o.About.Folder != "" {
			notice += safetext.Sprintf(" · it belongs to %s, not to this folder", o.About.Folder)
		}
		if o.Model != "" {
			notice += safetext.Sprintf(" · its model is now in use: %s", o.Model)
		}
	}
	m.turn, m.about = turn{n: m.turn.n}, o.About
	m.setMode(keymap.Input)
	m.conv.chat.Bottom()
	m.notice.Info(notice)
	m.fail(o.Err)
	if o.New {
		return tea.Batch(m.loadMissing(), m.commands.RecentSessions(m.acts.query(), maxWelcomeSessions))
	}
	return m.loadMissing()
}

// readAbout reads the title and the folder of the session, for the header and the head of
// the conversation.
func (m *Model) readAbout() tea.Cmd {
	if !m.commands.Stores() {
		return nil
	}
	return m.commands.ReadAbout(m.acts.query())
}

// openModels lists the models to choose from: favourites and recent models first, then all
// models by provider. Meanwhile it asks the endpoints for new models.
func (m *Model) openModels() tea.Cmd {
	m.showModels("")
	return m.commands.RefreshModels(m.acts.query())
}

// onModels shows the models that the endpoints have listed, if the list is still open.
func (m *Model) onModels(o usecase.ModelsRefreshed) tea.Cmd {
	for _, name := range slices.Sorted(maps.Keys(o.Failed)) {
		m.notice.Fail(safetext.Sprintf("the models of %s could not be listed: %s", name, sentence(o.Failed[name])))
	}
	if errors.Is(o.Gone, llm.ErrModelGone) {
		m.fail(o.Gone)
	}
	if list, open := m.overlay.Find(overlay.Models); open {
		entries, _, legend := m.modelEntries(m.parts.modelID())
		list.(*overlay.Picker).WithLegend(legend).SetEntries(entries, 0)
	}
	return nil
}

// showModels lists the known models. selected is the initially selected entry; "" means the
// current model.
func (m *Model) showModels(selected string) {
	entries, at, legend := m.modelEntries(cmp.Or(selected, m.parts.modelID()))
	picker := overlay.NewPicker("Model", entries, at).WithLegend(legend).Offer(keymap.ModelList,
		keymap.To("selects", keymap.LineAccept), keymap.To("favourite", keymap.FavouriteModel))
	m.open(overlay.Models, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Value == connectEntry && c.Action == keymap.FavouriteModel:
			m.showModels("")
			return m.info("only a model can be a favourite")
		case c.Value == connectEntry:
			return m.connect()
		case c.Action == keymap.FavouriteModel:
			return m.acts.add(func(request int64) tea.Cmd { return m.commands.ToggleFavourite(request, c.Value) })
		}
		return m.pickModel(c.Value)
	})
}

// pickModel selects the model for new messages.
func (m *Model) pickModel(id string) tea.Cmd {
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.PickModel(request, id) })
}

// onModelPicked shows the model for new messages.
func (m *Model) onModelPicked(o usecase.ModelPicked) tea.Cmd {
	m.models.recent = o.Recent
	return m.info(safetext.Sprintf("%s is now in use", o.ID))
}

// modelEntries returns the entries of the list, the index of the selected model (0 if it is
// not listed), and a legend for the text at the right edge.
func (m *Model) modelEntries(selected string) (entries []overlay.Entry, at int, legend string) {
	list := overlay.ModelsOf(m.commands.Models(), m.now())
	list.Favourites, list.Recent, list.Current, list.Icons = m.models.favourites, m.models.recent, m.parts.modelID(), m.styles.Icons
	if m.opts.Connect != nil {
		list.Offline = m.opts.Connect.Offline
	}
	if entries, at = list.Entries(selected); m.opts.Connect != nil {
		entries = append(entries, overlay.Entry{Value: connectEntry, Text: "connect another model" + m.styles.Icons.Ellipsis, Group: "more"})
	}
	return entries, at, list.Legend()
}

// connect opens the card that connects a model or, if that is not possible here, says where
// to connect one.
func (m *Model) connect() tea.Cmd {
	if m.opts.Connect == nil {
		return m.info("to connect a model, run winnow config connect on the machine that runs winnow")
	}
	card := connectcard.New(m.opts.Connect)
	m.open(overlay.Connect, card, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		return m.info(safetext.Sprintf("%s is now in use", c.Value))
	})
	return m.onOutcome(card.Start())
}
