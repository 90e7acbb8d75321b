// Package aftersave runs the user's command after a save, for example to restart the proxy,
// and then polls the proxy until it serves what the rules say.
//
// A Runner works in the background, on one save at a time: a save during a run causes
// another run. All methods may be called from any goroutine. The command comes from the
// user's settings and runs without a shell. It is killed only if it takes too long, and
// continues if the program ends first.
package aftersave

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
)

const (
	// commandLimit is how long the command may take.
	commandLimit = 2 * time.Minute
	// checkLimit is how long the proxy is polled afterwards, and checkPause the time
	// between two requests.
	checkLimit = time.Minute
	checkPause = time.Second
	// maxOutput is how much of the command's output is read, in bytes, and maxLine the
	// width of its last line, in cells.
	maxOutput = 4 << 10
	maxLine   = 200
)

// Options configures New.
type Options struct {
	Command  config.Words // not empty
	Environ  []string     // in the form of os.Environ; the command gets it without keys
	Redactor *safetext.Redactor
	// Check compares what the proxy serves with the rules: differs is "" if they agree. An
	// error means that the proxy does not answer.
	Check func(ctx context.Context) (differs string, err error)
	// Told is called with the result, as a sentence.
	Told func(text string)

	limit, pause time.Duration // of the checks; 0 means checkLimit and checkPause
}

// Runner runs the command after saves.
type Runner struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	running bool
	again   bool          // another save happened during the run
	idle    chan struct{} // closed when nothing is running
}

// New returns an idle Runner.
func New(o Options) *Runner {
	if o.limit == 0 {
		o.limit, o.pause = checkLimit, checkPause
	}
	r := &Runner{opts: o, idle: make(chan struct{})}
	close(r.idle)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Saved starts the command and returns a sentence that reports this.
func (r *Runner) Saved() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.again = true
	} else {
		r.running, r.idle = true, make(chan struct{})
		go r.run()
	}
	return "Running " + safetext.Line(r.opts.Redactor.Redact(safetext.Visible(r.opts.Command.String())), maxLine) + "."
}

// Wait waits until nothing is running, or until ctx ends.
func (r *Runner) Wait(ctx context.Context) {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Close stops the checks. A running command continues.
func (r *Runner) Close() error {
	r.cancel()
	return nil
}

func (r *Runner) run() {
	for {
		text := r.once()
		if r.ctx.Err() == nil {
			r.opts.Told(text)
		}
		r.mu.Lock()
		if !r.again || r.ctx.Err() != nil {
			r.running = false
			close(r.idle)
			r.mu.Unlock()
			return
		}
		r.again = false
		r.mu.Unlock()
	}
}

// once runs the command and the checks, and describes the result.
func (r *Runner) once() string {
	if err := r.command(); err != nil {
		return fmt.Sprintf("after_save failed: %s. The rules are saved, but may not be live.", r.opts.Redactor.Redact(err.Error()))
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.limit)
	defer cancel()
	for {
		differs, err := r.opts.Check(ctx)
		if err == nil && differs == "" {
			return "The rules are live: the proxy serves what they say."
		}
		select {
		case <-time.After(r.opts.pause):
			continue
		case <-ctx.Done():
		}
		if err != nil || differs == "" {
			return fmt.Sprintf("after_save has run, but the proxy has not answered within %s.", r.opts.limit)
		}
		return fmt.Sprintf("after_save has run, but after %s the proxy differs from the rules: %s.", r.opts.limit, differs)
	}
}

// command runs the command. Its output goes to a file, so that the command can continue
// after this program has ended.
func (r *Runner) command() error {
	out, err := os.CreateTemp("", "winnow-after-save-")
	if err != nil {
		return err
	}
	defer func() {
		_ = out.Close()
		_ = os.Remove(out.Name())
	}()
	c := exec.Command(r.opts.Command[0], r.opts.Command[1:]...) //nolint:noctx // it goes on when the program ends
	c.Env, c.Stdout, c.Stderr = config.WithoutKeys(r.opts.Environ, r.opts.Redactor), out, out
	if err := c.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err = <-done:
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-time.After(commandLimit):
		_ = c.Process.Kill()
		return fmt.Errorf("it took longer than %s and was stopped", commandLimit)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %s", exit.ProcessState, lastLine(out))
	}
	return err
}

// lastLine returns the last line of a command's output.
func lastLine(out *os.File) string {
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	data := make([]byte, min(size, maxOutput))
	n, _ := out.ReadAt(data, size-int64(len(data)))
	text := strings.TrimSpace(string(data[:n]))
	return safetext.Line(text[strings.LastIndexByte(text, '\n')+1:], maxLine)
}
