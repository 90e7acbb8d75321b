package style

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Style is a lipgloss style reduced to the escape sequence before a text; ansi.ResetStyle
// follows the text. A frame has hundreds of pieces of text, and rendering them with lipgloss
// would take longer than everything else in the frame. The zero value leaves text unchanged.
type Style struct{ before string }

// Compile returns st as a Style, without margins, borders, padding and sizes. It reads the
// attributes of st instead of rendering a text: with about a hundred styles, rendering would
// delay the start.
func Compile(st lipgloss.Style) Style {
	var attrs []ansi.Attr
	for _, a := range [...]struct {
		on   bool
		attr ansi.Attr
	}{
		{st.GetBold(), ansi.AttrBold},
		{st.GetItalic(), ansi.AttrItalic},
		{st.GetUnderline(), ansi.AttrUnderline},
		{st.GetReverse(), ansi.AttrReverse},
		{st.GetFaint(), ansi.AttrFaint},
		{st.GetStrikethrough(), ansi.AttrStrikethrough},
	} {
		if a.on {
			attrs = append(attrs, a.attr)
		}
	}
	s := ansi.NewStyle(attrs...)
	if c := st.GetForeground(); c != (lipgloss.NoColor{}) {
		s = s.ForegroundColor(c)
	}
	if c := st.GetBackground(); c != (lipgloss.NoColor{}) {
		s = s.BackgroundColor(c)
	}
	if len(s) == 0 {
		return Style{}
	}
	return Style{s.String()}
}

// Render returns text with each of its lines in the style. An empty text stays empty.
func (s Style) Render(text string) string {
	if text == "" || s.before == "" {
		return text
	}
	return s.before + strings.ReplaceAll(text, "\n", ansi.ResetStyle+"\n"+s.before) + ansi.ResetStyle
}

// With returns s with more attributes, such as ansi.AttrUnderline.
func (s Style) With(attrs ...ansi.Attr) Style {
	return Style{s.before + ansi.SelectGraphicRendition(attrs...)}
}

// Sequence returns the escape sequence before a text.
func (s Style) Sequence() string { return s.before }

// Styles holds one group per component.
type Styles struct {
	WordMark []string // the name of the program in large letters, as lines of equal width; empty in ASCII
	Icons    Icons
	Header   Header
	Footer   Footer
	Chat     Chat
	Rules    Rules
	Input    Input
	Overlay  Overlay
	Diff     Diff
	Markdown Markdown
	Border   Border
}

// Header styles the first line.
type Header struct {
	Bar, Name, Text, Model, Count, Saved, Unsaved, Lock Style
}

// Footer styles the last line.
type Footer struct {
	Bar, Mode, Key, Text, Notice, Warn, Bad Style
}

// Chat styles the message viewport.
type Chat struct {
	User        Style // the user's message, on its own background
	Assistant   Style
	Reasoning   Style
	ToolName    Style
	ToolArgs    Style
	ToolOK      Style
	ToolBad     Style
	ToolRunning Style
	OffContext  Style // a pair outside the context
	Badge       Style // "off", "not in filter"
	Time        Style
	Error       Style
	Notice      Style
	Chip        Style // a suggested value
	Number      Style // the digit of a chip or action
	Primary     Style // a suggested action, by its style
	Secondary   Style
	Warning     Style
	Focus       Style // the mark next to the focused item
	SearchHit   Style
	CurrentHit  Style
	Selected    Style // text selected with the mouse
	// SelectedUser is Selected in the user's message, which has its own background. Without
	// colours the message is reversed, so a selection in it is not.
	SelectedUser Style
	Separator    Style // checkpoint and boundary lines
	Star, Flag   Style
	New          Style // the hint that something arrived below
	Sticky       Style // the question above its answer
	Welcome      Style
	Example      Style
}

// Rules styles the pane of the filter rules. RuleColours and Icons.RuleIcons are indexed by
// the number of the rule modulo their length.
type Rules struct {
	Title, Tab, TabOpen, Text, Count, Muted        Style
	Ignore, Allow, Pending, Shadowed, Removed      Style
	Highlight, Selected, BarShown, BarHidden, Warn Style
	RuleColours                                    []Style
}

// Input styles the input box.
type Input struct {
	Text, Placeholder, Prompt, Selected lipgloss.Style // styles of the textarea of package bubbles
	Estimate                            Style
}

// Overlay styles the dialogs and lists above the screen.
type Overlay struct {
	Border, Title, Text, Selected, Muted, Key, Group Style
	Behind                                           Style // the screen behind an overlay
}

// Diff styles the lines of a diff; each kind also has an icon.
type Diff struct {
	Add, Remove, Hunk, Same Style
}

// Border is the shape and the colour of lines. The focus changes the shape too, so that it
// is visible without colour. Overlay is the frame of an overlay.
type Border struct {
	Shape, FocusedShape, Overlay lipgloss.Border
	Idle, Focused                Style
}

// Markdown styles rendered answers.
type Markdown struct {
	Text, Strong, Emph, Strike     lipgloss.Style
	Heading                        [6]lipgloss.Style // by level, from 1
	Code                           lipgloss.Style    // a code span
	CodeBlock                      lipgloss.Style    // code of a class that Syntax does not have
	Quote, Item, Number            lipgloss.Style    // the bar of a quote, the bullet, the number of an item
	Link, LinkText                 lipgloss.Style    // the address; the text before it
	Image                          lipgloss.Style
	Rule, TableHead, TableLine     lipgloss.Style
	Bullet, Bar, Line, Column      string // from Icons, as are the strings below
	Wrapped                        string
	Cross, Ticked, Blank, Ellipsis string

	Syntax Syntax
}

// Syntax styles source code by the class of its tokens.
type Syntax struct {
	Keyword, Type, Function, Name, Builtin, String, Number, Comment, Operator, Error, Added, Removed, Heading lipgloss.Style
}
