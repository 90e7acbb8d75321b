package tui

import (
	"image/color"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/chat"
	"winnow/tui/composer"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Options configures a Model. Session is needed, the rest may be zero.
type Options struct {
	Session *assistant.Session
	History history.Store // nil: the view is the session, nothing is kept
	Pane    pane.Pane     // nil: a plain chat, without a window
	Folder  string        // where winnow runs: drafts are kept apart by it; "" has one

	Style    style.Options // Dark follows the terminal unless FixedTheme
	Fixed    bool          // the theme is the user's choice, not the terminal's
	Rebinds  []Rebind
	EnterIs  bool // send_key = "enter": enter sends, the other keys break the line
	Mouse    bool // mouse capture at the start
	Stay     bool // long_reply = "stay": a long answer never takes the focus
	Notify   bool // tell when a long turn ends unseen
	Examples []string
	Editor   []string // the command of $EDITOR, in words
	Notice   string   // shown in the footer at the start
	Recovery *Recovery
	// Keep writes a setting, by its key in the config, for the next start; nil:
	// settings are for this run.
	Keep func(key, value string) error
	Now  func() time.Time
	// Clipboard puts text on the system's clipboard; nil asks the system.
	Clipboard func(text string) error
	// Redact takes keys out of text before it is copied; nil leaves it.
	Redact func(string) string
}

// Recovery is what a crash left behind, for the user to decide.
type Recovery struct {
	Lines   []string // what happened and what there is
	Discard func() error
}

// Model is the screen: the one tea.Model of the program.
type Model struct {
	opts    Options
	session *assistant.Session
	keys    *keyMap
	now     func() time.Time

	width, height int
	at            layout
	styles        style.Styles
	styleOpts     style.Options

	mode     mode
	showPane bool // on a narrow screen
	overlay  overlay.Stack
	then     map[overlay.Kind]func(overlay.Chosen) tea.Cmd // what a choice does

	chat    *chat.View
	draft   *composer.Model
	files   completion     // of the @path before the cursor
	reading []fetch        // messages whose files are read, in order
	fetches int            // how many there were
	line    textLine       // COMMAND
	search  textLine       // "/" in VIEW
	orders  []orderDoneMsg // commands on pairs that can be undone, the newest last
	found   textFoundMsg   // what the history knows of the text searched for
	pane    pane.Pane
	turn    turnState
	queued  string            // the message that waits, as it was typed
	held    *assistant.Prompt // it waits for the user: the turn before it failed
	sendNow bool              // the queued message goes out when the turn is cancelled
	notice  notice
	counter string
	near    bool // the conversation is close to what the model takes
	cost    struct {
		key costKey
		assistant.DraftCost
	}

	names   known // what completion offers
	reask   int64 // the error pair that the draft asks again
	ctrlC   time.Time
	lastKey time.Time
	saved   string // the draft as kept last
	keep    struct {
		due     bool // a timer runs
		running bool // a draft is being stored
		again   bool // it is out of date already
	}
	focused  bool // the terminal has the focus
	mouse    bool
	kitty    bool // the terminal reports ctrl+enter
	burst    burst
	behind   inOrder  // the keys that wait for a change
	shown    tea.View // the frame drawn last
	pointer  pointer
	starting bool // the first batch of pairs is not there yet
	loading  map[int64]bool
	pending  string // a prefix key that waits for its second, "c"
}

// known is what completion and hints know the names of.
type known struct {
	topics, recent []string
	favourites     []string // models
	saved          map[string]string
}

// New makes the screen. It does no I/O: Init starts what there is to load.
func New(opts Options) (*Model, error) {
	table := actionTable()
	if opts.EnterIs {
		table = enterSends(table)
	}
	keys, err := newKeyMap(table, opts.Rebinds)
	if err != nil {
		return nil, err
	}
	m := &Model{
		opts: opts, session: opts.Session, keys: keys, now: opts.Now, styleOpts: opts.Style,
		pane: opts.Pane, mouse: opts.Mouse, focused: true, starting: true,
		then: map[overlay.Kind]func(overlay.Chosen) tea.Cmd{}, loading: map[int64]bool{},
	}
	if m.now == nil {
		m.now = time.Now
	}
	if m.opts.Clipboard == nil {
		m.opts.Clipboard = clipboard.WriteAll
	}
	if m.pane == nil {
		m.pane = pane.None{}
	}
	m.styles = style.New(m.styleOpts)
	m.chat = chat.New(m.styles, m.now)
	m.draft = composer.New(m.styles.Input)
	m.draft.SetPlaceholder("Type a message" + m.styles.Icons.Ellipsis)
	m.draft.Focus()
	m.pane.SetStyles(m.styles)
	m.pane.SetKeys(m.paneKey)
	m.notice.now = m.now
	m.notice.say(opts.Notice)
	return m, nil
}

// Init asks the terminal for its background and loads what is shown first.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{loadStart(m.opts.History, m.session, m.opts.Folder)}
	if !m.opts.Fixed {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.opts.Recovery != nil {
		cmds = append(cmds, m.askRecovery())
	}
	return tea.Batch(cmds...)
}

// restyle draws everything with other colours.
func (m *Model) restyle(o style.Options) {
	m.styleOpts = o
	m.styles = style.New(o)
	m.chat.SetStyles(m.styles)
	m.draft.SetStyles(m.styles.Input)
	m.pane.SetStyles(m.styles)
}

func isDark(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	const half = 0xffff / 2
	return (299*r+587*g+114*b)/1000 < half // luma of ITU-R BT.601
}
