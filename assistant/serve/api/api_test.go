package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/serve"
)

func TestWhatIsNotTheOwnersIsRefused(t *testing.T) {
	r := newRig(t, at.NewScript())
	host := strings.TrimPrefix(r.url, "http://")
	port := host[strings.LastIndex(host, ":"):]
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
		code   string
	}{
		"no token":             {func(r *http.Request) { r.Header.Del("Authorization") }, 401, "unauthorized"},
		"an empty token":       {func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401, "unauthorized"},
		"a wrong token":        {func(r *http.Request) { r.Header.Set("Authorization", "Bearer secret-guess") }, 401, "unauthorized"},
		"a longer token":       {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") }, 401, "unauthorized"},
		"a name and password":  {func(r *http.Request) { r.SetBasicAuth("winnow", testToken) }, 401, "unauthorized"},
		"another scheme":       {func(r *http.Request) { r.Header.Set("Authorization", "Token "+testToken) }, 401, "unauthorized"},
		"a page of other site": {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "wrong_origin"},
		"a page without name":  {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "wrong_origin"},
		"another port's page":  {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403, "wrong_origin"},
		"a rebound name":       {func(r *http.Request) { r.Host = "evil.example" + port }, 421, "wrong_host"},
		"another port":         {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421, "wrong_host"},
		"a name that begins":   {func(r *http.Request) { r.Host = "127.0.0.1.evil.example" + port }, 421, "wrong_host"},
		"no host":              {func(r *http.Request) { r.Host = "evil" }, 421, "wrong_host"},
		"its own page":         {func(req *http.Request) { req.Header.Set("Origin", r.url) }, 200, ""},
		"localhost":            {func(r *http.Request) { r.Host = "localhost" + port }, 200, ""},
		"a lower-case scheme":  {func(r *http.Request) { r.Header.Set("Authorization", "bearer "+testToken) }, 200, ""},
	} {
		for _, path := range []string{"/v1/sessions", "/v1/window", "/openapi.json", "/metrics", "/nowhere"} {
			if c.status != 200 {
				path += "?filter=private"
			}
			req := r.request(t.Context(), "GET", path, "")
			c.change(req)
			resp := r.do(req)
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			r.must(err)
			var p problem
			_ = json.Unmarshal(raw, &p) // a problem, or an answer
			switch {
			case c.status == 200 && path == "/nowhere":
				if resp.StatusCode != 404 {
					t.Errorf("%s: %s is %d", name, path, resp.StatusCode)
				}
			case resp.StatusCode != c.status || p.Code != c.code:
				t.Errorf("%s: %s is %d %s, want %d %s", name, path, resp.StatusCode, raw, c.status, c.code)
			case c.status == 401 && resp.Header.Get("WWW-Authenticate") == "":
				t.Errorf("%s: there is no WWW-Authenticate", name)
			case c.status == 401 && strings.Contains(p.Detail, "needs the header") != (bearerToken(req) == ""):
				t.Errorf("%s: %s says %q", name, path, p.Detail)
			}
			if h := resp.Header; h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: the headers are %v", name, h)
			}
			if strings.Contains(string(raw), testToken) || strings.Contains(string(raw), "secret-guess") {
				t.Errorf("%s: the answer tells a token: %s", name, raw)
			}
		}
	}
	log := r.log.String()
	for _, reason := range []string{"unauthorized", "wrong_origin", "wrong_host"} {
		if !strings.Contains(log, "reason="+reason) {
			t.Errorf("%s is not logged", reason)
		}
	}
	for reason, n := range map[string]int{"unauthorized": 6 * 5, "wrong_origin": 3 * 5, "wrong_host": 4 * 5} {
		r.counted([]string{fmt.Sprintf(`winnow_refused_total{reason=%q,server="http"} %d`, reason, n)})
	}
	for _, secret := range []string{testToken, "secret-guess", "private"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	if status, body := r.call("GET", "/healthz", ""); status != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %q", status, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/healthz", nil)
	r.must(err)
	if resp := r.do(req); resp.StatusCode != 200 || resp.Body.Close() != nil {
		t.Errorf("healthz without a token: %d", resp.StatusCode)
	}
}

func TestANameOfTheCertificateIsOwn(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{DNSNames: []string{"winnow.example"}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{opts: Options{Address: "0.0.0.0:443", Cert: func() *x509.Certificate { return cert }}}
	for host, want := range map[string]bool{
		"winnow.example": true, "winnow.example:443": true, "WINNOW.example.": true, "winnow.example:80": false, "other.example": false, "localhost": false,
	} {
		if s.ownHost(host) != want {
			t.Errorf("the host %s is own: %v", host, !want)
		}
	}
	if s.ownOrigin("http://winnow.example", "winnow.example") || !s.ownOrigin("https://winnow.example", "winnow.example") {
		t.Error("an origin is judged without its scheme")
	}
}

func TestBodiesAreChecked(t *testing.T) {
	r := newRig(t, at.NewScript())
	_, path := r.open("anna")
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"not JSON":           {"POST", path + "/messages", `{"text":`, 400, "json"},
		"two values":         {"POST", path + "/messages", `{"text":"a"} {}`, 400, "json"},
		"a list":             {"POST", path + "/messages", `[]`, 422, "invalid"},
		"null":               {"POST", path + "/messages", `null`, 422, "invalid"},
		"an unknown field":   {"POST", path + "/messages", `{"text":"a","txt":"b"}`, 422, "invalid"},
		"another case":       {"POST", path + "/messages", `{"Text":"a"}`, 422, "invalid"},
		"a missing field":    {"POST", path + "/messages", `{}`, 422, "invalid"},
		"another type":       {"POST", path + "/messages", `{"text":1}`, 422, "invalid"},
		"nothing to send":    {"POST", path + "/messages", `{"text":"  "}`, 422, "empty"},
		"no such model":      {"POST", path + "/messages", `{"text":"a","model":"no/model"}`, 422, "model"},
		"a filter line":      {"POST", path + "/messages", `{"text":"a","filter":"("}`, 422, "filter"},
		"too large":          {"POST", path + "/messages", `{"text":"` + strings.Repeat("a", maxBody) + `"}`, 413, "too_large"},
		"no session":         {"GET", "/v1/sessions/none/events", "", 404, "no_session"},
		"no session by hand": {"POST", "/v1/window/save", `{"session":"none","digest":"x"}`, 404, "no_session"},
		"no stored session":  {"POST", "/v1/sessions", `{"session":"none"}`, 404, "no_session"},
		"no decision":        {"POST", path + "/answers/x", `{}`, 422, "invalid"},
		"no question":        {"POST", path + "/answers/x", `{"accept":true}`, 404, "not_asked"},
		"no checkpoint":      {"POST", path + "/rollback", `{"checkpoint":"x","newest":"y"}`, 404, "no_checkpoint"},
		"no scope":           {"POST", path + "/rollback", `{"checkpoint":"x","newest":"","scope":"all"}`, 422, "invalid"},
		"a bad line":         {"GET", path + "/pairs?filter=%28", "", 422, "filter"},
		"a bad limit":        {"GET", path + "/pairs?limit=1001", "", 422, "invalid"},
		"a bad cursor":       {"GET", path + "/pairs?after=x", "", 422, "invalid"},
		"nowhere":            {"GET", "/v1/nothing", "", 404, "no_route"},
		"another method":     {"PUT", "/v1/sessions", "{}", 405, "method"},
		"a lasting tool":     {"POST", "/v1/window/edit", `{"session":"` + path[len("/v1/sessions/"):] + `","tool":"save_words"}`, 422, "lasting"},
		"an unknown tool":    {"POST", "/v1/window/edit", `{"session":"` + path[len("/v1/sessions/"):] + `","tool":"rm"}`, 422, "unknown_tool"},
		"a bad argument":     {"POST", "/v1/window/edit", `{"session":"` + path[len("/v1/sessions/"):] + `","tool":"add_word","arguments":{"word":1}}`, 422, "invalid_arguments"},
		"nothing unsaved":    {"POST", "/v1/window/discard", `{"session":"` + path[len("/v1/sessions/"):] + `","digest":"x"}`, 409, "nothing_unsaved"},
	} {
		p := r.problem(c.status, c.code, c.method, c.path, c.body)
		if p.Detail == "" || p.Type != "urn:winnow:"+c.code || p.Title == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	req := r.request(t.Context(), "POST", path+"/messages", `{"text":"a"}`)
	req.Header.Set("Content-Type", "text/plain") // as a page of another site could send
	if resp := r.do(req); resp.StatusCode != 415 || resp.Body.Close() != nil {
		t.Errorf("a body of another type: %d", resp.StatusCode)
	}
}

// What a client sends slowly, or too much of, is cut.
func TestALimitEndsARequest(t *testing.T) {
	r := newRig(t, at.NewScript(), func(o *Options) { o.Body = 20 * time.Millisecond })
	host := strings.TrimPrefix(r.url, "http://")
	for name, c := range map[string]struct{ header, want string }{
		"a body that does not come": {"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{", `"code":"body"`},
		"a header of a megabyte":    {"X-Large: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "HTTP/1.1 431 "},
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
		r.must(err)
		r.must(conn.SetDeadline(time.Now().Add(30 * time.Second)))
		_, _ = fmt.Fprintf(conn, "POST /v1/sessions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s", host, testToken, c.header) // it may be cut
		raw, _ := io.ReadAll(conn)
		r.must(conn.Close())
		if !strings.Contains(string(raw), c.want) {
			t.Errorf("%s is answered with %s", name, raw)
		}
	}
}

func TestABodyIsAMebibyteAtMost(t *testing.T) {
	r := newRig(t, at.NewScript())
	exact := "{}" + strings.Repeat(" ", maxBody-len("{}"))
	r.get(nil, "POST", "/v1/sessions", exact)
	r.problem(413, "too_large", "POST", "/v1/sessions", exact+" ")
}

// TestTheDocumentIsOpenAPI asks another program, where Python has it.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t, at.NewScript())
	document, err := r.server.document()
	r.must(err)
	file := filepath.Join(t.TempDir(), "openapi.json")
	r.must(os.WriteFile(file, document, 0o600))
	out, err := exec.CommandContext(t.Context(), "python3", "-m", "openapi_spec_validator", file).CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound), strings.Contains(string(out), "No module named openapi_spec_validator"):
		t.Skip("the Python package openapi-spec-validator is not installed")
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

// A message that is refused leaves model and view as they were.
func TestARefusedMessageChangesNothing(t *testing.T) {
	r := newRig(t, at.NewScript())
	_, path := r.open("anna")
	for body, code := range map[string]string{
		`{"text":" ","model":"test/other","filter":"u"}`:   "empty",
		`{"text":"a","model":"test/other","filter":"("}`:   "filter",
		`{"text":"a","model":"no/model","filter":"u"}`:     "model",
		`{"text":"a","model":"test/other","filter":"u ("}`: "filter",
	} {
		r.problem(422, code, "POST", path+"/messages", body)
		var info sessionInfo
		r.get(&info, "GET", path, "")
		var list pairList
		if r.get(&list, "GET", path+"/pairs", ""); info.Model != "test/script" || list.Filter != "x" {
			t.Errorf("%s: the model is %s, the view %s", body, info.Model, list.Filter)
		}
	}
}

func TestAnErrorThatIsOursTellsNothing(t *testing.T) {
	r := newRig(t, at.NewScript())
	r.window.BreakContext = errors.New("key sk-secret in /home/anna/.env")
	p := r.problem(500, "internal", "GET", "/v1/window", "")
	if strings.Contains(fmt.Sprint(p), "secret") {
		t.Errorf("the answer is %+v", p)
	}
	if !strings.Contains(r.log.String(), "sk-secret") {
		t.Error("the error is not logged")
	}
}

// A client can wait for a history that comes back, and for nothing else that is ours.
func TestAHistoryThatFailsIsNamed(t *testing.T) {
	r := newRig(t, at.NewScript())
	p := r.server.failed(&huma.Operation{}, fmt.Errorf("pairs: %w", &history.StorageError{Op: "read", Path: "postgres://anna@db.example/team", Reason: "the server cannot be reached"}))
	if p.Status != http.StatusServiceUnavailable || p.Code != "storage" || !strings.HasSuffix(p.Detail, ": the server cannot be reached") {
		t.Errorf("%+v", p)
	}
	if strings.Contains(fmt.Sprint(p), "db.example") || !strings.Contains(r.log.String(), "db.example") {
		t.Errorf("the address is for the log only; the answer is %+v, the log %s", p, r.log)
	}
}

func TestADayOverHTTP(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("add_word", `{"word":"cat"}`)}, at.Answer{at.Say("done")}, at.Answer{at.Say("hello")}))
	anna, path := r.open("anna")
	bert, _ := r.open("bert")
	follower := r.follow(t.Context(), path, 0)
	r.send(path, `{"text":"add cat","model":"test/other"}`).rest()

	var w windowInfo
	r.get(&w, "GET", "/v1/window", "")
	if !w.Unsaved || w.Holder != nil || !strings.Contains(string(w.Context), `"cat"`) || !slices.ContainsFunc(w.Tools, func(i toolInfo) bool { return i.Name == "add_word" && i.Write }) {
		t.Errorf("the window: %+v", w)
	}
	var done edited
	r.get(&done, "POST", "/v1/window/edit", `{"session":"`+bert+`","tool":"add_word","arguments":{"word":"dog"}}`)
	for { // anna's stream says who did it
		var e struct{ Kind, User, What string }
		event := follower.until(windowChanged)
		r.must(json.Unmarshal([]byte(event[len(event)-1].data), &e))
		if e.Kind == "edited" && e.User == "bert" && e.What == "add word dog" {
			break
		}
	}
	var plan assistant.SavePlan
	r.get(&plan, "GET", "/v1/window/plan?session="+anna, "")
	if len(plan.Changes) != 2 {
		t.Errorf("the plan: %+v", plan)
	}
	r.window.Conflict = &assistant.Conflict{Path: "words"}
	save := `{"session":"` + anna + `","digest":"` + plan.Digest + `"}`
	if p := r.problem(409, "conflict", "POST", "/v1/window/save", save); p.Conflict == nil {
		t.Errorf("the conflict: %+v", p)
	}
	r.window.Conflict, r.window.Warning = nil, "Not yet durable."
	var saved assistant.Saved
	r.get(&saved, "POST", "/v1/window/save", save)
	if saved.Warning != r.window.Warning {
		t.Errorf("the warning of the save is %q", saved.Warning)
	}
	if !saved.Written || !slices.Equal(r.window.Saved(), []string{"one", "cat", "dog"}) {
		t.Errorf("saved %+v: %q", saved, r.window.Saved())
	}

	var pairs pairList
	r.get(&pairs, "GET", path+"/pairs", "")
	if len(pairs.Pairs) != 1 || !pairs.Pairs[0].Included || pairs.Pairs[0].UserText != "add cat" || pairs.Pairs[0].Model != "test/other" || pairs.Matching != 1 {
		t.Errorf("the pairs: %+v", pairs)
	}
	for line, want := range map[string]int{"u": 1, "u'ann*'": 1, "u'bert'": 0} {
		if r.get(&pairs, "GET", path+"/pairs?filter="+url.QueryEscape(line), ""); len(pairs.Pairs) != want {
			t.Errorf("%s matches %d pairs, want %d", line, len(pairs.Pairs), want)
		}
	}
	r.get(&pairs, "GET", path+"/pairs?filter=s3", "")
	if len(pairs.Pairs) != 0 || pairs.Filter != "s3" {
		t.Errorf("the pairs with three stars: %+v", pairs)
	}
	var would requestInfo
	r.get(&would, "GET", path+"/request?text=what+now", "")
	if would.Model != "test/other" || !strings.Contains(string(would.Body), "what now") || !strings.Contains(string(would.Body), "add cat") {
		t.Errorf("the request: %s", would.Body)
	}
	r.rollBack(anna, path)

	r.get(nil, "DELETE", path, "")
	follower.rest() // ends
	r.problem(404, "no_session", "GET", path+"/pairs", "")
	r.get(nil, "POST", "/v1/sessions", `{"session":"`+anna+`"}`) // continues it
	r.problem(409, "open", "POST", "/v1/sessions", `{"session":"`+anna+`"}`)
}

// rollBack goes back to before the turn of anna, which undoes a step of bert, too.
func (r *rig) rollBack(anna, path string) {
	r.t.Helper()
	var list checkpointList
	r.get(&list, "GET", path+"/checkpoints", "")
	if len(list.Checkpoints) != 2 || list.Checkpoints[1].Session != anna {
		r.t.Fatalf("the checkpoints: %+v", list)
	}
	body := `{"checkpoint":"` + list.Checkpoints[1].ID + `","newest":"` + list.Newest + `"`
	if p := r.problem(409, "others_changed", "POST", path+"/rollback", body+"}"); len(p.Others) != 1 {
		r.t.Errorf("steps of others: %+v", p.Others)
	}
	var back rolledBack
	r.get(&back, "POST", path+"/rollback", body+`,"confirmed":true}`)
	if back.Text != "add cat" || len(back.Others) != 1 || !slices.Equal(r.window.Words(), []string{"one"}) {
		r.t.Errorf("rolled back %+v: %q", back, r.window.Words())
	}
}

func TestWhoHasTheWindowIsTold(t *testing.T) {
	r := newRigOf(t, at.NewScript(at.Answer{call("add_word", `{"word":"cat"}`), call("slow", "{}")}, at.Answer{at.Say("done")}), func(o *serve.Options) { o.Wait = time.Millisecond })
	_, path := r.open("anna")
	bert, _ := r.open("bert")
	stream := r.send(path, `{"text":"add cat"}`)
	r.window.Slow.Wait(t)
	p := r.problem(409, "held", "POST", "/v1/window/edit", `{"session":"`+bert+`","tool":"add_word","arguments":{"word":"dog"}}`)
	if p.Holder == nil || p.Holder.User != "anna" || p.Detail != "anna's assistant is working" {
		t.Errorf("the problem: %+v", p)
	}
	var w windowInfo
	r.get(&w, "GET", "/v1/window", "")
	if w.Holder == nil || w.Holder.Doing != "add_word" {
		t.Errorf("the window: %+v", w.Holder)
	}
	r.window.Slow.Open()
	stream.rest()
}
