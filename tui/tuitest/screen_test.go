package tuitest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// echo is a small model: it shows what it was told.
type echo struct {
	now        func() time.Time
	last       time.Time
	gaps       []time.Duration
	text, keys string
	w, h       int
	dark       string
}

func (m *echo) Init() tea.Cmd { return nil }

func (m *echo) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.PasteMsg:
		m.text += "[" + msg.Content + "]"
	case tea.MouseClickMsg:
		m.text += fmt.Sprintf("click %d,%d ", msg.X, msg.Y)
	case tea.BackgroundColorMsg:
		m.dark = fmt.Sprintf("dark: %v", msg.IsDark())
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *echo) key(msg tea.KeyPressMsg) tea.Cmd {
	if m.now != nil {
		m.gaps = append(m.gaps, m.now().Sub(m.last))
		m.last = m.now()
	}
	m.text += msg.Text
	m.keys += " " + msg.String()
	switch msg.String() {
	case "ctrl+q":
		return tea.Quit
	case "ctrl+x":
		panic("as asked")
	case "ctrl+l":
		return tea.RequestBackgroundColor
	}
	return nil
}

func (m *echo) View() tea.View {
	v := tea.NewView(fmt.Sprintf("%d×%d %s\ntext %s\nkeys%s\n界 end", m.w, m.h, m.dark, m.text, m.keys))
	v.AltScreen = true
	v.WindowTitle = "echo"
	v.Cursor = tea.NewCursor(3, 1)
	return v
}

// recorder is a test that does not fail the real one.
type recorder struct {
	testing.TB
	said    strings.Builder
	cleanup []func()
}

func (r *recorder) Helper()                   {}
func (r *recorder) Cleanup(f func())          { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Errorf(f string, a ...any) { fmt.Fprintf(&r.said, f+"\n", a...) }
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...); runtime.Goexit() }
func (r *recorder) Fatal(a ...any)            { r.Errorf("%s", fmt.Sprint(a...)); runtime.Goexit() }

// record runs a test to its end, clean-up included, and returns what it said.
func record(t testing.TB, test func(r *recorder)) string {
	t.Helper()
	r, done := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range r.cleanup {
				f()
			}
		}()
		test(r)
	}()
	<-done
	return r.said.String()
}

func TestTypeIsSeenInOrder(t *testing.T) {
	s := Start(t, &echo{}, 160, 6)
	s.Type("aB 界", Send, Enter, Esc, Tab, ShiftTab, Up, CtrlC, F1, Alt(1), Key("O"), Space, Key("ctrl+enter"))
	s.Wait("text aB 界O")
	s.Wait("keys a B space 界 ctrl+j enter esc tab shift+tab up ctrl+c f1 alt+1 O space ctrl+enter")
}

func TestBytesPasteClickAndResize(t *testing.T) {
	s := Start(t, &echo{}, 60, 6)
	s.Bytes([]byte("xO\x1b[13;5u"))
	s.Wait("keys x O ctrl+enter")
	s.Paste("two words")
	s.Wait("[two words]")
	s.Click(4, 2)
	s.Wait("click 4,2")
	s.Resize(40, 5)
	s.Wait("40×5")
	s.WaitGone("60×6")
	if n := strings.Count(s.Frame(), "\n") + 1; n != 5 {
		t.Errorf("the frame has %d lines, want 5", n)
	}
}

func TestLookSeesTheModelBetweenMessages(t *testing.T) {
	s := Start(t, &echo{}, 20, 3)
	s.Type("ab")
	text := ""
	s.Look(func(m tea.Model) { text = m.(*echo).text })
	if text != "ab" {
		t.Errorf("the model holds %q, want ab", text)
	}
	s.Until(func(string) bool { // as a condition, too
		held := false
		s.Look(func(m tea.Model) { held = m.(*echo).text == "ab" })
		return held
	})
}

func TestFrameKeepsWideCells(t *testing.T) {
	s := Start(t, &echo{}, 30, 5)
	s.Wait("界 end")
	if lines := strings.Split(s.Frame(), "\n"); lines[3] != "界 end" || lines[0] != "30×5" {
		t.Errorf("frame = %q", lines)
	}
	if x, y, shown := s.Cursor(); x != 3 || y != 1 || !shown {
		t.Errorf("cursor at %d,%d shown %v, want 3,1 true", x, y, shown)
	}
	if s.Title() != "echo" {
		t.Errorf("title = %q", s.Title())
	}
	if !strings.Contains(string(s.Output()), "end") || !strings.Contains(s.Styled(), "end") {
		t.Error("the output or the styled frame lacks the text")
	}
}

func TestTypeMovesTheClockBeforeEachKey(t *testing.T) {
	clock := NewClock()
	m := &echo{now: clock.Now, last: clock.Now()}
	s := Start(t, m, 40, 5, Options{Clock: clock})
	s.Type(strings.Repeat("k", 50))
	s.Quit()
	if len(m.gaps) != 50 {
		t.Fatalf("%d keys arrived, want 50", len(m.gaps))
	}
	for i, gap := range m.gaps {
		if gap != KeyGap {
			t.Errorf("gap before key %d = %v, want %v", i, gap, KeyGap)
		}
	}
}

func TestProgramThatEndsItself(t *testing.T) {
	s := Start(t, &echo{}, 40, 5)
	s.Type(CtrlQ)
	if err := s.WaitEnd(); err != nil {
		t.Errorf("WaitEnd() = %v, want nil", err)
	}
	s.Type("more") // a program that has ended makes nobody wait
}

func TestPanicFailsTheTest(t *testing.T) {
	said := record(t, func(r *recorder) { Start(r, &echo{}, 40, 5).Type(Key("ctrl+x")) })
	if !strings.Contains(said, tea.ErrProgramPanic.Error()) {
		t.Errorf("the test said %q, want it to name the panic", said)
	}
	record(t, func(r *recorder) {
		s := Start(r, &echo{}, 40, 5)
		s.Type(Key("ctrl+x"))
		if err := s.WaitEnd(); !errors.Is(err, tea.ErrProgramPanic) {
			t.Errorf("WaitEnd() = %v, want %v", err, tea.ErrProgramPanic)
		}
	})
}

func TestWaitOnAnEndedProgramShowsTheFrame(t *testing.T) {
	said := record(t, func(r *recorder) {
		s := Start(r, &echo{}, 40, 5)
		s.Wait("40×5")
		s.Quit()
		s.Wait("never")
	})
	if !strings.Contains(said, `waited for "never", but the program ended`) || !strings.Contains(said, "last frame:") {
		t.Errorf("the test said %q", said)
	}
}

func TestUnknownKeyFailsTheTest(t *testing.T) {
	for _, part := range []any{Key("ctrl+nonsense"), Key(""), 7} {
		said := record(t, func(r *recorder) { Start(r, &echo{}, 40, 5).Type(part) })
		if said == "" {
			t.Errorf("Type(%v) said nothing", part)
		}
	}
}

// A program scrolls what it knew of a terminal that has become smaller.
func TestScrollingMoreRowsThanThereAre(t *testing.T) {
	v := newTerminal(20, 10)
	defer v.close()
	v.resize(20, 4)
	for _, written := range []string{"\x1b[1;10r\x1b[3S", "\x1b[2;9r\x1b[2T", "\x1b[6;10r\x1b[5S", "\x1b[r\x1b[H\x1b[Jtop"} {
		if _, err := io.WriteString(v, written); err != nil {
			t.Fatal(err)
		}
	}
	if frame, _ := v.frame(); frame != "top\n\n\n" {
		t.Errorf("the terminal shows %q", frame)
	}
}
