package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// rig is a server over a window of words, whose journal is a file.
type rig struct {
	t       *testing.T
	window  *at.Window
	journal string
	// over is what a server opens instead of window; nil is window.
	over   func() assistant.Window
	store  *assistant.MemoryStore
	locked error // what opening the window to write fails with
	opts   Options
	open   int // windows that are open
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, window: at.NewWindow("one"), journal: filepath.Join(t.TempDir(), "journal"), store: &assistant.MemoryStore{}}
	r.opts = Options{
		Open: r.openWindow, History: r.store, Version: "1", HowToAllow: "ask the user",
		Resources: map[string]string{"words": "the words"},
	}
	t.Cleanup(func() {
		if r.open != 0 {
			t.Errorf("%d windows are still open", r.open)
		}
		if err := r.window.Fault(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) openWindow(_ context.Context, write bool) (Opened, error) {
	if write && r.locked != nil {
		return Opened{}, r.locked
	}
	j, err := checkpoint.Open(r.journal, checkpoint.Options{ReadOnly: !write, Wait: time.Millisecond})
	if err != nil {
		return Opened{}, err
	}
	r.open++
	var w assistant.Window = r.window
	if r.over != nil {
		w = r.over()
	}
	return Opened{Window: w, Journal: j, Use: func(*assistant.Session) {}, Close: func() error { r.open--; return j.Close() }}, nil
}

// connect connects a client, which answers questions by elicit; nil cannot be asked.
func (r *rig) connect(elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)) *sdk.ClientSession {
	r.t.Helper()
	server, err := newServer(r.t.Context(), r.opts)
	r.must(err)
	here, there := sdk.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(context.WithoutCancel(r.t.Context()), there) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "Test Agent/2", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: elicit}).Connect(r.t.Context(), here, nil)
	r.must(err)
	r.t.Cleanup(func() {
		_ = c.Close()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			r.t.Logf("the server ended with %v", err)
		}
	})
	return c
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// call calls a tool and decodes its result.
func (r *rig) call(c *sdk.ClientSession, tool string, args any) assistant.ToolResult {
	r.t.Helper()
	res, err := c.CallTool(r.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	r.must(err)
	var out assistant.ToolResult
	text := res.Content[0].(*sdk.TextContent).Text
	r.must(json.Unmarshal([]byte(text), &out))
	data, err := json.Marshal(res.StructuredContent)
	var same assistant.ToolResult
	if r.must(err); json.Unmarshal(data, &same) != nil || same.Message != out.Message || res.IsError == out.Success {
		r.t.Errorf("%s: text %s, data %s, error %v", tool, text, data, res.IsError)
	}
	return out
}

func (r *rig) words(want ...string) {
	r.t.Helper()
	if got := r.window.Words(); !slices.Equal(got, want) {
		r.t.Errorf("words = %q, want %q", got, want)
	}
}

// checkpoints are those of the journal.
func (r *rig) checkpoints() []checkpoint.Checkpoint {
	r.t.Helper()
	j, err := checkpoint.Open(r.journal, checkpoint.Options{ReadOnly: true})
	r.must(err)
	return j.List("")
}

func TestEveryToolIsListedWithItsHintsAndCalled(t *testing.T) {
	r := newRig(t)
	c := r.connect(nil)
	if in := c.InitializeResult(); in.Instructions != r.window.Describe() || in.ServerInfo.Name != "winnow" {
		t.Errorf("initialize = %+v", in)
	}
	list, err := c.ListTools(t.Context(), nil)
	r.must(err)
	var listed, want []string
	for _, tool := range r.window.Tools() {
		want = append(want, tool.Name)
	}
	want = append(want, "list_checkpoints", "roll_back")
	args := map[string]any{"add_word": map[string]any{"word": "two"}}
	r.window.Slow = at.NewGate()
	r.window.Slow.Open()
	for _, tool := range list.Tools {
		listed = append(listed, tool.Name)
		reads := !slices.Contains([]string{"add_word", "save_words", "fail", "panic", "roll_back"}, tool.Name)
		if output, err := json.Marshal(tool.OutputSchema); err != nil || !strings.Contains(string(output), `"success"`) {
			t.Errorf("%s: the output schema is %s, %v", tool.Name, output, err)
		}
		if tool.Annotations.ReadOnlyHint != reads || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s: hints %+v", tool.Name, tool.Annotations)
		}
		result := r.call(c, tool.Name, args[tool.Name])
		fails := map[string]string{"fail": assistant.CodeFailed, "panic": assistant.CodePanic, "save_words": assistant.CodeDeclined, "roll_back": assistant.CodeInvalidArguments}
		if result.ErrorCode != fails[tool.Name] {
			t.Errorf("%s: %+v", tool.Name, result)
		}
	}
	slices.Sort(want)
	if slices.Sort(listed); !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}
}

func TestAWriteIsACheckpointThatARollbackTakesBack(t *testing.T) {
	r := newRig(t)
	c := r.connect(nil)
	r.call(c, "list_words", nil)
	if n := len(r.checkpoints()); n != 0 {
		t.Errorf("%d checkpoints after a read", n)
	}
	if got := r.call(c, "add_word", map[string]any{"word": "two"}); !got.Success || got.Message != "added two" {
		t.Fatalf("add_word: %+v", got)
	}
	r.words("one", "two")
	made := r.checkpoints()
	last := made[len(made)-1]
	if last.Session != "mcp-test-agent-2" || last.Kind != checkpoint.KindTurn || last.Description != "added two" || last.Undoes() != "added two" {
		t.Errorf("checkpoint %+v", last)
	}
	pairs, err := r.store.Load(t.Context(), []int64{last.PairSeq})
	r.must(err)
	if len(pairs) != 1 || pairs[0].Model != "mcp/test-agent-2" || len(pairs[0].ToolCalls) != 1 {
		t.Errorf("pairs %+v", pairs)
	}
	w, err := r.openWindow(t.Context(), true)
	r.must(err)
	defer func() { r.must(w.Close()) }()
	intent, err := w.Journal.BeginRollback(last.ID, checkpoint.RollbackOptions{Scope: checkpoint.ScopeBoth})
	r.must(err)
	r.must(r.window.Apply(intent.State))
	r.must(w.Journal.Finish(intent))
	r.words("one")
}

func TestInvalidCallsChangeNothing(t *testing.T) {
	r := newRig(t)
	c := r.connect(nil)
	for _, args := range []any{nil, map[string]any{}, map[string]any{"wrod": "two"}, map[string]any{"word": 2}, []string{"two"}, "two"} {
		if got := r.call(c, "add_word", args); got.Success || got.ErrorCode != assistant.CodeInvalidArguments || got.Hint == "" {
			t.Errorf("add_word(%v) = %+v", args, got)
		}
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "remove_everything"}); err == nil {
		t.Error("a tool that does not exist was called")
	}
	r.words("one")
	if got := r.checkpoints(); len(got) > 1 {
		t.Errorf("checkpoints %+v", got)
	}
}

func TestASaveAsksTheUser(t *testing.T) {
	var asked string
	answer := func(action string, yes bool) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked = req.Params.Message
			return &sdk.ElicitResult{Action: action, Content: map[string]any{"confirm": yes}}, nil
		}
	}
	for name, test := range map[string]struct {
		elicit    func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)
		allow     bool
		confirm   assistant.ConfirmPolicy
		asks, yes bool
	}{
		"accepted":                {elicit: answer("accept", true), asks: true, yes: true},
		"accepted without a tick": {elicit: answer("accept", false), asks: true},
		"declined":                {elicit: answer("decline", true), asks: true},
		"cancelled":               {elicit: answer("cancel", true), asks: true},
		"cannot be asked":         {},
		"allowed by the flag":     {allow: true, yes: true},
		"asked despite the flag":  {elicit: answer("decline", true), allow: true, asks: true},
		"never asked":             {elicit: answer("decline", true), confirm: assistant.ConfirmNever, yes: true},
	} {
		t.Run(name, func(t *testing.T) {
			asked = ""
			r := newRig(t)
			r.opts.AllowSave, r.opts.Settings.Confirm = test.allow, test.confirm
			c := r.connect(test.elicit)
			r.call(c, "add_word", map[string]any{"word": "two"})
			got := r.call(c, "save_words", nil)
			if got.Success != test.yes || (asked != "") != test.asks {
				t.Errorf("save_words = %+v; asked %q", got, asked)
			}
			if test.asks && !strings.Contains(asked, "-one\n+one two") {
				t.Errorf("the question %q has no difference", asked)
			}
			if !test.yes && got.ErrorCode != assistant.CodeDeclined {
				t.Errorf("code %q", got.ErrorCode)
			}
			if hint := got.Hint == r.opts.HowToAllow; hint != (!test.yes && !test.asks) {
				t.Errorf("hint %q", got.Hint)
			}
			if saved := slices.Contains(r.window.Saved(), "two"); saved != test.yes {
				t.Errorf("saved %q", r.window.Saved())
			}
		})
	}
}

// applying is a window whose saves are applied by what never ends.
type applying struct {
	*at.Window
	began *time.Time // of what applies the newest save; zero before there is one
}

var _ assistant.Applier = applying{}

func (a applying) Tools() []assistant.Tool {
	tools := a.Window.Tools()
	for i := range tools {
		if tools[i].Name == "save_words" {
			run := tools[i].Run
			tools[i].Run = func(ctx context.Context, args json.RawMessage) assistant.ToolResult {
				*a.began = time.Now()
				return run(ctx, args)
			}
		}
	}
	return tools
}

func (a applying) Applied() (out assistant.Applied) {
	if !a.began.IsZero() {
		out = assistant.Applied{State: assistant.AppliedRunning, Message: "Running it.", Began: *a.began}
	}
	return out
}

func (a applying) WaitApplied(ctx context.Context) assistant.Applied {
	<-ctx.Done()
	return a.Applied()
}

func (applying) CancelApplied() {}

// A save waits for what applies it, but not for ever; other calls do not wait.
func TestASaveWaitsForWhatAppliesIt(t *testing.T) {
	r := newRig(t)
	var began time.Time
	r.over = func() assistant.Window { return applying{r.window, &began} }
	r.opts.AllowSave, r.opts.ApplyWait = true, time.Millisecond
	c := r.connect(nil)
	if got := r.call(c, "add_word", map[string]any{"word": "two"}); got.Data != nil && strings.Contains(fmt.Sprint(got.Data), "applied") {
		t.Errorf("an edit: %+v", got)
	}
	got := r.call(c, "save_words", nil)
	if !got.Success || !strings.Contains(fmt.Sprint(got.Data), "state:running") || !strings.Contains(got.Hint, "show_applied") {
		t.Errorf("a save: %+v", got)
	}
	if got := r.call(c, "count_words", nil); strings.Contains(fmt.Sprint(got.Data), "applied") {
		t.Errorf("a call afterwards: %+v", got)
	}
}

func TestWhatChangedSinceTheQuestionIsNotSaved(t *testing.T) {
	r := newRig(t)
	c := r.connect(func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		if err := r.window.Type("three"); err != nil {
			t.Error(err)
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	})
	r.call(c, "add_word", map[string]any{"word": "two"})
	if got := r.call(c, "save_words", nil); got.ErrorCode != assistant.CodePlanChanged || !strings.Contains(got.Message, "+one two three") {
		t.Errorf("save_words = %+v", got)
	}
	if saved := r.window.Saved(); !slices.Equal(saved, []string{"one"}) {
		t.Errorf("saved %q", saved)
	}
}

func TestALockedWindowIsReadAndNotWritten(t *testing.T) {
	r := newRig(t)
	other, err := checkpoint.Open(r.journal, checkpoint.Options{Program: "winnow ask"})
	r.must(err)
	unlock, err := other.Lock(t.Context())
	r.must(err)
	c := r.connect(nil)
	if got := r.call(c, "list_words", nil); !got.Success {
		t.Errorf("list_words = %+v", got)
	}
	if got := r.call(c, "add_word", map[string]any{"word": "two"}); got.ErrorCode != assistant.CodeLocked || !strings.Contains(got.Message, "winnow ask (process ") || got.Hint == "" {
		t.Errorf("add_word = %+v", got)
	}
	r.words("one")
	unlock()
	r.must(other.Close())
	r.locked = errors.New("disk full")
	if got := r.call(c, "add_word", map[string]any{"word": "two"}); got.ErrorCode != assistant.CodeFailed {
		t.Errorf("add_word = %+v", got)
	}
}

func TestResources(t *testing.T) {
	r := newRig(t)
	c := r.connect(nil)
	list, err := c.ListResources(t.Context(), nil)
	r.must(err)
	if len(list.Resources) != 1 || list.Resources[0].URI != "winnow://words" {
		t.Fatalf("resources %+v", list.Resources)
	}
	r.must(r.window.Type("t\u009bwo"))
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "winnow://words"})
	r.must(err)
	if got := res.Contents[0].Text; !strings.HasPrefix(got, `["one","t`) || strings.ContainsRune(got, 0x9b) {
		t.Errorf("words = %q", got)
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "file:///etc/passwd"}); err == nil {
		t.Error("a file was read")
	}
}

// room is a window with a position and more tools. Each request opens a new one.
type room struct {
	*at.Window
	place string
}

func (w *room) Context() (any, error) {
	return map[string]any{"place": w.place, "words": w.Words()}, nil
}

func (w *room) Position() (json.RawMessage, error) { return json.Marshal(w.place) }

func (w *room) SetPosition(position json.RawMessage) error { return json.Unmarshal(position, &w.place) }

const secret = "sk-secret-0123456789"

func (w *room) Tools() []assistant.Tool {
	type to struct {
		Place string `json:"place"`
	}
	type none struct{}
	clear := assistant.NewTool("clear_words", "Remove all words.", func(context.Context, none) (string, error) {
		return "at " + w.place, w.Apply(json.RawMessage(`{"words":[]}`))
	})
	clear.Write, clear.Destructive, clear.Idempotent = true, true, true
	return append(w.Window.Tools(), clear,
		assistant.NewTool("go", "Go to a place.", func(_ context.Context, a to) (string, error) {
			w.place = a.Place
			return "at " + w.place, nil
		}),
		assistant.NewTool("leak", "Returns what it must not.", func(context.Context, none) (assistant.ToolResult, error) {
			r := assistant.OK("the key is "+secret, map[string]any{"key": secret})
			r.Payload = &assistant.Payload{ID: "p", Type: "card", Summary: "a card"}
			return r, nil
		}),
		assistant.NewTool("long", "Returns a lot.", func(context.Context, none) (assistant.ToolResult, error) {
			return assistant.OK(strings.Repeat("m", maxText), strings.Repeat("d\"\u009b", maxText)), nil
		}))
}

// newRoom is a rig whose server opens rooms.
func newRoom(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.over = func() assistant.Window { return &room{Window: r.window, place: "start"} }
	r.opts.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }
	return r
}

func TestDestructiveToolsAreNamed(t *testing.T) {
	list, err := newRoom(t).connect(nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		hints, clears := tool.Annotations, tool.Name == "clear_words" || tool.Name == "roll_back"
		if idempotent := clears || tool.Name == "list_checkpoints"; *hints.DestructiveHint != clears || hints.IdempotentHint != idempotent {
			t.Errorf("%s: destructive %v, idempotent %v", tool.Name, *hints.DestructiveHint, hints.IdempotentHint)
		}
	}
}

// states is a store with the states of sessions.
type states struct {
	assistant.MemoryStore
	all map[string]json.RawMessage
}

func (s *states) SaveQueued(context.Context, string, assistant.Prompt) error { return nil }
func (s *states) ClearQueued(context.Context, string) error                  { return nil }
func (s *states) Queued(context.Context, string) (p assistant.Prompt, found bool, err error) {
	return p, false, nil
}

func (s *states) SetSessionState(_ context.Context, id string, state json.RawMessage) error {
	s.all[id] = state
	return nil
}

func (s *states) SessionState(_ context.Context, id string) (json.RawMessage, error) {
	return s.all[id], nil
}

func TestThePositionLastsAsLongAsTheConnection(t *testing.T) {
	r := newRoom(t)
	r.opts.History = &states{all: map[string]json.RawMessage{}}
	r.opts.Resources = map[string]string{"place": "where it is"}
	c := r.connect(nil)
	for _, step := range []struct {
		tool, place, want string
	}{{"clear_words", "", "start"}, {"go", "door", "door"}, {"clear_words", "", "door"}, {"go", "window", "window"}, {"clear_words", "", "window"}} {
		args := map[string]any{}
		if step.place != "" {
			args["place"] = step.place
		}
		if got := r.call(c, step.tool, args); got.Message != "at "+step.want {
			t.Errorf("%s(%s) = %+v, want it at %s", step.tool, step.place, got, step.want)
		}
		res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "winnow://place"})
		if r.must(err); res.Contents[0].Text != `"`+step.want+`"` {
			t.Errorf("the resource is %s, want %s", res.Contents[0].Text, step.want)
		}
	}
	if got := r.call(r.connect(nil), "clear_words", nil); got.Message != "at start" {
		t.Errorf("another connection is %s", got.Message)
	}
}

func TestSecretsAndPayloadsAreLeftOut(t *testing.T) {
	r := newRoom(t)
	var asked string
	c := r.connect(func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked = req.Params.Message
		return &sdk.ElicitResult{Action: "decline"}, nil
	})
	if got := r.call(c, "leak", nil); got.Message != "the key is [redacted]" || fmt.Sprint(got.Data) != "map[key:[redacted]]" || got.Payload != nil {
		t.Errorf("leak = %+v", got)
	}
	r.must(r.window.Type(secret))
	if r.call(c, "save_words", nil); asked == "" || strings.Contains(asked, secret) {
		t.Errorf("the question is %q", asked)
	}
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "winnow://words"})
	if r.must(err); strings.Contains(res.Contents[0].Text, secret) {
		t.Errorf("the words are %s", res.Contents[0].Text)
	}
}

func TestALongResultIsCut(t *testing.T) {
	r := newRoom(t)
	got := r.call(r.connect(nil), "long", nil)
	data, _ := got.Data.(map[string]any)
	if !got.Success || len(got.Message) > maxText/8 || data["truncated"] != true {
		t.Errorf("%d bytes of a message, data %.100v", len(got.Message), got.Data)
	}
}

func TestProgressIsReported(t *testing.T) {
	r := newRig(t)
	server, err := newServer(t.Context(), r.opts)
	r.must(err)
	here, there := sdk.NewInMemoryTransports()
	go func() { _ = server.Run(t.Context(), there) }()
	got := make(chan string, 2)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "agent"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) { got <- n.Params.Message },
	}).Connect(t.Context(), here, nil)
	r.must(err)
	defer c.Close()
	params := &sdk.CallToolParams{Name: "progress"}
	params.SetProgressToken("token")
	_, err = c.CallTool(t.Context(), params)
	r.must(err)
	for _, want := range []string{"half of it", "all of it"} {
		select {
		case message := <-got:
			if message != want {
				t.Errorf("progress %q, want %q", message, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no progress %q", want)
		}
	}
}

// begin opens a connection.
const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"

// answers is what a server writes. Seen is closed when that contains each of until.
type answers struct {
	strings.Builder
	until []string
	seen  chan struct{}
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.Builder.Write(p)
	if len(a.until) > 0 {
		a.until = slices.DeleteFunc(a.until, func(text string) bool { return strings.Contains(a.String(), text) })
		if len(a.until) == 0 {
			close(a.seen)
		}
	}
	return n, err
}

// exchange sends messages after the first ones of a connection, and returns all answers
// until they contain some texts, or the connection has ended. A server whose input ends
// before does not answer any more.
func (r *rig) exchange(messages string, until ...string) string {
	in, send := io.Pipe()
	out := &answers{until: until, seen: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = in.CloseWithError(cmp.Or(Run(r.t.Context(), in, out, r.opts), io.EOF))
	}()
	go func() { _, _ = io.WriteString(send, begin+messages) }()
	select {
	case <-out.seen:
	case <-ended:
	case <-time.After(time.Minute):
	}
	_ = send.Close()
	<-ended
	return out.String()
}

// FuzzMessages sends any bytes as messages: the call that follows is answered, what the
// server wrote are whole lines of JSON, and only a valid call changes the window.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{", "[", "null\n", "[]\n", "{}\n", `{"jsonrpc":"2.0"}` + "\n", `{"jsonrpc":"2.0","id":{},"method":1}` + "\n", "\xff\xfe\n",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call"}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_word"}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_word","arguments":[["word"]]}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_word","arguments":{"word":"` + strings.Repeat("x", 100) + `"}}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_words","inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}},"requestState":"x"}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"winnow://\u001b"}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":null}` + "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, messages string) {
		r := newRig(t)
		out := r.exchange(messages+"\n"+`{"jsonrpc":"2.0","id":"end","method":"tools/call","params":{"name":"list_words"}}`+"\n", `"id":"end"`)
		if !strings.Contains(out, `"id":"end"`) {
			t.Errorf("the connection ended: %s", out)
		}
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
				t.Errorf("wrote %q", line)
			}
		}
		if len(r.window.Words()) > 1 && !strings.Contains(messages, "word") {
			t.Errorf("words %q", r.window.Words())
		}
		if len(r.window.Saved()) > 1 {
			t.Error("saved without a question")
		}
	})
}

// FuzzCall calls any tool with any arguments: there is one answer, and only a valid call
// of a tool that adds a word adds that word. Nothing is saved.
func FuzzCall(f *testing.F) {
	for _, args := range []string{
		`{"word":"two"}`, `{}`, `null`, `[]`, `""`, `{"word":null}`, `{"word":"a","word":"b"}`, `{"Word":"x"}`, `{"word":"\ud800"}`, `{"word":1e999}`,
		`{"word":"` + strings.Repeat("x", 1000) + `"}`, `{"":{"":{"":[]}}}`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		f.Add("add_word", args)
		f.Add("save_words", args)
	}
	f.Add("", "{}")
	f.Add("list_words\x00", `{"_meta":{"progressToken":1}}`)
	f.Fuzz(func(t *testing.T, tool, args string) {
		name, err := json.Marshal(tool)
		if err != nil || !json.Valid([]byte(args)) || tool == "slow" { // which waits for a gate
			t.Skip()
		}
		r := newRig(t)
		var compact bytes.Buffer
		r.must(json.Compact(&compact, []byte(args))) // a message is a line
		out := r.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%s,"arguments":%s}}`+"\n", name, &compact), `"id":2,`)
		if n := strings.Count(out, `"id":2,`); n != 1 {
			t.Errorf("%d answers: %s", n, out)
		}
		var valid struct{ Word *string }
		words := r.window.Words()
		if added := words[1:]; len(added) > 0 && (tool != "add_word" || json.Unmarshal([]byte(args), &valid) != nil || len(added) > 1 || valid.Word == nil || added[0] != *valid.Word) {
			t.Errorf("%s(%s) added %q", tool, args, added)
		}
		if len(r.window.Saved()) > 1 {
			t.Error("saved without a question")
		}
	})
}

func TestCheckpointsAreListedAndGoneBackTo(t *testing.T) {
	r := newRig(t)
	c := r.connect(nil)
	r.call(c, "add_word", map[string]any{"word": "two"})
	r.call(c, "add_word", map[string]any{"word": "three"})
	got := r.call(c, "list_checkpoints", map[string]any{"limit": 2})
	data := got.Data.(map[string]any)
	all := data["checkpoints"].([]any)
	first, newest := all[0].(map[string]any)["id"].(string), data["newest"].(string)
	if len(all) != 2 || newest != all[1].(map[string]any)["id"] || all[1].(map[string]any)["own"] != true {
		t.Fatalf("list_checkpoints = %+v", got)
	}
	if got := r.call(c, "roll_back", map[string]any{"checkpoint": first, "newest": first}); got.ErrorCode != assistant.CodePlanChanged {
		t.Errorf("roll_back with an old basis = %+v", got)
	}
	r.words("one", "two", "three")
	if got := r.call(c, "roll_back", map[string]any{"checkpoint": first, "newest": newest}); !got.Success {
		t.Errorf("roll_back = %+v", got)
	}
	r.words("one")
}

func TestOtherAgentsStepsAreUndoneOnlyIfConfirmed(t *testing.T) {
	r := newRig(t)
	j, err := checkpoint.Open(r.journal, checkpoint.Options{})
	r.must(err)
	other, err := assistant.NewSession(&llm.Registry{}, assistant.Options{ID: "other", Window: r.window, Journal: j})
	r.must(err)
	r.must(other.Edit("typed", func() error { return r.window.Type("two") }))
	r.must(j.Close())
	c := r.connect(nil)
	list := r.call(c, "list_checkpoints", nil).Data.(map[string]any)
	for _, step := range list["checkpoints"].([]any) {
		if step.(map[string]any)["own"] != false {
			t.Errorf("the step of another session is listed as %v", step)
		}
	}
	newest := list["newest"]
	args := map[string]any{"checkpoint": newest, "newest": newest}
	if got := r.call(c, "roll_back", args); got.ErrorCode != "others_changed" || got.Hint == "" {
		t.Errorf("roll_back = %+v", got)
	}
	r.words("one", "two")
	args["confirmed"] = true
	if got := r.call(c, "roll_back", args); !got.Success {
		t.Errorf("roll_back = %+v", got)
	}
	r.words("one")
}

func TestOnlySomeToolsAreOffered(t *testing.T) {
	names := func(r *rig) (names []string) {
		list, err := r.connect(nil).ListTools(t.Context(), nil)
		r.must(err)
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		return names
	}
	r := newRig(t)
	r.opts.ReadOnly = true
	if got := names(r); !slices.Equal(got, []string{"count_words", "list_checkpoints", "list_words", "progress", "slow"}) {
		t.Errorf("to read, %q are offered", got)
	}
	r.opts.ReadOnly, r.opts.Tools = false, []string{"add_word", "list_words"}
	if got := names(r); !slices.Equal(got, []string{"add_word", "list_words"}) {
		t.Errorf("%q are offered", got)
	}
	r.opts.Tools = []string{"add_wrod"}
	_, err := newServer(t.Context(), r.opts)
	if unknown, ok := errors.AsType[*UnknownToolError](err); !ok || unknown.Name != "add_wrod" || !slices.Contains(unknown.Known, "add_word") {
		t.Errorf("a tool that does not exist: %v", err)
	}
}

func TestPromptsAndQueriesAreOffered(t *testing.T) {
	r := newRig(t)
	r.opts.Prompts = []Prompt{{Name: "review", Title: "Review", Description: "Look at all.", Text: "Read the words."}}
	r.opts.ExtraTools = func(w assistant.Window) []assistant.Tool {
		return []assistant.Tool{assistant.NewTool("first_word", "The first word.", func(context.Context, struct{}) (string, error) { return w.(*at.Window).Words()[0], nil })}
	}
	c := r.connect(nil)
	list, err := c.ListPrompts(t.Context(), nil)
	r.must(err)
	if len(list.Prompts) != 1 || list.Prompts[0].Title != "Review" {
		t.Errorf("prompts %+v", list.Prompts)
	}
	prompt, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "review"})
	r.must(err)
	if got := prompt.Messages[0].Content.(*sdk.TextContent).Text; got != "Read the words." {
		t.Errorf("the prompt is %q", got)
	}
	if got := r.call(c, "first_word", nil); !got.Success || got.Message != "one" {
		t.Errorf("first_word = %+v", got)
	}
	if got := r.call(c, "first_word", map[string]any{"x": 1}); got.ErrorCode != assistant.CodeInvalidArguments {
		t.Errorf("first_word(x) = %+v", got)
	}
}

// The question for the user of a client shows the plan as it is.
func TestAQuestionHidesNothing(t *testing.T) {
	s := &server{}
	at.CheckConfirmation(t, func(name string) string {
		ask := s.question(assistant.ConfirmRequest{Tool: "save", Diff: "+ " + safetext.Visible(name)})
		return ask.InputRequests[confirmID].(*sdk.ElicitParams).Message
	})
}
