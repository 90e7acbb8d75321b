package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/assistant/attachment"
	"winnow/assistant/llm"
)

var conversation = llm.Request{
	Model: "gpt-5",
	Messages: []llm.Message{
		{Role: llm.RoleSystem, Content: "be <brief>"},
		{Role: llm.RoleUser, Content: "hi 😀"},
		{Role: llm.RoleAssistant, Content: "", Calls: []llm.Call{{ID: "1", Name: "f", Arguments: `{"a": 1}`}, {ID: "2", Name: "g", Arguments: `{`}}},
		{Role: llm.RoleTool, CallID: "1", Content: `{"success":true}`},
		{Role: llm.RoleAssistant, Content: "done"},
	},
	Tools: []llm.ToolSpec{{Name: "f", Description: "does f", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`)}},
}

const conversationBody = `{"messages":[{"content":"be <brief>","role":"system"},{"content":"hi 😀","role":"user"},` +
	`{"tool_calls":[{"id":"1","function":{"arguments":"{\"a\": 1}","name":"f"},"type":"function"},{"id":"2","function":{"arguments":"{","name":"g"},"type":"function"}],"role":"assistant"},` +
	`{"content":"{\"success\":true}","tool_call_id":"1","role":"tool"},{"content":"done","role":"assistant"}],` +
	`"model":"gpt-5","stream_options":{"include_usage":true},` +
	`"tools":[{"function":{"name":"f","description":"does f","parameters":{"properties":{"a":{"type":"integer"}},"required":["a"],"type":"object"}},"type":"function"}],"stream":true}`

func TestEncodeIsWhatIsSent(t *testing.T) {
	s := assistanttest.NewServer(t)
	r := newRig(t, s)
	body, err := r.Encode(conversation)
	if err != nil || string(body) != conversationBody {
		t.Errorf("got  %s %v\nwant %s", body, err, conversationBody)
	}
	if len(s.Asked()) != 0 {
		t.Error("Encode has sent something")
	}
	if _, err := assistanttest.Parts(r.Stream(t.Context(), conversation)); err != nil {
		t.Fatal(err)
	}
	if sent := string(s.Asked()[0].Body); sent != conversationBody {
		t.Errorf("sent %s", sent)
	}
}

// A picture is sent as a data URL, and what is shown of the request says what is left out.
func TestPicturesAreSent(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Text("ok"))
	r := newRig(t, s)
	picture := attachment.File{Name: "a.png", Type: "image/png", Size: 3, Hash: "ab", Width: 9, Height: 9, Data: []byte("PNG")}
	req := llm.Request{Model: "gpt-5", Messages: []llm.Message{{Role: llm.RoleUser, Content: "look", Pictures: []attachment.File{picture, picture}}}}
	if _, err := assistanttest.Parts(r.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	part := func(url string) string { return `{"image_url":{"url":"` + url + `"},"type":"image_url"}` }
	want := func(url string) string {
		return `{"messages":[{"content":[{"text":"look","type":"text"},` + part(url) + "," + part(url) + `],"role":"user"}],`
	}
	if sent := string(s.Asked()[0].Body); !strings.HasPrefix(sent, want("data:image/png;base64,UE5H")) {
		t.Errorf("sent %s", sent)
	}
	body, err := r.Encode(req.Abbreviated())
	if !strings.HasPrefix(string(body), want("data:image/png;base64,(left out: a.png · PNG · 9×9 · 3 B · ~255 tokens · SHA-256 ab)")) || err != nil {
		t.Errorf("shown is %s, %v", body, err)
	}
	if req.Messages[0].Pictures[0].Data == nil {
		t.Error("what is shown has changed what is sent")
	}
}

func TestTheKeyIsNotSentAsText(t *testing.T) {
	s := assistanttest.NewServer(t)
	r := newRig(t, s)
	req := llm.Request{Model: "m", Messages: []llm.Message{
		{Role: llm.RoleUser, Content: "my key is " + testKey},
		{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "1", Name: "f", Arguments: `{"k":"` + testKey + `"}`}}},
		{Role: llm.RoleTool, CallID: "1", Content: base64.StdEncoding.EncodeToString([]byte(testKey))},
	}}
	body, err := r.Encode(req)
	if err != nil || strings.Contains(string(body), testKey) || strings.Count(string(body), "[key]") != 3 {
		t.Errorf("encoded %s, %v", body, err)
	}
	short := newRig(t, s, func(o *Options) { o.Key = "lm-studio" })
	if body, err := short.Encode(llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "start lm-studio"}}}); err != nil || !strings.Contains(string(body), "start lm-studio") {
		t.Errorf("a placeholder is taken for a key: %s, %v", body, err)
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	s := assistanttest.NewServer(t)
	r := newRig(t, s)
	for name, req := range map[string]llm.Request{
		"an unknown role":       {Messages: []llm.Message{{Role: "wizard"}}},
		"a schema that is none": {Tools: []llm.ToolSpec{{Name: "f", Parameters: json.RawMessage(`[]`)}}},
	} {
		if _, err := r.Encode(req); err == nil {
			t.Errorf("%s can be encoded", name)
		}
		if parts, err := assistanttest.Parts(r.Stream(t.Context(), req)); err == nil || len(parts) != 0 {
			t.Errorf("%s can be sent: %v %v", name, parts, err)
		}
	}
	if len(s.Asked()) != 0 {
		t.Error("something was sent")
	}
}

func TestOptions(t *testing.T) {
	for name, opts := range map[string]Options{
		"no URL":               {},
		"a key of two lines":   {BaseURL: "https://x.com", Key: "a\nb"},
		"a key with space":     {BaseURL: "https://x.com", Key: "a "},
		"a bad header name":    {BaseURL: "https://x.com", Headers: map[string]string{"a b": "c"}},
		"a bad header value":   {BaseURL: "https://x.com", Headers: map[string]string{"a": "b\r\nc: d"}},
		"plain http elsewhere": {BaseURL: "http://x.com"},
	} {
		if _, err := New(opts); err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "c: d") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	c, err := New(Options{BaseURL: "https://X.com/v1/"})
	if err != nil || c.opts.Name != "openai" || c.base.String() != "https://x.com/v1" {
		t.Errorf("got %q %q, %v", c.opts.Name, c.base, err)
	}
}

func TestSecretHeadersAreRedacted(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Respond(400, "X-Api-Key was other-secret-value and token bearer-secret-value"))
	r := newRig(t, s, func(o *Options) {
		o.Headers = map[string]string{"X-Api-Key": "other-secret-value", "Proxy-Authorization": "Bearer bearer-secret-value"}
	})
	if _, err := r.ask(t); err == nil || strings.Contains(err.Error(), "secret-value") {
		t.Errorf("error %v", err)
	}
}

func TestImage(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n0123"
	b64 := base64.StdEncoding.EncodeToString([]byte(png))
	for name, test := range map[string]struct{ body, want string }{
		"base64":       {`{"created":1,"data":[{"b64_json":"` + b64 + `","revised_prompt":"a \u001b[1mcat"}]}`, ""},
		"a data URL":   {`{"data":[{"url":"data:image/png;base64,` + b64 + `","revised_prompt":"a cat"}]}`, ""},
		"an address":   {`{"data":[{"url":"https://evil.example/x.png"}]}`, "fetches nothing"},
		"no picture":   {`{"data":[]}`, "no picture"},
		"bad base64":   {`{"data":[{"b64_json":"!"}]}`, "not valid base64"},
		"an error":     {`{"error":{"message":"no","code":"insufficient_quota"}}`, "quota: no"},
		"not JSON":     {`hello`, "something other"},
		"half of JSON": {`{"data":[{"b64_json":"` + b64, "something other"},
	} {
		t.Run(name, func(t *testing.T) {
			s := assistanttest.NewServer(t).Route("/images/generations", assistanttest.Respond(http.StatusOK, test.body, "X-A", "b"))
			image, err := newRig(t, s).Image(t.Context(), "dall-e-3", "a cat")
			if test.want != "" {
				if !strings.Contains(fmt.Sprint(err), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			if err != nil || string(image.Data) != png || image.MIMEType != "image/png" || image.Revised != "a cat" {
				t.Errorf("got %+v, %v", image, err)
			}
			if body := string(s.Asked()[0].Body); body != `{"prompt":"a cat","n":1,"model":"dall-e-3","response_format":"b64_json"}` {
				t.Errorf("sent %s", body)
			}
		})
	}
	if _, err := newRig(t, assistanttest.NewServer(t)).Image(t.Context(), "m", "x"); llm.KindOf(err) != llm.KindModel {
		t.Errorf("a refusal gives %v", err)
	}
}

func TestSamplingIsSent(t *testing.T) {
	temperature, seed := 0.25, int64(7)
	s := assistanttest.NewServer(t)
	r := newRig(t, s)
	req := hello
	for _, sampling := range []llm.Sampling{{}, {Temperature: &temperature, MaxTokens: 50, ReasoningEffort: "low", Seed: &seed}} {
		req.Sampling = sampling
		if _, err := assistanttest.Parts(r.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`"temperature":0.25`, `"max_completion_tokens":50`, `"reasoning_effort":"low"`, `"seed":7`} {
		name, _, _ := strings.Cut(want, ":")
		if body := string(s.Asked()[0].Body); strings.Contains(body, name) {
			t.Errorf("%s is sent without being asked for: %s", name, body)
		}
		if body := string(s.Asked()[1].Body); !strings.Contains(body, want) {
			t.Errorf("%s is not sent: %s", want, body)
		}
	}
}

func TestNewAllowsPlainHTTPWithConsent(t *testing.T) {
	for consent, refused := range map[bool]bool{true: false, false: true} {
		if _, err := New(Options{BaseURL: "http://192.168.1.4", AllowPlainHTTP: consent}); (err != nil) != refused {
			t.Errorf("with AllowPlainHTTP %v: %v", consent, err)
		}
	}
}
