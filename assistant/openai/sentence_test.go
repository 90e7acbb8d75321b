package openai

import (
	"errors"
	"strings"
	"testing"
	"time"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// Each failure says what happened, in a sentence. HOST stands for the host of the
// server.
func TestWhatTheUserReads(t *testing.T) {
	json := func(status int, message string, headers ...string) assistanttest.Reply {
		return assistanttest.Respond(status, `{"error":{"message":"`+message+`"}}`, headers...)
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
		"a long pause":            {json(429, "Rate limit, wait", "Retry-After", "60"), "quota: Rate limit, wait; retry after 1m0s (status 429)"},
		"a pause of minutes":      {json(429, "Rate limit.", "Retry-After", "150"), "quota: Rate limit; retry after 2m30s (status 429)"},
		"a pause of hours":        {json(503, "Down for repair", "Retry-After", "9000"), "net: Down for repair; retry after 2h30m0s (status 503)"},
		"a quota that comes back": {json(429, "Slow", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "12.4s"), "quota: Slow; the token quota resets in 13s (status 429)"},
		"no word about a pause":   {json(429, "Slow"), "quota: Slow (status 429)"},
		"no credit":               {json(429, "You exceeded your current quota"), "quota: You exceeded your current quota (status 429)"},
		"a wrong key":             {json(401, "Incorrect API key provided"), "auth: Incorrect API key provided (status 401)"},
		"a key for less":          {json(403, "Not yours"), "auth: Not yours (status 403)"},
		"no such model":           {json(404, "no model x"), "model: no model x (status 404)"},
		"a page":                  {page(502, "<html><body>oops</body></html>"), "net: HOST answered 502 Bad Gateway with a web page"},
		"a page, named":           {page(502, "<html><title>502 Bad Gateway</title>"), "net: HOST answered 502 Bad Gateway with a web page"},
		"a page, named well":      {page(503, "<html><title>Down &amp; out</title>"), `net: HOST answered 503 Service Unavailable with a web page, "Down & out"`},
		"a page, refused":         {page(400, "<p>hi"), "unknown: HOST answered 400 Bad Request with a web page"},
		"a page in place of all":  {page(200, "<!DOCTYPE html><title>Log in</title>"), `unknown: HOST answered with a web page, "Log in"`},
		"nothing said":            {assistanttest.Respond(502, ""), "net: HOST answered 502 Bad Gateway"},
		"only a code":             {assistanttest.Respond(529, `{"error":{"type":"overloaded_error"}}`), "net: HOST answered 529: overloaded_error"},
		"broken inside":           {json(500, "it broke"), "unknown: it broke (status 500)"},
		"too much":                {json(413, "no"), "unknown: no (status 413)"},
		"an unclear refusal":      {json(400, "temperature is odd"), "unknown: temperature is odd (status 400)"},
		"an error in the answer":  {event(assistanttest.TextEvent("a") + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), "net: overloaded"},
		"an error without words":  {event(assistanttest.TextEvent("a") + assistanttest.FinishEvent("error")), "interrupted: HOST ended the answer with an unspecified error"},
		"a cut answer":            {event(assistanttest.TextEvent("a")), "interrupted: the connection to HOST ended before the answer did"},
		"no answer":               {event(""), "net: HOST closed the connection without an answer"},
		"another wire":            {event("{\"message\":{\"content\":\"a\"},\"done\":true}\n"), "unknown: HOST answered with something other than a chat completion"},
		"a picture":               {assistanttest.Raw("image/png", "x"), "unknown: HOST returned image/png instead of an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, assistanttest.NewServer(t, test.reply))
			_, err := r.ask(t)
			var re *llm.RequestError
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
	s := assistanttest.NewServer(t, assistanttest.Respond(401, `{"error":"no key"}`))
	_, err := newRig(t, s, func(o *Options) { o.Key = "" }).ask(t)
	if want := "auth: 401 no key; no API key is set for test"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRefusalsSpeakOfQuotas: what the headers of a refusal say is not lost,
// neither in front of an answer nor in it.
func TestRefusalsSpeakOfQuotas(t *testing.T) {
	headers := []string{"X-RateLimit-Limit-Tokens", "900", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "40s"}
	want := llm.RateLimits{TokensPerMinute: 900, RequestsLeft: -1, TokensReset: 40 * time.Second}
	for name, reply := range map[string]assistanttest.Reply{
		"refused": assistanttest.Respond(429, `{"error":"slow"}`, append(headers, "Retry-After", "60")...),
		"in the answer": func(x *assistanttest.Exchange) {
			x.Start(200, append(headers, "Content-Type", "text/event-stream")...)
			x.Send(assistanttest.TextEvent("a") + "data: {\"error\":{\"message\":\"rate limit\"}}\n\n")
		},
	} {
		_, err := newRig(t, assistanttest.NewServer(t, reply)).ask(t)
		var re *llm.RequestError
		if !errors.As(err, &re) || re.Limits == nil || *re.Limits != want {
			t.Errorf("%s: %v with %+v, want %+v", name, err, re.Limits, want)
		}
	}
}
