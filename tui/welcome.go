package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

const (
	// maxWelcomeSessions is how many earlier sessions the welcome lists.
	maxWelcomeSessions = 3
	welcomeMargin      = 4 // cells to the left and right of the text, together
)

// welcome is what an empty conversation shows: where the user is, which model answers,
// example requests, and sessions that can be continued.
type welcome struct {
	facts    []pane.Fact
	requests []string
	sessions []history.Session
}

// welcome collects what the welcome shows.
func (m *Model) welcome() (w welcome) {
	w.requests, w.sessions = m.opts.Examples, m.earlier
	if p, ok := m.pane.(pane.Welcomer); ok {
		if now, known := p.Welcome(); known {
			w.facts, w.requests = append(w.facts, now.Facts...), now.Requests
		}
	}
	w.facts = append(w.facts, pane.Fact{Name: "answers", Text: m.answering()})
	return w
}

// answering says which model answers, and where it runs.
func (m *Model) answering() string {
	id := m.parts.modelID()
	connects, key := "", ""
	if m.opts.Connect != nil {
		connects, key = string(m.hint(" · %s connects one", keymap.Connect)), string(m.hint(" · %s", keymap.Connect))
	}
	switch {
	case id == "" && m.noModel != nil:
		return string("no model: "+sentence(m.noModel)) + key
	case id == "":
		return string("no model is selected"+m.hint(" · %s lists them", keymap.Models)) + connects
	case connectcard.Useful(m.opts.Connect, id):
		if m.opts.Connect.Connected() {
			return "built-in rules, as chosen" + string(m.hint(" · %s lists the models", keymap.Models))
		}
		return "built-in rules, no model connected" + connects
	case m.opts.Connect == nil:
		return string(safetext.Visible(id))
	}
	trouble := ""
	if id == m.unanswered.model {
		switch llm.KindOf(m.unanswered.why) {
		case llm.KindNet:
			trouble = "does not answer"
		case llm.KindAuth:
			trouble = "key rejected"
		default: // the model may still answer messages
		}
	}
	return pane.Join(string(safetext.Visible(id)), string(safetext.Visible(m.opts.Connect.Host(id))), trouble)
}

// chooseWelcome chooses the numbered line i of the welcome: a request is put into the box,
// a session is continued.
func (m *Model) chooseWelcome(i int) tea.Cmd {
	w := m.welcome()
	switch {
	case i < len(w.requests) && !m.input.draft.Empty():
		return m.info("the box is not empty" + m.hint(" · %s clears it", keymap.Escape))
	case i < len(w.requests):
		m.commands.EndReAsk()
		m.input.draft.Set(w.requests[i])
		m.setMode(keymap.Input)
		return m.carryOut(m.input.draftChanged())
	case i < len(w.requests)+len(w.sessions):
		return m.resumeSession(w.sessions[i-len(w.requests)].ID)
	}
	return m.info("there is no line with this number")
}

// welcomePart is a group of lines of the welcome that is left out as a whole if there is
// not enough room.
type welcomePart struct {
	lines []string
	rank  int  // the part with the lowest rank is left out first
	tight bool // no empty line before it
}

// lines draws the welcome, w cells wide and at most h lines high.
func (c *welcome) lines(s *scene, w, h int) []string {
	all := append([]welcomePart{
		{wordMark(s, w), 0, false},
		{[]string{s.styles.Chat.Welcome.Render("What would you like to change?")}, 5, false},
	}, c.factParts(s, w)...)
	for i, text := range c.requests { // the first request is left out last
		rank := 4
		switch i {
		case 0:
			rank = 9
		case 1:
			rank = 6
		}
		all = append(all, welcomePart{s.line(i, text, "", w), rank, i > 0})
	}
	all = append(all, welcomePart{c.sessionLines(s, w), 2, false}, welcomePart{s.quietLines(pane.Join(string(s.hint("%s sends", keymap.Send)), string(s.hint("%s moves to "+s.regions, keymap.NextRegion)), string(s.hint("/ or %s finds every command", keymap.Palette)), string(s.hint("%s help", keymap.Help))), w+welcomeMargin), 1, false})
	for rank := 0; len(all) > 0; rank++ {
		if lines := joined(all, false); len(lines) <= h {
			return lines
		}
		if lines := joined(all, true); len(lines) <= h && rank >= 3 { // the hints and sessions have been left out
			return lines
		}
		all = slices.DeleteFunc(all, func(p welcomePart) bool { return p.rank == rank })
	}
	return nil
}

// wordMark returns the name of the program in large letters, if there is room.
func wordMark(s *scene, w int) (lines []string) {
	for _, line := range s.styles.WordMark {
		if style.Width(line) > w {
			return nil
		}
		lines = append(lines, s.styles.Chat.Welcome.Render(line))
	}
	return lines
}

// joined returns the lines of parts. Each part but the first has an empty line before it,
// unless the part is tight or tight is true.
func joined(all []welcomePart, tight bool) (lines []string) {
	for _, one := range all {
		if len(one.lines) == 0 {
			continue
		}
		if len(lines) > 0 && !one.tight && !tight {
			lines = append(lines, "")
		}
		lines = append(lines, one.lines...)
	}
	return lines
}

// factParts returns the parts that say where the user is and which model answers. The file
// and the model are left out later than what the providers show.
func (c *welcome) factParts(s *scene, w int) (parts []welcomePart) {
	column := 0
	for _, f := range c.facts {
		column = max(column, style.Width(f.Name))
	}
	column = min(column, w/3)
	for i, f := range c.facts {
		rank := 3
		switch i {
		case len(c.facts) - 1:
			rank = 7
		case 0:
			rank = 8
		}
		name := s.styles.Chat.Time.Render(style.Fit(f.Name, column, s.styles.Icons.Ellipsis) + "  ")
		parts = append(parts, welcomePart{hanging(name, column+2, factText(string(oneLine(f.Text)), w-column-2, s.styles.Icons.Ellipsis), s.styles.Chat.Example), rank, i > 0})
	}
	return parts
}

// hanging draws lines below each other. lead precedes the first line; the others are
// indented by cells.
func hanging(lead string, cells int, lines []string, look style.Style) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = lead + look.Render(line)
		lead = strings.Repeat(" ", cells)
	}
	return out
}

// factText shortens a path at its start, and wraps any other text.
func factText(text string, w int, ellipsis string) []string {
	if !strings.Contains(text, "/") || strings.Contains(text, " ") {
		return style.Wrap(text, w)
	}
	if over := style.Width(text) - w; over > 0 {
		text = style.TruncateLeft(text, over+style.Width(ellipsis), ellipsis)
	}
	return []string{text}
}

// sessionLines returns the sessions that can be continued.
func (c *welcome) sessionLines(s *scene, w int) (lines []string) {
	for i, one := range c.sessions {
		when := s.clock(one.Used) + " · " + assistant.Counted(one.Pairs, "message")
		lines = append(lines, s.line(len(c.requests)+i, string("continue “"+oneLine(one.Title)+"”"), when, w)...)
	}
	return lines
}

// line returns choice i of the welcome with its key. A remark is right-aligned, and the
// text is cut to one line; without a remark the text wraps.
func (s *scene) line(i int, text, remark string, w int) []string {
	key := ""
	if s.numbered {
		key = s.keys.Key(s.mode, keymap.Choose(i+1)) + "  "
	}
	cells := style.Width(key)
	room := w - cells
	key = s.styles.Chat.Number.Render(key)
	if remark == "" {
		return hanging(key, cells, style.Wrap(string(oneLine(text)), room), s.styles.Chat.Example)
	}
	if style.Width(remark) > room/2 {
		return []string{key + s.styles.Chat.Example.Render(style.TruncateWords(string(oneLine(text)), room, s.styles.Icons.Ellipsis))}
	}
	text = style.Fit(style.TruncateWords(string(oneLine(text)), room-style.Width(remark)-2, s.styles.Icons.Ellipsis), room-style.Width(remark), "")
	return []string{key + s.styles.Chat.Example.Render(text) + s.styles.Chat.Time.Render(remark)}
}
