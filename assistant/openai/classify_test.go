package openai

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"winnow/assistant/llm"
)

var sevenPhrases = []string{
	"context_length", "maximum context length", "too many tokens", "context too long",
	"exceeds context window", "request too large", "too large for",
}

func TestOverflow(t *testing.T) {
	for _, phrase := range sevenPhrases {
		for _, status := range []int{0, 400, 413, 429, 500} {
			for _, message := range []string{phrase, "Error: " + strings.ToUpper(phrase) + " (9000)."} {
				if kind, matched := Classify(status, "", message); kind != llm.KindOverflow || matched != phrase {
					t.Errorf("Classify(%d, %q) = %s %q, want overflow %q", status, message, kind, matched, phrase)
				}
			}
		}
	}
	if kind, matched := Classify(400, "Context_Length_Exceeded", "no words"); kind != llm.KindOverflow || matched != overflowCode {
		t.Errorf("the code gives %s %q", kind, matched)
	}
}

func TestClassify(t *testing.T) {
	for name, test := range map[string]struct {
		status        int
		code, message string
		want          llm.Kind
	}{
		"no key":                  {401, "invalid_api_key", "Incorrect API key provided", llm.KindAuth},
		"forbidden":               {403, "", "", llm.KindAuth},
		"a key refused with 400":  {400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", llm.KindAuth},
		"rate limit":              {429, "rate_limit_exceeded", "Rate limit reached for gpt-4 on tokens per min", llm.KindQuota},
		"no credit":               {402, "", "Insufficient credits", llm.KindQuota},
		"quota in the stream":     {0, "insufficient_quota", "", llm.KindQuota},
		"quota with 500":          {500, "", "quota exceeded for this project", llm.KindQuota},
		"no such model":           {404, "model_not_found", "The model `x` does not exist", llm.KindModel},
		"no such model, with 400": {400, "", "model `x` does not exist", llm.KindModel},
		"a retired model":         {400, "", "This model is deprecated", llm.KindModel},
		"overloaded":              {529, "overloaded_error", "Overloaded", llm.KindNet},
		"bad gateway":             {502, "", "", llm.KindNet},
		"overloaded, in stream":   {0, "overloaded_error", "", llm.KindNet},
		"nothing known":           {400, "", "Invalid value for 'temperature'", llm.KindUnknown},
		"internal":                {500, "", "", llm.KindUnknown},
		"nothing at all":          {0, "", "", llm.KindUnknown},
		// Traps: words that sound like an overflow and are none.
		"too many requests":      {429, "", "Too many requests, slow down", llm.KindQuota},
		"entity too large":       {413, "", "Request Entity Too Large", llm.KindUnknown},
		"a length that is wrong": {400, "invalid_type", "context length must be a number", llm.KindUnknown},
		"a wrong max_tokens":     {400, "", "max_tokens is too large: 999999", llm.KindUnknown},
		"too long a string":      {400, "string_above_max_length", "string too long", llm.KindUnknown},
		"the code in the words":  {400, "other", "contextlength exceeded", llm.KindUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			if kind, matched := Classify(test.status, test.code, test.message); kind != test.want || matched != "" {
				t.Errorf("got %s %q, want %s", kind, matched, test.want)
			}
		})
	}
}

func TestFailureBodies(t *testing.T) {
	for name, test := range map[string]struct{ body, code, message string }{
		"OpenAI":             {`{"error":{"message":"bad","type":"invalid_request_error","param":null,"code":"x"}}`, "x", "bad"},
		"type in place":      {`{"error":{"message":"bad","type":"overloaded_error"}}`, "overloaded_error", "bad"},
		"text":               {`{"error":"bad thing"}`, "", "bad thing"},
		"message":            {`{"message":"bad"}`, "", "bad"},
		"detail":             {`{"detail":"Not Found"}`, "", "Not Found"},
		"FastAPI":            {`{"detail":[{"loc":["body"],"msg":"field required","type":"value_error"}]}`, "value_error", "field required"},
		"a list":             {`[{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}]`, "NOT_FOUND", "gone"},
		"errors":             {`{"errors":["a","b"]}`, "", "a: b"},
		"OpenRouter":         {`{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down","provider_name":"x"}}}`, "", "Provider returned error: slow down"},
		"a JSON string":      {`"bad"`, "", "bad"},
		"text that is plain": {"upstream connect error", "", "upstream connect error"},
		"a page":             {"<html><head><title>\n502 Bad &amp; Gateway</title>", "", "502 Bad & Gateway"},
		"a page, no title":   {"<p>hi", "", ""},
		"empty":              {"", "", ""},
		"space":              {" \n", "", ""},
		"an empty object":    {"{}", "", ""},
		"null":               {`{"error":null}`, "", ""},
		"half a document":    {`{"error":{"message":"bad","type":"t`, "", "bad"},
		"not a document":     {`{oops`, "", "{oops"},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseFailure([]byte(test.body))
			if f.code != test.code || strings.TrimSpace(strings.ReplaceAll(f.message, "\n", "")) != test.message {
				t.Errorf("got %+v, want code %q, message %q", f, test.code, test.message)
			}
		})
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(400, []byte(`{"error":{"code":"context_length_exceeded"}}`))
	f.Add(429, []byte(`{"error":"Request too large for gpt-4"}`))
	f.Add(0, []byte(`<title>x`))
	f.Add(-7, []byte(`[[[{"detail":{"error":[1,"\u001b[2J"]}}]]]`))
	client, err := New(Options{BaseURL: "https://example.com", Key: "sk-0123456789abcdef"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := client.statusError(status, body, http.Header{})
		overflow := e.Kind == llm.KindOverflow
		switch e.Kind {
		case llm.KindAuth, llm.KindQuota, llm.KindNet, llm.KindModel, llm.KindUnknown, llm.KindOverflow:
		default:
			t.Fatalf("kind %q", e.Kind)
		}
		said := parseFailure(body)
		phrase := strings.EqualFold(said.code, overflowCode)
		for _, p := range sevenPhrases {
			phrase = phrase || strings.Contains(strings.ToLower(said.message), p)
		}
		if overflow != phrase || overflow != (e.Matched != "") {
			t.Fatalf("overflow %v, but the words say %v (matched %q)", overflow, phrase, e.Matched)
		}
		if strings.ContainsAny(e.Message, "\x1b\n\x00") || strings.Contains(e.Error(), "sk-0123456789abcdef") || len(e.Message) > 4*maxMessage+3 {
			t.Fatalf("unsafe message %q", e.Message)
		}
	})
}

func TestPauses(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "0": 0, "6m0s": 6 * time.Minute, "120ms": 120 * time.Millisecond,
		"1h2m3.5s": time.Hour + 2*time.Minute + 3500*time.Millisecond, " 2s ": 2 * time.Second, "2m59.56s": 179560 * time.Millisecond,
		"Sun, 01 Mar 2026 12:00:30 GMT": 30 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "2026-03-01T12:01:00Z": time.Minute,
		"1772366410": 10 * time.Second, "1772366410000": 10 * time.Second, "1e300": 0, "99999999": maxDelay,
	} {
		if got, ok := parseDelay(text, now); !ok || got.Round(time.Millisecond) != want && text != "1e300" {
			t.Errorf("parseDelay(%q) = %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "-1", "-5s", "NaN", "Inf"} {
		if got, ok := parseDelay(text, now); ok && got != maxDelay {
			t.Errorf("parseDelay(%q) = %v", text, got)
		}
	}
}

func TestRateLimits(t *testing.T) {
	h := http.Header{}
	if l := rateLimits(h, time.Now()); l != nil {
		t.Errorf("no headers give %+v", l)
	}
	for name, value := range map[string]string{
		"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499", "x-ratelimit-reset-requests": "120ms",
		"x-ratelimit-limit-tokens": "30000, 30000;w=60", "x-ratelimit-remaining-tokens": "oops", "x-ratelimit-reset-tokens": "6m0s",
	} {
		h.Set(name, value)
	}
	want := llm.RateLimits{RequestsPerMinute: 500, RequestsLeft: 499, TokensPerMinute: 30000, TokensLeft: -1, RequestsReset: 120 * time.Millisecond, TokensReset: 6 * time.Minute}
	if l := rateLimits(h, time.Now()); l == nil || *l != want {
		t.Errorf("got %+v, want %+v", l, want)
	}
	h.Set("x-ratelimit-remaining-tokens", "0") // none left is not the same as no word
	want.TokensLeft = 0
	if l := rateLimits(h, time.Now()); l == nil || *l != want {
		t.Errorf("with none left: got %+v, want %+v", l, want)
	}
}
