package style

import "charm.land/lipgloss/v2"

// Options selects the theme and describes the terminal. The zero value is the
// default theme on a light background with 24-bit colours and ASCII icons.
type Options struct {
	Dark    bool
	Profile Profile
	Unicode bool
	Theme   string            // one of Themes; "" or an unknown name means DefaultTheme
	Palette map[string]string // the user's own colours: "#rrggbb" by name (see ColourNames); only for TrueColor and ANSI256
}

func (o Options) theme() string {
	if o.Theme == "" {
		return DefaultTheme
	}
	return o.Theme
}

// New creates the styles for o. It ignores unknown themes and invalid colours; Check reports
// them.
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

// quiet returns the style of muted text; without a muted colour, the text is faint.
func (b builder) quiet() lipgloss.Style {
	return fg(b.muted).Faint(b.muted == nil)
}

// bubbled returns the style of text on the bubble's background; without a background, the
// text is reversed.
func (b builder) bubbled() lipgloss.Style {
	return on(fg(b.onBubble), b.bubble).Reverse(b.bubble == nil)
}

// marked returns the style of a search hit, which is bold; without a background, it is also
// underlined.
func (b builder) marked() lipgloss.Style {
	return on(fg(b.base), b.mark).Bold(true).Underline(b.mark == nil)
}

// chip returns the style of text on the panel's background; without a background, the text
// is bold.
func (b builder) chip() lipgloss.Style {
	return on(fg(b.base), b.panel).Bold(b.panel == nil)
}

// selected returns the style of text selected with the mouse: on the accent colour, or
// reversed if there is no accent colour.
func (b builder) selected() lipgloss.Style {
	return on(fg(b.onAccent), b.accent).Reverse(b.accent == nil)
}

func (b builder) header() Header {
	return Header{
		Bar: Compile(fg(b.base)), Name: Compile(fg(b.accent).Bold(true)), Text: Compile(b.quiet()), Model: Compile(fg(b.special)),
		Count: Compile(fg(b.base)), Saved: Compile(b.quiet()), Unsaved: Compile(fg(b.warn).Bold(true)), Lock: Compile(fg(b.warn).Bold(true)),
	}
}

func (b builder) footer() Footer {
	return Footer{
		Bar: Compile(fg(b.base)), Mode: Compile(b.bubbled().Bold(true)), Key: Compile(fg(b.accent).Bold(true)), Text: Compile(b.quiet()),
		Notice: Compile(fg(b.info)), Warn: Compile(fg(b.warn).Bold(true)), Bad: Compile(fg(b.bad).Bold(true)),
	}
}

func (b builder) chat() Chat {
	return Chat{
		User: Compile(b.bubbled()), Assistant: Compile(fg(b.base)), Reasoning: Compile(b.quiet().Italic(true)),
		ToolName: Compile(fg(b.info)), ToolArgs: Compile(b.quiet()),
		ToolOK: Compile(fg(b.good)), ToolBad: Compile(fg(b.bad).Bold(true)), ToolRunning: Compile(fg(b.accent)),
		OffContext: Compile(b.quiet()), Badge: Compile(fg(b.special).Bold(true)), Time: Compile(b.quiet()),
		Error: Compile(fg(b.bad).Bold(true)), Notice: Compile(fg(b.info)),
		Chip: Compile(b.chip()), Number: Compile(fg(b.accent).Bold(true)),
		Primary: Compile(b.bubbled().Bold(true)), Secondary: Compile(b.chip()), Warning: Compile(on(fg(b.warn), b.panel).Bold(true)),
		Selected: Compile(b.selected()), SelectedUser: Compile(b.selected().Reverse(false).Underline(b.accent == nil)),
		Focus: Compile(fg(b.accent).Bold(true)), SearchHit: Compile(b.marked()), CurrentHit: Compile(b.selected().Bold(true).Underline(b.accent == nil)), Separator: Compile(fg(b.muted)),
		Star: Compile(fg(b.warn)), Flag: Compile(fg(b.bad)), New: Compile(b.bubbled().Bold(true)),
		Sticky: Compile(fg(b.base).Bold(true)), Welcome: Compile(fg(b.accent).Bold(true)), Example: Compile(fg(b.base)),
	}
}

func (b builder) rules() Rules {
	r := Rules{
		Title: Compile(fg(b.accent).Bold(true)), Tab: Compile(b.quiet()), TabOpen: Compile(fg(b.accent).Bold(true)),
		Text: Compile(fg(b.base)), Count: Compile(b.quiet()), Muted: Compile(b.quiet()),
		Ignore: Compile(fg(b.bad)), Allow: Compile(fg(b.good)), Pending: Compile(fg(b.warn).Bold(true)),
		Shadowed: Compile(b.quiet().Italic(true)), Removed: Compile(b.quiet().Strikethrough(true)),
		Highlight: Compile(b.marked()), Selected: Compile(b.bubbled()),
		BarShown: Compile(fg(b.good)), BarHidden: Compile(b.quiet()), Warn: Compile(fg(b.warn).Bold(true)),
	}
	for _, c := range b.ruleColours {
		r.RuleColours = append(r.RuleColours, Compile(fg(c)))
	}
	return r
}

func (b builder) input() Input {
	return Input{
		Text: fg(b.base), Placeholder: b.quiet(), Prompt: fg(b.accent), Selected: b.bubbled(),
		Estimate: Compile(b.quiet()),
	}
}

func (b builder) overlay() Overlay {
	return Overlay{
		Border: Compile(fg(b.accent)), Title: Compile(fg(b.accent).Bold(true)), Text: Compile(fg(b.base)),
		Selected: Compile(b.bubbled()), Muted: Compile(b.quiet()), Key: Compile(fg(b.accent).Bold(true)),
		Group: Compile(fg(b.special).Bold(true)), Behind: Compile(fg(b.edge).Faint(b.edge == nil)),
	}
}

func (b builder) diff() Diff {
	return Diff{Add: Compile(fg(b.good)), Remove: Compile(fg(b.bad)), Hunk: Compile(fg(b.info).Bold(true)), Same: Compile(b.quiet())}
}

func (b builder) border(unicode bool) Border {
	s := Border{
		Shape: lipgloss.NormalBorder(), FocusedShape: lipgloss.ThickBorder(), Overlay: lipgloss.RoundedBorder(),
		Idle: Compile(fg(b.edge)), Focused: Compile(fg(b.accent)),
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
