package aftersave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/adapters/config"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

const mode = "AFTERSAVE_TEST_COMMAND"

func TestMain(m *testing.M) {
	switch os.Getenv(mode) {
	case "":
		os.Exit(m.Run())
	case "fail":
		fmt.Println("stopping\nno such service: proxy", os.Getenv("SECRET_API_KEY"))
		os.Exit(3)
	case "silent":
		os.Exit(4)
	}
}

// told runs one save and returns what is told of it.
func told(t *testing.T, command string, state assistant.AppliedState, check func(context.Context) (string, error)) string {
	t.Helper()
	results, path := make(chan assistant.Applied, 1), filepath.Join(t.TempDir(), "after_save")
	r := New(Options{
		Command: config.Words{os.Args[0]}, Environ: append(os.Environ(), mode+"="+command, "SECRET_API_KEY=sk-0123456789"), Redactor: &safetext.Redactor{},
		Check: check, Path: path, Done: func(a assistant.Applied) { results <- a }, limit: 200 * time.Millisecond, pause: time.Millisecond,
	})
	t.Cleanup(func() { _ = r.Close() })
	if a := r.Saved(); a.State != assistant.AppliedRunning || !strings.HasPrefix(string(a.Message), "Running ") || a.Began.IsZero() || !a.Ended.IsZero() {
		t.Errorf("Saved() = %+v", a)
	}
	waited, told := r.WaitApplied(t.Context()), <-results
	last, err := Last(path)
	if told.State != state || told.Ended.IsZero() || waited != told || r.Applied() != told || err != nil || last != told {
		t.Errorf("told %+v, want %s; waited for %+v; stored %+v, %v", told, state, waited, last, err)
	}
	return string(told.Message)
}

func TestTheResultIsTold(t *testing.T) {
	asked := 0
	restarting := func(context.Context) (string, error) {
		if asked++; asked < 3 {
			return "", errors.New("connection refused")
		}
		return "", nil
	}
	if text := told(t, "ok", assistant.AppliedLive, restarting); !strings.Contains(text, "live") || asked != 3 {
		t.Errorf("%q after %d requests", text, asked)
	}
	if text := told(t, "ok", assistant.AppliedDiffers, func(context.Context) (string, error) { return "2 hidden models are served", nil }); !strings.Contains(text, "did not follow the rules: 2 hidden models are served") {
		t.Error(text)
	}
	if text := told(t, "ok", assistant.AppliedUnanswered, func(context.Context) (string, error) { return "", errors.New("refused") }); !strings.Contains(text, "did not answer") {
		t.Error(text)
	}
	unasked := func(context.Context) (string, error) { t.Error("the proxy is asked"); return "", nil }
	if text := told(t, "fail", assistant.AppliedFailed, unasked); !strings.Contains(text, "exit status 3: no such service: proxy.") || strings.Contains(text, "sk-") {
		t.Error(text)
	}
	if text := told(t, "silent", assistant.AppliedFailed, unasked); !strings.Contains(text, "exit status 4. The rules") {
		t.Error(text)
	}
}

// The last check usually ends with the time limit. What the proxy answered before is the result.
func TestACheckThatTheTimeLimitEndsIsNotAnAnswer(t *testing.T) {
	answers := 0
	text := told(t, "ok", assistant.AppliedDiffers, func(ctx context.Context) (string, error) {
		if answers++; answers == 1 {
			return "a rule is missing", nil
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	if !strings.Contains(text, "a rule is missing") {
		t.Errorf("the result is %q", text)
	}
}

// A program that ends stores that the result is unknown.
func TestCloseEndsTheChecks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "after_save")
	r := New(Options{
		Command: config.Words{os.Args[0]}, Environ: append(os.Environ(), mode+"=ok"), Redactor: &safetext.Redactor{},
		Done: func(a assistant.Applied) { t.Error("told " + a.Message) }, Path: path,
	})
	asked := make(chan struct{})
	r.opts.Check = func(ctx context.Context) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}
	r.Saved()
	<-asked
	if last, err := Last(path); last.State != assistant.AppliedRunning || err != nil {
		t.Errorf("while it runs: %+v, %v", last, err)
	}
	_ = r.Close()
	if last, err := Last(path); last.State != assistant.AppliedUnknown || err != nil {
		t.Errorf("after the end: %+v, %v", last, err)
	}
	next := New(Options{Command: config.Words{"x"}, Redactor: &safetext.Redactor{}, Path: path})
	if a := next.Applied(); a.State != assistant.AppliedUnknown {
		t.Errorf("the next program: %+v", a)
	}
}

// A save during a run is followed by another run, and waiting ends after both; a wait that is given up ends at once.
func TestASaveDuringARun(t *testing.T) {
	asked, answer, told := make(chan struct{}), make(chan struct{}), make(chan assistant.Applied, 2)
	r := New(Options{
		Command: config.Words{os.Args[0]}, Environ: append(os.Environ(), mode+"=ok"), Redactor: &safetext.Redactor{}, Done: func(a assistant.Applied) { told <- a },
		Check: func(context.Context) (string, error) {
			asked <- struct{}{}
			<-answer
			return "", nil
		},
	})
	t.Cleanup(func() { _ = r.Close() })
	r.Saved()
	<-asked
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if a := r.WaitApplied(given); a.State != assistant.AppliedRunning {
		t.Errorf("while it runs: %+v", a)
	}
	r.Saved()
	answer <- struct{}{}
	<-asked // the second run
	answer <- struct{}{}
	if a := r.WaitApplied(t.Context()); a.State != assistant.AppliedLive {
		t.Errorf("at the end: %+v", a)
	}
	if first, second := <-told, <-told; first.Began.After(second.Began) || second.State != assistant.AppliedLive {
		t.Errorf("told %+v and %+v", first, second)
	}
}
