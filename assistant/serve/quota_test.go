package serve_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history/historytest"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
)

// costly is a model whose responses cost ten tokens each.
type costly struct{ servetest.Obedient }

func (costly) Stream(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if yield(llm.Text{Text: "done"}, nil) {
			yield(llm.End{Finish: "stop", Usage: &llm.Usage{Prompt: 6, Completion: 4}}, nil)
		}
	}
}

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// limited returns a hub with limits, over the history in dir.
func limited(t *testing.T, dir string, c *clock, l serve.Limits, m *serve.Metrics) *servetest.Rig {
	t.Helper()
	return servetest.Start(t, servetest.Options{Dir: dir, Model: costly{}, Clock: c.Now, Change: func(o *serve.Options) { o.Limits, o.Metrics = l, m }})
}

// say sends a message and waits for the end of its turn.
func say(t *testing.T, s *serve.Session) error {
	t.Helper()
	after, err := s.Begin(t.Context(), assistant.Prompt{Text: "hello"})
	if err != nil {
		return err
	}
	for range s.Events(t.Context(), after) {
		continue
	}
	return nil
}

// A turn that does not begin, because it could not be counted, is not counted.
func TestATurnThatIsNotAdmittedIsNotCounted(t *testing.T) {
	broken := true
	h := servetest.Start(t, servetest.Options{Model: costly{}, Change: func(o *serve.Options) {
		o.Limits.Turns = 1
		o.History = &historytest.Hooked{Store: o.History, Before: func(_ context.Context, method string) error {
			if broken && method == "Set" {
				return errors.New("the disk is full")
			}
			return nil
		}}
	}})
	s := open(t, h, "anna")
	for range 2 {
		if err := say(t, s); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Fatalf("on a full disk: %v", err)
		}
	}
	broken = false
	if err := say(t, s); err != nil {
		t.Errorf("the first turn of the day: %v", err)
	}
}

func open(t *testing.T, h *servetest.Rig, user string) *serve.Session {
	t.Helper()
	s, err := h.Open(t.Context(), serve.Join{User: user})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scraped returns the metrics as Prometheus reads them.
func scraped(t *testing.T, m *serve.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}

func TestAUserHasTurnsAndTokensForADay(t *testing.T) {
	for name, test := range map[string]struct {
		limits serve.Limits
		what   string
	}{
		"turns":  {serve.Limits{Turns: 2}, "turns"},
		"tokens": {serve.Limits{Tokens: 15}, "tokens"}, // the response that exceeds the limit is the last one
	} {
		t.Run(name, func(t *testing.T) {
			day := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
			c, m, dir := &clock{now: day}, serve.NewMetrics("1"), t.TempDir()
			h := limited(t, dir, c, test.limits, m)
			first, second := open(t, h, "anna"), open(t, h, "anna")
			for _, s := range []*serve.Session{first, second} { // all sessions of a user count together
				if err := say(t, s); err != nil {
					t.Fatal(err)
				}
			}
			limit, ok := errors.AsType[*serve.LimitError](say(t, first))
			if !ok || limit.What != test.what || limit.User != "anna" || !limit.Until.Equal(time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)) {
				t.Fatalf("the third turn: %+v", limit)
			}
			if err := say(t, open(t, h, "ben")); err != nil {
				t.Errorf("another user: %v", err)
			}
			if got := scraped(t, m); !strings.Contains(got, `winnow_refused_total{reason="`+test.what+`",server="hub"} 1`) {
				t.Errorf("the refusal is not counted: %s", got)
			}
			again := open(t, h, "anna") // reads what was stored, as after a restart
			if err := say(t, again); err == nil {
				t.Error("a new session begins with nothing used")
			}
			c.set(day.AddDate(0, 0, 1))
			if err := say(t, first); err != nil {
				t.Errorf("the next day: %v", err)
			}
		})
	}
}

func TestWhatIsUsedTodaySurvivesARestart(t *testing.T) {
	c, dir := &clock{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}, t.TempDir()
	t.Run("before", func(t *testing.T) {
		if err := say(t, open(t, limited(t, dir, c, serve.Limits{Turns: 1}, nil), "anna")); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after", func(t *testing.T) {
		if err := say(t, open(t, limited(t, dir, c, serve.Limits{Turns: 1}, nil), "anna")); !errors.As(err, new(*serve.LimitError)) {
			t.Errorf("after a restart: %v", err)
		}
	})
}

func TestAUserHasSomeSessions(t *testing.T) {
	m := serve.NewMetrics("1")
	h := limited(t, t.TempDir(), &clock{now: time.Now()}, serve.Limits{Sessions: 2}, m)
	first := open(t, h, "anna")
	open(t, h, "anna")
	if _, err := h.Open(t.Context(), serve.Join{User: "anna"}); !errors.As(err, new(*serve.LimitError)) {
		t.Errorf("a third session: %v", err)
	}
	open(t, h, "ben")
	if got := scraped(t, m); !strings.Contains(got, "winnow_sessions 3") || !strings.Contains(got, `winnow_refused_total{reason="sessions",server="hub"} 1`) {
		t.Errorf("the metrics are %s", got)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	open(t, h, "anna")
}

// A session stores only so much for its readers. One that is further behind gets the whole state again, and nothing
// of the conversation is lost.
func TestASessionStoresSomeBytes(t *testing.T) {
	m := serve.NewMetrics("1")
	const limit = 100
	h := limited(t, t.TempDir(), &clock{now: time.Now()}, serve.Limits{Bytes: limit}, m)
	s := open(t, h, "anna")
	first, err := s.Next(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		if err := say(t, s); err != nil {
			t.Fatal(err)
		}
	}
	if size := s.Session().LogSize(); size == 0 || size > limit {
		t.Errorf("the session stores %d bytes, want at most %d", size, limit)
	}
	next, err := s.Next(t.Context(), first.Version)
	if err != nil || !next.Resync {
		t.Errorf("a reader that is behind gets %+v, %v", next, err)
	}
	if n := len(s.Session().Visible()); n != 60 {
		t.Errorf("the view has %d pairs", n)
	}
	if got := scraped(t, m); !strings.Contains(got, fmt.Sprint("winnow_session_event_bytes ", s.Session().LogSize())) {
		t.Errorf("the metrics have no size: %s", got)
	}
}

func TestMetricsDescribeTheProcess(t *testing.T) {
	m := serve.NewMetrics("1.2.3")
	h := limited(t, t.TempDir(), &clock{now: time.Now()}, serve.Limits{}, m)
	s := open(t, h, "anna")
	if err := say(t, s); err != nil {
		t.Fatal(err)
	}
	got := scraped(t, m)
	for _, want := range []string{`winnow_build_info{version="1.2.3"} 1`, "go_goroutines ", "go_build_info", `winnow_history_seconds_count{operation="commit"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
}
