package style

import "charm.land/lipgloss/v2"

// Options selects the theme and describes the terminal. The zero value is the
// default theme on a light background with 24-bit colours and ASCII icons.
type Options struct {
	Dark    bool
	Profile Profile
	Unicode bool
	Theme   string            // one of Themes; empty means DefaultTheme, and so does a name that does not exist
	Palette map[string]string // "#rrggbb" by one of ColourNames; for TrueColor and ANSI256
}

func (o Options) theme() string {
	if o.Theme == "" {
		return DefaultTheme
	}
	return o.Theme
}

// New makes the styles for o. It ignores unknown themes and colours; Check
// reports them.
func New(o Options) Styles {
	b := builder{colours: resolve(o), icons: icons(o.Unicode), profile: o.Profile}
	var mark []string
	if o.Unicode {
		mark = catalogue().WordMark
	}
	return Styles{
		WordMark: mark,
		Icons:    b.icons,
		Header:   b.header(),
		Footer:   b.footer(),
		Chat:     b.chat(),
		Rules:    b.rules(),
		Input:    b.input(),
		Overlay:  b.overlay(),
		Diff:     b.diff(),
		Markdown: b.markdown(),
		Border:   b.border(o.Unicode),
	}
}

// builder makes the groups from one set of colours.
type builder struct {
	colours
	icons   Icons
	profile Profile
}

// quiet is muted text: a colour where there are many, else faint.
func (b builder) quiet() lipgloss.Style {
	return fg(b.muted).Faint(b.muted == nil)
}

// bubbled is text on the bubble's background; reversed where there is none.
func (b builder) bubbled() lipgloss.Style {
	return on(fg(b.onBubble), b.bubble).Reverse(b.bubble == nil)
}

// marked is a search hit; underlined and bold where there is no background.
func (b builder) marked() lipgloss.Style {
	return on(fg(b.base), b.mark).Bold(true).Underline(b.mark == nil)
}

// chip is text on the panel's background; bold where there is none.
func (b builder) chip() lipgloss.Style {
	return on(fg(b.base), b.panel).Bold(b.panel == nil)
}

// selected is text that the mouse selected: on the accent colour; reversed where
// there is none.
func (b builder) selected() lipgloss.Style {
	return on(fg(b.onAccent), b.accent).Reverse(b.accent == nil)
}

func (b builder) header() Header {
	return Header{
		Bar: fg(b.base), Name: fg(b.accent).Bold(true), Text: b.quiet(), Model: fg(b.special),
		Count: fg(b.base), Saved: b.quiet(), Unsaved: fg(b.warn).Bold(true), Lock: fg(b.warn).Bold(true),
	}
}

func (b builder) footer() Footer {
	return Footer{
		Bar: fg(b.base), Mode: b.bubbled().Bold(true), Key: fg(b.accent).Bold(true), Text: b.quiet(),
		Notice: fg(b.info), Warn: fg(b.warn).Bold(true), Bad: fg(b.bad).Bold(true),
	}
}

func (b builder) chat() Chat {
	return Chat{
		User: b.bubbled(), Assistant: fg(b.base), Reasoning: b.quiet().Italic(true),
		ToolName: fg(b.info), ToolArgs: b.quiet(),
		ToolOK: fg(b.good), ToolBad: fg(b.bad).Bold(true), ToolRunning: fg(b.accent),
		OffContext: b.quiet(), Badge: fg(b.special).Bold(true), Time: b.quiet(),
		Error: fg(b.bad).Bold(true), Notice: fg(b.info),
		Chip: b.chip(), Number: fg(b.accent).Bold(true),
		Primary: b.bubbled().Bold(true), Secondary: b.chip(), Warning: on(fg(b.warn), b.panel).Bold(true),
		Selected: b.selected(), SelectedUser: b.selected().Reverse(false).Underline(b.accent == nil),
		Focus: fg(b.accent).Bold(true), SearchHit: b.marked(), Separator: fg(b.muted),
		Star: fg(b.warn), Flag: fg(b.bad), New: b.bubbled().Bold(true),
		Sticky: fg(b.base).Bold(true), Welcome: fg(b.accent).Bold(true), Example: fg(b.base),
	}
}

func (b builder) rules() Rules {
	r := Rules{
		Title: fg(b.accent).Bold(true), Tab: b.quiet(), TabOpen: fg(b.accent).Bold(true),
		Text: fg(b.base), Count: b.quiet(), Muted: b.quiet(),
		Ignore: fg(b.bad), Allow: fg(b.good), Pending: fg(b.warn).Bold(true),
		Shadowed: b.quiet().Italic(true), Dead: b.quiet().Strikethrough(true),
		Highlight: b.marked(), Selected: b.bubbled(),
		BarAvailable: fg(b.good), BarHidden: b.quiet(), Warn: fg(b.warn).Bold(true),
	}
	for _, c := range b.ruleColours {
		r.RuleColours = append(r.RuleColours, fg(c))
	}
	return r
}

func (b builder) input() Input {
	return Input{
		Text: fg(b.base), Placeholder: b.quiet(), Prompt: fg(b.accent), Estimate: b.quiet(),
		Chip: b.chip(), Queued: fg(b.warn), Selected: b.bubbled(),
	}
}

func (b builder) overlay() Overlay {
	return Overlay{
		Border: fg(b.accent), Title: fg(b.accent).Bold(true), Text: fg(b.base),
		Selected: b.bubbled(), Muted: b.quiet(), Key: fg(b.accent).Bold(true),
		Group: fg(b.special).Bold(true), Behind: fg(b.edge).Faint(b.edge == nil),
	}
}

func (b builder) diff() Diff {
	return Diff{Add: fg(b.good), Remove: fg(b.bad), Hunk: fg(b.info).Bold(true), Same: b.quiet()}
}

func (b builder) border(unicode bool) Border {
	s := Border{
		Shape: lipgloss.NormalBorder(), FocusedShape: lipgloss.ThickBorder(), Overlay: lipgloss.RoundedBorder(),
		Idle: fg(b.edge), Focused: fg(b.accent),
	}
	if !unicode {
		s.Shape, s.Overlay = lipgloss.ASCIIBorder(), lipgloss.ASCIIBorder()
		s.FocusedShape = lipgloss.Border{
			Top: "=", Bottom: "=", Left: "#", Right: "#", TopLeft: "#", TopRight: "#", BottomLeft: "#", BottomRight: "#",
			MiddleLeft: "#", MiddleRight: "#", Middle: "#", MiddleTop: "#", MiddleBottom: "#",
		}
	}
	return s
}

func (b builder) markdown() Markdown {
	head := fg(b.accent).Bold(true)
	return Markdown{
		Text: fg(b.base), Strong: lipgloss.NewStyle().Bold(true), Emph: lipgloss.NewStyle().Italic(true),
		Strike:  lipgloss.NewStyle().Strikethrough(true),
		Heading: [6]lipgloss.Style{head.Underline(true), head, head, head, head, head},
		Code:    on(fg(b.special), b.panel).Bold(b.special == nil), CodeBlock: fg(b.base),
		Quote: fg(b.edge), Item: fg(b.accent), Number: fg(b.accent),
		Link: fg(b.info).Underline(true), LinkText: fg(b.info).Bold(true), Image: fg(b.special),
		Rule: fg(b.edge), TableHead: fg(b.accent).Bold(true), TableLine: fg(b.edge),
		Bullet: b.icons.Bullet, Bar: b.icons.Quote, Line: b.icons.Line, Column: b.icons.Column, Wrapped: b.icons.Wrapped,
		Cross: b.icons.Cross, Ticked: b.icons.Ticked, Blank: b.icons.Blank, Ellipsis: b.icons.Ellipsis,
		Syntax: Syntax{
			Keyword: fg(b.special).Bold(b.profile == NoColor), Type: fg(b.info), Function: fg(b.accent), Name: fg(b.base),
			Builtin: fg(b.info), String: fg(b.good), Number: fg(b.warn), Comment: b.quiet().Italic(true),
			Operator: fg(b.base), Error: fg(b.bad), Added: fg(b.good), Removed: fg(b.bad), Heading: fg(b.accent).Bold(true),
		},
	}
}
