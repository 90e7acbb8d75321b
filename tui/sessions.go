package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// openSessions lists the sessions of the history.
func (m *Model) openSessions() tea.Cmd {
	if m.opts.History == nil {
		m.notice.say("there is no history in this run")
		return nil
	}
	return loadSessions(m.opts.History)
}

func loadSessions(h history.Store) tea.Cmd {
	return func() tea.Msg {
		all, err := h.Sessions(context.Background())
		return sessionsLoadedMsg{all, err}
	}
}

// resumeKey goes on with a session of the list.
const resumeKey = "alt+o"

// A title has the cells that frame, sign, date and count of a line leave, which
// tell sessions apart as well; on any screen the first words.
const (
	leastTitle  = 16
	besideTitle = 42
)

// onSessions shows the sessions that have pairs, by folder, the one used last
// first. Choosing one shows its pairs; another key goes on with it.
func (m *Model) onSessions(msg sessionsLoadedMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	list := byFolder(slices.DeleteFunc(msg.sessions, func(s history.Session) bool { return s.Pairs == 0 }))
	if len(list) == 0 {
		m.notice.say("there is no session with messages yet")
		return nil
	}
	entries := make([]overlay.Entry, len(list))
	room := max(leastTitle, m.width*9/10-besideTitle)
	for i, s := range list {
		entries[i] = overlay.Entry{
			Value: s.ID, Text: textwidth.Truncate(orElse(oneLine(s.Title), "(no text)"), room, m.styles.Icons.Ellipsis), Group: orElse(s.Folder, "no folder"),
			Extra: s.Used.Local().Format("2006-01-02 15:04") + " · " + history.Pairs(s.Pairs),
		}
		if s.ID == m.session.ID() {
			entries[i].Mark = m.styles.Icons.Marked
		}
	}
	hint := "enter shows its pairs · " + resumeKey + " goes on with it"
	picker := overlay.NewPicker("Sessions", entries, 0).WithKeys(hint, resumeKey)
	return m.open(overlay.Sessions, picker, func(c overlay.Chosen) tea.Cmd {
		switch {
		case c.Key == resumeKey:
			return m.resume(c.Value)
		case c.Value == m.session.ID():
			return m.runText("x")
		}
		return m.runText("x'" + c.Value + "'")
	})
}

// byFolder brings the sessions of a folder together, without another order.
func byFolder(all []history.Session) []history.Session {
	var folders []string
	for _, s := range all {
		if !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	slices.SortStableFunc(all, func(a, b history.Session) int {
		return slices.Index(folders, a.Folder) - slices.Index(folders, b.Folder)
	})
	return all
}

// resume goes on with a session. It asks when rules are unsaved, as a new
// session does.
func (m *Model) resume(id string) tea.Cmd {
	switch {
	case id == m.session.ID():
		return m.runText("x")
	case m.session.Busy():
		return m.complain(assistant.ErrBusy)
	case !m.pane.Status().Unsaved:
		return resumeSession(m.opts.History, m.session, id)
	}
	return m.ask("Go on with this session?", []string{
		"There are unsaved rules. They stay as they are;", "the conversation of now stays in the history.",
	}, "go on", func() tea.Cmd { return resumeSession(m.opts.History, m.session, id) })
}

// resumeSession takes up a session.
func resumeSession(h history.Store, s *assistant.Session, id string) tea.Cmd {
	return func() tea.Msg {
		err := history.ResumeSession(context.Background(), h, s, id)
		return renewedMsg{resumed: s.ID() == id, err: err}
	}
}
