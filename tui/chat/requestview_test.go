package chat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/attachment"
	"winnow/assistant/llm"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

const wire = `{"model":"gpt-5","stream":true,"messages":[
	{"role":"system","content":"You see a window.\nIt lists models."},
	{"role":"user","content":[{"type":"text","text":"hide the minis"},{"type":"image_url"}]},
	{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"add_rule","arguments":"{\"pattern\":\"*mini*\"}"}}]},
	{"role":"tool","tool_call_id":"c1","content":"7 models hidden"},
	{"role":"user","content":"thank you\u202e"}],
	"tools":[{"type":"function","function":{"name":"add_rule","description":"Adds a rule.","parameters":{"type":"object"}}}]}`

// words estimates a token for each word.
func words(text string) int { return len(strings.Fields(text)) }

func frame(v *RequestView, w, h int) string {
	return ansi.Strip(strings.Join(v.Body(w, h, style.New(style.Options{Unicode: true})), "\n"))
}

func press(v *RequestView, keys ...string) (out overlay.Outcome) {
	for _, key := range keys {
		out = v.Key(keymap.Key(key), key)
	}
	return out
}

func wantHas(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestSectionsByRole(t *testing.T) {
	v := NewRequestView("request", json.RawMessage(wire), words, false)
	wantHas(t, frame(v, 80, 24), "▸ parameters  ~4  model", "▸ 1 tool", "▸ system  ~7  You see a window. It lists models.",
		"hide the minis [image_url]", "▸ assistant → add_rule", "▸ tool · answers c1", "› ▾ user", "thank you‹U+202E›", "7 sections")
	press(v, "g", "j", "j", "enter")
	wantHas(t, frame(v, 80, 24), "› ▾ system", "\n    You see a window.\n    It lists models.\n")
	press(v, "enter")
	if text := frame(v, 80, 24); strings.Contains(text, "\n    You see") {
		t.Errorf("a folded section shows its text:\n%s", text)
	}
}

// A model without a wire format is sent a llm.Request.
func TestARequestWithoutAWireFormat(t *testing.T) {
	body, err := json.Marshal(llm.Request{Model: "script", Messages: []llm.Message{
		{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "c1", Name: "add_word", Arguments: "{}"}}},
		{Role: llm.RoleTool, CallID: "c1", Content: "added"},
	}, Tools: []llm.ToolSpec{{Name: "add_word", Description: "Adds."}}})
	if err != nil {
		t.Fatal(err)
	}
	v := NewRequestView("request", body, words, false)
	press(v, "g", "j", "enter")
	wantHas(t, frame(v, 80, 24), "▾ 1 tool", "add_word", "Adds.", "▸ assistant → add_word", "▾ tool · answers c1", "added")
}

// A picture is one line with its tokens, in either form, and its bytes are nowhere.
func TestPicturesAreALine(t *testing.T) {
	f := attachment.File{Name: "a.png", Type: "image/png", Size: 900, Hash: "ab", Width: 1024, Height: 1024, Data: []byte("PNG")}
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "what is this", Pictures: []attachment.File{f}}}}.Abbreviated()
	own, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	wire := fmt.Sprintf(`{"messages":[{"role":"user","content":[{"type":"text","text":"what is this"},{"type":"image_url","image_url":{"url":%q}}]}]}`, req.Messages[0].Pictures[0].URL())
	for name, body := range map[string]string{"own": string(own), "wire": wire} {
		v := NewRequestView("request", json.RawMessage(body), words, false)
		text := frame(v, 80, 24)
		wantHas(t, text, "▾ user  ~768", "    what is this", "    [picture a.png · PNG · 1024×1024 · 900 B · ~765 tokens]")
		press(v, "r")
		if text := frame(v, 200, 40); strings.Contains(text, "UE5H") || !strings.Contains(text, "ab") {
			t.Errorf("%s: the bytes are\n%s", name, text)
		}
	}
}

func TestSearchOpensWhatItFinds(t *testing.T) {
	v := NewRequestView("request", json.RawMessage(wire), words, false)
	frame(v, 80, 24)
	press(v, "/", "M", "O", "D", "E", "L", "S", "enter")
	wantHas(t, frame(v, 80, 24), "›   It lists models.", "▾ tool · answers")
	press(v, "n")
	wantHas(t, frame(v, 80, 24), "›   7 models hidden")
	press(v, "N")
	wantHas(t, frame(v, 80, 24), "›   It lists models.")
	press(v, "/", "x", "y", "z", "enter")
	wantHas(t, frame(v, 80, 24), "nothing here contains “xyz”")
}

func TestBytesAndOutcomes(t *testing.T) {
	v := NewRequestView("request", json.RawMessage(wire), words, true)
	wantHas(t, frame(v, 100, 24), "← → the others", "r bytes")
	press(v, "r")
	wantHas(t, frame(v, 100, 24), `"model": "gpt-5"`, "r roles")
	for key, want := range map[string]keymap.Action{"y": keymap.CopyRequest, "left": keymap.OlderRequest, "right": keymap.NewerRequest} {
		if out := press(v, key); out != (overlay.Chosen{Action: want}) {
			t.Errorf("%s is %#v", key, out)
		}
	}
	if out := press(v, "r", "esc"); out != (overlay.Closed{}) {
		t.Errorf("esc is %#v", out)
	}
	broken := NewRequestView("request", json.RawMessage(`{"messages":7`), words, false)
	wantHas(t, frame(broken, 80, 10), `{"messages":7`)
	if out := press(broken, "right"); out != (overlay.Stay{}) {
		t.Errorf("next of one request is %#v", out)
	}
}

// Whatever the keys and the size, the body fits its box.
func TestTheBodyFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []string{"up", "down", "enter", "a", "/", "m", "esc", "n", "N", "G", "g", "r", "pgdown", "pgup", "left"}
	v := NewRequestView("request", json.RawMessage(wire), words, false)
	for range 5000 {
		w, h := 1+r.IntN(90), 6+r.IntN(20)
		lines := v.Body(w, h, style.New(style.Options{Unicode: r.IntN(2) == 0}))
		if len(lines) > h {
			t.Fatalf("%d lines in a box of %d", len(lines), h)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > w && !v.bytes {
				t.Fatalf("%q is wider than %d", ansi.Strip(l), w)
			}
		}
		press(v, keys[r.IntN(len(keys))])
		v.Scroll(r.IntN(5) - 2)
		v.Click(r.IntN(h))
		v.Cursor()
		if v.Position() == "" && !v.bytes {
			t.Fatal("there is no position")
		}
	}
}

// The newest message is seen at once, however many there are before it, and all keys
// are named on the narrowest screen.
func TestItOpensAtTheNewestMessage(t *testing.T) {
	var messages []string
	for i := range 40 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"question %d of everything"}`, i))
	}
	messages = append(messages, `{"role":"user","content":"one\ntwo\nthree"}`)
	v := NewRequestView("request", json.RawMessage(`{"messages":[`+strings.Join(messages, ",")+`]}`), words, false)
	wantHas(t, frame(v, 32, 12), "question 39", "› ▾ user", "    one", "    two", "    three", "enter folds · a all · / search\nr bytes · y copies")
	press(v, "k", "enter")
	wantHas(t, frame(v, 32, 12), "› ▾ user", "    question 39")
	press(v, "g")
	frame(v, 32, 12)
	press(v, "j", "j") // scrolls no further than it must, and cuts a text after a word
	wantHas(t, frame(v, 32, 12), "  ▸ user  ~4  question 0 of…\n› ▸ user  ~4  question 1 of…")
	for w := 29; w < 60; w++ {
		lines := strings.Split(frame(v, w, 12), "\n")
		if foot := strings.Join(lines[len(lines)-2:], "\n"); strings.Contains(foot, "…") || !strings.HasSuffix(foot, "y copies") {
			t.Errorf("in %d cells the keys are %q", w, foot)
		}
	}
}

// Of a text of megabytes the beginning is shown, as a message and as bytes, and how much
// there is more.
func TestALongTextIsShownAsFarAsItCanBeRead(t *testing.T) {
	text := strings.Repeat("日本 words ", 1<<20/14) + "the end"
	body, err := json.Marshal(map[string]any{"messages": []map[string]string{{"role": "user", "content": text}}})
	if err != nil {
		t.Fatal(err)
	}
	v := NewRequestView("request", body, words, false)
	for _, what := range []string{"message", "bytes"} {
		frame(v, 80, 24)
		press(v, "G")
		if got := frame(v, 80, 24); !strings.Contains(got, "more bytes are not shown; copy the request") {
			t.Errorf("the %s ends in\n%s", what, got)
		}
		if n := v.lines + len(v.sections[1].text.Source()); n > 4*maxShown {
			t.Errorf("the %s has %d lines and bytes", what, n)
		}
		press(v, "r")
	}
}

// What a key does with a request of many long messages is bounded: so many bytes are laid
// out at once, and the search opens what it needs.
func TestAKeyOnALargeRequest(t *testing.T) {
	const messages = 60
	var all []map[string]string
	for i := range messages {
		all = append(all, map[string]string{"role": "user", "content": strings.Repeat("some 日本 words\n", 5000) + fmt.Sprintf("the end of %d", i)})
	}
	body, err := json.Marshal(map[string]any{"messages": all})
	if err != nil {
		t.Fatal(err)
	}
	v := NewRequestView("request", body, words, false)
	open := func() (bytes int) {
		for _, s := range v.sections {
			if s.open {
				bytes += len(s.lower)
			}
		}
		return bytes
	}
	cost := func(what string, do func()) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		frame(v, 80, 24)
		runtime.ReadMemStats(&after)
		bytes := after.TotalAlloc - before.TotalAlloc
		if n := open(); n > 2<<20 || bytes > 8<<20 {
			t.Errorf("%s: %d bytes are open, a frame allocates %d", what, n, bytes)
		}
	}
	cost("all closed", func() { press(v, "a") })
	cost("all", func() { press(v, "a") })
	if n := open(); n < 1<<19 {
		t.Errorf("%d bytes are open", n)
	}
	search := func(text string) {
		press(v, "/", "ctrl+u")
		for _, r := range text {
			press(v, string(r))
		}
		press(v, "enter")
	}
	cost("search", func() { search("words") })
	cost("the last", func() { search(fmt.Sprint("the end of ", messages-1)) })
	wantHas(t, frame(v, 80, 24), fmt.Sprint("›   the end of ", messages-1))
	cost("one by one", func() {
		for range 3 {
			press(v, "enter", "k", "k")
		}
	})
	cost("back", func() { search("the end of"); press(v, "N", "N", "N") })
	wantHas(t, frame(v, 80, 24), fmt.Sprint("›   the end of ", messages-3))
}
