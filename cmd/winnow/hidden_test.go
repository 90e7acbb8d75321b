package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/serve/api"
	"winnow/tui"
	"winnow/tui/overlay"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// hidden contains invisible characters that a terminal interprets: an escape sequence, a carriage return, a
// right-to-left override and a zero-width space.
const hidden = "q\x1b]2;owned\x07\x1b[8mo\ra\u202ed\u200bz"

// hiddenIn returns the part of hidden that text contains, or a quote that shows that a part was made visible twice, or
// "". A screen contains sequences to draw, but none that hides text or sets this title.
func hiddenIn(text string, screen bool) string {
	for _, bad := range []string{"\u202e", "\u200b", "\x1b]2;owned", "\x1b[8m", "‹U+2039›"} {
		if strings.Contains(text, bad) {
			return bad
		}
	}
	for _, r := range text {
		if !screen && (unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)) {
			return string(r)
		}
	}
	return ""
}

// hiddenPair returns a pair with hidden characters in every text.
func hiddenPair(session string) *assistant.Pair {
	return &assistant.Pair{
		ID: session + hidden, Session: session, Topic: "topic" + hidden, Author: "author" + hidden, Model: "offline/" + hidden,
		UserText: "question " + hidden, AssistantText: "answer " + hidden + " [[tool:0]]", Reasoning: "thought " + hidden, Notice: "notice " + hidden,
		ErrorCode: "net", ErrorMessage: "error " + hidden, State: assistant.PairError, Flag: true,
		Attachments: []assistant.Attachment{{Name: "file" + hidden, Type: "text/plain", Size: 3}},
		ToolCalls:   []assistant.ToolCall{{ID: "c" + hidden, Name: "tool" + hidden, Arguments: json.RawMessage(`{"a":"\u202e` + "\u200b" + `"}`), Result: &assistant.ToolResult{Message: "result " + hidden, Hint: "hint " + hidden}}},
		Suggested:   &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "label" + hidden, Value: "value" + hidden}}},
		Variants:    []assistant.Variant{{ID: "v", AssistantText: "other " + hidden}},
	}
}

// newPoisonedOffice returns an office in which every text that winnow reads contains hidden characters: the rules,
// the names of files and the history.
func newPoisonedOffice(t *testing.T) *office {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("WINNOW_HOME", filepath.Join(dir, "home"))
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	o := &office{t: t, file: ".env"}
	o.write("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=\"q\x1b]2;owned\x07a\u202ed\u200bz,mini\u202e*\"\nWHITELIST_MODELS_OPENAI=a\u200bb\nOTHER='" + hidden + "'\n")
	for _, name := range []string{"notes" + hidden + ".txt", "plain.txt"} {
		o.must(os.WriteFile(name, []byte(hidden), 0o600))
	}
	o.app = newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	o.must(newRoot(o.app).ParseFlags([]string{"-m", "offline/rules"}))
	var err error
	o.p, err = o.app.openHub(o.app.ctx, serve.Limits{})
	o.must(err)
	hub := o.p.window.hub.Load()
	o.end = append(o.end, func() { o.must(hub.Close(context.WithoutCancel(t.Context()))); o.must(o.app.close()) })
	o.poison(t.Context(), o.p.store, dir)
	return o
}

// poison stores texts as another program might.
func (o *office) poison(ctx context.Context, store history.Store, dir string) {
	o.t.Helper()
	for id, about := range map[string]history.Session{
		"s1": {Model: "offline/rules", Folder: dir}, "s2": {Model: "offline/rules", Folder: dir}, "s3" + hidden: {Window: hidden, Folder: hidden, Model: hidden},
	} {
		about.ID = id
		o.must(store.Touch(ctx, about))
		o.must(store.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{hiddenPair(id)}}))
	}
	o.must(store.AddSent(ctx, "sent "+hidden))
	o.must(store.AddFilterLine(ctx, `c"line `+hidden+`"`))
	o.must(store.SaveFilter(ctx, "saved", `c"saved `+hidden+`"`))
	o.must(store.CreateTopic(ctx, "empty"+hidden))
}

// noneHidden fails if the output of exit contains hidden characters.
func (o *office) noneHidden(exit, text string) {
	o.t.Helper()
	if bad := hiddenIn(text, false); bad != "" || testing.Verbose() {
		o.t.Logf("%s has %q: %.2000s", exit, bad, text)
		if bad != "" {
			o.t.Fail()
		}
	}
}

func TestHiddenCharactersReachNoOutput(t *testing.T) {
	o := newPoisonedOffice(t)
	defer o.close()
	for _, args := range [][]string{
		{"rules", "add", "x" + hidden},
		{"rules", "list"},
		{"rules", "diff"},
		{"rules", "lint"},
		{"rules", "test"},
		{"rules", "test", "openai/" + hidden},
		{"rules", "covers", hidden, "x" + hidden},
		{"rules", "remove", "mini\u202e*"},
		{"rules", "diff"},
		{"rules", "save"},
		{"rules", "log"},
		{"rules", "check", "--where", hidden},
		{"models"},
		{"models", "--chat"},
		{"models", "--where", hidden},
		{"models", "--provider", hidden},
		{"history", "sessions"},
		{"history", "search", ""},
		{"history", "search", hidden},
		{"history", "check"},
		{"history", "export", "--format", "json"},
		{"history", "export", "--format", "md"},
		{"history", "export", "--format", "txt"},
		{"history", "export", "--format", "html"},
		{"checkpoints", "list"},
		{"checkpoints", "rollback", hidden},
		{"log"},
		{"doctor"},
		{"config", "show"},
		{"config", "check"},
		{"env", "set", "A" + hidden, "1"},
		{"ask", "-m", "offline/rules", "hide " + hidden},
		{"ask", "-m", "offline/rules", "what is shown? @plain.txt"},
		{"ask", "-m", hidden, "hi"},
		{hidden},
		{"--" + hidden},
		{"help", hidden},
	} {
		for _, all := range [][]string{args, append(slices.Clone(args), "--json")} {
			var out bytes.Buffer
			run(t.Context(), all, strings.NewReader(""), &out, &out)
			o.noneHidden(strings.Join(all, " "), out.String())
		}
	}
	var out bytes.Buffer
	typed := "/session\n/session 1\n/rules\n/filter x\n/filter all\n/model\n/rollback\n/pairs\n/pair\n/answer\n/save\n/status\nhide " + hidden + "\n/retry " + hidden + "\n/" + hidden + "\n/quit\n"
	run(t.Context(), []string{"--plain", "-m", "offline/rules", "--continue"}, strings.NewReader(typed), &out, &out)
	o.noneHidden("line mode", out.String())
}

func TestHiddenCharactersReachNoClient(t *testing.T) {
	o := newPoisonedOffice(t)
	defer o.close()
	server, err := api.New(api.Options{Hub: o.p.window.hub.Load(), Token: "the-token-of-this-test", Address: "127.0.0.1:7777", Version: "test"})
	o.must(err)
	call := func(status int, method, path string, body map[string]string) {
		t.Helper()
		raw, err := json.Marshal(body)
		o.must(err)
		req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7777"+path, bytes.NewReader(raw))
		req.Header.Set("Authorization", "Bearer the-token-of-this-test")
		req.Header.Set("Content-Type", "application/json")
		resp := httptest.NewRecorder()
		server.Handler().ServeHTTP(resp, req)
		if resp.Code != status {
			t.Fatalf("%s %s: %d %s", method, path, resp.Code, resp.Body)
		}
		o.noneHidden(method+" "+path, resp.Body.String()+fmt.Sprint(resp.Header()))
	}
	call(201, "POST", "/v1/sessions", map[string]string{"session": "s1"})
	call(200, "POST", "/v1/sessions/s1/messages", map[string]string{"text": "hide " + hidden})
	call(200, "POST", "/v1/window/edit", map[string]string{"session": "s1", "tool": "clear_all_ignore_rules"})
	for _, path := range []string{"/v1/sessions", "/v1/window", "/v1/sessions/s1", "/v1/sessions/s1/pairs", "/v1/sessions/s1/pairs/1/answers", "/v1/sessions/s1/request", "/v1/sessions/s1/checkpoints", "/v1/window/plan?session=s1"} {
		call(200, "GET", path, nil)
	}
	call(422, "POST", "/v1/window/edit", map[string]string{"session": "s1", "tool": hidden})
	call(404, "GET", "/v1/sessions/"+url.PathEscape("s3"+hidden), nil)
}

// shows waits until the screen shows a text.
type shows string

func TestHiddenCharactersReachNoScreen(t *testing.T) {
	o := newPoisonedOffice(t)
	defer o.close()
	copied := make(chan string, 100)
	s, err := o.p.window.hub.Load().Open(t.Context(), serve.Join{User: "anna" + hidden, Session: "s2"})
	o.must(err)
	o.must(s.Workspace.SaveDraft(t.Context(), history.Draft{Text: "draft " + hidden}))
	clock := tuitest.NewClock()
	model, err := tui.New(tui.Options{
		Context: t.Context(), Now: clock.Now, Clipboard: func(text string) error { copied <- text; return nil },
		Parts:          tui.Parts{Source: usecase.Source{Work: s.Workspace, Served: s, History: o.p.store}, Pane: rules.New(rules.Options{})},
		ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
	})
	o.must(err)
	v := tuitest.Start(t, model, 160, 50, tuitest.Options{Clock: clock})
	defer v.Quit()
	v.Wait(" INPUT ")
	v.WaitGone("loading…")
	for _, mode := range []struct {
		goTo []any // keys that lead here from the previous mode
		name string
		keys []any // the screen is checked after each key
	}{
		{nil, "INPUT", []any{tuitest.CtrlC, "@n", tuitest.Esc, tuitest.CtrlC, tuitest.Up, tuitest.Up, tuitest.CtrlC, hidden, tuitest.CtrlC}},
		{nil, "INPUT", []any{tuitest.Key("ctrl+l"), shows("favourite"), tuitest.Esc, tuitest.Key("ctrl+t"), shows("Topic of"), tuitest.Esc, tuitest.F2, shows("BUDGET"), tuitest.Esc}},
		{[]any{tuitest.Tab}, "VIEW", []any{"z", "v", "v", "y", shows("copied"), "Y", ">", shows("2/2"), "y", "<", shows("1/2"), "x", shows("sections"), "y", "t", shows("no topic"), tuitest.Esc, "y"}},
		{[]any{"f"}, "COMMAND", []any{"t'", tuitest.Tab, tuitest.Key("ctrl+u"), "u'", tuitest.Tab, tuitest.Key("ctrl+u"), "m'", tuitest.Tab, tuitest.Key("ctrl+u"), "@", tuitest.Tab, tuitest.Key("ctrl+u"), tuitest.Up, tuitest.Key("ctrl+u")}},
		{[]any{tuitest.Esc, "i", tuitest.ShiftTab}, "PANE", []any{"j", tuitest.Enter, tuitest.Esc, "x", "]", "]", "]", tuitest.CtrlS}},
	} {
		v.Type(mode.goTo...)
		v.Wait(" " + mode.name + " ")
		for _, key := range mode.keys {
			if text, waits := key.(shows); waits {
				v.Wait(string(text))
			} else {
				v.Type(key)
			}
			if bad := hiddenIn(v.Title()+string(v.Output()), true); bad != "" {
				t.Fatalf("after %q in %s the screen has %q:\n%s", key, mode.name, bad, v.Frame())
			}
		}
	}
	for range 5 { // the texts copied with y and Y
		o.noneHidden("the clipboard", <-copied)
	}
}

// Every front end shows foreign names in the plan of a save once made visible, so that no two plans look alike.
func TestEveryFrontEndShowsWhatASaveHides(t *testing.T) {
	t.Chdir(t.TempDir())
	o := newOffice(t)
	defer o.close()
	filter := o.p.window.filter
	shown := map[string]string{}
	for _, name := range at.ForeignNames(300, rand.Uint64()) {
		spelled := string(safetext.Visible(name))
		if !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsMark) || style.Width(spelled) != utf8.RuneCountInString(spelled) {
			continue // not every front end takes any bytes, and the lines of the screen are read by their columns
		}
		if len(shown) == 6 || !strings.ContainsAny(spelled, "‹›") || style.Width(spelled) > 50 { // a question breaks a wider line
			continue
		}
		o.savers["http"].edit(name)
		if len(filter.Diff()) == 0 {
			continue // refused
		}
		want := string(safetext.Visible("IGNORE_MODELS_OPENAI=w0," + name))
		for _, by := range []string{"http", "screen", "mcp", "rules"} {
			plan := o.savers[by].plan()
			if plan == nil {
				t.Fatalf("%s shows no plan for %q", by, name)
			}
			if line := plan.lines["IGNORE_MODELS_OPENAI"]; line != want {
				t.Errorf("%s shows %q as %q, want %q", by, name, line, want)
			}
		}
		if other, same := shown[want]; same {
			t.Errorf("%q and %q are both shown as %q", other, name, want)
		}
		shown[want] = name
		o.savers["rules"].(*commandLine).run("rules", "discard", "--plan", o.savers["rules"].plan().digest)
	}
	if len(shown) < 6 {
		t.Errorf("only %d names were accepted", len(shown))
	}
}

// A line that the user may confirm is not cut, unlike other lines on standard error.
func TestLinesToConfirmAreWhole(t *testing.T) {
	var screen bytes.Buffer
	a := &app{stderr: &screen, redactor: &safetext.Redactor{}, environ: []string{"LANG=C.UTF-8"}}
	line := strings.Repeat("rule,", maxLine) + "\u202eend"
	printLines(a, []string{"one", "", line})
	if got, want := screen.String(), "one\n"+string(safetext.Clean(line))+"\n"; got != want {
		t.Errorf("printed %d bytes, want %d", len(got), len(want))
	}
	if a.printErr("%s", line); strings.HasSuffix(screen.String(), "end\n") {
		t.Error("another line is not cut")
	}
}
