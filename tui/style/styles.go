package style

import "charm.land/lipgloss/v2"

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
	Bar, Name, Text, Model, Count, Saved, Unsaved, Lock lipgloss.Style
}

// Footer styles the line at the bottom.
type Footer struct {
	Bar, Mode, Key, Text, Notice, Warn, Bad lipgloss.Style
}

// Chat styles the message viewport.
type Chat struct {
	User        lipgloss.Style // the user's message, on its own background
	Assistant   lipgloss.Style
	Reasoning   lipgloss.Style
	ToolName    lipgloss.Style
	ToolArgs    lipgloss.Style
	ToolOK      lipgloss.Style
	ToolBad     lipgloss.Style
	ToolRunning lipgloss.Style
	OffContext  lipgloss.Style // a pair that is off-context
	Badge       lipgloss.Style // "off", "not in filter"
	Time        lipgloss.Style
	Error       lipgloss.Style
	Notice      lipgloss.Style
	Chip        lipgloss.Style // a suggested value
	Number      lipgloss.Style // the digit of a chip or action
	Primary     lipgloss.Style // actions by their style
	Secondary   lipgloss.Style
	Warning     lipgloss.Style
	Focus       lipgloss.Style // the mark beside the focused item
	SearchHit   lipgloss.Style
	Selected    lipgloss.Style // what the mouse selected
	// SelectedUser is Selected in the user's message, which has its own background.
	// Without colours that message is reversed, so the selection in it is not.
	SelectedUser lipgloss.Style
	Separator    lipgloss.Style // checkpoint and boundary lines
	Star, Flag   lipgloss.Style
	New          lipgloss.Style // the hint that something arrived below
	Sticky       lipgloss.Style // the question above the answer that it belongs to
	Welcome      lipgloss.Style
	Example      lipgloss.Style
}

// Rules styles the pane of the filter rules. RuleColours is indexed by
// the rule's number modulo its length, as Icons.RuleIcons is.
type Rules struct {
	Title, Tab, TabOpen, Text, Count, Muted            lipgloss.Style
	Ignore, Allow, Pending, Shadowed, Dead             lipgloss.Style
	Highlight, Selected, BarAvailable, BarHidden, Warn lipgloss.Style
	RuleColours                                        []lipgloss.Style
}

// Input styles the input box.
type Input struct {
	Text, Placeholder, Prompt, Estimate, Chip, Queued, Selected lipgloss.Style
}

// Overlay styles the dialogs and lists above the screen.
type Overlay struct {
	Border, Title, Text, Selected, Muted, Key, Group lipgloss.Style
	Behind                                           lipgloss.Style // what lies behind
}

// Diff styles the lines of a diff; each kind also has an icon.
type Diff struct {
	Add, Remove, Hunk, Same lipgloss.Style
}

// Border is the shape and the colour of lines. With the focus they have another shape as
// well, so that the focus shows without colour. Overlay is the frame of an overlay.
type Border struct {
	Shape, FocusedShape, Overlay lipgloss.Border
	Idle, Focused                lipgloss.Style
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
