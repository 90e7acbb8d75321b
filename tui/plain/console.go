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
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// Options configures Run. Workspace, Title, In, Out and Err are required; all other fields
// may be zero.
type Options struct {
	Workspace *workspace.Workspace
	Title     func() string   // the window and what is open in it, as in "model filter, openai"
	Rules     func() []string // the rules of the window with their effects, one per line; nil if the window has no rules

	// Act returns the act that a rule command performs with its argument, and the revision of
	// the window on which the act is based. Act is nil if the window has no rules.
	Act func(action keymap.Action, argument string) (act assistant.Act, revision int64)

	In       io.Reader
	Out, Err io.Writer
	// Interactive means that a user types In while reading Out: questions are asked, files
	// mentioned as @path are sent, and errors go to Out. Otherwise the answer to every
	// question is no, and errors go to Err.
	Interactive bool
	Interrupt   <-chan os.Signal // receives Ctrl+C; may be nil

	Width    func() int      // width of the terminal at Out in cells, 0 if unknown; nil if Out is not a terminal
	Color    bool            // highlight labels
	Examples []string        // messages that the user can choose while the session is empty
	Notice   string          // shown at the start
	Recovery []safetext.Text // unsaved changes left by a crash, one per line; nil if none
	Digest   string          // digest of the changes in Recovery: only these changes may be discarded
	Topics   []keymap.HelpTopic
	// Connect connects a model and asks the user what it needs for that; nil if models cannot
	// be connected here.
	Connect func(ctx context.Context, print func(string), ask Ask) error
	// OfferConnect means that the user is asked at the start whether to connect a model; if
	// the answer is no, Dismiss is called.
	OfferConnect bool
	Dismiss      func(ctx context.Context) error
	Hide         func() (restore func()) // stops the terminal from echoing input until restore is called; may be nil
	Now          func() time.Time
	Redact       func(string) string // removes API keys from output; may be nil
}

// The exit statuses of Run.
const (
	exitOK        = 0
	exitFailed    = 1
	exitCancelled = 130
)

// Run converses until the input ends, the user quits or ctx is done. It returns the exit
// status: 0 normally; 1 if Out fails, if the session cannot be read or, if not Interactive,
// if the last turn failed; 130 if ctx or Ctrl+C ended Run. At the end of the input a
// running turn is completed; ctx interrupts the turn, and its pair stays. Unsaved changes
// of the window are neither saved nor discarded.
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
	c.out.width = o.Width
	c.err = c.out
	if !o.Interactive {
		c.err = NewWriter(o.Err, o.Color, o.Redact)
	}
	return c
}

// console is one run of line mode. Only the goroutine of Run may use its fields.
type console struct {
	ctx       context.Context
	opts      Options
	workspace *workspace.Workspace
	session   *assistant.Session
	out       *Writer
	err       *Writer // receives the errors
	input     <-chan Line

	ahead      []Line // lines typed before they could be handled, oldest first
	message    Message
	unsent     unsent            // the message that /retry sends
	choices    []pane.Choice     // the choices that /1, /2… carry out
	choicesSeq int64             // the pair to which the choices belong; 0 for examples
	models     []string          // models in the order of the last numbered list
	sessions   []history.Session // sessions in the order of the last numbered list

	listed []checkpoint.Checkpoint // checkpoints in the order of the last numbered list; nil if none was shown
	newest string                  // the newest step when listed was shown

	counter         string // as last printed
	nearLimit       bool   // as last printed
	unsaved         bool   // as last printed
	inTurn          bool
	inputEnded      bool
	interruptedOnce bool // the next Ctrl+C quits
	done            bool
	status          int
}

// unsent is a message that has no answer. The zero value means that there is none.
type unsent struct {
	text string
	seq  int64 // the failed pair of the message; 0 if no pair was stored
}

// errInterrupted means that the user pressed Ctrl+C.
var errInterrupted = errors.New("interrupted")

// next waits for the next line. The error is errInterrupted, io.EOF or the error of the
// context.
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
		if c.opts.Interactive && !c.message.Started() && l.Text != "" { // it was typed, and echoed, among earlier output
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

// onLine handles a line typed by the user.
func (c *console) onLine(l Line) {
	c.interruptedOnce = false
	switch {
	case l.Err != nil:
		c.fail(l.Err)
	case c.message.Started():
		c.addToMessage(l.Text)
	case strings.HasPrefix(l.Text, "/") && keymap.MessageOf(l.Text) == l.Text:
		c.do(func(ctx context.Context) error { return c.command(ctx, l.Text) })
	default:
		c.addToMessage(keymap.MessageOf(l.Text))
	}
}

// addToMessage adds a line to the message, and sends the message once it is complete.
func (c *console) addToMessage(text string) {
	if message, complete := c.message.Add(text); complete && strings.TrimSpace(message) != "" {
		c.do(func(ctx context.Context) error { return c.sendTyped(ctx, message) })
	}
}

// do runs a command or a turn, and prints its error. Ctrl+C cancels the context passed to
// f.
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

// interrupt handles Ctrl+C when nothing is running: it drops an unfinished message. Without
// one, the second Ctrl+C in a row quits.
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

// endOfInput quits after the last line. An unfinished message is not sent.
func (c *console) endOfInput() {
	if c.message.Started() {
		c.fail(c.workspace.AddSent(c.ctx, c.message.End()))
		c.out.Line("The unfinished message was not sent.")
	}
	c.leave()
}

// leave ends the console, and says that unsaved changes are kept.
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

// greet prints the window, the model and how to begin a conversation.
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

// showWaiting prints a message that was queued but not sent in an earlier run of the
// session; /retry sends it.
func (c *console) showWaiting() {
	if p, waits := c.workspace.Dequeue(); waits {
		c.unsent = unsent{text: p.Text}
		c.out.Line("This message was queued when winnow last ended, and has not been sent: " + Quote(p.Text) + ". /retry sends it.")
	}
	c.offerCancelled()
}

// recover asks what to do with unsaved changes left by a crash.
func (c *console) recover(ctx context.Context) error {
	c.out.Label("Question", "winnow stopped unexpectedly last time.")
	c.out.Indent(safetext.Strings(c.opts.Recovery)...)
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

// showChanges prints the parts of the state that have changed since they were last printed: the
// context, whether it is nearly full, and whether there are unsaved changes.
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
	return "There are no unsaved changes."
}
