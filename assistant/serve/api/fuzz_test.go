package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// canary is a key that a client sends in the wrong place.
const canary = "sk-canary-0123456789"

// FuzzBody sends a body to all operations that take one: each is answered, as the document
// says, and a body that is refused for its form is not repeated.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"text":"hello"}`, `{"text":"a","model":"test/other","filter":"x"}`, `{"Text":"a"}`, `{"text":null}`, `[]`, `""`, "", " ", "{", "null", "0",
		`{"text":"\ud800"}`, `{"text":"a","text":"b"}`, "{\"text\":\"\u202e\"}", `{"session":"x","tool":"y","arguments":{"z":[1,{"a":null}]}}`,
		`{"accept":true}`, `{"accept":"yes"}`, `{"checkpoint":"x","newest":"","confirmed":true}`, strings.Repeat("[", 2000), `{"text":1e400}`,
		`{"answer":1e30}`, `{"answer":1.0}`, `{"answer":18446744073709551616}`, `{"session":"x","digest":""}`, "{} {}", "\xff", "{\"\\u0000\":1}",
		`{"text":["` + canary + `"]}`, `{"` + canary + `":1}`, `{"accept":"` + canary + `"}`, `{"answer":"` + canary + `"}`, `{"scope":"` + canary + `"}`,
		`{"session":{"` + canary + `":"` + canary + `"}}`, `{"a.` + canary + `":1}`, `"` + canary, `{` + strings.Repeat(`"a":1,`, 500) + `"b":2}`,
	} {
		f.Add(seed)
	}
	base := newRig(f, at.NewScript(at.Answer{at.Say("ok")}))
	base.server.most = 10
	f.Fuzz(func(t *testing.T, body string) {
		r := *base
		r.t = t
		for _, path := range slices.Sorted(maps.Keys(r.document.Paths)) {
			o := r.document.Paths[path]["post"]
			if o == nil || o.RequestBody == nil {
				continue
			}
			url := strings.NewReplacer("{id}", "none", "{seq}", "1", "{question}", "x", "{proposal}", "x").Replace(path)
			req := r.request(t.Context(), http.MethodPost, url, body)
			req.Header.Set("Content-Type", "application/json; charset=utf-8")
			w := httptest.NewRecorder()
			r.server.handler.ServeHTTP(w, req)
			if err := r.document.answer(req, w.Result(), w.Body.Bytes()); err != nil {
				t.Fatalf("%s: %q: %v", path, body, err)
			}
			var p problem
			if w.Code >= http.StatusBadRequest {
				if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Detail == "" || len(p.Errors) > maxErrors || w.Body.Len() > 16<<10 {
					t.Fatalf("%s: %q: %s, %v", path, body, w.Body, err)
				}
			}
			form := slices.Contains([]string{"json", "invalid", "body"}, p.Code)
			if form && strings.Contains(w.Body.String(), canary) {
				t.Fatalf("%s repeats a key: %s", path, w.Body)
			}
			if err := r.document.request(req, []byte(body)); !form && err != nil && !strings.Contains(body, "null") { // null is like a missing field
				t.Fatalf("%s takes %q: %v", path, body, err)
			}
		}
	})
}

func FuzzEventID(f *testing.F) {
	for _, seed := range []string{"1", "0", "-1", "+1", "1795364231133", "9223372036854775807", "9223372036854775808", "1e3", " 1", "", "\x00", "١"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		n, err := parseID(id)
		switch {
		case err != nil && (problemOf(err) == nil || problemOf(err).Status != 400):
			t.Fatalf("%q: %v", id, err)
		case err == nil && (n < 0 || fmt.Sprint(n) != strings.TrimLeft(id, "0") && strings.TrimLeft(id, "0") != ""):
			t.Fatalf("%q is %d", id, n)
		}
	})
}

// No header or query makes a request fail in another way than with a problem, or have an
// answer of another type.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/html", "application/cbor", "a;x,", ";,;", "json", "application/json;q=0", ",", "\t", strings.Repeat(";,", 500)} {
		f.Add(seed, "filter=s3&limit=1")
	}
	for _, seed := range []string{"", "limit", "limit=", "limit=1&limit=2", "limit=0", "limit=99999999999999999999", "after=-1", "after=MQ", "a[b]=1", "%", ";", "filter=%00", "=", "&&", canary + "=1", "limit=" + canary} {
		f.Add("*/*", seed)
	}
	base := newRig(f, at.NewScript())
	_, path := base.open("anna")
	f.Fuzz(func(t *testing.T, accept, query string) {
		r := *base
		r.t = t
		req := r.request(t.Context(), http.MethodGet, path+"/pairs", "")
		req.URL.RawQuery = query
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		r.server.handler.ServeHTTP(w, req)
		if err := r.document.answer(req, w.Result(), w.Body.Bytes()); err != nil {
			t.Fatalf("%q %q: %v", accept, query, err)
		}
		if strings.Contains(w.Body.String(), canary) && !strings.Contains(query, "filter") {
			t.Fatalf("%q repeats a key: %s", query, w.Body)
		}
	})
}
