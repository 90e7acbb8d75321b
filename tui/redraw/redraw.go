// Package redraw makes a Bubble Tea program whose renderer runs only when there is
// something to draw.
//
// The renderer of Bubble Tea looks for a new view at each tick of its frame rate, 120
// times a second, also when nothing happens for hours. Its rate cannot be changed while
// it runs, but it writes what [tea.Raw] queued to the output of the program before it
// draws. So a mark is queued after each view, and the output holds a Write of that mark
// back until the next view, once the last one is certainly drawn. A ticker that nobody
// receives from does not fire: a held program wakes up for nothing. A key ends the hold,
// and its view is drawn at once instead of at the next tick.
//
// # Terms
//
// A view is drawn when the renderer has compared it with the screen and written the
// difference, if there is any. The hold is the time that a Write of the mark takes.
//
// # Concurrency
//
// The renderer writes, the event loop filters, updates and views, commands run in
// goroutines of their own; one mutex guards what they share. The hold locks the
// program's queue of raw output, so it ends before the event loop handles a message that
// may write there, and there is none from such a message to its Update.
//
// # Caveats
//
// The end of a program waits for its renderer. So all that ends one ends the hold for
// good: a QuitMsg, a panic, an error of the input. [tea.Program.Kill] must not be called.
package redraw

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// mark is what is queued after a view: an application program command, which a
// terminal would ignore. It is never written to one.
const mark = "\x1b_winnow\x1b\\"

// NewProgram makes a program that reads from in and draws on out. opts hold no
// input, output or filter: those are what makes this program.
func NewProgram(model tea.Model, in io.Reader, out *os.File, opts ...tea.ProgramOption) *tea.Program {
	o := newOutput(out)
	if f, ok := in.(terminal); ok {
		in = &input{f, o}
	}
	p := tea.NewProgram(&watched{Model: model, out: o},
		append(opts, tea.WithInput(in), tea.WithOutput(o), tea.WithFilter(o.filter))...)
	o.send = p.Send
	return p
}

// output is the terminal that the renderer writes to. mu guards what follows it.
type output struct {
	*os.File
	send func(tea.Msg) // to the program

	mu       sync.Mutex
	changed  *sync.Cond
	views    int  // how many were made
	rendered int  // the last view that the renderer has certainly been given
	drawn    int  // the last view that is certainly drawn at the next Write
	busy     bool // from a message of Bubble Tea's own to its Update: no hold
	ended    bool // no hold any more
}

func newOutput(out *os.File) *output {
	o := &output{File: out}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// Write implements io.Writer. The renderer calls it with raw output before it draws,
// and with what it draws.
func (o *output) Write(p []byte) (int, error) {
	text := bytes.ReplaceAll(p, []byte(mark), nil)
	if len(text) > 0 {
		if n, err := o.File.Write(text); err != nil {
			return n, err
		}
	}
	marked := len(text) < len(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.quiet():
	case marked && o.drawn == o.views:
		for o.quiet() {
			o.changed.Wait()
		}
	default:
		o.drawn = o.views
		if marked {
			go o.send(tea.RawMsg{Msg: mark}) // it may be drawn already, and nothing be written
		}
	}
	return len(p), nil
}

// quiet reports whether the renderer has the last view and nothing else happens.
func (o *output) quiet() bool { return o.rendered == o.views && !o.busy && !o.ended }

// change changes what quiet depends on.
func (o *output) change(do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	do()
	o.changed.Broadcast()
}

// end ends all holds.
func (o *output) end() { o.change(func() { o.ended = true }) }

// endInPanic ends all holds in a panic, which goes on. It is deferred.
func (o *output) endInPanic() {
	if r := recover(); r != nil {
		o.end()
		panic(r)
	}
}

// bubbleTea is the package of the messages that Bubble Tea handles itself.
var bubbleTea = reflect.TypeFor[tea.KeyPressMsg]().PkgPath()

// filter sees each message before Bubble Tea does. The renderer has been given the
// view before it.
func (o *output) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	o.change(func() {
		o.rendered = o.views
		switch msg.(type) {
		case tea.KeyPressMsg, tea.BatchMsg: // they write nothing
		case tea.QuitMsg, tea.InterruptMsg:
			o.ended = true
		default:
			t := reflect.TypeOf(msg)
			o.busy = o.busy || t != nil && t.PkgPath() == bubbleTea
		}
	})
	return msg
}

// guard is cmd, whose panic ends all holds.
func (o *output) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer o.endInPanic()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, cmd := range batch {
				batch[i] = o.guard(cmd)
			}
		}
		return msg
	}
}

// watched is the model of a program, whose views it counts.
type watched struct {
	tea.Model
	out    *output
	last   tea.View
	marked bool // the message is the mark: last is still the view
}

// Init implements tea.Model.
func (w *watched) Init() tea.Cmd { return w.out.guard(w.Model.Init()) }

// Update implements tea.Model.
func (w *watched) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer w.out.endInPanic()
	w.out.change(func() { w.out.busy = false })
	raw, ok := msg.(tea.RawMsg)
	if w.marked = ok && raw.Msg == mark; w.marked {
		return w, nil
	}
	w.Model, cmd = w.Model.Update(msg)
	return w, w.out.guard(cmd)
}

// View implements tea.Model.
func (w *watched) View() tea.View {
	defer w.out.endInPanic()
	if !w.marked {
		w.last = w.Model.View()
		w.out.change(func() { w.out.views++ })
		go w.out.send(tea.RawMsg{Msg: mark})
	}
	return w.last
}

// terminal is what Bubble Tea can stop reading from.
type terminal interface {
	io.ReadWriteCloser
	Fd() uintptr
	Name() string
}

// input is a terminal. An error of it ends the program.
type input struct {
	terminal
	out *output
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	n, err := in.terminal.Read(p)
	if err != nil {
		in.out.end()
	}
	return n, err
}
