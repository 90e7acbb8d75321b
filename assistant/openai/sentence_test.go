package openai

import (
	"errors"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
)

// TestWhatTheUserReads: each failure says what happened and what to do, in
// sentences. HOST stands for the host of the server.
func TestWhatTheUserReads(t *testing.T) {
	json := func(status int, message string, headers ...string) assistanttest.Reply {
		return assistanttest.Refuse(status, `{"error":{"message":"`+message+`"}}`, headers...)
	}
	page := func(status int, body string) assistanttest.Reply {
		return func(x *assistanttest.Exchange) {
			x.Start(status, "Content-Type", "text/html")
			x.Send(body)
		}
	}
	event := func(body string) assistanttest.Reply { return assistanttest.Raw("text/event-stream", body) }
	for name, test := range map[string]struct {
		reply assistanttest.Reply
		want  string
	}{
		"a long pause":            {json(429, "Rate limit, wait", "Retry-After", "60"), "quota: Rate limit, wait (status 429); try again in 60 s"},
		"a pause of minutes":      {json(429, "Rate limit.", "Retry-After", "150"), "quota: Rate limit (status 429); try again in 3 min"},
		"a pause of hours":        {json(503, "Down for repair", "Retry-After", "9000"), "net: Down for repair (status 503); try again in 3 h"},
		"a quota that comes back": {json(429, "Slow", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "12.4s"), "quota: Slow (status 429); try again in 13 s"},
		"no word about a pause":   {json(429, "Slow"), "quota: Slow (status 429); try again in a moment"},
		"no credit":               {json(429, "You exceeded your current quota"), "quota: You exceeded your current quota (status 429); add credit to the account, or choose another model"},
		"a wrong key":             {json(401, "Incorrect API key provided"), "auth: Incorrect API key provided (status 401); check the API key of test"},
		"a key for less":          {json(403, "Not yours"), "auth: Not yours (status 403); the API key of test may not use this: check it, or choose another model"},
		"no such model":           {json(404, "no model x"), "model: no model x (status 404); choose another model"},
		"a page":                  {page(502, "<html><body>oops</body></html>"), "net: HOST answered 502 Bad Gateway with a web page; try again in a moment"},
		"a page, named":           {page(502, "<html><title>502 Bad Gateway</title>"), "net: HOST answered 502 Bad Gateway with a web page; try again in a moment"},
		"a page, named well":      {page(503, "<html><title>Down &amp; out</title>"), `net: HOST answered 503 Service Unavailable with a web page, "Down & out"; try again in a moment`},
		"a page, refused":         {page(400, "<p>hi"), "unknown: HOST answered 400 Bad Request with a web page; is the base URL right?"},
		"a page in place of all":  {page(200, "<!DOCTYPE html><title>Log in</title>"), `unknown: HOST answered with a web page, "Log in"; is the base URL right?`},
		"nothing said":            {assistanttest.Refuse(502, ""), "net: HOST answered 502 Bad Gateway; try again in a moment"},
		"only a code":             {assistanttest.Refuse(529, `{"error":{"type":"overloaded_error"}}`), "net: HOST answered 529: overloaded_error; try again in a moment"},
		"broken inside":           {json(500, "it broke"), "unknown: it broke (status 500); try again in a moment"},
		"too much":                {json(413, "no"), "unknown: no (status 413); send less text"},
		"an unclear refusal":      {json(400, "temperature is odd"), "unknown: temperature is odd (status 400)"},
		"an error in the answer":  {event(assistanttest.TextEvent("a") + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), "net: overloaded; try again in a moment"},
		"an error without words":  {event(assistanttest.TextEvent("a") + assistanttest.FinishEvent("error")), "interrupted: HOST broke the answer off with an error and does not say which"},
		"a cut answer":            {event(assistanttest.TextEvent("a")), "interrupted: the connection to HOST ended before the answer did"},
		"no answer":               {event(""), "net: HOST closed the connection without an answer; try again in a moment"},
		"another wire":            {event("{\"message\":{\"content\":\"a\"},\"done\":true}\n"), "unknown: HOST answered with something else than a chat completion; is the base URL right?"},
		"a picture":               {assistanttest.Raw("image/png", "x"), "unknown: HOST answered with image/png in place of an answer; is the base URL right?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, assistanttest.NewServer(t, test.reply))
			_, err := r.ask(t)
			var re *assistant.RequestError
			if !errors.As(err, &re) {
				t.Fatalf("error %v", err)
			}
			got := strings.ReplaceAll(string(re.Kind)+": "+re.Sentence(), r.host, "HOST")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAKeyThatIsMissing(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Refuse(401, `{"error":"no key"}`))
	_, err := newRig(t, s, func(o *Options) { o.Key = "" }).ask(t)
	if want := "auth: 401 no key; no API key is set for test"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRefusalsSpeakOfQuotas: what the headers of a refusal say is not lost,
// neither in front of an answer nor in it.
func TestRefusalsSpeakOfQuotas(t *testing.T) {
	headers := []string{"X-RateLimit-Limit-Tokens", "900", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "40s"}
	want := assistant.RateLimits{TokensPerMinute: 900, RequestsLeft: -1, TokensReset: 40 * time.Second}
	for name, reply := range map[string]assistanttest.Reply{
		"refused": assistanttest.Refuse(429, `{"error":"slow"}`, append(headers, "Retry-After", "60")...),
		"in the answer": func(x *assistanttest.Exchange) {
			x.Start(200, append(headers, "Content-Type", "text/event-stream")...)
			x.Send(assistanttest.TextEvent("a") + "data: {\"error\":{\"message\":\"rate limit\"}}\n\n")
		},
	} {
		_, err := newRig(t, assistanttest.NewServer(t, reply)).ask(t)
		var re *assistant.RequestError
		if !errors.As(err, &re) || re.Limits == nil || *re.Limits != want {
			t.Errorf("%s: %v with %+v, want %+v", name, err, re.Limits, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Millisecond: "1 s", 10 * time.Second: "10 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min",
		121 * time.Second: "3 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", longestPause: "720 h",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}
