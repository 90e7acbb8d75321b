package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/adapters/config"
	"winnow/adapters/processgroup"
)

const (
	// maxReceived limits what a server may send between two requests, in bytes, and
	// therefore the size of an answer.
	maxReceived = 16 << 20
	// maxComplaint is how many bytes of a command's standard error are kept.
	maxComplaint = 4 << 10
)

// process is a server run as a command on this machine.
type process struct {
	sdk.IOTransport
	in      io.WriteCloser
	out     *limitedReader
	stderr  tail
	command *exec.Cmd
	exited  chan struct{} // closed when the command has ended
	status  error         // result of waiting for the command; valid once exited is closed
	ending  sync.Once
	killed  atomic.Bool // end had to signal the command, because closing its input did not end it
}

// newProcess starts the command from the settings, with its own variables and the
// environment without keys.
func (s *server) newProcess(ctx context.Context) (link, error) {
	o := s.client.opts
	environ := config.WithoutKeys(o.Environ, o.Redactor)
	for name, secret := range s.config.Env {
		value, err := secret.Resolve(ctx, o.Environ, o.Redactor)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", name, err)
		}
		s.learn(secret, name, value)
		environ = append(environ, name+"="+value)
	}
	p := &process{command: exec.Command(s.config.Command[0], s.config.Command[1:]...), exited: make(chan struct{})} //nolint:noctx // end ends it
	p.command.Env, p.command.Stderr, p.command.WaitDelay = environ, &p.stderr, closeTime
	processgroup.Separate(p.command)
	endWithProgram(p.command)
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe() // not StdoutPipe, so that output can still be read after Wait
	if err != nil {
		return nil, err
	}
	p.command.Stdout = write
	p.out = &limitedReader{from: read}
	p.Reader, p.Writer, p.MaxLineLength = p.out, p.in, -1 // the reader enforces the limit
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, errors.New("its command cannot be started: " + startReason(err))
	}
	return p, nil
}

// run starts the command and waits for it to end. On Linux the command is killed when the
// thread that started it ends, so run reserves a thread until then.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.command.Start()
	started <- err
	if err == nil {
		p.status = p.command.Wait()
		processgroup.Kill(p.command) // also processes it left behind, which may hold its output open
		close(p.exited)
	}
}

// startReason returns why a command could not be started, with the command's name but
// without its arguments.
func startReason(err error) string {
	var path *os.PathError
	var lookup *exec.Error
	switch {
	case errors.As(err, &lookup):
		return lookup.Error()
	case errors.As(err, &path):
		return path.Error()
	}
	return err.Error()
}

// learn adds a value to the redactor if it is a key, that is, if it comes from a reference
// or its name looks like the name of a key.
func (s *server) learn(secret config.Secret, name, value string) {
	if string(secret) != value || config.IsKey(name, value) {
		s.client.opts.Redactor.Add(value)
	}
}

func (p *process) reset() { p.out.received.Store(0) }

// failure implements link. The command's last output is the best explanation of why it
// ended.
func (p *process) failure() string {
	if p.out.full.Load() {
		return fmt.Sprintf("it sent more than %d MiB at once and was stopped", maxReceived>>20)
	}
	select {
	case <-p.exited:
	case <-time.After(closeTime / 4): // the end of its output may be noticed before the end of the command
		return ""
	}
	if p.killed.Load() {
		return ""
	}
	text := "it ended"
	if p.status != nil {
		text += " with " + p.status.Error()
	}
	if last := p.stderr.last(); last != "" {
		text += ": " + last
	}
	return text
}

// end implements link: it closes the command's input. If that does not end the command, end
// asks the command and its child processes to end, and finally kills them.
func (p *process) end() {
	p.ending.Do(func() {
		defer p.out.close()
		_ = p.in.Close()
		for _, signal := range []func(*exec.Cmd){processgroup.Terminate, processgroup.Kill} {
			select {
			case <-p.exited:
				return
			case <-time.After(closeTime / 2):
				p.killed.Store(true)
				signal(p.command)
			}
		}
		<-p.exited
	})
}

// limitedReader reads at most maxReceived bytes from a server between two resets.
type limitedReader struct {
	from interface {
		io.Reader
		io.Closer
	}
	received atomic.Int64 // bytes received since the last reset
	full     atomic.Bool
	closed   sync.Once
}

var errFlood = errors.New("the server sent too much")

func (r *limitedReader) Read(b []byte) (int, error) {
	if r.received.Load() >= maxReceived {
		r.full.Store(true)
		return 0, errFlood
	}
	n, err := r.from.Read(b)
	r.received.Add(int64(n))
	return n, err
}

// Close implements io.Closer for the session, but does nothing: the reader stays open until
// the server has ended, so that its last output is read.
func (r *limitedReader) Close() error { return nil }

func (r *limitedReader) close() { r.closed.Do(func() { _ = r.from.Close() }) }

// tail is a writer that keeps the end of what was written. The zero value is ready to use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-maxComplaint):]...)
	t.text = t.text[max(0, len(t.text)-maxComplaint):]
	return len(b), nil
}

// last returns the last non-empty line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
