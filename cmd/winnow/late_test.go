package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/endpoints"
	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui"
)

// opened returns the program as the screen gets it, in the folder and home of this test, and what it is told later,
// which may still be pending.
func opened(t *testing.T, args ...string) (p *program, told <-chan tui.Noticed) {
	t.Helper()
	a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if err := newRoot(a).ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	p, err := a.open(t.Context(), openOptions{started: func(error) {}})
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan tui.Noticed, 4)
	p.askEndpoints(ctx, func(n tui.Noticed) { said <- n })
	t.Cleanup(func() { cancel(); p.asking.Wait() })
	return p, said
}

// ownFolder creates and enters an empty folder that contains a home.
func ownFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_HOME", filepath.Join(dir, "home"))
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("PROXY_API_KEY", "")
	t.Setenv("PROXY_BASE_URL", "")
}

// spoken creates a session with one pair, answered by an endpoint of this name.
func spoken(t *testing.T, provider, url string) {
	t.Helper()
	var fault bytes.Buffer
	if status := run(t.Context(), []string{"--provider", provider, "--base-url", url, "ask", "hi"}, nil, &bytes.Buffer{}, &fault); status != 0 {
		t.Fatalf("ask: status %d: %s", status, fault.String())
	}
}

func TestTheHistoryWindowIsNotWaitedFor(t *testing.T) {
	ownFolder(t)
	a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	if err := newRoot(a).ParseFlags([]string{"--window", "history"}); err != nil {
		t.Fatal(err)
	}
	begun := make(chan error, 1)
	p, err := a.open(t.Context(), openOptions{started: func(err error) { begun <- err }})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-begun; err != nil {
		t.Error(err)
	}
	if list := p.session.Checkpoints(); len(list) != 1 {
		t.Errorf("checkpoints %v, want the session's start", list)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}

func TestASessionThatIsTakenUpHasItsModel(t *testing.T) {
	ownFolder(t)
	server := assistanttest.NewServer(t)
	spoken(t, endpoints.OpenAIName, server.URL)
	t.Setenv("OPENAI_BASE_URL", server.URL)
	p, _ := opened(t, "--continue")
	if got := p.session.Model(); got != "openai/test-model" || len(p.session.Visible()) != 1 {
		t.Errorf("the session has the model %q and %d pairs, want openai/test-model and 1", got, len(p.session.Visible()))
	}
	if err := p.end(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}
	if got, err := p.store.Get(t.Context(), lastModelKey("here")); got != "" || err != nil {
		t.Errorf("the folder remembers %q, %v: that was the session's model, not the folder's", got, err)
	}
}

func TestALateModelComesToASessionThatIsTakenUp(t *testing.T) {
	ownFolder(t)
	spoken(t, "gone", assistanttest.NewServer(t).URL)
	gate := assistanttest.NewGate()
	server := assistanttest.NewServer(t).Models(assistanttest.Unanswered(gate, assistanttest.ModelList("m2")))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	p, told := opened(t, "--continue")
	if got := p.session.Model(); got != "" || len(p.session.Visible()) != 1 {
		t.Fatalf("the session has the model %q and %d pairs before the endpoint answers, want none and 1", got, len(p.session.Visible()))
	}
	gate.Open()
	said := <-told
	if want := (tui.Noticed{Text: "using openai/m2, the first model of openai (OPENAI_BASE_URL)"}); said != want || p.session.Model() != "openai/m2" {
		t.Errorf("told %+v with the model %q, want %+v", said, p.session.Model(), want)
	}
}

func TestALateFailureIsTold(t *testing.T) {
	ownFolder(t)
	gate := assistanttest.NewGate()
	server := assistanttest.NewServer(t).Models(assistanttest.Unanswered(gate, assistanttest.Respond(http.StatusUnauthorized, "no such key")))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	p, told := opened(t)
	gate.Open()
	if said := <-told; said.Err == nil || !strings.Contains(said.Err.Error(), "does not list its models") || p.session.Model() != "" {
		t.Errorf("told %+v with the model %q, want the failure and none", said, p.session.Model())
	}
}

func TestALateModelDoesNotTakeTheChoiceOfTheUser(t *testing.T) {
	ownFolder(t)
	gate := assistanttest.NewGate()
	server := assistanttest.NewServer(t).Models(assistanttest.Unanswered(gate, assistanttest.ModelList("m2")))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	p, _ := opened(t)
	if err := p.session.SetModel("openai/mine"); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	p.asking.Wait()
	if got := p.session.Model(); got != "openai/mine" {
		t.Errorf("the model is %q, want that of the user", got)
	}
}

// The list of models is fetched after the first frame: the kept list is available at once, the answer goes to the
// picker and the pane, and models that have disappeared are removed.
func TestTheListIsAskedForBehindTheFirstFrame(t *testing.T) {
	ownFolder(t)
	server := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-4o", "openai/leaves"))
	t.Setenv("PROXY_BASE_URL", server.URL)
	if err := os.WriteFile(".env", []byte("IGNORE_MODELS_OPENAI=*mini*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-m", "proxy/openai/leaves"}
	p, _ := opened(t, args...)
	p.asking.Wait()
	if err := p.end(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}

	gate := assistanttest.NewGate()
	server.Models(assistanttest.Unanswered(gate, assistanttest.ModelList("openai/gpt-4o", "openai/arrives")))
	asked := len(server.Asked())
	p, told := opened(t, args...) // open does not wait for the answer
	if err := p.session.SetModel("proxy/openai/leaves"); err != nil {
		t.Errorf("before the answer the model is refused: %v", err)
	}
	p.endpoints.Registry.Restore("proxy")
	known := func() (ids []string) {
		for _, m := range p.endpoints.Registry.Models() {
			if strings.HasPrefix(m.ID, "proxy/") {
				ids = append(ids, m.ID)
			}
		}
		return ids
	}
	if got := strings.Join(known(), " "); got != "proxy/openai/gpt-4o proxy/openai/leaves" {
		t.Errorf("before the answer the models are %s, want the kept ones", got)
	}
	gate.Open()
	if said := <-told; said.Err != nil || said.Text != "" {
		t.Errorf("told %+v, want that the pane has changed", said)
	}
	said := <-told
	if gone := (*llm.GoneError)(nil); !errors.As(said.Err, &gone) || gone.ID != "proxy/openai/leaves" || gone.Seen.IsZero() {
		t.Errorf("told %+v, want that the selected model is gone, and since when", said)
	}
	if got := strings.Join(known(), " "); got != "proxy/openai/arrives proxy/openai/gpt-4o" {
		t.Errorf("after the answer the models are %s", got)
	}
	list, err := p.window.filter.ModelList("openai")
	if err != nil || list.Source != "proxy" || !slices.Contains(list.IDs, "openai/arrives") {
		t.Errorf("the pane has %+v, %v; want the same answer", list, err)
	}
	if n := len(server.Asked()) - asked; n != 1 {
		t.Errorf("%d requests, want one", n)
	}
	if _, err := assistanttest.Send(t.Context(), p.session, assistant.Prompt{Text: "hello"}); !errors.Is(err, llm.ErrModelGone) {
		t.Errorf("Send = %v, want that the model is gone", err)
	}
}

// A context limit named by an error of the endpoint limits the requests of later runs, whatever the catalogue says.
func TestTheLimitThatAnErrorNamesBoundsTheNextRun(t *testing.T) {
	ownFolder(t)
	server := assistanttest.NewServer(t, assistanttest.Respond(http.StatusBadRequest,
		`{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}`)).Models(assistanttest.ModelList("gpt-4o"))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	if status := run(t.Context(), []string{"-m", "openai/gpt-4o", "ask", "hi"}, nil, &bytes.Buffer{}, &bytes.Buffer{}); status == 0 {
		t.Fatal("the endpoint refused nothing")
	}
	p, _ := opened(t, "-m", "openai/gpt-4o")
	p.asking.Wait() // the endpoint's new list must not change the limit either
	_, _, model, err := p.endpoints.Registry.Open("openai/gpt-4o")
	if got := p.session.Boundary().ML; got != 4096 || err != nil || !strings.HasPrefix(model.LimitFrom(), "an overflow error, ") {
		t.Errorf("the limit is %d from %q, %v; want 4096 from the error", got, model.LimitFrom(), err)
	}
}

// TestAnOpenFileIsReportedOnce: the first start that can say so does, later starts and the
// commands on rules do not repeat it.
func TestAnOpenFileIsReportedOnce(t *testing.T) {
	ownFolder(t)
	if err := os.WriteFile(".env", []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=o3*\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const said = "mode 0644"
	for start, want := range []int{1, 0} {
		var stderr bytes.Buffer
		a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if err := newRoot(a).ParseFlags(nil); err != nil {
			t.Fatal(err)
		}
		p, err := a.open(t.Context(), openOptions{started: func(error) {}})
		if err != nil {
			t.Fatal(err)
		}
		a.reportOpenFile(t.Context(), p)
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(stderr.String(), said); got != want {
			t.Errorf("start %d says it %d times, want %d:\n%s", start+1, got, want, stderr.String())
		}
	}
	var out, stderr bytes.Buffer
	if status := run(t.Context(), []string{"rules", "list"}, strings.NewReader(""), &out, &stderr); status != 0 || strings.Contains(stderr.String(), said) {
		t.Errorf("rules list: status %d\n%s", status, stderr.String())
	}
}

// A server that is down is noticed at the start, behind the first frame.
func TestASilentServerIsNoticedAtTheStart(t *testing.T) {
	ownFolder(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"openai/gpt-4o","object":"model"}]}`)
	}))
	defer server.Close()
	t.Setenv("PROXY_BASE_URL", server.URL)
	if err := os.WriteFile(".env", []byte("IGNORE_MODELS_OPENAI=*mini*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-m", "proxy/openai/gpt-4o"}
	p, _ := opened(t, args...)
	p.asking.Wait()
	if err := p.end(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}
	server.Close()
	_, told := opened(t, args...)
	for said := range told {
		if said.NoAnswer != nil {
			if llm.KindOf(said.NoAnswer) != llm.KindNet || said.Err != nil {
				t.Errorf("told %+v, want a failure of the network", said)
			}
			return
		}
	}
}
