package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/history"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// BootOptions configures a Boot. Ready is needed, the rest may be zero.
type BootOptions struct {
	// Screen is what is known of the screen before there is anything to show:
	// its looks, keys and clock. Session, History and Pane are not asked for.
	Screen Options
	// Settings are those of the session to come; the estimate of a draft goes by them.
	Settings assistant.Settings
	// Beside says that the window to come has a pane of its own.
	Beside bool
	// Width and Height are the size of the terminal; 0 waits until it is told.
	Width, Height int
	// Ready puts the program together. It is called once, from a command, and
	// may take its time. An error ends the program.
	Ready func() (*Model, error)
}

// Boot is the screen from the first moment on, while the program behind it is
// put together: the same frame without contents, and a box to write in. Once
// the Model is there it takes over, with all that was typed meanwhile.
type Boot struct {
	ready   func() (*Model, error)
	screen  *Model // draws the frame, over a session that holds nothing
	now     func() time.Time
	waiting []arrival // for the Model, in order
	sent    []string  // of the draft: messages that wait for the session
	deaf    bool      // a key asked for what is not there; what follows may not belong to the box
	over    bool      // the Model has taken over
	view    *tea.View // the frame as drawn last; nil is out of date
	err     error
}

// arrival is a message that came before the Model.
type arrival struct {
	msg tea.Msg
	at  time.Time
}

// modelReadyMsg answers assemble; either model or err is set.
type modelReadyMsg struct {
	model *Model
	start startLoadedMsg
	err   error
}

// NewBoot makes the screen. Keys that cannot be bound so are a *KeyError.
func NewBoot(o BootOptions) (*Boot, error) {
	session, err := assistant.NewSession(&assistant.Registry{}, assistant.Options{Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	session.SetView(nil, "x", budget.FilterExecuted) // as it will begin
	opts := o.Screen
	opts.Session, opts.History, opts.Pane, opts.Recovery, opts.Notice = session, nil, nil, nil, ""
	if o.Beside {
		opts.Pane = &bareFrame{}
	}
	b := &Boot{ready: o.Ready}
	if b.screen, err = New(opts); err != nil {
		return nil, err
	}
	b.now = b.screen.now
	for _, a := range b.screen.keys.actions {
		switch {
		case a.name == "send":
			a.do = func(*Model) tea.Cmd { b.send(); return nil }
		case !slices.Contains(ownKeys, a.name):
			a.do = func(*Model) tea.Cmd { b.deaf = true; return nil }
		}
	}
	if o.Width > 0 && o.Height > 0 {
		b.take(tea.WindowSizeMsg{Width: o.Width, Height: o.Height})
	}
	return b, nil
}

// ownKeys are the actions that need no more than the box and the frame.
var ownKeys = []string{
	"newline", "escape", "older-message", "newer-message", "undo-typing", "next-region", "previous-region", "enter", "input", "cancel", "quit",
}

// Err is why there is no Model to show; nil when there is one, or when the
// program was ended before.
func (b *Boot) Err() error { return b.err }

// Init begins to put the program together, and asks the terminal for its
// background.
func (b *Boot) Init() tea.Cmd {
	ready := assemble(b.ready)
	if b.screen.opts.Fixed {
		return ready
	}
	return tea.Batch(ready, tea.RequestBackgroundColor)
}

// assemble makes the Model and loads what it shows first.
func assemble(ready func() (*Model, error)) tea.Cmd {
	return func() tea.Msg {
		m, err := ready()
		if err != nil {
			return modelReadyMsg{err: err}
		}
		start, _ := loadStart(m.opts.History, m.session, m.opts.Folder)().(startLoadedMsg)
		return modelReadyMsg{model: m, start: start}
	}
}

// Update shows what can be shown and keeps everything for the Model.
func (b *Boot) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case modelReadyMsg:
		if msg.err != nil {
			b.err = msg.err
			return b, tea.Quit
		}
		return msg.model, b.handOver(msg)
	case onceMoreDueMsg:
		b.view = nil
		return b, b.screen.onOnceMoreDue() // the Model has a timer of its own
	case burstRestedMsg:
		b.view = nil
		return b, b.gathering(b.screen.onBurstRested(msg))
	}
	return b, b.take(msg)
}

// take keeps a message for the Model, and shows what it does to box and frame.
// Commands wait with it, but for the end of the program.
func (b *Boot) take(msg tea.Msg) tea.Cmd {
	b.waiting = append(b.waiting, arrival{msg, b.now()})
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		b.view = nil
		return b.key(msg)
	case tea.PasteMsg:
		if !b.deaf {
			b.view = nil
			b.screen.onPaste(msg.Content)
		}
	case tea.MouseClickMsg:
		b.deaf = true // it may move the focus
	case tea.WindowSizeMsg:
		if msg.Width != b.screen.width || msg.Height != b.screen.height {
			b.view = nil
			b.screen.resize(msg.Width, msg.Height)
		}
	case tea.BackgroundColorMsg, tea.KeyboardEnhancementsMsg, tea.FocusMsg, tea.BlurMsg:
		b.view = nil
		b.screen.Update(msg)
	}
	return nil
}

// key gives a key to the frame. Those that end the program work at any time.
func (b *Boot) key(k tea.KeyPressMsg) tea.Cmd {
	a := b.screen.keys.find(b.screen.mode, keyName(k))
	ends := a != nil && (a.name == "quit" || a.name == "cancel")
	if b.deaf && !ends {
		return nil
	}
	held := b.screen.burst.holds()
	switch cmd := b.screen.onKey(k); {
	case ends:
		return cmd
	case !held:
		return b.gathering(cmd)
	}
	return nil
}

// gathering lets a command pass that waits for the rest of a paste.
func (b *Boot) gathering(cmd tea.Cmd) tea.Cmd {
	if b.screen.burst.holds() {
		return cmd
	}
	return nil
}

// send takes the message out of the box. It goes out with the Model.
func (b *Boot) send() {
	if b.screen.draft.Empty() {
		return
	}
	b.sent = append(b.sent, b.screen.draft.Take())
	b.screen.fitInput()
	b.screen.notice.say("your message goes out as soon as everything is loaded")
}

// handOver brings the Model to where it would be, had it been there from the
// beginning: each message comes at the time at which it came. What was kept of
// an earlier run is offered last, and its question asked: nothing that was
// typed before may answer it.
func (b *Boot) handOver(ready modelReadyMsg) tea.Cmd {
	m, clock, then := ready.model, ready.model.now, time.Time{}
	m.now = func() time.Time { // may be kept by what opens now
		if then.IsZero() {
			return clock()
		}
		return then
	}
	kept := ready.start.draft
	ready.start.draft = ""
	cmds := []tea.Cmd{m.onStart(ready.start)}
	for _, w := range b.waiting {
		then = w.at
		rested := m.restBurst()
		_, cmd := m.Update(w.msg)
		cmds = append(cmds, rested, cmd)
		if h := m.at.input.Dy() - inputFrame; h > 0 {
			m.draft.View(h) // it scrolls as it is drawn
		}
	}
	then = time.Time{}
	cmds = append(cmds, m.restBurst())
	m.offerDraft(kept)
	if m.opts.Recovery != nil {
		cmds = append(cmds, m.askRecovery())
	}
	m.shown = m.draw() // what stays while a paste is gathered
	b.over, b.waiting = true, nil
	return tea.Batch(cmds...)
}

// restBurst ends a paste whose keys are all there, as its timer would have.
func (m *Model) restBurst() tea.Cmd {
	if m.now().Sub(m.burst.last) < pasteGap {
		return nil
	}
	return m.endBurst()
}

// View draws the frame, where something has changed: this is what the first
// frame waits for. Of the header only the name is known.
func (b *Boot) View() tea.View {
	if b.view != nil {
		return *b.view
	}
	v := b.screen.View()
	if w := b.screen.width; w > 0 && !b.screen.at.small {
		h := b.screen.styles.Header
		name := textwidth.Truncate(h.Name.Render(" winnow"), w, "")
		_, rest, _ := strings.Cut(v.Content, "\n")
		v.Content = pad(name, w, h.Bar) + "\n" + rest
	}
	b.view = &v
	return v
}

// Typed is what would be lost when the program has ended before there was a
// Model to keep it: the text, and what was put away, the newest last. It is
// called after the end; once the Model has taken over it is empty.
func (b *Boot) Typed() history.Draft {
	if b.over {
		return history.Draft{}
	}
	b.screen.endBurst()
	typed := b.sent
	if text := b.screen.draft.Text(); strings.TrimSpace(text) != "" {
		typed = append(typed, text)
	}
	return history.Draft{Text: strings.Join(typed, "\n\n"), Stash: b.screen.draft.Stash()}
}

// KeepTyped stores what was Typed in a folder beside its draft of before, of
// which nothing is lost. An empty one changes nothing.
func KeepTyped(ctx context.Context, h history.Store, folder string, typed history.Draft) error {
	if typed.Text == "" && len(typed.Stash) == 0 {
		return nil
	}
	d, err := h.Draft(ctx, draftKeyOf(folder))
	if err != nil {
		return errors.Join(errors.New("what was typed could not be kept"), err)
	}
	if typed.Text != "" {
		if d.Text != "" {
			d.Stash = append(d.Stash, d.Text)
		}
		d.Text = typed.Text
	}
	d.Stash = append(d.Stash, typed.Stash...)
	return h.SaveDraft(ctx, draftKeyOf(folder), d)
}

// bareFrame is the pane before there is a window: its border.
type bareFrame struct {
	pane.None
	st    style.Styles
	focus bool
}

// Lines implements pane.Pane.
func (f *bareFrame) Lines(w, h int) []string {
	if w < 2 || h < 2 {
		return f.None.Lines(w, h)
	}
	b, st := f.st.Border.Shape, f.st.Border.Idle
	if f.focus {
		b, st = f.st.Border.FocusedShape, f.st.Border.Focused
	}
	rows := make([]string, 0, h)
	rows = append(rows, st.Render(b.TopLeft+strings.Repeat(b.Top, w-2)+b.TopRight))
	between := st.Render(b.Left) + strings.Repeat(" ", w-2) + st.Render(b.Right)
	for range h - 2 {
		rows = append(rows, between)
	}
	return append(rows, st.Render(b.BottomLeft+strings.Repeat(b.Bottom, w-2)+b.BottomRight))
}

// SetStyles implements pane.Pane.
func (f *bareFrame) SetStyles(st style.Styles) { f.st = st }

// SetFocus implements pane.Pane.
func (f *bareFrame) SetFocus(on bool) { f.focus = on }
