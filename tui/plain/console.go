package plain

import (
	"context"
	"errors"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// console is one run of the program without a screen. Its fields belong to
// the goroutine of loop.
type console struct {
	ctx   context.Context
	o     Options
	s     *assistant.Session
	out   *printer
	err   *printer // where errors go
	lines <-chan line

	message  composer
	asked    *question
	turn     *turn // nil: nothing runs
	late     *assistant.Prompt
	again    again
	choices  []choice
	models   []string          // as they were numbered last
	sessions []history.Session // likewise
	orders   []history.Outcome // of each :command that can be taken back, the newest last

	counter  string // as it was said last
	unsaved  bool   // likewise
	thinking bool   // the text of the thinking is wanted
	prompted bool   // a prompt waits for a line
	ended    bool   // no line comes any more
	warned   bool   // one more Ctrl+C quits
	leaving  bool   // quit when the turn is over
	stopped  bool   // ctx is done: quit without a word
	failed   bool   // the last turn did
	done     bool
	status   int
}

// again is a text that was not sent, or a pair that failed, for /retry and
// /reask.
type again struct {
	text  string
	seq   int64 // of the error pair; 0 is none
	reask bool  // the next message takes its place
}

func newConsole(ctx context.Context, o Options) *console {
	o = o.withDefaults()
	c := &console{ctx: ctx, o: o, s: o.Session, lines: readLines(o.In, o.Now)}
	c.out = &printer{w: o.Out, color: o.Color, redact: o.Redact}
	c.err = c.out
	if !o.Interactive {
		c.err = &printer{w: o.Err, color: o.Color, redact: o.Redact}
	}
	return c
}

// loop does one thing after the other until the console is done.
func (c *console) loop() int {
	stop := c.ctx.Done()
	for !c.done {
		if c.ended && c.turn == nil {
			c.endOfInput()
			break
		}
		c.prompt()
		if c.out.err != nil && !c.stopped {
			c.stop(exitFailed)
			continue
		}
		select {
		case <-stop:
			stop = nil
			c.stop(exitCancelled)
		case _, ok := <-c.o.Interrupt:
			c.interrupt(ok)
		case e, ok := <-c.events():
			c.onEvent(e, ok)
		case l, ok := <-c.input():
			c.onLine(l, ok)
		}
	}
	return c.status
}

// events is where the running turn tells what happens.
func (c *console) events() <-chan assistant.Event {
	if c.turn == nil {
		return nil
	}
	return c.turn.events
}

// input is where lines come from. Where nobody types, a line waits for the end
// of the turn.
func (c *console) input() <-chan line {
	if c.ended || (c.turn != nil && !c.o.Interactive) {
		return nil
	}
	return c.lines
}

// prompt says that a line is waited for, once.
func (c *console) prompt() {
	if c.prompted && c.out.open && (c.asked == nil || !c.asked.at.IsZero()) {
		return
	}
	c.prompted = false
	text := ""
	switch {
	case !c.o.Interactive || c.ended || c.stopped:
		return
	case c.asked != nil:
		text = c.asked.prompt
	case c.turn != nil:
		return
	case c.message.begun:
		text = "more: "
	default:
		text = c.o.Prompt
	}
	if c.asked != nil && c.asked.at.IsZero() {
		c.asked.at = c.o.Now()
	}
	c.out.fresh()
	c.out.more(text)
	c.prompted = true
}

// onLine takes a line of the user, or the end of all lines.
func (c *console) onLine(l line, ok bool) {
	if !ok {
		c.ended = true
		c.dropQuestion()
		return
	}
	if c.prompted {
		c.out.open, c.prompted = false, false // the terminal has shown the line and its end
	}
	c.warned = false
	switch {
	case l.err != nil:
		c.fail(l.err)
	case c.message.begun:
		c.compose(l.text)
	case c.early(l) && (plainNo(l.text) || strings.EqualFold(strings.TrimSpace(l.text), "yes")):
		c.out.line("That was typed before the question could be read, so it is no answer.")
	case strings.HasPrefix(l.text, "/") && !strings.HasPrefix(l.text, "//"):
		c.command(l.text)
	case c.asked != nil && !c.early(l):
		c.answer(l.text)
	default:
		c.compose(l.text)
	}
}

// compose adds a line to the message, and sends what is whole. //x is the
// message /x.
func (c *console) compose(text string) {
	if !c.message.begun && strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	if message, whole := c.message.take(text); whole && strings.TrimSpace(message) != "" {
		c.send(message)
	}
}

// interrupt is Ctrl+C: it cancels what there is to cancel; with nothing to
// cancel, the second in a row quits.
func (c *console) interrupt(ok bool) {
	if !ok {
		c.o.Interrupt = nil
		return
	}
	switch {
	case c.turn != nil:
		c.cancel()
	case c.asked != nil:
		c.dropQuestion()
	case c.message.begun:
		c.again = again{text: c.message.end()}
		c.out.line("The message is dropped; /retry sends it.")
	case c.warned:
		c.status = exitCancelled
		c.leave()
	default:
		c.warned = true
		c.out.line("Ctrl+C again quits; so does /quit.")
	}
}

// dropQuestion answers the open question with no.
func (c *console) dropQuestion() {
	if q := c.asked; q != nil {
		c.asked = nil
		q.no()
	}
}

// stop ends the console as soon as the turn allows it.
func (c *console) stop(status int) {
	c.status, c.stopped, c.asked = status, true, nil
	if c.turn == nil {
		c.done = true
		return
	}
	c.s.Cancel()
}

// endOfInput leaves after the last line.
func (c *console) endOfInput() {
	if c.message.begun {
		text := c.message.end()
		c.keepSent(text)
		c.out.line("The message that was begun is not sent.")
	}
	c.leave()
}

// leave ends the console and says what stays.
func (c *console) leave() {
	c.done = true
	if c.failed && !c.o.Interactive {
		c.status = exitFailed
	}
	if c.isUnsaved() {
		c.out.line("The unsaved changes are kept for next time; the file says what it said.")
	}
	c.out.fresh()
}

// fail says what went wrong.
func (c *console) fail(err error) {
	text := err.Error()
	if errors.Is(err, assistant.ErrBusy) {
		text = "assistant is working · Ctrl+C or /cancel cancels"
	}
	c.complain("Error", text)
}

func (c *console) complain(label, text string) {
	c.settle()
	c.out.fresh()
	c.err.raw(c.err.painted(redOn, label+":") + " " + c.err.safe(keyWords(text)) + "\n")
}

// keyWords names the keys of this console where a sentence of the core names
// those of the screen.
func keyWords(text string) string {
	return strings.ReplaceAll(text, "esc cancels", "Ctrl+C or /cancel cancels")
}

// greet says where one is and what to do.
func (c *console) greet() {
	st := c.o.Window.Status()
	about := "winnow, " + st.Title
	if st.Subtitle != "" {
		about += ", " + st.Subtitle
	}
	c.out.line(safetext.Line(about, maxLabel) + ". " + c.modelWords() + ".")
	c.out.line("Type a message and press Enter. /help lists the commands, /quit ends.")
	if c.o.Notice != "" {
		c.out.line(c.o.Notice)
	}
	if n := len(c.s.Visible()); n > 0 {
		c.out.line(assistant.Counted(n, "pair") + " in this session; /pairs reads them.")
	} else {
		c.offerExamples()
	}
	c.counter, c.unsaved = c.s.Counter(), c.isUnsaved()
	if c.unsaved {
		c.out.line("There are unsaved changes; /save writes them.")
	}
	c.askRecovery()
}

func (c *console) modelWords() string {
	if id := c.s.Model(); id != "" {
		return "Model " + shown(id)
	}
	return "No model is selected; /models lists them"
}

// askRecovery asks what to do with what a crash left behind.
func (c *console) askRecovery() {
	r := c.o.Recovery
	if r == nil {
		return
	}
	c.out.labelled("Question", "winnow did not end well last time.")
	for _, l := range r.Lines {
		c.out.line("  " + l)
	}
	c.ask(question{
		prompt: "Type discard to throw the unsaved changes away; anything else keeps them: ",
		take: func(answer string) bool {
			if !strings.EqualFold(answer, "discard") {
				return false
			}
			c.edit(pane.Edit{Description: "Discard after a crash", Change: r.Discard})
			return true
		},
		no: func() { c.out.line("Recovered; nothing is saved yet.") },
	})
}

// work does what takes time. Ctrl+C and the end of ctx break it off; either
// way it is waited for.
func (c *console) work(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- f(ctx) }()
	interrupts := c.o.Interrupt
	for {
		select {
		case err := <-result:
			return err
		case <-interrupts:
			interrupts = nil
			c.out.line("Cancelling.")
			cancel()
		}
	}
}
