package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/safetext"
)

// TestAnAnswerKeepsToOneProcessor checks that ask uses one processor while an answer streams, and the usual number
// before and afterwards.
func TestAnAnswerKeepsToOneProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	during := make(chan int, 1)
	server := assistanttest.NewServer(t, func(x *assistanttest.Exchange) {
		during <- runtime.GOMAXPROCS(0)
		assistanttest.Text("hello")(x)
	})
	status, out, fault := inFolder(t, "", "--base-url", server.URL, "-m", "model", "ask", "hi")
	if status != 0 || out != "hello\n" {
		t.Fatalf("status %d, %q: %s", status, out, fault)
	}
	if n := <-during; n != 1 {
		t.Errorf("an answer streams on %d processors", n)
	}
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("%d processors afterwards, want 2", n)
	}
}

// A model that the endpoint does not list may exist all the same; ask says which endpoint gets the message.
func TestAskSaysThatAModelIsNotListed(t *testing.T) {
	ownFolder(t)
	server := assistanttest.NewServer(t).Models(assistanttest.ModelList("m1"))
	t.Setenv("OPENAI_BASE_URL", server.URL)
	for _, c := range []struct {
		args []string
		said bool
	}{
		{[]string{"models", "--chat"}, false},
		{[]string{"ask", "-m", "m1", "hi"}, false},
		{[]string{"ask", "-m", "nosuch", "hi"}, true},
		{[]string{"ask", "-m", "openai/nosuch", "hi"}, false}, // the user names the endpoint
	} {
		var fault bytes.Buffer
		if status := run(t.Context(), c.args, nil, io.Discard, &fault); status != 0 {
			t.Fatalf("%q: status %d: %s", c.args, status, fault.String())
		}
		if got := strings.Contains(fault.String(), "openai does not list nosuch; using it anyway"); got != c.said {
			t.Errorf("%q says that the model is not listed: %v, want %v: %s", c.args, got, c.said, fault.String())
		}
	}
}

// Several endpoints may list the model that -m names; ask says which of them answers, and how to ask another.
func TestAskSaysWhichEndpointAnswers(t *testing.T) {
	ownFolder(t)
	settings := ""
	for _, name := range []string{"first", "second"} {
		server := assistanttest.NewServer(t, assistanttest.Text(name)).Models(assistanttest.ModelList("both", "only-"+name))
		settings += fmt.Sprintf("[[provider]]\nname = %q\nbase_url = %q\n", name, server.URL)
	}
	if err := errors.Join(os.MkdirAll("home/config", 0o700), os.WriteFile("home/config/config.toml", []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, said string }{
		{"models --chat", ""},
		{"ask -m both hi", "several endpoints list both: first answers; to use another: -m second/both\n"},
		{"ask -m second/both hi", ""},
		{"ask -m only-second hi", ""},
		{"--provider second ask -m both hi", ""}, // the user names the endpoint
	} {
		var fault bytes.Buffer
		if status := run(t.Context(), strings.Fields(c.args), nil, io.Discard, &fault); status != 0 || !strings.HasSuffix(fault.String(), c.said) || c.said == "" && strings.Contains(fault.String(), "several") {
			t.Errorf("%s: status %d, it says %q, want %q", c.args, status, fault.String(), c.said)
		}
	}
}

// Files that the arguments name go with the message, pictures as pictures; piped text names none.
func TestAskSendsTheFilesThatItsArgumentsName(t *testing.T) {
	ownFolder(t)
	picture := historytest.Picture(t, "cat.png", 8)
	if err := os.WriteFile("cat.png", picture.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	sent := make(chan string, 2)
	server := assistanttest.NewServer(t, func(x *assistanttest.Exchange) {
		sent <- string(x.Body)
		assistanttest.Text("a cat")(x)
	})
	ask := func(stdin io.Reader, words ...string) string {
		t.Helper()
		var fault bytes.Buffer
		args := append([]string{"--base-url", server.URL, "-m", "model", "ask"}, words...)
		if status := run(t.Context(), args, stdin, &bytes.Buffer{}, &fault); status != 0 {
			t.Fatalf("%q: status %d: %s", words, status, fault.String())
		}
		return <-sent
	}
	data := base64.StdEncoding.EncodeToString(picture.Data)
	if body := ask(nil, "what is @cat.png?"); !strings.Contains(body, data) {
		t.Errorf("the picture is not in the request %s", body)
	}
	if body := ask(strings.NewReader("@cat.png"), "what is this?"); strings.Contains(body, data) || !strings.Contains(body, "@cat.png") {
		t.Errorf("piped text names a file: %s", body)
	}
}

// announcingServer responds with a text and a tool call, then with a sentence.
func announcingServer(t *testing.T, text string) *assistanttest.Server {
	t.Helper()
	call := assistanttest.TextEvent(text) + assistanttest.CallEvent(0, "a", "add_ignore_rule", addMini) + assistanttest.FinishEvent("tool_calls") + assistanttest.Done
	return assistanttest.NewServer(t, assistanttest.Raw("text/event-stream", call), assistanttest.Text("All done."))
}

// containsInSequence fails unless text contains all parts in this order.
func containsInSequence(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in %q", part, text)
		}
		rest = after
	}
}

// printed is what ask prints for a turn.
type printed struct {
	out, beside string
	answers     []bool
	err         error
}

func printTurn(flags []string, events ...assistant.Event) (p printed) {
	var out, beside bytes.Buffer
	a := &app{stdout: &out, stderr: &beside, redactor: &safetext.Redactor{}}
	a.flags.json = slices.Contains(flags, "--json")
	answer := func(_ string, yes bool) error { p.answers = append(p.answers, yes); return nil }
	p.err = a.printTurn(slices.Values(events), answer, slices.Contains(flags, "--yes"), nil)
	p.out, p.beside = out.String(), strings.TrimSuffix(strings.ReplaceAll(beside.String(), "\n", "|"), "|")
	return p
}

// The parts of an answer between two calls are separated by one blank line.
func TestThePartsOfAnAnswer(t *testing.T) {
	for pieces, want := range map[string]string{
		"Hello\x00 you":                        "Hello you\n",
		"Hello\n\x00\n\n":                      "Hello\n",
		"\n\n":                                 "",
		"one\x00|\x00two":                      "one\n\ntwo\n",
		"one\n\n\x00|\x00\n\n\x00|\x00\n\ntwo": "one\n\ntwo\n",
		"a\n\x00\n\n\n\x00b":                   "a\n\n\n\nb\n",
		"a\x1b\x00[2Jb":                        "ab\n",
	} {
		var all []assistant.Event
		var clean safetext.Cleaner
		for p := range strings.SplitSeq(pieces, "\x00") {
			if p == "|" {
				all = append(all, assistant.ToolStart{})
			} else {
				all = append(all, assistant.TextDelta{Text: clean.Write(p)})
			}
		}
		if got := printTurn(nil, append(all, assistant.Complete{})...); got.out != want || got.err != nil {
			t.Errorf("%q: %q, %v; want %q", pieces, got.out, got.err, want)
		}
	}
}

func TestHowAnAskedTurnEnds(t *testing.T) {
	confirm := assistant.ConfirmRequest{Tool: saveTool, Diff: "+ a\n"}
	for name, c := range map[string]struct {
		events      []assistant.Event
		beside, err string // "" if there is nothing
	}{
		"a locked window":          {[]assistant.Event{assistant.ToolComplete{Tool: "add_rule", ErrorCode: assistant.CodeLocked, Message: "held by another"}}, "Tool: add_rule, failed (locked)", "locked: held by another"},
		"a save that failed":       {[]assistant.Event{assistant.ToolComplete{Tool: saveTool, ErrorCode: "io", Message: "full"}}, "Tool: save_changes, failed (io)", "the rules were not saved: full"},
		"a save that was declined": {[]assistant.Event{assistant.ToolComplete{Tool: saveTool, ErrorCode: assistant.CodeDeclined, Message: "no"}}, "Tool: save_changes: no", ""},
		"a save":                   {[]assistant.Event{assistant.ToolComplete{Tool: saveTool, Success: true}}, "Tool: save_changes, done", ""},
		"a failure":                {[]assistant.Event{assistant.Error{Code: "io", Message: "broken"}}, "", "io: broken"},
		"cancelled":                {[]assistant.Event{assistant.Cancelled{}}, "", "context canceled"},
		"a question":               {[]assistant.Event{confirm}, "Notice: save_changes needs --yes here: the rules stay staged; winnow rules diff shows them, winnow rules save saves them", errPending.Error()},
	} {
		events := append(c.events, assistant.Complete{})
		if _, running := c.events[0].(assistant.ToolComplete); !running && name != "a question" {
			events = c.events
		}
		got := printTurn(nil, events...)
		if got.beside != c.beside || (got.err == nil) != (c.err == "") || got.err != nil && !strings.HasPrefix(got.err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got.beside, got.err, c.beside, c.err)
		}
		if got := printTurn([]string{"--json"}, events...); got.beside != "" || strings.Count(got.out, "\n") != len(events) || (got.err == nil) != (c.err == "") {
			t.Errorf("%s: for a program it prints %q, and %q beside, %v", name, got.out, got.beside, got.err)
		}
	}
	offered := assistant.Complete{}
	offered.Payload.Values = []assistant.SuggestedValue{{Label: "hide o3: would hide 1 model", Value: "hide o3"}, {Label: "Save", Value: "save the changes"}}
	if got := printTurn(nil, offered); got.beside != "Suggestion: hide o3: would hide 1 model|Suggestion: save the changes" || got.err != nil {
		t.Errorf("what is offered: %+v", got)
	}
	if got := printTurn(nil, assistant.CheckpointCreated{}, offered); got.beside != "" {
		t.Errorf("after a change it offers %q", got.beside)
	}
	if got := printTurn([]string{"--yes"}, confirm, assistant.Complete{}); !slices.Equal(got.answers, []bool{true}) || got.err != nil || got.beside != "" {
		t.Errorf("with --yes: %+v", got)
	}
	if got := printTurn(nil, confirm, assistant.Complete{}); !slices.Equal(got.answers, []bool{false}) {
		t.Errorf("without: %+v", got)
	}
}

// JSON events contain nothing that a terminal would interpret, and a failed write stops the turn once.
func TestEventsAreSafeToShow(t *testing.T) {
	got := printTurn([]string{"--json"}, assistant.TextDelta{Text: "a\u202e\u009b2J"}, assistant.Complete{})
	if !strings.Contains(got.out, `a\u202e\u009b2J`) || got.err != nil {
		t.Errorf("it prints %+v", got)
	}
	for _, json := range []bool{false, true} {
		a, stopped := &app{stdout: failing{}, redactor: &safetext.Redactor{}}, 0
		a.flags.json = json
		word := assistant.TextDelta{Text: "word "}
		err := a.printTurn(slices.Values([]assistant.Event{word, word, assistant.Complete{}}), nil, false, func() { stopped++ })
		if !errors.Is(err, io.ErrClosedPipe) || stopped != 1 {
			t.Errorf("json %v: %v, stopped %d times", json, err, stopped)
		}
	}
}

// failing is a writer that always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// In a pipe, text and tool lines are on separate lines and in order.
func TestToolLinesInAPipe(t *testing.T) {
	server := announcingServer(t, "I add one rule:")
	ownFolder(t)
	var both bytes.Buffer
	if status := run(t.Context(), []string{"--base-url", server.URL, "-m", "x", "--provider", "openai", "ask", "hide"}, nil, &both, &both); status != 0 {
		t.Fatalf("status %d: %s", status, both.String())
	}
	containsInSequence(t, "\n"+both.String(), "\nI add one rule:\n", "Tool: add_ignore_rule *mini*", "\n\nAll done.\n")
}

// If the reader stops after the beginning of an answer, the program ends without a message. What was received stays
// in the history as interrupted, and the next start reports no problem.
func TestAskEndsQuietlyWhenTheReaderIsGone(t *testing.T) {
	gone := assistanttest.NewGate()
	server := assistanttest.NewServer(t, assistanttest.Stalled(assistanttest.TextEvent("first line\nmore"), gone, assistanttest.TextEvent(" and more")))
	ownFolder(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = reader.Read(make([]byte, 10)) // the first line has arrived
		reader.Close()
		gone.Open()
	}()
	var said bytes.Buffer
	status := run(t.Context(), []string{"--base-url", server.URL, "-m", "x", "--window", "history", "ask", "hi"}, nil, writer, &said)
	writer.Close()
	if status != statusPipe || said.String() != "" {
		t.Errorf("status %d, %q", status, said.String())
	}
	var pairs bytes.Buffer
	if status := run(t.Context(), []string{"history", "export"}, nil, &pairs, &said); status != 0 {
		t.Fatal(said.String())
	}
	if text := pairs.String(); !strings.Contains(text, `first line\nmore`) || !strings.Contains(text, "interrupted") {
		t.Errorf("the history has %s", text)
	}
}

// What is printed about an interrupted answer depends on whether its tools have changed anything.
func TestAnInterruptedAnswerSaysWhatStays(t *testing.T) {
	call := assistanttest.Calls(assistanttest.Call{ID: "a", Name: "add_ignore_rule", Arguments: addMini})
	cut := assistanttest.CutAfter(assistanttest.TextEvent("half an ans"))
	for name, c := range map[string]struct {
		replies   []assistanttest.Reply
		want, not string
	}{
		"nothing ran": {[]assistanttest.Reply{cut}, "ask again; no tool has changed anything", "are kept"},
		"a rule":      {[]assistanttest.Reply{call, cut}, "are kept: winnow rules diff shows them", "no tool"},
	} {
		status, _, fault := inFolder(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n", "--base-url", assistanttest.NewServer(t, c.replies...).URL, "-m", "x", "ask", "hide")
		if status != statusFailed || !strings.Contains(fault, c.want) || strings.Contains(fault, c.not) {
			t.Errorf("%s: status %d, %q; want %q", name, status, fault, c.want)
		}
	}
}

// A failed save makes the command fail, whatever the model says about it.
func TestAFailedSaveIsAFailure(t *testing.T) {
	call := func(id, name, arguments string) assistanttest.Reply {
		return assistanttest.Calls(assistanttest.Call{ID: id, Name: name, Arguments: arguments})
	}
	save := func(x *assistanttest.Exchange) {
		// Another program puts another rule in the place of the same one.
		if err := os.WriteFile(".env", []byte("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=gpt-5*,o3\n"), 0o600); err != nil {
			t.Error(err)
		}
		call("b", "save_changes", "{}")(x)
	}
	server := assistanttest.NewServer(t, call("a", "remove_ignore_rule", `{"pattern":"o1"}`), call("c", "add_ignore_rule", addMini), save, assistanttest.Text("All is saved."))
	status, _, fault := inFolder(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=o1,o3\n", "--base-url", server.URL, "-m", "x", "ask", "--yes", "hide mini and save")
	if status != statusFailed || !strings.Contains(fault, "the rules were not saved") {
		t.Errorf("status %d, want %d: %s", status, statusFailed, fault)
	}
}

// modelShelf is a source of models for a window.
type modelShelf []string

func (s modelShelf) Cached(provider string) (modelfilter.ModelList, bool) {
	return modelfilter.ModelList{Provider: provider, IDs: s, Source: "catalogue"}, provider == "openai"
}

func (s modelShelf) Models(_ context.Context, provider string) (modelfilter.ModelList, error) {
	list, _ := s.Cached(provider)
	return list, nil
}

func (s modelShelf) MarkSeen(string) error { return nil }

// TestTheExamplesOfTheWelcomeAreUnderstood checks the suggested requests against the model that answers if nothing is
// configured.
func TestTheExamplesOfTheWelcomeAreUnderstood(t *testing.T) {
	const keys = "OPENAI_API_KEY=sk-test-1\nANTHROPIC_API_KEY=sk-test-2\nOPENROUTER_API_KEY=sk-test-3\n"
	asked := map[string]bool{}
	check := func(window, env, example string) {
		if asked[window+example] {
			return
		}
		asked[window+example] = true
		t.Run(example, func(t *testing.T) {
			status, answer, fault := inFolder(t, env, "--window", window, "-m", "offline/rules", "ask", example)
			if status != 0 || answer == "" || strings.Contains(answer, "understood") || strings.Contains(answer, "did not understand") {
				t.Errorf("status %d, %s%s", status, answer, fault)
			}
		})
	}
	for _, example := range (&program{window: &journaledWindow{}}).examples(t.Context()) {
		check("history", keys, example)
	}
	for _, rules := range []string{"", "IGNORE_MODELS_OPENAI=*mini*\n"} {
		for _, models := range []modelShelf{nil, {"openai/gpt-5", "openai/gpt-5-mini"}, {"openai/gpt-4o-audio-preview", "openai/text-embedding-3-small"}, {"openai/embedding-4", "openai/gpt-audio"}} {
			path := filepath.Join(t.TempDir(), ".env")
			if err := os.WriteFile(path, []byte(keys+rules), 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := modelfilter.Open(t.Context(), modelfilter.Options{EnvFile: path, Models: models})
			if err != nil {
				t.Fatal(err)
			}
			for change := range 2 {
				if change > 0 {
					if _, err := w.Add(modelfilter.Allow, "gpt-5*"); err != nil {
						t.Fatal(err)
					}
				}
				for _, example := range (&program{window: &journaledWindow{filter: w}}).examples(t.Context()) {
					check("model-filter", keys+rules, example)
				}
			}
		}
	}
	if len(asked) < 8 {
		t.Errorf("only %d requests were checked", len(asked))
	}
}

// listingStore lists sessions and does nothing else.
type listingStore struct {
	history.Store
	sessions []history.Session
}

func (s listingStore) Sessions(context.Context) ([]history.Session, error) { return s.sessions, nil }

// The history window suggests a search that finds something, and none without messages.
func TestTheHistoryWindowSuggestsItsOwnMessages(t *testing.T) {
	for want, sessions := range map[string][]history.Session{
		"list the topics": {{Title: "Kubernetes ingress"}}, // no messages
		"find kubernetes": {{Title: "why me", Pairs: 1}, {Title: "a Kubernetes ingress?", Pairs: 2}, {Title: "invoices", Pairs: 2}},
		"find größe":      {{Title: "die Größe 12345678", Pairs: 1}},
	} {
		p := &program{window: &journaledWindow{}, store: listingStore{sessions: sessions}}
		if got := p.examples(t.Context()); got[0] != want {
			t.Errorf("of %v it suggests %q, want %q first", sessions, got, want)
		}
	}
}
