package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

func TestStream(t *testing.T) {
	hundred := make([]assistanttest.Call, 100)
	for i := range hundred {
		hundred[i] = assistanttest.Call{Name: "f", Arguments: fmt.Sprintf(`{"i":%d}`, i)}
	}
	s := assistanttest.NewServer(t,
		assistanttest.Raw("text/event-stream", assistanttest.ReasoningEvent("reasoning_content", "hm")+assistanttest.Stream("a b c")), assistanttest.Calls(hundred...))
	r := newRig(t, s)
	parts, err := r.ask(t)
	if text, reasoning, end := assistanttest.JoinParts(parts); text != "a b c" || reasoning != "hm" || end == nil || end.Finish != "stop" || err != nil {
		t.Errorf("got %q %q %+v %v", text, reasoning, end, err)
	}
	parts, err = r.ask(t)
	_, _, end := assistanttest.JoinParts(parts)
	if err != nil || len(end.Calls) != 100 {
		t.Fatalf("%d calls, %v; want 100", len(end.Calls), err)
	}
	for i, c := range end.Calls {
		if c.Arguments != fmt.Sprintf(`{"i":%d}`, i) {
			t.Fatalf("call %d is %+v", i, c)
		}
	}
}

// TestNeverAShortSuccess: what openai-go takes for a short success, seen on the wire.
func TestNeverAShortSuccess(t *testing.T) {
	text := assistanttest.TextEvent("a")
	for name, test := range map[string]struct {
		reply assistanttest.Reply
		want  llm.Kind
	}{
		"a clean end without its end": {assistanttest.Raw("text/event-stream", text), llm.KindInterrupted},
		"a connection that is lost":   {assistanttest.CutAfter(text), llm.KindInterrupted},
		"a web page":                  {assistanttest.Respond(200, "<!DOCTYPE html><title>Welcome</title>"), llm.KindUnknown},
		"an empty body":               {assistanttest.Raw("text/event-stream", ""), llm.KindNet},
		"NDJSON of another wire":      {assistanttest.Raw("application/x-ndjson", `{"done":true}`+"\n"), llm.KindUnknown},
		"a picture":                   {assistanttest.Raw("image/png", "\x89PNG"), llm.KindUnknown},
		"an error in the stream":      {assistanttest.Raw("text/event-stream", text+`data: {"error":{"message":"boom `+testKey+`"}}`+"\n\n"), llm.KindUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := newRig(t, assistanttest.NewServer(t, test.reply)).ask(t)
			if _, _, end := assistanttest.JoinParts(parts); end != nil || llm.KindOf(err) != test.want {
				t.Errorf("end %v, error %v; want none and %s", end, err, test.want)
			}
		})
	}
	for name, reply := range map[string]assistanttest.Reply{
		"a completion that is not streamed": assistanttest.Raw("application/json", assistanttest.Completion("a")),
		"a stream declared as JSON":         assistanttest.Raw("application/json", assistanttest.Stream("a")),
		"a stream without a type":           assistanttest.Raw("", assistanttest.Stream("a")),
		"a byte order mark":                 assistanttest.Pieces("\ufeff"+assistanttest.Stream("a"), 1),
		"CR only":                           assistanttest.Pieces(strings.ReplaceAll(assistanttest.Stream("a"), "\n", "\r"), 7),
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := newRig(t, assistanttest.NewServer(t, reply)).ask(t)
			if text, _, end := assistanttest.JoinParts(parts); text != "a" || end == nil || err != nil {
				t.Errorf("got %q %v %v", text, end, err)
			}
		})
	}
}

// TestNothingAmbientLeaks: NewClient of openai-go would send all of these.
func TestNothingAmbientLeaks(t *testing.T) {
	leak := "leak-0123456789"
	for _, name := range []string{"API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"} {
		t.Setenv("OPENAI_"+name, leak)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/"+leak)
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: "+leak+"\nAuthorization: Bearer "+leak)
	s := assistanttest.NewServer(t)
	for _, key := range []string{testKey, ""} {
		r := newRig(t, s, func(o *Options) { o.Key, o.Headers = key, map[string]string{"X-Own": "yes"} })
		if _, err := r.ask(t); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Models(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Image(t.Context(), "dall-e-3", "a cat") // it gets text; what was asked counts
	}
	if len(s.Asked()) != 6 {
		t.Fatalf("%d requests, want 6", len(s.Asked()))
	}
	for i, x := range s.Asked() {
		if all := fmt.Sprint(x.Header, x.Path, string(x.Body)); strings.Contains(all, leak) || strings.Contains(all, "Openai-") || strings.Contains(all, "Stainless") {
			t.Errorf("the environment is on the wire: %s", all)
		}
		want := ""
		if i < 3 {
			want = "Bearer " + testKey
		}
		if x.Header.Get("Authorization") != want || x.Header.Get("X-Own") != "yes" {
			t.Errorf("request %d has the headers %v", i, x.Header)
		}
	}
}

// hangUp loses the connection before any answer.
func hangUp(x *assistanttest.Exchange) { x.Cut() }

func TestRetries(t *testing.T) {
	busy := assistanttest.Respond(503, `{"error":{"message":"busy `+testKey+`"}}`)
	later := func(after string) assistanttest.Reply {
		return assistanttest.Respond(429, `{"error":{"message":"slow down"}}`, "Retry-After", after)
	}
	ok := assistanttest.Text("ok")
	for name, test := range map[string]struct {
		replies []assistanttest.Reply
		slept   string
		want    llm.Kind
		after   time.Duration
	}{
		"it works":                 {[]assistanttest.Reply{ok}, "[]", "", 0},
		"busy twice":               {[]assistanttest.Reply{busy, busy, ok}, "[500ms 1s]", "", 0},
		"busy for good":            {[]assistanttest.Reply{busy}, "[500ms 1s 2s]", llm.KindNet, 0},
		"hung up":                  {[]assistanttest.Reply{hangUp, ok}, "[500ms]", "", 0},
		"hung up after the header": {[]assistanttest.Reply{assistanttest.CutAfter(": hi\n\n"), ok}, "[500ms]", "", 0},
		"an empty answer":          {[]assistanttest.Reply{assistanttest.Raw("text/event-stream", ""), ok}, "[500ms]", "", 0},
		"an error before content":  {[]assistanttest.Reply{assistanttest.Raw("text/event-stream", `data: {"error":{"code":502,"message":"x"}}`+"\n\n"), ok}, "[500ms]", "", 0},
		"asked to wait":            {[]assistanttest.Reply{later("7"), ok}, "[7s]", "", 0},
		"asked to wait until":      {[]assistanttest.Reply{later("Sun, 01 Mar 2026 12:00:03 GMT"), ok}, "[3s]", "", 0},
		"asked to wait too long":   {[]assistanttest.Reply{later("11"), ok}, "[]", llm.KindQuota, 11 * time.Second},
		"no credit":                {[]assistanttest.Reply{assistanttest.Respond(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), ok}, "[]", llm.KindQuota, 0},
		"too long, as 400":         {[]assistanttest.Reply{assistanttest.Respond(400, `{"error":{"code":"context_length_exceeded"}}`), ok}, "[]", llm.KindOverflow, 0},
		"too long, as 429":         {[]assistanttest.Reply{assistanttest.Respond(429, `{"error":{"message":"Request too large for gpt-4o"}}`), ok}, "[]", llm.KindOverflow, 0},
		"too long, as 500":         {[]assistanttest.Reply{assistanttest.Respond(500, `{"error":"too many tokens"}`), ok}, "[]", llm.KindOverflow, 0},
		"refused":                  {[]assistanttest.Reply{assistanttest.Respond(400, `{"error":"no"}`, "X-Should-Retry", "true"), ok}, "[]", llm.KindUnknown, 0},
		"no key":                   {[]assistanttest.Reply{assistanttest.Respond(401, ""), ok}, "[]", llm.KindAuth, 0},
		"after the first content":  {[]assistanttest.Reply{assistanttest.CutAfter(assistanttest.TextEvent("a")), ok}, "[]", llm.KindInterrupted, 0},
		"busy after the content":   {[]assistanttest.Reply{assistanttest.Raw("text/event-stream", assistanttest.TextEvent("a")+`data: {"error":{"code":502,"message":"x"}}`+"\n\n"), ok}, "[]", llm.KindNet, 0},
		"after the first call":     {[]assistanttest.Reply{assistanttest.CutAfter(assistanttest.CallEvent(0, "a", "f", "{}")), ok}, "[]", llm.KindInterrupted, 0},
		"after the first thought":  {[]assistanttest.Reply{assistanttest.CutAfter(assistanttest.ReasoningEvent("reasoning", "a")), ok}, "[]", llm.KindInterrupted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := assistanttest.NewServer(t, test.replies...)
			r := newRig(t, s, func(o *Options) {
				o.Now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
			})
			parts, err := r.ask(t)
			if got := fmt.Sprint(r.slept); got != test.slept || llm.KindOf(err) != test.want {
				t.Errorf("slept %s, error %v; want %s and %q", got, err, test.slept, test.want)
			}
			announced := retries(parts)
			if len(announced) != len(r.slept) || len(s.Asked()) != 1+len(r.slept) {
				t.Fatalf("%d pauses, %d announced, %d requests", len(r.slept), len(announced), len(s.Asked()))
			}
			for i, a := range announced {
				if a.Attempt != i+1 || a.After != r.slept[i] || a.Reason == "" || strings.Contains(a.Reason, testKey) {
					t.Errorf("announced %+v", a)
				}
			}
			if re := new(llm.RequestError); errors.As(err, &re) && (re.After != test.after || (re.Matched != "") != (re.Kind == llm.KindOverflow)) {
				t.Errorf("error %+v, want After %v", re, test.after)
			}
		})
	}
}

func TestRetryCanBeCancelled(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Respond(503, ""))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRig(t, s, func(o *Options) { o.Wait = nil })
	for part, err := range r.Stream(ctx, hello) {
		if _, ok := part.(llm.Retry); ok {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v %v, want a cancellation", part, err)
		}
	}
	if ctx.Err() == nil || len(s.Asked()) != 1 {
		t.Errorf("%d requests; want one and a retry that is cancelled", len(s.Asked()))
	}
	for _, err := range newRig(t, s).Stream(t.Context(), hello) {
		if err != nil {
			t.Errorf("the announcement comes with %v", err)
		}
		break // nobody reads on after the announcement
	}
	if len(s.Asked()) != 2 {
		t.Errorf("%d requests; want no other after the reader has gone", len(s.Asked()))
	}
}

// TestCancelClosesTheConnection in each state that an exchange can be in.
func TestCancelClosesTheConnection(t *testing.T) {
	gate := func() *assistanttest.Gate { return assistanttest.NewGate() }
	for name, reply := range map[string]func(g *assistanttest.Gate) assistanttest.Reply{
		"before the header": func(g *assistanttest.Gate) assistanttest.Reply {
			return assistanttest.Unanswered(g, assistanttest.Text("x"))
		},
		"before the content": func(g *assistanttest.Gate) assistanttest.Reply { return assistanttest.Stalled(": hi\n\n", g, "") },
		"in the middle": func(g *assistanttest.Gate) assistanttest.Reply {
			return assistanttest.Stalled(assistanttest.TextEvent("a"), g, "")
		},
		"inside an event": func(g *assistanttest.Gate) assistanttest.Reply { return assistanttest.Stalled("data: {", g, "") },
	} {
		t.Run(name, func(t *testing.T) {
			g := gate()
			s := assistanttest.NewServer(t, reply(g))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-g.Reached()
				cancel()
			}()
			_, err := assistanttest.Parts(newRig(t, s).Stream(ctx, hello))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want a cancellation", err)
			}
			s.Gone(t)
		})
	}
	t.Run("by breaking off", func(t *testing.T) {
		s := assistanttest.NewServer(t, assistanttest.Stalled(assistanttest.TextEvent("a"), gate(), ""))
		for _, err := range newRig(t, s).Stream(t.Context(), hello) {
			if err != nil {
				t.Errorf("it begins with %v", err)
			}
			break
		}
		s.Gone(t)
	})
	// A turn that is cancelled while a piece is handed over breaks off in the
	// body of its loop: the stream must not come back with a last error then.
	t.Run("and breaking off", func(t *testing.T) {
		s := assistanttest.NewServer(t, assistanttest.Stalled(assistanttest.TextEvent("a"), gate(), ""))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, err := range newRig(t, s).Stream(ctx, hello) {
			if err != nil {
				t.Errorf("it begins with %v", err)
			}
			cancel()
			break
		}
		s.Gone(t)
	})
}

// TestConnectionIsUsedAgain although the body ends a while after [DONE].
func TestConnectionIsUsedAgain(t *testing.T) {
	var remotes []string
	read := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		remotes = append(remotes, r.RemoteAddr)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, assistanttest.Stream("a"))
		http.NewResponseController(w).Flush()
		select {
		case <-read:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	idle := make(chan struct{}, 10)
	c, err := New(Options{BaseURL: server.URL + "/v1", HTTP: &http.Client{Transport: &http.Transport{}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := assistanttest.Parts(c.Stream(withIdle(t.Context(), idle), hello)); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			to   chan<- struct{}
			from <-chan struct{}
		}{{to: read}, {from: idle}} {
			select {
			case step.to <- struct{}{}:
			case <-step.from:
			case <-time.After(time.Minute):
				t.Fatal("the connection was closed after the answer")
			}
		}
	}
	if remotes[0] != remotes[1] || remotes[0] != remotes[2] {
		t.Errorf("three answers came over %v, want one connection", remotes)
	}
}

func TestRefusalBodyIsBounded(t *testing.T) {
	flooded := make(chan int, 1)
	s := assistanttest.NewServer(t, func(x *assistanttest.Exchange) {
		x.Start(400, "Content-Type", "text/plain")
		sent := 0
		for piece := strings.Repeat("boom ", 10_000); sent < 20_000 && !x.Gone(); sent++ {
			x.Send(piece)
		}
		flooded <- sent
		x.Stall(assistanttest.NewGate())
	})
	_, err := newRig(t, s).ask(t)
	if re := new(llm.RequestError); !errors.As(err, &re) || len(re.Message) > 4*maxMessage || !strings.HasPrefix(re.Message, "boom boom") {
		t.Errorf("error %.80v", err)
	}
	s.Gone(t)
	if sent := <-flooded; sent >= 20_000 {
		t.Errorf("the whole body of %d MB was read", sent*50_000>>20)
	}
}

func TestRedirects(t *testing.T) {
	other := assistanttest.NewServer(t)
	for name, test := range map[string]struct {
		status int
		to     string
		want   string
	}{
		"to another origin":       {307, other.URL + "/chat/completions", "the key is only for"},
		"to another port's https": {308, "https://127.0.0.1:1/v1/chat/completions", "the key is only for"},
		"that loses the body":     {301, "/v1/chat/completions", "without its body"},
		"in circles":              {307, "/v1/chat/completions", "more than 5 times"},
	} {
		t.Run(name, func(t *testing.T) {
			s := assistanttest.NewServer(t, assistanttest.Respond(test.status, "", "Location", test.to))
			r := newRig(t, s)
			_, err := r.ask(t)
			if llm.KindOf(err) != llm.KindNet || !strings.Contains(fmt.Sprint(err), test.want) || len(r.slept) != 0 {
				t.Errorf("error %v after %v, want one with %q and no retry", err, r.slept, test.want)
			}
		})
	}
	if len(other.Asked()) != 0 {
		t.Error("the other origin was asked")
	}
	s := assistanttest.NewServer(t, assistanttest.Respond(308, "", "Location", "/v2/chat/completions"), assistanttest.Text("moved"))
	parts, err := newRig(t, s).ask(t)
	if text, _, _ := assistanttest.JoinParts(parts); text != "moved" || err != nil || string(s.Asked()[1].Body) != string(s.Asked()[0].Body) {
		t.Errorf("a redirect on the same origin gives %q, %v", text, err)
	}
}

func TestErrorsOnTheWire(t *testing.T) {
	for name, test := range map[string]struct {
		reply assistanttest.Reply
		want  string
	}{
		"text in place of an object": {assistanttest.Respond(400, `{"error":"just words"}`), "unknown: 400 just words"},
		"detail":                     {assistanttest.Respond(422, `{"detail":[{"msg":"field required"}]}`), "unknown: 422 field required"},
		"a page":                     {assistanttest.Respond(502, "<html><title>Bad Gateway</title>"), "net: HOST answered 502 Bad Gateway with a web page"},
		"nothing":                    {assistanttest.Respond(400, ""), "unknown: HOST answered 400 Bad Request"},
		"hostile words":              {assistanttest.Respond(400, "a\x1b[2Jb\u202ec\n\nd"), "unknown: 400 abc d"},
		"an echo of the key":         {assistanttest.Respond(401, `{"error":{"message":"wrong key `+testKey+`"}}`), "auth: 401 wrong key [key]"},
		"a page in place of answers": {assistanttest.Respond(200, "<!DOCTYPE html><title>Log in</title>"), `unknown: HOST answered with a web page, "Log in"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, assistanttest.NewServer(t, test.reply))
			if _, err := r.ask(t); err == nil || strings.ReplaceAll(err.Error(), r.host, "HOST") != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// A missing or doubled version in the address is said, with the setting, where it may be the reason: not where the
// endpoint knows the path but not the model.
func TestAWrongVersionIsSaid(t *testing.T) {
	const none, noModel = "404 page not found", `{"error":{"message":"The model x does not exist","code":"model_not_found"}}`
	for _, test := range []struct{ path, body, said string }{
		{"", none, " has no version such as /v1: change OPENAI_BASE_URL"},
		{"/api", none, " has no version such as /v1: change OPENAI_BASE_URL"},
		{"/v1/v1", none, " has /v1 twice: change OPENAI_BASE_URL"},
		{"/v1", none, ""},
		{"/v1beta/openai", none, ""},
		{"", noModel, ""},
	} {
		s := assistanttest.NewServer(t, assistanttest.Respond(404, test.body)).Models(assistanttest.Respond(404, test.body))
		c, err := New(Options{BaseURL: strings.TrimSuffix(s.URL, "/v1") + test.path, Setting: "OPENAI_BASE_URL"})
		if err != nil {
			t.Fatal(err)
		}
		_, streamErr := assistanttest.Parts(c.Stream(t.Context(), hello))
		_, listErr := c.Models(t.Context())
		for _, err := range []error{streamErr, listErr} {
			said := err.Error()
			hint := c.base.String() + test.said
			if llm.KindOf(err) != llm.KindModel || test.said != "" && !strings.Contains(said, hint) || test.said == "" && strings.Contains(said, "the base URL") {
				t.Errorf("path %q, %s: error %v, want %q", test.path, test.body, err, test.said)
			}
		}
	}
}

func TestRefusedConnection(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c, err := New(Options{BaseURL: s.URL, Wait: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := assistanttest.Parts(c.Stream(t.Context(), hello))
	if llm.KindOf(err) != llm.KindNet || !strings.Contains(fmt.Sprint(err), "the connection was refused") || len(retries(parts)) != maxRetries {
		t.Errorf("error %v after %d retries", err, len(retries(parts)))
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	defer s.Close()
	c, err := New(Options{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := assistanttest.Parts(c.Stream(t.Context(), hello))
	if llm.KindOf(err) != llm.KindNet || !strings.Contains(fmt.Sprint(err), "certificate is not valid") || len(retries(parts)) != 0 {
		t.Errorf("error %v after %d retries", err, len(retries(parts)))
	}
}

func TestLimitsOfTheEnd(t *testing.T) {
	s := assistanttest.NewServer(t, func(x *assistanttest.Exchange) {
		x.Start(200, "Content-Type", "text/event-stream", "X-RateLimit-Limit-Tokens", "30000", "X-RateLimit-Reset-Tokens", "1m")
		x.Send(assistanttest.Stream("a"))
	})
	parts, err := newRig(t, s).ask(t)
	if _, _, end := assistanttest.JoinParts(parts); err != nil || end.Limits == nil || *end.Limits != (llm.RateLimits{TokensPerMinute: 30000, RequestsLeft: -1, TokensLeft: -1, TokensReset: time.Minute}) {
		t.Errorf("end %+v, %v", end, err)
	}
}

// TestWithoutUsage: some endpoints refuse stream_options; they are asked once.
func TestWithoutUsage(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Respond(422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted: stream_options"}]}`), assistanttest.Text("ok"))
	r := newRig(t, s)
	for range 2 {
		if _, err := r.ask(t); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range s.Asked() {
		if strings.Contains(string(x.Body), "stream_options") != (i == 0) {
			t.Errorf("request %d is %s", i, x.Body)
		}
	}
	if len(s.Asked()) != 3 {
		t.Errorf("%d requests, want 3", len(s.Asked()))
	}
}

func TestTokenLimit(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.TokenLimit(1, assistanttest.Text("ok")))
	_, err := newRig(t, s).ask(t)
	if re := new(llm.RequestError); !errors.As(err, &re) || re.Kind != llm.KindOverflow || re.Matched != "context_length_exceeded" || re.Status != 400 {
		t.Errorf("error %#v", err)
	}
}
