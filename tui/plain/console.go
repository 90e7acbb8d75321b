package plain

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/pane"
)

// Recovery is what a crash left behind, for the user to decide.
type Recovery struct {
	Lines   []string // what happened and what there is
	Discard func() error
}

// Options configures Run. Workspace, Window, In, Out and Err are needed, the rest
// may be zero.
type Options struct {
	Workspace *workspace.Workspace
	Window    pane.Pane
	Rules     func() []string // the rules of the window with what each does, one a line; nil: it has none

	In       io.Reader
	Out, Err io.Writer
	// Interactive says that somebody types In while reading Out: messages can be
	// queued, questions are asked, errors go to Out. Without it messages go one
	// after the other, questions are answered no, errors go to Err.
	Interactive bool
	Interrupt   <-chan os.Signal // what Ctrl+C sends; nil never does

	Color    bool // labels stand out
	Examples []string
	Notice   string // shown at the start
	Recovery *Recovery
	Now      func() time.Time
	Redact   func(string) string // removes keys from what is shown; nil removes none
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
	if err := c.session.LoadView(ctx); err != nil {
		c.fail(err)
		return exitFailed
	}
	c.greet()
	return c.loop()
}

func newConsole(ctx context.Context, o Options) *console {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	c := &console{ctx: ctx, opts: o, workspace: o.Workspace, session: o.Workspace.Session(), lines: readLines(o.In, o.Now)}
	c.out = &printer{w: o.Out, color: o.Color, redact: o.Redact}
	c.err = c.out
	if !o.Interactive {
		c.err = &printer{w: o.Err, color: o.Color, redact: o.Redact}
	}
	return c
}

// console is one run of the program without a screen. Its fields belong to the
// goroutine of loop.
type console struct {
	ctx       context.Context
	opts      Options
	workspace *workspace.Workspace
	session   *assistant.Session
	out       *printer
	err       *printer // where errors go
	lines     <-chan line

	message    messageReader
	question   *question
	turn       *turn             // nil: nothing runs
	queuedLate *assistant.Prompt // queued after the turn had ended
	unsent     string            // a text that was not sent, for /retry and /reask
	failedSeq  int64             // the pair of the last turn, when that failed; 0 is none
	choices    []pane.Choice     // that /1, /2… choose
	choicesSeq int64             // the pair of the choices; 0: examples
	models     []string          // as last numbered
	sessions   []history.Session // as last numbered

	counter         string // as last shown
	unsaved         bool   // as last shown
	showReasoning   bool   // reasoning is shown
	prompted        bool   // a prompt waits for a line
	inputEnded      bool   // the input has
	interruptedOnce bool   // one more Ctrl+C quits
	quitAfterTurn   bool   // quit when the turn is over
	done            bool
	status          int
}

// loop handles one event after the other until the console is done.
func (c *console) loop() int {
	for !c.done {
		if c.inputEnded && c.turn == nil {
			c.endOfInput()
			break
		}
		c.prompt()
		if c.out.err != nil {
			c.interruptTurn()
			return exitFailed
		}
		var events <-chan assistant.Event
		input := c.lines
		if c.turn != nil {
			events = c.turn.events
		}
		if c.inputEnded || c.turn != nil && !c.opts.Interactive { // a script's line waits for the end of the turn
			input = nil
		}
		select {
		case <-c.ctx.Done():
			c.interruptTurn()
			c.out.endLine()
			return exitCancelled
		case _, ok := <-c.opts.Interrupt:
			c.interrupt(ok)
		case e, ok := <-events:
			c.onEvent(e, ok)
		case l, ok := <-input:
			c.onLine(l, ok)
		}
	}
	return c.status
}

// interruptTurn ends the running turn as the end of the program does: its pair
// stays, as interrupted.
func (c *console) interruptTurn() {
	const limit = 500 * time.Millisecond // afterwards the next start marks the pair
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), limit)
	defer cancel()
	_ = c.session.Close(ctx)
}

// prompt shows once what kind of line is expected.
func (c *console) prompt() {
	unread := c.question != nil && c.question.at.IsZero()
	if c.prompted && c.out.open && !unread {
		return
	}
	c.prompted = false
	text := "You: "
	switch {
	case !c.opts.Interactive || c.inputEnded || c.turn != nil && c.question == nil:
		return
	case c.question != nil:
		text = c.question.prompt
		if unread {
			c.question.at = c.opts.Now()
		}
	case c.message.begun:
		text = "more: "
	}
	c.out.endLine()
	c.out.add(text)
	c.prompted = true
}

// onLine handles a line of the user, or the end of all lines.
func (c *console) onLine(l line, ok bool) {
	if !ok {
		c.inputEnded = true
		c.dropQuestion()
		return
	}
	if c.prompted {
		c.out.open, c.prompted = false, false // the terminal has shown the line and its end
	}
	c.interruptedOnce = false
	early := c.typedEarly(l)
	switch {
	case l.err != nil:
		c.fail(l.err)
	case c.message.begun:
		c.addToMessage(l.text)
	case early && (isNo(l.text) || strings.EqualFold(strings.TrimSpace(l.text), "yes")):
		c.out.line("That was typed before the question could be read, so it is no answer.")
	case strings.HasPrefix(l.text, "/") && !strings.HasPrefix(l.text, "//"):
		c.command(l.text)
	case c.question != nil && !early:
		c.answer(l.text)
	default:
		c.addToMessage(l.text)
	}
}

// addToMessage adds a line to the message, and sends it when it is complete. //x is
// the message /x.
func (c *console) addToMessage(text string) {
	if !c.message.begun && strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	if message, whole := c.message.add(text); whole && strings.TrimSpace(message) != "" {
		c.send(message)
	}
}

// interrupt handles Ctrl+C: it cancels what there is to cancel; with nothing to
// cancel, the second in a row quits.
func (c *console) interrupt(ok bool) {
	switch {
	case !ok:
		c.opts.Interrupt = nil
	case c.turn != nil:
		_ = c.cancel("") // something runs
	case c.question != nil:
		c.dropQuestion()
	case c.message.begun:
		c.unsent, c.failedSeq = c.message.end(), 0
		c.out.line("The message is dropped; /retry sends it.")
	case c.interruptedOnce:
		c.status = exitCancelled
		c.leave()
	default:
		c.interruptedOnce = true
		c.out.line("Ctrl+C again quits; so does /quit.")
	}
}

// endOfInput leaves after the last line.
func (c *console) endOfInput() {
	if c.message.begun {
		c.addSent(c.message.end())
		c.out.line("The message that was begun is not sent.")
	}
	c.leave()
}

// leave ends the console and says what stays.
func (c *console) leave() {
	c.done = true
	if c.failedSeq != 0 && !c.opts.Interactive {
		c.status = exitFailed
	}
	if c.isUnsaved() {
		c.out.line("The unsaved changes are kept for next time; the file is unchanged.")
	}
	c.out.endLine()
}

func (c *console) isUnsaved() bool { return c.opts.Window.Status().Unsaved }

// greet writes the window, the model and how to begin.
func (c *console) greet() {
	st := c.opts.Window.Status()
	about := "winnow, " + st.Title
	if st.Subtitle != "" {
		about += ", " + st.Subtitle
	}
	c.out.line(visibleLine(about) + ". " + c.modelText() + ".")
	c.out.line("Type a message and press Enter. /help lists the commands, /quit ends.")
	if c.opts.Notice != "" {
		c.out.line(c.opts.Notice)
	}
	if n := len(c.session.Visible()); n > 0 {
		c.out.line(assistant.Counted(n, "pair") + " in this session; /pairs reads them.")
	} else {
		for _, e := range c.opts.Examples {
			c.choices = append(c.choices, pane.Choice{Label: e, Value: e})
		}
		c.listChoices("For example")
	}
	c.counter = c.session.Counter()
	c.showChanges()
	if r := c.opts.Recovery; r != nil {
		c.out.labelled("Question", "winnow stopped unexpectedly last time.")
		c.out.indented(r.Lines...)
		c.ask("Type discard to drop the unsaved changes; anything else keeps them: ", map[string]func() error{
			"discard": func() error { return c.edit(pane.Edit{Description: "Discard after a crash", Change: r.Discard}) },
		}, func() { c.out.line("Recovered; nothing is saved yet.") })
	}
}

// showChanges shows what a screen always shows, when it has changed.
func (c *console) showChanges() {
	if now := c.session.Counter(); now != c.counter {
		c.counter = now
		c.out.line(c.contextText())
	}
	if now := c.isUnsaved(); now != c.unsaved {
		c.unsaved = now
		if now {
			c.out.line("There are unsaved changes; /save writes them.")
		} else {
			c.out.line("Nothing is unsaved.")
		}
	}
}

// interruptible runs f and waits for its end. Ctrl+C and the end of ctx cancel the
// context of f.
func interruptible[T any](c *console, f func(ctx context.Context) (T, error)) (v T, err error) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		v, err = f(ctx)
	}()
	interrupts := c.opts.Interrupt
	for {
		select {
		case <-done:
			return v, err
		case <-interrupts:
			interrupts = nil
			c.out.line("Cancelling.")
			cancel()
		}
	}
}
