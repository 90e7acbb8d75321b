package fleet

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
)

func exported(providers ...modelfilter.ExportedProvider) modelfilter.Exported {
	return modelfilter.Exported{Providers: providers}
}

func TestCompare(t *testing.T) {
	a := exported(
		modelfilter.ExportedProvider{Provider: "openai", Ignore: []string{"x*", "y*"}, Shown: []string{"openai/a", "openai/b", "openai/c"}, Hidden: []string{"openai/x1"}},
		modelfilter.ExportedProvider{Provider: "groq", Shown: []string{"groq/l"}},
	)
	b := exported(
		modelfilter.ExportedProvider{Provider: "openai", Ignore: []string{"y*", "x*"}, Allow: []string{"x1"}, Shown: []string{"openai/a", "openai/x1"}, Hidden: []string{"openai/b"}},
		modelfilter.ExportedProvider{Provider: "mistral"},
	)
	d := Compare("A", "B", a, b)
	if want := []RuleDifference{{"openai", "whitelist", "x1", "B"}}; !slices.Equal(d.Rules, want) {
		t.Errorf("Rules = %+v, want %+v", d.Rules, want)
	}
	want := []ModelDifference{{"openai", "openai/b", "A", Hidden}, {"openai", "openai/c", "A", Absent}, {"openai", "openai/x1", "B", Hidden}}
	if !slices.Equal(d.Models, want) {
		t.Errorf("Models = %+v, want %+v", d.Models, want)
	}
	if !slices.Equal(d.Unknown, []string{"groq"}) || d.Empty() || !d.ForProvider("mistral").Empty() || len(d.ForProvider("OpenAI").Models) != 3 {
		t.Errorf("Unknown = %v, of mistral %+v, of openai %+v", d.Unknown, d.ForProvider("mistral"), d.ForProvider("OpenAI"))
	}
	if d := Compare("A", "A", a, a); !d.Empty() || len(d.Unknown) > 0 {
		t.Errorf("a target differs from itself: %+v", d)
	}
}

// A server that answers with anything else than what it should is an error that says so; the token goes to no other.
func TestNothingIsStagedWithoutTheRoleSave(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/sessions" {
			t.Errorf("the request %s is made", r.URL.Path)
		}
		_, _ = w.Write([]byte(`{"id":"1","user":"anna","role":"write"}`))
	}))
	defer server.Close()
	s, err := NewServer("a", server.URL, "secret", false)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := s.Stage(t.Context(), []Rules{{Provider: "openai"}}); err == nil || !strings.Contains(err.Error(), "needs the role save") {
			t.Errorf("Stage = %v", err)
		}
	}
}

func TestServersThatMisbehave(t *testing.T) {
	var stolen string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.Header.Get("Authorization") }))
	defer thief.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "is not from a winnow server"},
		"a redirect":  {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, http.StatusFound) }, "the server redirects"},
		"the history": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"window":{}}`)) }, "does not serve the model filter"},
		"no problem":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "responded with status 502"},
		"hangs up":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"an escape": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_ = json.NewEncoder(w).Encode(map[string]string{"detail": "a\x1b[2Jb"})
		}, "a‹"},
		"a wrong token": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = w.Write([]byte(`{"code":"unauthorized","detail":"x"}`))
		}, "does not accept the token"},
	} {
		server := httptest.NewServer(c.answer)
		s, err := NewServer("a", server.URL, "secret", false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Export(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		server.Close()
	}
	if stolen != "" {
		t.Errorf("another server got %q", stolen)
	}
	if _, err := NewServer("a", "http://proxy.example", "secret", false); err == nil || strings.Contains(err.Error(), "secret") || !strings.HasSuffix(err.Error(), "set allow_http = true in the [[target]] entry") {
		t.Errorf("an unencrypted connection: %v", err)
	}
}
