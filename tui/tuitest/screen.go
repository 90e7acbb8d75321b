package tuitest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

const (
	// maxWait limits each wait, so that a test that waits in vain fails with a frame, not
	// with a time-out of the whole package.
	maxWait = time.Minute
	// framesPerSecond is Bubble Tea's maximum, because tests wait for frames.
	framesPerSecond = 120
)

// Options configures Start. The zero value is ready to use.
type Options struct {
	Clock *Clock    // advanced by KeyGap before each key; nil means the real time
	Input io.Reader // input that the program reads in place of Type and Bytes
	// File makes the keyboard a file, as a terminal is: a program that borrows the terminal
	// reads the file itself. After a panic, Bubble Tea closes the file while it still
	// reads from the file.
	File bool
}

// Screen is a program on a terminal in memory. Create it with Start.
type Screen struct {
	t        testing.TB
	term     *terminal
	program  *tea.Program
	clock    *Clock
	input    io.WriteCloser // the end of the keyboard to which keys are written
	ended    chan struct{}  // closed when the program has ended
	err      error          // error of the program; may be read once ended is closed
	reported bool           // err has been reported to the test
}

// syncMsg is dropped by the program's filter after look was called with the model. By then
// the model has handled all earlier messages.
type syncMsg struct{ look func(tea.Model) }

// Start runs a program with a model on a terminal of w×h cells. The program ends with the
// test.
func Start(t testing.TB, model tea.Model, w, h int, opts ...Options) *Screen {
	t.Helper()
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	in, keys, err := keyboard(o.File)
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{t: t, term: newTerminal(w, h), clock: o.Clock, input: keys, ended: make(chan struct{})}
	go func() { _, _ = io.Copy(io.Discard, s.term.emu) }() // discards the emulator's answers to queries
	input := in
	if o.Input != nil {
		input = o.Input
	}
	s.program = tea.NewProgram(model,
		tea.WithInput(input), tea.WithOutput(s.term), tea.WithWindowSize(w, h), tea.WithoutSignals(), tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithFPS(framesPerSecond), tea.WithFilter(filterSync))
	go func() {
		_, s.err = s.program.Run()
		close(s.ended)
	}()
	t.Cleanup(s.end)
	s.send(nil)
	return s
}

// keyboard returns the two ends of a keyboard.
func keyboard(file bool) (program io.Reader, keys io.WriteCloser, err error) {
	if file {
		return os.Pipe()
	}
	program, keys = io.Pipe()
	return program, keys, nil
}

func filterSync(m tea.Model, msg tea.Msg) tea.Msg {
	s, ok := msg.(syncMsg)
	if !ok {
		return msg
	}
	if s.look != nil {
		s.look(m)
	}
	return nil
}

// send sends the program a message, unless it is nil, and waits until the model has handled
// it and all messages before it, or the program has ended.
func (s *Screen) send(msg tea.Msg) {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if msg != nil {
			s.program.Send(msg)
		}
		s.program.Send(syncMsg{})
	}()
	select {
	case <-done:
	case <-s.ended:
	case <-time.After(maxWait):
		s.t.Fatalf("the model accepted no message within %v; last frame:\n%s", maxWait, s.Frame())
	}
}

// end stops the program, and fails the test if the program ended with an error.
func (s *Screen) end() {
	s.stop()
	select {
	case <-s.ended:
		if s.err != nil && !s.reported && !errors.Is(s.err, tea.ErrInterrupted) {
			s.t.Errorf("the program ended with: %v\nlast frame:\n%s", s.err, s.Frame())
		}
	case <-time.After(maxWait):
		s.t.Errorf("the program did not end within %v; last frame:\n%s", maxWait, s.Frame())
	}
	s.term.close()
}

// stop asks the program to end. It does not wait, because the model may be stuck in Update.
func (s *Screen) stop() {
	_ = s.input.Close()
	go s.program.Quit()
}

// Type types its parts in order: a string character by character (a newline in it is the
// enter key), a Key or a tea.KeyPressMsg as one key. It returns when the model has seen the
// last of them. Anything else fails the test.
func (s *Screen) Type(parts ...any) {
	s.t.Helper()
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			for _, r := range part {
				s.press(runePress(r))
			}
		case Key:
			msg, err := part.press()
			if err != nil {
				s.t.Fatal(err)
			}
			s.press(msg)
		case tea.KeyPressMsg:
			s.press(part)
		default:
			s.t.Fatalf("tuitest: Type takes strings and keys, not %T", part)
		}
	}
}

func (s *Screen) press(msg tea.KeyPressMsg) {
	s.t.Helper()
	if s.clock != nil {
		s.clock.Advance(KeyGap)
	}
	s.send(msg)
}

// LendTerminal types a key that makes the program lend its terminal to another program, and returns
// at once. Type would wait until the other program ends, because no message is handled
// until then. Use Wait for what the other program shows.
func (s *Screen) LendTerminal(key Key) {
	s.t.Helper()
	msg, err := key.press()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.clock != nil {
		s.clock.Advance(KeyGap)
	}
	go s.program.Send(msg)
}

// Look calls look with the model between two messages and then returns. A condition of
// Until may call it. It does not call look after the program has ended.
func (s *Screen) Look(look func(tea.Model)) {
	s.t.Helper()
	s.send(syncMsg{look})
}

// Bytes sends raw bytes as the terminal would. It returns before the model handles them.
func (s *Screen) Bytes(p []byte) {
	s.t.Helper()
	if _, err := s.input.Write(p); err != nil {
		s.t.Fatalf("tuitest: the program no longer reads its input: %v", err)
	}
}

// Paste sends text as a bracketed paste.
func (s *Screen) Paste(text string) {
	s.t.Helper()
	s.send(tea.PasteMsg{Content: text})
}

// Message sends any message and returns when the model has handled it.
func (s *Screen) Message(msg tea.Msg) {
	s.t.Helper()
	s.send(msg)
}

// Click presses and releases the left button on a cell, counted from 0.
func (s *Screen) Click(x, y int) {
	s.t.Helper()
	at := tea.Mouse{X: x, Y: y, Button: tea.MouseLeft}
	s.send(tea.MouseClickMsg(at))
	s.send(tea.MouseReleaseMsg(at))
}

// Resize changes the size of the terminal.
func (s *Screen) Resize(w, h int) {
	s.t.Helper()
	s.term.resize(w, h)
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Frame returns what the terminal shows now, without colours and trailing spaces.
func (s *Screen) Frame() string {
	frame, _ := s.term.frame()
	return frame
}

// Styled returns what the terminal shows now, with its escape sequences.
func (s *Screen) Styled() string {
	s.term.mu.Lock()
	defer s.term.mu.Unlock()
	return s.term.emu.Render()
}

// Cursor returns the position of the cursor, counted from 0, and whether it is shown.
func (s *Screen) Cursor() (x, y int, shown bool) {
	s.term.mu.Lock()
	defer s.term.mu.Unlock()
	at := s.term.emu.CursorPosition()
	return at.X, at.Y, !s.term.hidden
}

// Title returns the title of the terminal's window.
func (s *Screen) Title() string {
	s.term.mu.Lock()
	defer s.term.mu.Unlock()
	return s.term.title
}

// Output returns every byte that the program has written so far.
func (s *Screen) Output() []byte {
	s.term.mu.Lock()
	defer s.term.mu.Unlock()
	return append([]byte(nil), s.term.raw.Bytes()...)
}

// Wait waits until the screen shows text. It fails the test after maxWait.
func (s *Screen) Wait(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("for %q", text), func(frame string) bool { return strings.Contains(frame, text) })
}

// WaitGone waits until the screen no longer shows text.
func (s *Screen) WaitGone(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("for %q to go", text), func(frame string) bool { return !strings.Contains(frame, text) })
}

// Until waits until ok holds for what the screen shows.
func (s *Screen) Until(ok func(frame string) bool) {
	s.t.Helper()
	s.until("for a condition", ok)
}

// checkInterval is how often Until checks a condition without a change on the screen, because
// the condition may depend on more than the screen.
const checkInterval = 20 * time.Millisecond

func (s *Screen) until(what string, ok func(frame string) bool) {
	s.t.Helper()
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	again := time.NewTicker(checkInterval)
	defer again.Stop()
	ended := s.ended
	for {
		frame, changed := s.term.frame()
		switch {
		case ok(frame):
			return
		case ended == nil:
			s.reported = true
			s.t.Fatalf("waited %s, but the program ended (%v); last frame:\n%s", what, s.err, frame)
		}
		select {
		case <-changed:
		case <-again.C:
		case <-ended:
			ended = nil // check once more: the last write came before the end
		case <-limit.C:
			s.t.Fatalf("waited %s for %v; last frame:\n%s", what, maxWait, frame)
		}
	}
}

// WaitEnd waits until the program has ended by itself, and returns its error.
func (s *Screen) WaitEnd() error {
	s.t.Helper()
	select {
	case <-s.ended:
		s.reported = true
		return s.err
	case <-time.After(maxWait):
		s.t.Fatalf("the program did not end within %v; last frame:\n%s", maxWait, s.Frame())
		return nil
	}
}

// Quit ends the program from outside and waits until it has ended.
func (s *Screen) Quit() {
	s.t.Helper()
	s.stop()
	if err := s.WaitEnd(); err != nil {
		s.t.Fatalf("the program ended with: %v", err)
	}
}
