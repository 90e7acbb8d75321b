package tui

import (
	"fmt"
	"strings"

	"winnow/tui/keymap"
	"winnow/tui/style"
)

// scene is what the conversation shows in addition to the pairs.
type scene struct {
	wording
	filter   string // the active filter line
	folder   string // the folder of the session if it is not the current folder; else ""
	welcome  welcome
	numbered bool     // number keys choose a line of the welcome
	regions  string   // names of the regions between which the focus moves
	loading  bool     // the session is not loaded yet
	running  bool     // a turn is running
	alone    bool     // the conversation has the full width
	below    []string // lines below the pairs; empty ones are left out
}

// chatHead is the height of the head: one line above the pairs that shows the filter and the
// question, or is empty.
const chatHead = 1

// View draws the conversation.
func (c *conversation) View(w, h int, s *scene) []string {
	defer c.widths.EndFrame()
	lines := c.lines(w, h-chatHead, s)
	if s.alone {
		c.drawBar(lines, w, s)
	}
	return append([]string{c.widths.Fit(c.head(w, s), w, "")}, lines...)
}

// drawBar draws the scroll bar in the last column.
func (c *conversation) drawBar(lines []string, w int, s *scene) {
	if c.chat.Len() == 0 {
		return
	}
	from, to, ok := c.chat.ScrollBar(len(lines))
	if !ok {
		return
	}
	thumb := s.styles.Border.Idle.Render(s.styles.Border.FocusedShape.Left)
	for i := from; i < to; i++ {
		lines[i] = c.widths.Truncate(lines[i], w-1, "") + thumb
	}
}

// head returns the filter, unless it is the default filter, and the question whose answer
// starts above the visible lines.
func (c *conversation) head(w int, s *scene) string {
	left := c.filtered(w, s)
	question, above, ok := c.chat.StickyQuestion()
	if !ok || question == "" {
		return left
	}
	sign := "  "
	if above > 0 {
		sign = fmt.Sprintf("%s %d  ", s.styles.Icons.Above, above)
	}
	if left == "" {
		left = "  "
	} else {
		left = c.widths.Truncate(left, w/2, s.styles.Icons.Ellipsis) + " "
	}
	room := w - style.Width(left) - style.Width(sign) - gapBeforeSign
	question = style.Truncate(s.styles.Icons.Selected+" "+question, max(0, room), s.styles.Icons.Ellipsis)
	left += s.styles.Chat.Sticky.Render(question)
	return left + strings.Repeat(" ", max(0, w-style.Width(left)-style.Width(sign))) + s.styles.Chat.Time.Render(sign)
}

const gapBeforeSign = 2

// filtered returns the filter, unless it is the default filter. With the default filter, it
// returns the folder of a session that belongs to a different folder.
func (c *conversation) filtered(w int, s *scene) string {
	switch {
	case s.filter == startFilter && s.folder != "":
		return s.styles.Chat.Notice.Render(c.widths.Truncate("  session of "+s.folder, w, s.styles.Icons.Ellipsis))
	case s.filter == startFilter:
		return ""
	}
	back := s.hint(" · %s ends it ", keymap.Unfilter)
	if s.mode == keymap.Input {
		back = " · /unfilter ends it "
	}
	name := "  all messages"
	if s.filter != "" {
		name = string("  only " + oneLine(s.filter))
	}
	name = c.widths.Truncate(name, max(0, w-style.Width(string(back))), s.styles.Icons.Ellipsis)
	return s.styles.Chat.Notice.Render(name) + s.styles.Chat.Time.Render(string(back))
}

// lines returns the messages or, if there are none, the text shown in their place, and the
// lines below them.
func (c *conversation) lines(w, h int, s *scene) []string {
	c.chat.SetActive(s.mode == keymap.View)
	var under []string
	for _, line := range s.below {
		if line != "" && len(under) < h-1 {
			under = append(under, line)
		}
	}
	h -= len(under)
	if c.chat.Len() > 0 || s.running {
		return append(c.chat.View(w, h), under...)
	}
	lines := []string{"", s.styles.Chat.Time.Render("loading…")}
	switch {
	case s.loading:
	case c.welcomes(s.filter):
		lines = s.welcome.lines(s, w-welcomeMargin, h)
	default:
		lines = s.noMatch(w)
	}
	out := make([]string, h)
	top := max(0, (h-len(lines))/3)
	for i := range out {
		line := ""
		if i >= top && i-top < len(lines) {
			line = "  " + lines[i-top]
		}
		out[i] = c.widths.Fit(line, w, s.styles.Icons.Ellipsis)
	}
	return append(out, under...)
}

// welcomes reports whether the conversation itself is empty, not only the filtered view.
func (c *conversation) welcomes(filter string) bool {
	return c.chat.Len() == 0 && (filter == startFilter || filter == "")
}

// noMatch returns the text shown if no pair matches the filter.
func (s *scene) noMatch(w int) []string {
	key := s.keys.Clause(keymap.View, "%s", keymap.Filter)
	if s.mode == keymap.Input {
		key = s.hint("%s then ", keymap.Escape) + key
	}
	lines := []string{""}
	for _, l := range style.Wrap(string("no message matches "+oneLine(filterName(s.filter))), w-4) {
		lines = append(lines, s.styles.Chat.Welcome.Render(l))
	}
	hint := "an empty filter shows all messages"
	if s.mode != keymap.Command { // there the user is changing it
		hint = string(key) + " changes the filter · " + hint
	}
	return append(append(lines, ""), s.quietLines(hint, w)...)
}

// quietLines wraps a hint and draws it in muted colours.
func (s *scene) quietLines(hint string, w int) []string {
	lines := style.WrapClauses(hint, w-welcomeMargin)
	for i, line := range lines {
		lines[i] = s.styles.Chat.Time.Render(line)
	}
	return lines
}
