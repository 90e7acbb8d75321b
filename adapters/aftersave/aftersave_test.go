package aftersave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"winnow/adapters/config"
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
	}
}

// told runs one save and returns what is told of it.
func told(t *testing.T, command string, check func(context.Context) (string, error)) string {
	t.Helper()
	texts := make(chan string, 1)
	r := New(Options{
		Command: config.Words{os.Args[0]}, Environ: append(os.Environ(), mode+"="+command, "SECRET_API_KEY=sk-0123456789"), Redactor: &safetext.Redactor{},
		Check: check, Told: func(text string) { texts <- text }, limit: 200 * time.Millisecond, pause: time.Millisecond,
	})
	t.Cleanup(func() { _ = r.Close() })
	if text := r.Saved(); !strings.HasPrefix(text, "Running ") {
		t.Errorf("Saved() = %q", text)
	}
	r.Wait(t.Context())
	return <-texts
}

func TestTheResultIsTold(t *testing.T) {
	asked := 0
	restarting := func(context.Context) (string, error) {
		if asked++; asked < 3 {
			return "", errors.New("connection refused")
		}
		return "", nil
	}
	if text := told(t, "ok", restarting); !strings.Contains(text, "live") || asked != 3 {
		t.Errorf("%q after %d requests", text, asked)
	}
	if text := told(t, "ok", func(context.Context) (string, error) { return "2 hidden models are served", nil }); !strings.Contains(text, "differs from the rules: 2 hidden models are served") {
		t.Error(text)
	}
	if text := told(t, "ok", func(context.Context) (string, error) { return "", errors.New("refused") }); !strings.Contains(text, "has not answered") {
		t.Error(text)
	}
	unasked := func(context.Context) (string, error) { t.Error("the proxy is asked"); return "", nil }
	if text := told(t, "fail", unasked); !strings.Contains(text, "exit status 3: no such service: proxy.") || strings.Contains(text, "sk-") {
		t.Error(text)
	}
}

func TestCloseEndsTheChecks(t *testing.T) {
	r := New(Options{
		Command: config.Words{os.Args[0]}, Environ: append(os.Environ(), mode+"=ok"), Redactor: &safetext.Redactor{},
		Told: func(text string) { t.Error("told " + text) },
	})
	asked := make(chan struct{})
	r.opts.Check = func(ctx context.Context) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}
	r.Saved()
	<-asked
	_ = r.Close()
	r.Wait(t.Context())
}
