package models_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/adapters/modelfilter/models"
	"winnow/assistant/openai"
)

// wire is how the program puts the two together, but for the pauses between
// attempts.
func wire(t models.Target) (models.Fetcher, error) {
	return openai.New(openai.Options{
		BaseURL: t.BaseURL, Key: t.Key, Headers: t.Headers, Name: t.Name,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// endpoint is a server on this machine that answers /models and writes down
// what it was asked with.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	kind   string
	body   string
	auth   []string
}

func serve(t *testing.T, body string) *endpoint {
	t.Helper()
	e := &endpoint{status: http.StatusOK, kind: "application/json", body: body}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.auth = append(e.auth, r.Header.Get("Authorization"))
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", e.kind)
		w.WriteHeader(e.status)
		_, _ = w.Write([]byte(e.body))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) answers(status int, kind, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status, e.kind, e.body = status, kind, body
}

func (e *endpoint) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.auth)
}

func listOf(ids ...string) string {
	var b strings.Builder
	b.WriteString(`{"object":"list","data":[`)
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%q,"object":"model"}`, id)
	}
	return b.String() + `]}`
}

func environment(vars map[string]string) func(string) (models.Value, bool) {
	return func(name string) (models.Value, bool) {
		v, ok := vars[name]
		return models.Value{Text: v, From: ".env"}, ok
	}
}

func TestHostileAnswersOverTheWire(t *testing.T) {
	for name, answer := range map[string]struct {
		status     int
		kind, body string
	}{
		"nothing":    {200, "application/json", ""},
		"null":       {200, "application/json", "null"},
		"null list":  {200, "application/json", `{"data":null}`},
		"empty list": {200, "application/json", `{"data":[]}`},
		"odd list":   {200, "application/json", `{"data":[1,null,[],{"id":7},{"id":""}]}`},
		"HTML":       {200, "text/html", "<!doctype html><title>Sign in \x1b]0;x\a</title>"},
		"cut":        {200, "application/json", `{"data":[{"id":"a"},{"id":`},
		"refused":    {401, "application/json", `{"error":{"message":"Incorrect key \u001b[31m"}}`},
		"broken":     {500, "text/plain", "oops"},
		"escapes":    {200, "application/json", `{"data":[{"id":"\u001b[2J"},{"id":"a\u0007"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var stored []string
			for i := range 12 {
				stored = append(stored, fmt.Sprintf("stored-%02d", i))
			}
			e := serve(t, listOf(stored...))
			l := models.New(models.Options{
				NewFetcher: wire, Dir: t.TempDir() + "/lists",
				Env: environment(map[string]string{"ACME_API_KEY": "sk-acme-0123456789", "ACME_API_BASE": e.URL + "/v1"}),
			})
			before, err := l.Models(t.Context(), "acme")
			if err != nil || len(before.IDs) != 12 || before.IDs[0] != "acme/stored-00" {
				t.Fatalf("%+v, %v", before, err)
			}
			e.answers(answer.status, answer.kind, answer.body)
			after, err := l.Models(t.Context(), "acme")
			if err == nil || !slices.Equal(after.IDs, before.IDs) {
				t.Errorf("%d models, %v", len(after.IDs), err)
			}
			if after.Err == "" || strings.ContainsAny(after.Err+err.Error(), "\x1b\a\n") {
				t.Errorf("%q, %q", after.Err, err)
			}
		})
	}
}

// Two providers and the proxy, each on an origin of its own: no server ever
// sees a key that is not its own.
func TestKeysOverTheWire(t *testing.T) {
	a, b, proxy := serve(t, listOf("x")), serve(t, listOf("y")), serve(t, listOf("a/x", "c/z", "c/w"))
	l := models.New(models.Options{
		NewFetcher: wire, Dir: t.TempDir() + "/lists",
		Proxy: &models.Proxy{BaseURL: proxy.URL + "/v1", Key: "key-of-the-proxy"},
		Env: environment(map[string]string{
			"A_API_KEY": "key-of-a", "A_API_BASE": a.URL + "/v1",
			"B_API_KEY": "key-of-b", "B_API_BASE": b.URL + "/v1",
			"C_API_KEY": "key-of-c", "PROXY_API_KEY": "key-of-the-proxy",
		}),
	})
	if _, err := l.Models(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if len(b.asked())+len(proxy.asked()) != 0 {
		t.Error("opening a asked others")
	}
	if _, err := l.Models(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	list, err := l.Models(t.Context(), "c")
	if err != nil || !slices.Equal(list.IDs, []string{"c/w", "c/z"}) || list.Source != models.SourceProxy {
		t.Errorf("%+v, %v", list, err)
	}
	drift, err := l.CompareServed(t.Context(), "c", func(...string) []string { return []string{"c/z", "c/more"} })
	if err != nil || !slices.Equal(drift.Missing, []string{"c/more"}) || !slices.Equal(drift.Extra, []string{"c/w"}) || drift.Same != 1 {
		t.Errorf("%+v, %v", drift, err)
	}
	for want, e := range map[string]*endpoint{"Bearer key-of-a": a, "Bearer key-of-b": b, "Bearer key-of-the-proxy": proxy} {
		if len(e.asked()) == 0 {
			t.Errorf("%s: never asked", want)
		}
		for _, got := range e.asked() {
			if got != want {
				t.Errorf("%q was sent where %q belongs", got, want)
			}
		}
	}
	proxy.Close()
	if d, err := l.CompareServed(t.Context(), "c", func(...string) []string { return []string{"c/z"} }); err == nil || d.Any() {
		t.Errorf("with the proxy down: %+v, %v", d, err)
	}
}
