package style

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Style is a lipgloss style reduced to the escape sequences before and after a text: a frame
// has hundreds of pieces of text, and lipgloss takes longer for each than the rest of the
// frame does. The zero value leaves the text as it is.
type Style struct{ before, after string }

// Compile returns st as a Style; margins, borders, padding and sizes are lost.
func Compile(st lipgloss.Style) Style {
	before, after, _ := strings.Cut(st.Render("x"), "x")
	return Style{before, after}
}

// Render returns text with each of its lines in the style. An empty text stays empty.
func (s Style) Render(text string) string {
	if text == "" || s.before == "" {
		return text
	}
	return s.before + strings.ReplaceAll(text, "\n", s.after+"\n"+s.before) + s.after
}

// With returns s with more attributes, such as ansi.AttrUnderline.
func (s Style) With(attrs ...ansi.Attr) Style {
	return Style{s.before + ansi.SelectGraphicRendition(attrs...), ansi.ResetStyle}
}

// Sequence is what the style writes before its text; ansi.ResetStyle ends it.
func (s Style) Sequence() string { return s.before }

// Styles holds one group per component; a component is given its group only.
type Styles struct {
	WordMark []string // the name of the program in large letters, in lines of one width; none in ASCII
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

// Header styles the line at the top.
type Header struct {
	Bar, Name, Text, Model, Count, Saved, Unsaved, Lock Style
}

// Footer styles the line at the bottom.
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
	OffContext  Style // a pair that is off-context
	Badge       Style // "off", "not in filter"
	Time        Style
	Error       Style
	Notice      Style
	Chip        Style // a suggested value
	Number      Style // the digit of a chip or action
	Primary     Style // actions by their style
	Secondary   Style
	Warning     Style
	Focus       Style // the mark beside the focused item
	SearchHit   Style
	Selected    Style // what the mouse selected
	// SelectedUser is Selected in the user's message, which has its own background.
	// Without colours that message is reversed, so the selection in it is not.
	SelectedUser Style
	Separator    Style // checkpoint and boundary lines
	Star, Flag   Style
	New          Style // the hint that something arrived below
	Sticky       Style // the question above the answer that it belongs to
	Welcome      Style
	Example      Style
}

// Rules styles the pane of the filter rules. RuleColours is indexed by
// the rule's number modulo its length, as Icons.RuleIcons is.
type Rules struct {
	Title, Tab, TabOpen, Text, Count, Muted            Style
	Ignore, Allow, Pending, Shadowed, Dead             Style
	Highlight, Selected, BarAvailable, BarHidden, Warn Style
	RuleColours                                        []Style
}

// Input styles the input box.
type Input struct {
	Text, Placeholder, Prompt, Selected lipgloss.Style // of bubbles' textarea
	Estimate                            Style
}

// Overlay styles the dialogs and lists above the screen.
type Overlay struct {
	Border, Title, Text, Selected, Muted, Key, Group Style
	Behind                                           Style // what lies behind
}

// Diff styles the lines of a diff; each kind also has an icon.
type Diff struct {
	Add, Remove, Hunk, Same Style
}

// Border is the shape and the colour of lines. With the focus they have another shape as
// well, so that the focus shows without colour. Overlay is the frame of an overlay.
type Border struct {
	Shape, FocusedShape, Overlay lipgloss.Border
	Idle, Focused                Style
}

// Markdown styles rendered answers.
type Markdown struct {
	Text, Strong, Emph, Strike     lipgloss.Style
	Heading                        [6]lipgloss.Style // by level, from 1
	Code                           lipgloss.Style    // a code span
	CodeBlock                      lipgloss.Style    // code of no class in Syntax
	Quote, Item, Number            lipgloss.Style    // the bar of a quote, the bullet, the number of an item
	Link, LinkText                 lipgloss.Style    // the address; the text before it
	Image                          lipgloss.Style
	Rule, TableHead, TableLine     lipgloss.Style
	Bullet, Bar, Line, Column      string // from Icons
	Wrapped                        string // likewise
	Cross, Ticked, Blank, Ellipsis string

	Syntax Syntax
}

// Syntax styles source code by the class of its tokens.
type Syntax struct {
	Keyword, Type, Function, Name, Builtin, String, Number, Comment, Operator, Error, Added, Removed, Heading lipgloss.Style
}
