package sshserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"winnow/assistant/serve"
)

// Terminal describes the client's terminal, as the client reports it.
type Terminal struct {
	Width, Height int
	Environ       []string // TERM, and the allowed variables that the client has set
}

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // as in Terminal
}

// allowed lists the variables that a client may set. They affect only its own terminal.
var allowed = []string{"COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE"}

const (
	maxValue = 64 // maximum bytes of a variable or of a logged value
	maxLine  = 64 << 10
)

// identifier returns a name that a client sent, cut to maxValue bytes, with ? for spaces and
// everything else that is not visible ASCII.
func identifier(s string) string {
	s = s[:min(len(s), maxValue)]
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return '?'
	}, s)
}

// setVariable sets a variable if the client may set it and its value is a short word of
// visible ASCII. It reports whether the variable was set.
func (t *Terminal) setVariable(name, value string) bool {
	if !slices.Contains(allowed, name) && name != "TERM" || len(value) > maxValue || identifier(value) != value {
		return false
	}
	t.Environ = slices.DeleteFunc(t.Environ, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	t.Environ = append(t.Environ, name+"="+value)
	return true
}

// setSize sets the size, within the limits. If the width or the height is 0, which means
// unknown, it sets the usual size.
func (t *Terminal) setSize(width, height uint32, maxWidth, maxHeight int) {
	const usualWidth, usualHeight = 80, 24
	if width == 0 || height == 0 {
		width, height = usualWidth, usualHeight
	}
	t.Width, t.Height = int(min(width, uint32(maxWidth))), int(min(height, uint32(maxHeight)))
}

// complete returns a copy of t, with a UTF-8 locale if the client sent no locale.
func (t *Terminal) complete() Terminal {
	out := Terminal{Width: t.Width, Height: t.Height, Environ: slices.Clone(t.Environ)}
	if !slices.ContainsFunc(out.Environ, func(e string) bool { return strings.HasPrefix(e, "LANG=") || strings.HasPrefix(e, "LC_") }) {
		out.Environ = append(out.Environ, "LANG=C.UTF-8")
	}
	return out
}

// channel runs one screen or command.
type channel struct {
	*connection
	ch    ssh.Channel
	ctx   context.Context // ends with the channel or the connection
	end   context.CancelCauseFunc
	sizes chan Terminal // the newest size, if it has not been read yet

	terminal Terminal // used by the request loop only
	hasPTY   bool
	started  bool
}

// channel serves a channel until it ends.
func (c *connection) channel(n ssh.NewChannel) {
	ch, requests, err := n.Accept()
	if err != nil {
		return // the connection is gone
	}
	x := &channel{connection: c, ch: ch, sizes: make(chan Terminal, 1)}
	x.ctx, x.end = context.WithCancelCause(c.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer x.end(errGone)
	for r := range requests {
		run, ok := x.request(r.Type, r.Payload)
		if !ok {
			c.refused(r.Type, "request")
		}
		if r.WantReply {
			_ = r.Reply(ok, nil) // fails only if the channel is gone
		}
		if run != nil {
			running.Go(func() { x.run(run) })
		}
	}
}

// run runs a screen or command and sends its exit status to the client.
func (c *channel) run(run func() (status int)) {
	status := 1
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("ssh: panic", "panic", fmt.Sprint(r))
		}
		_, _ = c.ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		_ = c.ch.Close() // both fail if the client has gone
	}()
	status = run()
}

// request handles a request of the client. run is the screen or command that the request
// starts, if any; ok is false if the request is refused.
func (c *channel) request(kind string, payload []byte) (run func() (status int), ok bool) {
	switch kind {
	case "pty-req":
		var r struct {
			Term                          string
			Width, Height, XPixel, YPixel uint32
			Modes                         string
		}
		if c.started || ssh.Unmarshal(payload, &r) != nil || !c.terminal.setVariable("TERM", r.Term) {
			return nil, false
		}
		c.hasPTY = true
		c.setSize(r.Width, r.Height)
		return nil, true
	case "env":
		var r struct{ Name, Value string }
		return nil, !c.started && ssh.Unmarshal(payload, &r) == nil && r.Name != "TERM" && c.terminal.setVariable(r.Name, r.Value)
	case "window-change":
		var r struct{ Width, Height, XPixel, YPixel uint32 }
		if !c.hasPTY || ssh.Unmarshal(payload, &r) != nil {
			return nil, false
		}
		c.setSize(r.Width, r.Height)
		c.resized()
		return nil, true
	case "signal": // any signal
		c.end(errGone)
		return nil, c.started
	case "shell":
		if c.started || len(payload) > 0 {
			return nil, false
		}
		c.started = true
		return c.shell(), true
	case "exec":
		var r struct{ Line string }
		if c.started || ssh.Unmarshal(payload, &r) != nil || len(r.Line) > maxLine {
			return nil, false
		}
		c.started = true
		return c.command(r.Line), true
	}
	return nil, false
}

// setSize sets the size of the terminal, and logs and counts a size that is too large.
func (c *channel) setSize(width, height uint32) {
	if o := &c.server.opts; width > uint32(o.Width) || height > uint32(o.Height) {
		c.refused(fmt.Sprintf("screen:%dx%d", width, height), "screen_size")
	}
	c.terminal.setSize(width, height, c.server.opts.Width, c.server.opts.Height)
}

// resized passes the size on to the screen, in place of an earlier size that the screen has
// not read yet.
func (c *channel) resized() {
	select {
	case <-c.sizes:
	default:
	}
	c.sizes <- c.terminal.complete()
}

// shell returns the function that runs the screen, for a client that requests no command.
func (c *channel) shell() func() int {
	t := c.terminal.complete()
	if !c.hasPTY || slices.Contains(t.Environ, "TERM=dumb") {
		return c.refusal("winnow needs an interactive terminal: connect with ssh -t, or run winnow ask")
	}
	return func() int {
		if err := c.screen(t); err != nil {
			c.log.Error("ssh: screen", "error", err)
			return c.refusal("the screen failed; the server log says why")()
		}
		return 0
	}
}

// command returns the function that runs a command line.
func (c *channel) command(line string) func() int {
	run, err := c.server.opts.Command(c.who, line)
	if err != nil {
		c.refused("exec", "request")
		return c.refusal(err.Error())
	}
	s := Streams{In: c.ch, Out: c.writer(c.ch), Err: c.writer(c.ch.Stderr()), Environ: c.terminal.complete().Environ}
	return func() int {
		c.count(0, 1)
		defer c.count(0, -1)
		defer c.touch()
		kind := kindOf(line)
		c.log.Info("ssh: command", "kind", kind)
		c.server.opts.Metrics.Called(serve.ServerSSH, kind, "run")
		return run(c.ctx, s)
	}
}

// kindOf returns the name of the command in a command line, such as "ask"; "" if there is
// none.
func kindOf(line string) string {
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "winnow" {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return identifier(words[0])
}

// refusal returns a function that only prints why nothing is run.
func (c *channel) refusal(why string) func() int {
	const usage = 2 // exit status of a command line that was not understood
	return func() int {
		_, _ = fmt.Fprintf(c.writer(c.ch.Stderr()), "winnow: %s\n", why)
		return usage
	}
}

// writer returns a writer to the client. A terminal gets line ends as a tty would send
// them. A client that does not read for stallTime is disconnected, because something that
// waits for it, such as a turn, may hold the lock on the window.
func (c *channel) writer(w io.Writer) io.Writer { return &writer{c, w} }

type writer struct {
	c  *channel
	to io.Writer
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	text := p
	if w.c.hasPTY {
		text = bytes.ReplaceAll(bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	defer time.AfterFunc(w.c.server.opts.stall, func() { w.c.connection.end(errGone) }).Stop()
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
