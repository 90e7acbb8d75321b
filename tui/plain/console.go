package plain

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/checkpoint"

	"winnow/tui/pane"
	"winnow/tui/slash"
)

// Options configures Run. Workspace, Title, In, Out and Err are needed, the rest
// may be zero.
type Options struct {
	Workspace *workspace.Workspace
	Title     func() string   // the window, and what of it is open: "model filter, openai"
	Rules     func() []string // the rules of the window with what each does, one a line; nil: it has none

	In       io.Reader
	Out, Err io.Writer
	// Interactive says that a user types In while reading Out: questions are asked,
	// files named as @path are sent, errors go to Out. Without it questions are answered
	// no, and errors go to Err.
	Interactive bool
	Interrupt   <-chan os.Signal // what Ctrl+C sends; nil never does

	Color    bool // labels stand out
	Examples []string
	Notice   string   // shown at the start
	Recovery []string // the unsaved changes that a crash left, one a line; nil for none
	Digest   string   // of what discarding them would lose
	Topics   []slash.HelpTopic
	// Connect connects a model by questions; nil: nothing here does.
	Connect func(ctx context.Context, print func(string), ask Ask) error
	// OfferConnect opens with a question whether to do so; Dismiss is called for a no.
	OfferConnect bool
	Dismiss      func(ctx context.Context) error
	Hide         func() (restore func()) // makes the terminal show nothing of what is typed; nil cannot
	Now          func() time.Time
	Redact       func(string) string // removes keys from what is shown; nil removes none
}

// The exit statuses of Run.
const (
	exitOK        = 0
	exitFailed    = 1
	exitCancelled = 130
)

// Run converses until the input ends, the user quits or ctx is done, and returns
// the exit status: 0; 1 when Out fails, when the session cannot be read, or, not
// Interactive, when the last turn failed; 130 when ctx or Ctrl+C ended it. A
// running turn is finished at the end of the input, and interrupted by ctx: its
// pair stays. Unsaved changes of the window stay as they are.
func Run(ctx context.Context, o Options) int {
	c := newConsole(ctx, o)
	if err := c.workspace.LoadView(ctx); err != nil {
		c.fail(err)
		return exitFailed
	}
	c.greet()
	for !c.done {
		l, err := c.next()
		switch {
		case c.out.Err() != nil:
			return exitFailed
		case errors.Is(err, io.EOF):
			c.endOfInput()
		case errors.Is(err, errInterrupted):
			c.interrupt()
		case err != nil:
			c.out.End()
			return exitCancelled
		default:
			c.onLine(l)
		}
	}
	return c.status
}

func newConsole(ctx context.Context, o Options) *console {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	c := &console{ctx: ctx, opts: o, workspace: o.Workspace, session: o.Workspace.Session(), input: ReadLines(o.In, o.Now)}
	c.out = NewWriter(o.Out, o.Color, o.Redact)
	c.err = c.out
	if !o.Interactive {
		c.err = NewWriter(o.Err, o.Color, o.Redact)
	}
	return c
}

// console is one run of the program without a screen. Its fields belong to the
// goroutine of Run.
type console struct {
	ctx       context.Context
	opts      Options
	workspace *workspace.Workspace
	session   *assistant.Session
	out       *Writer
	err       *Writer // where errors go
	input     <-chan Line

	ahead      []Line // typed before they could be handled, oldest first
	message    Message
	unsent     unsent            // for /retry
	choices    []pane.Choice     // that /1, /2… choose
	choicesSeq int64             // the pair of the choices; 0: examples
	models     []string          // as last numbered
	sessions   []history.Session // as last numbered

	listed []checkpoint.Checkpoint // as last numbered; nil: none
	newest string                  // the newest step when they were

	counter         string // as last shown
	nearLimit       bool   // as last shown
	unsaved         bool   // as last shown
	inTurn          bool
	inputEnded      bool
	interruptedOnce bool // one more Ctrl+C quits
	done            bool
	status          int
}

// unsent is a message that has no answer. The zero value is none.
type unsent struct {
	text string
	seq  int64 // the failed pair of the message; 0: it is in none
}

// errInterrupted is Ctrl+C.
var errInterrupted = errors.New("interrupted")

// next waits for the next line. The error is errInterrupted, io.EOF or that of the context.
func (c *console) next() (l Line, err error) {
	if err := c.ctx.Err(); err != nil {
		return l, err
	}
	if len(c.ahead) == 0 {
		select {
		case l, ok := <-c.input:
			c.inputEnded = c.inputEnded || !ok
			if ok {
				c.ahead = append(c.ahead, l)
			}
		default:
		}
	}
	switch {
	case len(c.ahead) > 0:
		l, c.ahead = c.ahead[0], c.ahead[1:]
		if c.opts.Interactive && !c.message.Started() && l.Text != "" { // its echo is among the lines before
			c.out.Label("You", Quote(l.Text))
		}
		return l, nil
	case c.inputEnded:
		return l, io.EOF
	case c.opts.Interactive && c.message.Started():
		c.prompt("more: ")
	case c.opts.Interactive:
		c.prompt("You: ")
	}
	select {
	case <-c.ctx.Done():
		return l, c.ctx.Err()
	case <-c.opts.Interrupt:
		return l, errInterrupted
	case l, ok := <-c.input:
		if !ok {
			c.inputEnded = true
			return l, io.EOF
		}
		if c.opts.Interactive {
			c.out.Echoed()
		}
		return l, nil
	}
}

func (c *console) prompt(text string) {
	c.out.End()
	c.out.Add(text)
}

// onLine handles a line of the user.
func (c *console) onLine(l Line) {
	c.interruptedOnce = false
	switch {
	case l.Err != nil:
		c.fail(l.Err)
	case c.message.Started():
		c.addToMessage(l.Text)
	case strings.HasPrefix(l.Text, "/") && slash.Message(l.Text) == l.Text:
		c.do(func(ctx context.Context) error { return c.command(ctx, l.Text) })
	default:
		c.addToMessage(slash.Message(l.Text))
	}
}

// addToMessage adds a line to the message, and sends it when it is complete.
func (c *console) addToMessage(text string) {
	if message, complete := c.message.Add(text); complete && strings.TrimSpace(message) != "" {
		c.do(func(ctx context.Context) error { return c.sendTyped(ctx, message) })
	}
}

// do runs a command or a turn, and shows its error. Ctrl+C ends its context.
func (c *console) do(f func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			select {
			case <-c.opts.Interrupt:
				cancel()
			case <-ended:
				return
			}
		}
	})
	c.fail(f(ctx))
	close(ended)
	watcher.Wait()
	cancel()
}

// interrupt handles Ctrl+C where nothing runs: the second in a row quits.
func (c *console) interrupt() {
	switch {
	case c.message.Started():
		c.unsent = unsent{text: c.message.End()}
		c.out.Line("The message is dropped; /retry sends it.")
	case c.interruptedOnce:
		c.status = exitCancelled
		c.leave()
	default:
		c.interruptedOnce = true
		c.out.Line("Ctrl+C again quits; so does /quit.")
	}
}

// endOfInput leaves after the last line.
func (c *console) endOfInput() {
	if c.message.Started() {
		c.fail(c.workspace.AddSent(c.ctx, c.message.End()))
		c.out.Line("The unfinished message is not sent.")
	}
	c.leave()
}

// leave ends the console and says what stays.
func (c *console) leave() {
	c.done = true
	if c.unsent.seq != 0 && !c.opts.Interactive {
		c.status = exitFailed
	}
	if c.workspace.Unsaved() {
		c.out.Line("The unsaved changes are kept for next time; the file is unchanged.")
	}
	c.out.End()
}

// greet writes the window, the model and how to begin.
func (c *console) greet() {
	c.out.Line("winnow, " + Name(c.opts.Title()) + ". " + c.modelText() + ".")
	c.out.Line("Type a message and press Enter. /help lists the commands, /quit ends.")
	if c.opts.Notice != "" {
		c.out.Line(c.opts.Notice)
	}
	if n := len(c.session.Visible()); n > 0 {
		c.out.Line(assistant.Counted(n, "message") + " in this session; /messages lists them.")
	} else {
		for _, e := range c.opts.Examples {
			c.choices = append(c.choices, pane.Choice{Label: e, Message: e})
		}
		c.listChoices("For example")
	}
	c.showWaiting()
	c.counter = c.session.Counter()
	c.showChanges()
	if c.opts.Recovery != nil {
		c.do(c.recover)
	}
	if c.opts.OfferConnect && c.opts.Interactive {
		c.do(c.offerConnect)
	}
}

// showWaiting shows a message that an earlier run of the session did not send; /retry does.
func (c *console) showWaiting() {
	if p, waits := c.workspace.Dequeue(); waits {
		c.unsent = unsent{text: p.Text}
		c.out.Line("This message was waiting when winnow last ended, and is not sent: " + Quote(p.Text) + ". /retry sends it.")
	}
	c.offerCancelled()
}

// recover asks what becomes of the unsaved changes that a crash left.
func (c *console) recover(ctx context.Context) error {
	c.out.Label("Question", "winnow stopped unexpectedly last time.")
	c.out.Indent(c.opts.Recovery...)
	if c.ask(ctx, "Type discard to drop the unsaved changes; anything else keeps them: ", "discard") == "" {
		c.out.Line("Recovered; nothing is saved yet.")
		return nil
	}
	_, err := c.discardShown(ctx, c.opts.Digest)
	return err
}

func (c *console) offerConnect(ctx context.Context) error {
	if c.yes(ctx, "No model connected: built-in rules answer. Type yes to connect a language model; Enter skips: ") {
		return c.connect(ctx, "")
	}
	c.out.Line("/connect connects one later.")
	return c.opts.Dismiss(ctx)
}

// showChanges shows what a screen always shows, when it has changed.
func (c *console) showChanges() {
	if now := c.session.Counter(); now != c.counter {
		c.counter = now
		c.out.Line(c.contextText())
	}
	if near := c.session.Boundary().NearLimit(); near != c.nearLimit {
		if c.nearLimit = near; near {
			c.out.Line("The context is nearly full: the oldest messages will be left out. /session new starts a new session.")
		}
	}
	if now := c.workspace.Unsaved(); now != c.unsaved {
		c.unsaved = now
		c.out.Line(c.unsavedText())
	}
}

func (c *console) unsavedText() string {
	if c.workspace.Unsaved() {
		return "There are unsaved changes; /save writes them."
	}
	return "Nothing is unsaved."
}
