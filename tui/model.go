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
	"winnow/assistant/safetext"
	"winnow/tui/chat"
	"winnow/tui/composer"
	"winnow/tui/connectcard"
	"winnow/tui/keymap"

	"winnow/tui/overlay"
	"winnow/tui/pane"

	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

// Options configures a Model. The zero value is a screen that waits for its session; see
// Start.
type Options struct {
	Parts
	// Start opens the parts that the screen shows. It is called once, outside the update loop,
	// and may be slow; the user can type in the meantime. An error ends the program. If Start
	// is nil, Parts must already be set.
	Start func() (Parts, error)
	// Context ends together with the screen, which follows its session until then; nil means a
	// context that never ends.
	Context context.Context //nolint:containedctx // a program has no other way to end what its commands wait for
	// Settings are the expected settings of the session that Start opens. Estimates use them
	// until the session is open.
	Settings assistant.Settings
	// HasPane means that Start opens a window with a pane.
	HasPane bool
	// Width and Height are the size of the terminal; 0 means unknown until the terminal
	// reports it.
	Width, Height int

	overlay.ScreenSettings // initial settings
	Rebinds                []keymap.Rebind
	// StoreSetting stores a setting for the next start under its config key; if nil, settings
	// apply only to this run.
	StoreSetting func(key, value string) error
	Now          func() time.Time // nil means time.Now
	// Clipboard copies text to the system clipboard; nil means clipboard.WriteAll.
	Clipboard func(text string) error
	Files     composer.MentionSource // files that a message can mention; with None, :export cannot write files either
	Help      []keymap.HelpTopic
	// TmuxBuffer stores text in the buffer of the surrounding tmux, which passes the text on
	// to its terminal; nil outside tmux.
	TmuxBuffer func(text string) error
	// Redact removes API keys from text before it is copied; may be nil.
	Redact func(string) string
	// Input is the source of the keys; nil if that source is not a KeyReader.
	Input *terminal.KeyReader
}

// Parts is what a screen shows and works on.
type Parts struct {
	usecase.Source                             // if Served is set, the screen also shows the other users and what they do
	Pane           pane.Pane                   // nil for a plain chat without a window
	Examples       []string                    // example requests, if the pane has none
	Editor         func(path string) *exec.Cmd // opens a file in the user's editor; nil if there is none
	Notice         string                      // shown in the footer at the start
	Interrupted    int                         // number of answers that were cut off when an earlier run ended
	Recovery       *Recovery
	// Changes receives changes that other programs make to the saved state. They are already
	// applied to the window. It is nil if the saved state is not watched.
	Changes <-chan assistant.SavedChange
	Connect connectcard.Connector // connects other models; nil if that is not possible here
}

// Recovery describes unsaved changes left by a crash; the user decides what happens to
// them.
type Recovery struct {
	Lines  []safetext.Text // what happened and what was found
	Digest string          // identifies the changes that a discard would lose
}

// Model is the screen, the program's only tea.Model. It routes messages to its children,
// moves the focus between them, lays them out, and carries out their intents.
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
	// handlers are called when the user chooses something in an overlay.
	handlers map[overlay.Kind]func(overlay.Chosen) tea.Cmd

	parts         parts
	follower      usecase.Follower
	commands      usecase.Commands
	ready         bool // startup is complete
	loading       bool // the session is not loaded yet
	wasUnsaved    bool // there have been unsaved changes; once set, the header says "saved" when there are none
	turn          turn
	applying      int64 // request that waits until a save made on this screen is applied; 0 if none is being applied
	enterQuestion enterQuestion
	unanswered    struct { // the model that did not answer at the start; cleared by the next complete answer
		model string
		why   error
	}
	noModel error          // why no model answers, such as a rejected key; nil if unknown
	resend  *unsentMessage // sent again after a pause until it is stored; nil if none
	stored  filter.Sources // names in the history, for completion and lists
	models  modelList
	earlier []history.Session // the most recently used sessions, for the welcome
	recent  []string          // commands chosen in the palette, newest first
	about   usecase.About     // title and folder of the session

	// What is in progress.
	acts       acts
	queue      keyQueue
	saving     saving
	discarding discarding
	rolling    rollingBack
	storing    []storedSetting // oldest first; the first is being stored
	edits      edits
	requests   requestList
	hiding     int64 // last request that counts the pairs hidden by the filter
	quitting   int64 // request number of the quit that waits for running and waiting acts; 0 if none
	ending     int64 // request that stores the last draft; 0 if the program is not ending
	unstored   error // why the draft could not be stored when quitting
	estimated  estimated
	sum        sessionSum

	// Keys, focus and layout.
	keys       *keymap.Map
	actions    map[keymap.Action]func(*Model) tea.Cmd // by name, see do
	mode       keymap.Mode
	styles     style.Styles
	widths     style.Cache
	width      int // size of the screen
	height     int
	layout     screenLayout
	showPane   bool               // the pane, not the chat, is shown if there is room for only one of them
	beforePane keymap.Mode        // focus to return to when a full-width pane is hidden
	focused    bool               // the terminal has the focus
	attended   terminal.Attention // what the program was doing after the last message
	outcome    terminal.Attention // how the last turn ended, until the user does something

	ctrlC   time.Time // when interrupt last asked for a second press
	lastKey time.Time
	started time.Time // zero if this start is not counted
	lasted  bool      // the start has lasted startLasts and counts as successful
	err     error     // why the start failed

	frame tea.View // the last frame
	drawn bool     // the frame was drawn after the last message that could change it
	same  bool     // the last message changes nothing in the frame
}

// New returns the screen. It does no I/O: Init loads what is needed. For an invalid key
// binding it returns a *keymap.Error.
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

// use sets the parts to show.
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
	notice := safetext.Clean(p.Notice)
	if n := p.Interrupted; n > 0 {
		notice = pane.Join(safetext.Sprintf("winnow last ended before completing %s%s", assistant.Counted(n, "answer"), m.hint(" · %s retries", keymap.Retry)), notice)
	}
	if notice != "" {
		m.notice.Info(notice)
	}
}

// Init loads what is shown first and, unless it is fixed, queries the background colour of the
// terminal.
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

// Err returns why the start failed; nil if the start succeeded or is still running.
func (m *Model) Err() error { return m.err }
