// Package aftersave runs the user's command after a save, such as a restart of the proxy, and then polls the proxy
// until it follows the rules or a minute has passed.
//
// A Runner works in the background, on one save at a time: a save during a run is followed by another run. All methods
// are safe for concurrent use. The command comes from the user's settings and runs without a shell. It is ended only if
// the user cancels it or it takes too long; if the program ends first, the command continues. The result of the last
// run is also stored in a file, so that Last returns it in any program.
package aftersave

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/processgroup"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
)

const (
	// commandLimit is how long the command may take.
	commandLimit = 2 * time.Minute
	// checkLimit is how long the proxy is polled after the command, and checkPause is the time between two requests.
	checkLimit = time.Minute
	checkPause = time.Second
	// termTime is how long a cancelled command has to end before it is killed.
	termTime = 2 * time.Second
	// maxOutput is how many bytes of the command's output are read, and maxLine is the maximum width of its last line in
	// cells.
	maxOutput = 4 << 10
	maxLine   = 200
)

// Options configures New.
type Options struct {
	Command  config.Words // not empty
	Environ  []string     // in the form of os.Environ; the command gets it without keys
	Redactor *safetext.Redactor
	// Check asks the proxy and compares: differs is "" if the proxy follows the rules, and otherwise how it differs.
	// The error means that the proxy does not answer.
	Check func(ctx context.Context) (differs string, err error)
	// Done is called with the result of each run, unless the Runner has been closed in the meantime.
	Done func(assistant.Applied)
	// Waited reports whether the program does nothing but wait for the command. The command can then prompt on the
	// terminal and receives ctrl+c. Otherwise it runs in a session of its own. nil means false.
	Waited func() bool
	Path   string       // the file for the result of the last run; "" means no file
	Log    *slog.Logger // nil means no log

	limit, pause time.Duration // time limit of the checks, and the pause between them; 0 means checkLimit and checkPause
}

// Runner runs the command after saves. It implements assistant.Applier.
type Runner struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	running bool
	again   bool              // there was a save during the run
	stop    func()            // cancels the run; valid while running
	last    assistant.Applied // state of the last run; zero before the first run of this program
	idle    chan struct{}     // closed when nothing runs
}

// New returns an idle Runner.
func New(o Options) *Runner {
	if o.limit == 0 {
		o.limit, o.pause = checkLimit, checkPause
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{opts: o, idle: make(chan struct{})}
	close(r.idle)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Last returns the state of the last run of any program that uses the file at path; the zero value if there was none.
func Last(path string) (last assistant.Applied, err error) {
	if path == "" {
		return last, nil
	}
	if err = privatefile.ReadDocument(path, &last); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return last, err
}

// Saved starts a run or, during a run, schedules another. It returns the state of the run without waiting for its end.
func (r *Runner) Saved() assistant.Applied {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.again = true
		return r.starting()
	}
	r.running, r.idle = true, make(chan struct{})
	go r.run(r.begin())
	return r.last
}

// begin marks the start of a run and returns the context of the run. The caller has locked r.mu.
func (r *Runner) begin() context.Context {
	ctx, stop := context.WithCancel(r.ctx)
	r.stop = stop
	r.note(r.starting())
	return ctx
}

// CancelApplied implements assistant.Applier. It does not wait for the command to end. A save during the cancelled run
// is still followed by a run.
func (r *Runner) CancelApplied() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		r.stop()
	}
}

// starting returns the state of a run that is starting.
func (r *Runner) starting() assistant.Applied {
	command := safetext.Line(r.opts.Redactor.Redact(string(safetext.Visible(r.opts.Command.String()))), maxLine)
	return assistant.Applied{State: assistant.AppliedRunning, Message: "Running " + command + ".", Began: time.Now().UTC()}
}

// note stores the state of the run. The caller has locked r.mu.
func (r *Runner) note(a assistant.Applied) {
	r.last = a
	if r.opts.Path == "" {
		return
	}
	if err := privatefile.WriteDocument(r.opts.Path, a); err != nil {
		r.opts.Log.Warn("result of after_save not stored", "error", err)
	}
}

// Applied implements assistant.Applier. It returns the state of the last run, which another program may have made.
func (r *Runner) Applied() assistant.Applied {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.State != "" {
		return r.last
	}
	last, err := Last(r.opts.Path)
	if err != nil {
		r.opts.Log.Warn("result of after_save not read", "error", err)
		return assistant.Applied{}
	}
	return last
}

// WaitApplied implements assistant.Applier.
func (r *Runner) WaitApplied(ctx context.Context) assistant.Applied {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	return r.Applied()
}

// Close ends the checks. A running command continues.
func (r *Runner) Close() error {
	r.cancel()
	ctx, stop := context.WithTimeout(context.Background(), closeTime)
	defer stop()
	r.WaitApplied(ctx) // until AppliedUnknown is stored as the result
	return nil
}

// closeTime is how long Close waits.
const closeTime = time.Second

func (r *Runner) run(ctx context.Context) {
	for {
		state, text := r.once(ctx)
		r.mu.Lock()
		done := assistant.Applied{State: state, Message: text, Began: r.last.Began, Ended: time.Now().UTC()}
		ended := r.ctx.Err() != nil
		if ended {
			done.State, done.Message = assistant.AppliedUnknown, "winnow ended before after_save did, so the result is unknown."
		}
		r.note(done)
		r.mu.Unlock()
		if !ended {
			r.opts.Done(done)
		}
		r.mu.Lock()
		r.stop()
		if !r.again || ended {
			r.running = false
			close(r.idle)
			r.mu.Unlock()
			return
		}
		r.again = false
		ctx = r.begin()
		r.mu.Unlock()
	}
}

// once runs the command and the checks, and describes the result.
func (r *Runner) once(run context.Context) (assistant.AppliedState, safetext.Text) {
	switch err := r.command(run); {
	case run.Err() != nil:
		return assistant.AppliedCancelled, "after_save was cancelled. The rules are saved, but may not be live."
	case err != nil:
		return assistant.AppliedFailed, safetext.Sprintf("after_save failed: %s. The rules are saved, but may not be live.", r.opts.Redactor.Redact(err.Error()))
	}
	ctx, cancel := context.WithTimeout(run, r.opts.limit)
	defer cancel()
	answered := "" // what the proxy last answered; "" if it did not answer
	for {
		differs, err := r.opts.Check(ctx)
		switch {
		case err == nil && differs == "":
			return assistant.AppliedLive, "The rules are live: the proxy follows them."
		case err == nil || ctx.Err() == nil: // a check that ended with ctx says nothing about the proxy
			answered = differs
		}
		select {
		case <-time.After(r.opts.pause):
			continue
		case <-ctx.Done():
		}
		switch {
		case run.Err() != nil:
			return assistant.AppliedCancelled, "The check of the proxy was cancelled. The rules are saved, but may not be live."
		case answered == "":
			return assistant.AppliedUnanswered, safetext.Sprintf("after_save has run, but the proxy did not answer within %s.", r.opts.limit)
		}
		return assistant.AppliedDiffers, safetext.Sprintf("after_save has run, but %s later the proxy still did not follow the rules: %s.", r.opts.limit, answered)
	}
}

// command runs the command. The output goes to a file, so that the command can continue after this program has ended.
func (r *Runner) command(run context.Context) error {
	out, err := os.CreateTemp("", "winnow-after-save-")
	if err != nil {
		return err
	}
	defer func() {
		_ = out.Close()
		_ = os.Remove(out.Name())
	}()
	c := exec.Command(r.opts.Command[0], r.opts.Command[1:]...) //nolint:noctx // it continues after the program has ended
	c.Env, c.Stdout, c.Stderr = config.WithoutKeys(r.opts.Environ, r.opts.Redactor), out, out
	separate := r.opts.Waited == nil || !r.opts.Waited()
	if separate {
		processgroup.Separate(c)
	}
	if err := c.Start(); err != nil {
		return err
	}
	var status error
	done := make(chan struct{})
	go func() {
		defer close(done)
		status = c.Wait()
	}()
	select {
	case <-done:
	case <-run.Done():
		if r.ctx.Err() == nil {
			end(c, separate, done)
		}
		return run.Err()
	case <-time.After(commandLimit):
		end(c, separate, done)
		return fmt.Errorf("it took longer than %s and was stopped", commandLimit)
	}
	var exit *exec.ExitError
	if last := lastLine(out); last != "" && errors.As(status, &exit) {
		return fmt.Errorf("%s: %s", exit.ProcessState, last)
	}
	return status
}

// end ends a command and, if it is separate, the processes that it has started.
func end(c *exec.Cmd, separate bool, done <-chan struct{}) {
	if !separate {
		_ = c.Process.Kill()
		return
	}
	processgroup.Terminate(c)
	select {
	case <-done:
	case <-time.After(termTime):
	}
	processgroup.Kill(c)
}

// lastLine returns the last line of a command's output, or "".
func lastLine(out *os.File) safetext.Text {
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	data := make([]byte, min(size, maxOutput))
	n, _ := out.ReadAt(data, size-int64(len(data)))
	text := strings.TrimSpace(string(data[:n]))
	return safetext.Line(text[strings.LastIndexByte(text, '\n')+1:], maxLine)
}
