package main

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"winnow/adapters/endpoints"
	"winnow/assistant/assistanttest"
	"winnow/tui"
)

// opened is the program as the screen gets it, in the folder and home of this
// test, and what it is told later. ready waits for that.
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
	said := make(chan tui.Noticed, 1)
	p.askEndpoints(ctx, func(n tui.Noticed) { said <- n })
	t.Cleanup(func() { cancel(); p.asking.Wait() })
	return p, said
}

// ownFolder is an empty folder with a home in it.
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

// spoken leaves a session with one pair, answered by an endpoint named so.
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
	if said := <-told; !said.Bad || !strings.Contains(said.Text, "does not list its models") || p.session.Model() != "" {
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
