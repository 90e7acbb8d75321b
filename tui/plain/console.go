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
	"winnow/checkpoint"
	"winnow/tui/lines"
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
	// Interactive says that somebody types In while reading Out: messages can be
	// queued, questions are asked, errors go to Out. Without it messages go one
	// after the other, questions are answered no, errors go to Err.
	Interactive bool
	Interrupt   <-chan os.Signal // what Ctrl+C sends; nil never does

	Color    bool // labels stand out
	Examples []string
	Notice   string   // shown at the start
	Recovery []string // the unsaved changes that a crash left, one a line; nil is none
	Digest   string   // of what discarding them would lose
	Topics   []slash.HelpTopic
	// Connect connects a model by questions; nil: nothing here does.
	Connect func(ctx context.Context, print func(string), ask lines.Ask) error
	// OfferConnect opens with a question whether to do so; Dismiss is called for a no.
	OfferConnect bool
	Dismiss      func(ctx context.Context) error
	Hide         func() (restore func()) // see lines.Dialogue
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
	return c.loop()
}

func newConsole(ctx context.Context, o Options) *console {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	c := &console{ctx: ctx, opts: o, workspace: o.Workspace, session: o.Workspace.Session(), input: lines.Read(o.In, o.Now)}
	c.out = lines.NewWriter(o.Out, o.Color, o.Redact)
	c.err = c.out
	if !o.Interactive {
		c.err = lines.NewWriter(o.Err, o.Color, o.Redact)
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
	out       *lines.Writer
	err       *lines.Writer // where errors go
	input     <-chan lines.Line

	message    lines.Message
	question   *question
	turn       *turn             // nil: nothing runs
	unsent     unsent            // for /retry and /reask
	choices    []pane.Choice     // that /1, /2… choose
	choicesSeq int64             // the pair of the choices; 0: examples
	models     []string          // as last numbered
	sessions   []history.Session // as last numbered

	listed []checkpoint.Checkpoint // as last numbered; nil: none
	newest string                  // the newest step when they were

	counter         string // as last shown
	unsaved         bool   // as last shown
	showReasoning   bool
	prompted        bool // a prompt waits for a line
	inputEnded      bool
	interruptedOnce bool // one more Ctrl+C quits
	quitAfterTurn   bool
	done            bool
	status          int
}

// unsent is a message that has no answer. The zero value is none.
type unsent struct {
	text string
	seq  int64 // the failed pair of the message; 0: it is in none
}

// loop handles one event after the other until the console is done.
func (c *console) loop() int {
	for !c.done {
		if c.inputEnded && c.turn == nil {
			c.endOfInput()
			break
		}
		c.prompt()
		if c.out.Err() != nil {
			c.interruptTurn()
			return exitFailed
		}
		var events <-chan assistant.Event
		input := c.input
		if c.turn != nil {
			events = c.turn.events
		}
		if c.inputEnded || c.turn != nil && !c.opts.Interactive { // a script's line waits for the end of the turn
			input = nil
		}
		select {
		case <-c.ctx.Done():
			c.interruptTurn()
			c.out.End()
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
	unread := c.question != nil && c.question.shown.IsZero()
	if c.prompted && c.out.Open() && !unread {
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
			c.question.shown = c.opts.Now()
		}
	case c.message.Started():
		text = "more: "
	}
	c.out.End()
	c.out.Add(text)
	c.prompted = true
}

// onLine handles a line of the user, or the end of all lines.
func (c *console) onLine(l lines.Line, ok bool) {
	if !ok {
		c.inputEnded = true
		c.dropQuestion()
		return
	}
	if c.prompted {
		c.out.Echoed()
		c.prompted = false
	}
	c.interruptedOnce = false
	early := c.typedEarly(l)
	switch {
	case l.Err != nil:
		c.fail(l.Err)
	case c.message.Started():
		c.addToMessage(l.Text)
	case early && (isNo(l.Text) || strings.EqualFold(strings.TrimSpace(l.Text), "yes")):
		c.out.Line("That was typed before the question could be read, so it is no answer.")
	case strings.HasPrefix(l.Text, "/") && slash.Message(l.Text) == l.Text:
		c.command(l.Text)
	case c.question != nil && !early:
		c.answer(l.Text)
	default:
		c.addToMessage(slash.Message(l.Text))
	}
}

// addToMessage adds a line to the message, and sends it when it is complete.
func (c *console) addToMessage(text string) {
	if message, complete := c.message.Add(text); complete && strings.TrimSpace(message) != "" {
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
	c.out.Line("winnow, " + lines.Name(c.opts.Title()) + ". " + c.modelText() + ".")
	c.out.Line("Type a message and press Enter. /help lists the commands, /quit ends.")
	if c.opts.Notice != "" {
		c.out.Line(c.opts.Notice)
	}
	if n := len(c.session.Visible()); n > 0 {
		c.out.Line(assistant.Counted(n, "pair") + " in this session; /pairs reads them.")
	} else {
		for _, e := range c.opts.Examples {
			c.choices = append(c.choices, pane.Choice{Label: e, Message: e})
		}
		c.listChoices("For example")
	}
	c.counter = c.session.Counter()
	c.showChanges()
	if c.opts.Recovery != nil {
		c.out.Label("Question", "winnow stopped unexpectedly last time.")
		c.out.Indent(c.opts.Recovery...)
		c.ask("Type discard to drop the unsaved changes; anything else keeps them: ",
			map[string]func() error{"discard": func() error { return c.discardNow(c.opts.Digest) }}, func() { c.out.Line("Recovered; nothing is saved yet.") })
	}
	if c.opts.OfferConnect && c.opts.Interactive {
		c.ask("Built-in rules answer now. Type yes to connect a language model; Enter skips: ",
			map[string]func() error{"yes": func() error { return c.connect("") }}, func() {
				c.fail(c.opts.Dismiss(c.ctx))
				c.out.Line("/connect connects one later.")
			})
	}
}

// showChanges shows what a screen always shows, when it has changed.
func (c *console) showChanges() {
	if now := c.session.Counter(); now != c.counter {
		c.counter = now
		c.out.Line(c.contextText())
	}
	if now := c.workspace.Unsaved(); now != c.unsaved {
		c.unsaved = now
		c.out.Line(map[bool]string{true: "There are unsaved changes; /save writes them.", false: "Nothing is unsaved."}[now])
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
			c.out.Line("Cancelling.")
			cancel()
		}
	}
}
