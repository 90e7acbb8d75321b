package plain

import (
	"context"
	"io"
	"os"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/pane"
)

// Window is what the console asks of the window it works on. Every pane.Pane
// is one. A Window that is also a pane.Saver can be saved, a Lister can be
// listed, a doer carries out the actions that an answer suggests.
type Window interface {
	// Changed tells it that somebody else changed the window.
	Changed()
	// Status says what the window is and whether something is unsaved.
	Status() pane.Status
}

// Lister is a Window that can be read aloud.
type Lister interface {
	// Rules are the rules, one a line, each with what it does.
	Rules() []string
	// Summary is the effect of all of them, in one line.
	Summary() string
}

// doer carries out an action by its name; pane.Pane has it.
type doer interface {
	Do(action string) pane.Action
}

// Recovery is what a crash left behind, for the user to decide.
type Recovery struct {
	Lines   []string // what happened and what there is
	Discard func() error
}

// Options configures Run. Session is needed, the rest may be zero.
type Options struct {
	Session *assistant.Session
	History history.Store // nil: there is no history to filter
	Window  Window        // nil: a plain chat

	In       io.Reader // nil is empty
	Out, Err io.Writer // nil is nowhere
	// Interactive says that somebody types In while reading Out: messages can
	// be queued, questions are asked, errors go to Out. Without it messages go
	// one after the other, questions are answered no, errors go to Err.
	Interactive bool
	// Interrupt receives what Ctrl+C sends. nil never does.
	Interrupt <-chan os.Signal

	Prompt   string // before a message; "" is "You: "
	Width    int    // cells at which answers are broken; 0 leaves it to the terminal
	Color    bool   // labels stand out
	Examples []string
	Notice   string // said at the start
	Recovery *Recovery
	Now      func() time.Time
	// Redact takes keys out of what is shown; nil leaves it.
	Redact func(string) string
}

// The exit statuses of Run, as spec section 12 has them.
const (
	exitOK        = 0
	exitFailed    = 1
	exitCancelled = 130
)

// Run converses until the input ends, the user quits or ctx is done, and
// returns the exit status: 0; 1 when nobody reads on, when the session cannot
// be read, or, not Interactive, when the last turn failed; 130 when ctx or
// Ctrl+C ended it. A running turn is finished at the end of the input and
// cancelled by ctx. Unsaved changes of the window stay as they are.
func Run(ctx context.Context, o Options) int {
	c := newConsole(ctx, o)
	if err := o.Session.LoadView(ctx); err != nil {
		c.fail(err)
		return exitFailed
	}
	c.greet()
	return c.loop()
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.In == nil {
		o.In = emptyReader{}
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Err == nil {
		o.Err = io.Discard
	}
	if o.Prompt == "" {
		o.Prompt = "You: "
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Window == nil {
		o.Window = pane.None{}
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	return o
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }
