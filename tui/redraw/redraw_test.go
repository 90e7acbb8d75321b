package redraw

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// patience is how long a test waits for what is certain to come.
const patience = 20 * time.Second

// counter is a model that shows a number, and how a message changes it.
type counter struct {
	n     int
	panic string // where the number 13 is unlucky: update, view, command or batch
}

type addMsg int

func (c counter) Init() tea.Cmd { return nil }

func (c counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case addMsg:
		c.n += int(msg)
	case tea.KeyPressMsg:
		c.n++
	}
	if c.n != 13 {
		return c, nil
	}
	unlucky := func() tea.Msg { panic("13") }
	switch c.panic {
	case "update":
		panic("13")
	case "command":
		return c, unlucky
	case "batch":
		return c, tea.Batch(unlucky, func() tea.Msg { return nil })
	}
	return c, nil
}

func (c counter) View() tea.View {
	if c.n == 13 && c.panic == "view" {
		panic("13")
	}
	v := tea.NewView(fmt.Sprintf("<%d>", c.n))
	v.AltScreen = true
	return v
}

// screen is a running program and what it wrote.
type screen struct {
	*tea.Program
	keys  *os.File
	ended chan error

	mu      sync.Mutex
	written bytes.Buffer
}

// start runs a program whose keys come from a pipe, or from in when it is not nil.
func start(t *testing.T, model tea.Model, in io.Reader) *screen {
	t.Helper()
	pipe, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if in == nil {
		in = pipe
	}
	shown, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{keys: keys, ended: make(chan error, 1)}
	s.Program = NewProgram(model, in, out, tea.WithFPS(120), tea.WithWindowSize(20, 3), tea.WithoutSignalHandler(),
		tea.WithEnvironment([]string{"TERM=xterm"}))
	go func() {
		_, err := s.Run()
		s.ended <- err
	}()
	go func() { _, _ = io.Copy(s, shown) }()
	t.Cleanup(func() {
		_, _, _, _ = pipe.Close(), keys.Close(), out.Close(), shown.Close()
	})
	return s
}

// Write collects what the program writes.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// wait waits until is true.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !is(); <-time.After(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("never happened: " + what)
		}
	}
}

// held reports whether the renderer is held: a Write waits, and does not merely run.
func held() bool {
	stacks := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(one, "redraw.(*output).Write") && strings.Contains(one, "sync.(*Cond).Wait") {
			return true
		}
	}
	return false
}

// quit ends the program and waits for its end.
func (s *screen) quit(t *testing.T) {
	t.Helper()
	s.Quit()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}
	if strings.Contains(s.text(), mark) {
		t.Error("a mark was written to the terminal")
	}
}

// A program to which nothing happens holds its renderer; a key is drawn, and it holds
// again.
func TestNothingHappensNothingRuns(t *testing.T) {
	s := start(t, counter{}, nil)
	wait(t, "the renderer is held", held)
	for n := 1; n <= 5; n++ {
		if _, err := s.keys.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		wait(t, "a key is drawn", func() bool { return strings.Contains(s.text(), fmt.Sprint(n)) })
		wait(t, "the renderer is held again", held)
	}
	s.Send(addMsg(0)) // the view is as before: nothing is written
	wait(t, "the renderer is held after a message that changes nothing", held)
	s.quit(t)
}

// While the renderer may not have the last view, it is not held: it gets a view after it
// was made, and certainly before the next message.
func TestAViewThatTheRendererMayNotHaveIsNotHeld(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out := newOutput(null)
	out.send = func(tea.Msg) {}
	defer out.end()
	var writes atomic.Int64
	write := func() {
		_, _ = out.Write([]byte(mark))
		writes.Add(1)
	}
	(&watched{Model: counter{}, out: out}).View()
	go func() { write(); write(); write() }()
	wait(t, "the renderer goes on", func() bool { return writes.Load() == 3 })
	out.filter(nil, addMsg(0))
	go func() { write(); write() }() // the first is before the view is certainly drawn
	wait(t, "the renderer is held", held)
}

// Whatever messages come, the last view is drawn, and the program ends while its
// renderer is held.
func TestTheLastViewIsDrawn(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := start(t, counter{}, nil)
		sum := 0
		for range 40 {
			switch random.IntN(8) {
			case 0:
				s.Send(tea.RawMsg{Msg: "\a"})
			case 1:
				s.Send(tea.BatchMsg{nil, func() tea.Msg { return addMsg(0) }})
			case 2:
				s.Send(tea.WindowSizeMsg{Width: 20, Height: 3 + random.IntN(2)})
			case 3:
				s.Send(tea.SetClipboard("text")())
			case 4:
				s.Send(addMsg(1))
				s.Send(addMsg(-1)) // the view may be as it was
			default:
				n := 1 + random.IntN(50)
				sum += n
				s.Send(addMsg(n))
			}
			if random.IntN(4) == 0 {
				wait(t, "the renderer is held", held)
			}
		}
		s.Send(tea.ClearScreen()) // so that the number is drawn whole
		s.Send(addMsg(1000))
		wait(t, "the last view is drawn", func() bool { return strings.Contains(s.text(), fmt.Sprintf("<%d>", sum+1000)) })
		s.quit(t)
	}
}

// A panic ends a program whose renderer is held.
func TestAPanicEndsTheProgram(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	stderr := os.Stderr
	os.Stderr = null // Bubble Tea prints the stack
	defer func() { os.Stderr = stderr }()
	for _, where := range []string{"update", "view", "command", "batch"} {
		// After a panic Bubble Tea does not wait for the goroutine that reads, whose
		// cancelling of a file is not safe against that: it reads from what is no file.
		s := start(t, counter{panic: where}, strings.NewReader(""))
		wait(t, "the renderer is held", held)
		s.Send(addMsg(13))
		select {
		case err := <-s.ended:
			if !errors.Is(err, tea.ErrProgramPanic) && !errors.Is(err, tea.ErrProgramKilled) {
				t.Errorf("%s: Run = %v, want a panic", where, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the program does not end", where)
		}
	}
}

// An input that fails ends a program whose renderer is held.
func TestAnErrorOfTheInputEndsTheProgram(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	out := newOutput(os.Stdout)
	var ended atomic.Bool
	go func() {
		_, _ = out.Write([]byte(mark))
		ended.Store(true)
	}()
	wait(t, "the renderer is held", held)
	_ = keys.Close()
	if _, err := (&input{in, out}).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("Read = %v", err)
	}
	wait(t, "the renderer goes on", ended.Load)
}
