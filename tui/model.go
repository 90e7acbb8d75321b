package tui

import (
	"context"
	"os"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/chat"
	"winnow/tui/composer"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"

	"winnow/tui/overlay"
	"winnow/tui/pane"

	"winnow/tui/settings"
	"winnow/tui/slash"
	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

// Options configures a Model. The zero value is a screen that waits for its
// session: see Start.
type Options struct {
	Parts
	// Start opens what the screen shows. It is called once, outside of the update
	// loop, and may be slow; the user types meanwhile. An error ends the program.
	// nil: Parts are set already.
	Start func() (Parts, error)
	// Context ends with the screen, which follows its session until then; nil never ends.
	Context context.Context //nolint:containedctx // a program has no other way to end what its commands wait for
	// Settings are those of the session that Start opens, for estimates until then.
	Settings assistant.Settings
	// HasPane says that Start opens a window with a pane.
	HasPane bool
	// Width and Height are the size of the terminal; 0 waits until it is told.
	Width, Height int

	settings.Screen // as it is at the start
	Rebinds         []keymap.Rebind
	// StoreSetting writes a setting, by its key in the config, for the next start;
	// nil: settings are for this run.
	StoreSetting func(key, value string) error
	Now          func() time.Time
	// Clipboard copies text to the system clipboard; nil means clipboard.WriteAll.
	Clipboard func(text string) error
	Files     composer.MentionSource // those that a message can name, and :export write
	Help      []slash.HelpTopic
	// TmuxBuffer puts text into the buffer of the tmux around the program, which
	// passes it on to its terminal; nil: there is no tmux.
	TmuxBuffer func(text string) error
	// Redact removes keys from text before it is copied; nil leaves it.
	Redact func(string) string
	// Input is what the keys are read from; nil when something else is.
	Input *terminal.KeyReader
}

// Parts are what a screen shows and works on.
type Parts struct {
	usecase.Source                             // with Served, the screen shows the others in the window and what they do
	Pane           pane.Pane                   // nil: a plain chat, without a window
	Examples       []string                    // of requests, where the pane names none
	Editor         func(path string) *exec.Cmd // opens a file in the editor of the user; nil: there is none
	Notice         string                      // shown in the footer at the start
	Recovery       *Recovery
	// Changes are those of the saved state that others make, already in the
	// window; nil: nothing is watched.
	Changes <-chan assistant.SavedChange
	Connect connectcard.Connector // connects other models; nil: nothing here does
}

// Recovery is what a crash left behind, for the user to decide.
type Recovery struct {
	Lines  []string // what happened and what there is
	Digest string   // of what a discard would lose
}

// Model is the screen: the one tea.Model of the program. It routes messages to its children,
// moves the focus between them, lays them out, and carries out what they ask for.
type Model struct {
	opts Options
	now  func() time.Time

	conv    conversation // VIEW
	input   input        // INPUT
	command commandLine  // COMMAND
	pane    pane.Pane    // PANE
	hud     status.ContextPanel
	bar     status.Bar // header and footer
	notice  status.Notices
	overlay overlay.Stack
	// handlers are what a choice in an overlay does.
	handlers map[overlay.Kind]func(overlay.Chosen) tea.Cmd

	parts         parts
	follower      usecase.Follower
	commands      usecase.Commands
	ready         bool // the start is over
	loading       bool // the session is not loaded yet
	turn          turn
	enterQuestion enterQuestion
	resend        *unsentMessage // sent again after a pause, and until it is stored; nil: none
	stored        filter.Sources // names of the history, for completion and lists
	models        modelList
	earlier       []history.Session // the last ones, for the welcome
	recent        []string          // commands chosen in the palette, the last one first

	// What is under way.
	acts       acts
	queue      keyQueue
	saving     saving
	discarding discarding
	rolling    rollingBack
	storing    []storedSetting // oldest first; the first is being stored
	edits      edits
	requests   requestList
	hiding     int64 // the last request that counts what the filter hides
	ending     int64 // the request that stores the last draft; 0: the program does not end
	unstored   error // why quitting could not store it
	estimated  estimated

	// Keys, focus and layout.
	keys       *keymap.Map
	actions    map[keymap.Action]func(*Model) tea.Cmd // of the key table, by name; see do
	mode       keymap.Mode
	styles     style.Styles
	widths     style.Cache
	width      int // of the screen
	height     int
	layout     screenLayout
	showPane   bool               // where chat and pane are shown in turn
	beforePane keymap.Mode        // the focus goes back to it when a pane over the whole width goes away
	focused    bool               // the terminal has the focus
	attended   terminal.Attention // what the program did after the last message
	outcome    terminal.Attention // how the last turn ended, until the user does something

	ctrlC   time.Time // when interrupt last asked to be pressed again
	lastKey time.Time
	started time.Time // zero: the start is not counted
	lasted  bool      // it has lasted startLasts
	err     error     // why the start failed

	frame tea.View // as it was drawn last
	drawn bool     // since the last message that changes something
	same  bool     // the last message changes nothing of frame
}

// New makes the screen. It does no I/O: Init starts what there is to load. An
// invalid key binding is a *keymap.Error.
func New(opts Options) (*Model, error) {
	keys, err := keymap.New(opts.EnterSends, opts.Rebinds)
	if err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Clipboard == nil {
		opts.Clipboard = clipboard.WriteAll
		if os.Getenv("TMUX") != "" {
			opts.TmuxBuffer = terminal.TmuxBuffer
		}
	}
	m := &Model{
		opts: opts, now: opts.Now, keys: keys, styles: style.New(opts.Style), actions: allActions(),
		pane: pane.None{}, handlers: map[overlay.Kind]func(overlay.Chosen) tea.Cmd{},
		loading: true, focused: true, command: commandLine{keys: keys}, notice: status.Notices{Now: opts.Now},
	}
	m.overlay.SetKeys(keys)
	m.hud.SetStyles(&m.styles)
	m.bar = status.Bar{Styles: &m.styles, Widths: &m.widths}
	m.conv = conversation{chat: chat.New(m.styles, m.now), requested: map[int64]int64{}}
	m.conv.chat.SetKeys(m.key)
	m.input = input{draft: composer.New(m.styles.Input, keys)}
	m.input.draft.SetPlaceholder("Type a message" + m.styles.Icons.Ellipsis)
	m.input.draft.Focus()
	if opts.Start == nil {
		m.use(opts.Parts)
	}
	if opts.Width > 0 && opts.Height > 0 {
		m.width, m.height = opts.Width, opts.Height
		m.arrange()
	}
	return m, nil
}

// use gives the screen what it shows.
func (m *Model) use(p Parts) {
	m.opts.Parts, m.ready = p, true
	m.pane = p.Pane
	m.commands.Bind(p.Source)
	m.input.ready, m.input.stores = true, m.commands.Stores()
	if m.pane == nil {
		m.pane = pane.None{}
	}
	m.pane.SetStyles(m.styles)
	m.pane.SetKeys(m.key)
	m.pane.SetFocus(m.mode == keymap.Pane)
	if p.Notice != "" {
		m.notice.Info(p.Notice)
	}
}

// Init asks the terminal for its background and loads what is shown first.
func (m *Model) Init() tea.Cmd {
	load := loadStart(m.opts.Parts)
	if m.opts.Start != nil {
		load = openParts(m.opts.Start)
	}
	cmds := []tea.Cmd{load}
	if !m.opts.FixedBackground {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Err is why the start failed; nil when it did not, or is not over.
func (m *Model) Err() error { return m.err }
