package tui

import (
	"context"
	"errors"
	"image/color"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/checkpoint"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// slow is a model that takes its time: reasoning, text, a tool, text.
type slow struct{}

func (slow) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	parts := []llm.Part{
		llm.Reasoning{Text: "hm"},
		llm.Text{Text: "# So\n\n```go\nx\n```\n"},
		llm.Text{Text: "words"},
		llm.End{Calls: []llm.Call{{ID: "a", Name: "add_word", Arguments: `{"word":"x"}`}}, Finish: "tool_calls"},
	}
	if req.Messages[len(req.Messages)-1].Role == llm.RoleTool {
		parts = []llm.Part{llm.Text{Text: "done SUGGESTED_VALUES: {\"values\":[{\"label\":\"a\",\"value\":\"b\"}]}"}, llm.End{Finish: "stop"}}
	}
	return func(yield func(llm.Part, error) bool) {
		for _, p := range parts {
			select {
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case <-time.After(40 * time.Millisecond):
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// bench is a model whose commands run beside it, in a bubble where time costs nothing.
type bench struct {
	*Model
	msgs    chan tea.Msg
	hasQuit bool   // a tea.QuitMsg has come
	updated func() // called after each update; nil is nothing
}

func newBench(t *testing.T) *bench {
	t.Helper()
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "test", Model: slow{}, Known: []llm.ModelInfo{{ID: "test/slow", Context: 600, Known: true, Tools: true}}}); err != nil {
		t.Fatal(err)
	}
	journal, err := checkpoint.Open(t.TempDir()+"/j/log", checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	session, err := assistant.NewSession(registry, assistant.Options{Model: "test/slow", Window: at.NewWindow("one"), Journal: journal})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Context: t.Context(), Parts: partsOf(session, nil, nil, nil), ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Unicode: true, Profile: style.NoColor}},
		Clipboard: func(string) error { return errors.New("none here") },
	}
	opts.Examples = []string{"do it"}
	m, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	b.start(m.Init())
	b.start(m.resize(60, 16))
	b.settle()
	return b
}

// start runs a command beside the model.
func (b *bench) start(cmd tea.Cmd) {
	if cmd != nil {
		go func() { b.msgs <- cmd() }()
	}
}

// settle takes the messages that are there once everybody waits.
func (b *bench) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-b.msgs:
			b.take(msg)
		default:
			b.View()
			return
		}
	}
}

func (b *bench) take(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			b.start(c)
		}
		return
	}
	if _, quit := msg.(tea.QuitMsg); quit {
		b.hasQuit = true
	}
	_, cmd := b.Update(msg)
	if b.updated != nil {
		b.updated()
	}
	b.start(cmd)
}

func (b *bench) press(k tea.KeyPressMsg) {
	b.take(k)
	b.settle()
}

// keyOf makes a key of a byte: what terminals send, and then some.
func keyOf(c byte) tea.KeyPressMsg {
	named := []tea.KeyPressMsg{
		{Code: tea.KeyEscape},
		{Code: tea.KeyEnter},
		{Code: tea.KeyTab},
		{Code: tea.KeyUp},
		{Code: tea.KeyDown},
		{Code: tea.KeyBackspace},
		{Code: tea.KeyF1},
		{Code: tea.KeyF2},
		{Code: tea.KeyF3},
		{Code: tea.KeyPgUp},
		{Code: tea.KeyPgDown},
		{Code: tea.KeyHome},
		{Code: tea.KeyEnd},
		{Code: tea.KeyTab, Mod: tea.ModShift},
		{Code: tea.KeyEnter, Mod: tea.ModCtrl},
		{Code: tea.KeyEnter, Mod: tea.ModAlt},
		{Code: tea.KeySpace, Text: " "},
	}
	switch {
	case int(c) < len(named):
		return named[c]
	case c >= ' ' && c < 0x7f:
		return tea.KeyPressMsg{Code: rune(c), Text: string(rune(c))}
	case c >= 0x80 && c < 0x80+26:
		return tea.KeyPressMsg{Code: rune(c-0x80) + 'a', Mod: tea.ModCtrl}
	case c >= 0xb0 && c < 0xba:
		return tea.KeyPressMsg{Code: rune(c-0xb0) + '0', Mod: tea.ModAlt}
	}
	return tea.KeyPressMsg{Code: 0x6f22, Text: "漢"}
}

// outset is where a run of keys begins. The first byte picks it.
type outset struct {
	name    string
	fixture bool   // with a pane and a history, else a plain chat
	keys    string // from INPUT, in the alphabet of keyOf
}

var outsets = []outset{
	{name: "plain chat"},
	{name: "conversation, VIEW", fixture: true, keys: "\x02"},
	{name: "turn that has begun", fixture: true, keys: "go\x0e"},
	{name: "turn with a question", fixture: true, keys: "go\x0e" + strings.Repeat("\xf0", 20)},
	{name: "pane, line for a pattern", fixture: true, keys: "\x0dhgpt-5"},
	{name: "pane, unsaved rules", fixture: true, keys: "\x0dx"},
	{name: "palette over the filter line", fixture: true, keys: "\x02f\x06"},
	{name: "settings", fixture: true, keys: "\x8fsettings\x01"},
	{name: "models, while a turn runs", fixture: true, keys: "go\x0e\x8b"},
	{name: "search line, queued message", fixture: true, keys: "go\x0eand\x0e\x02/needle"},
	{name: "line for the name of a topic", fixture: true, keys: "\x93\xc0"},
	{name: "narrow screen, pane", fixture: true, keys: "\xe1\x0d"},
}

// steady is the model of a fixture that takes its time: a rule, a save that asks,
// and words.
type steady struct{}

func (steady) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	words := []llm.Part{llm.Reasoning{Text: "hm"}, llm.Text{Text: "# So\n\n"}, llm.Text{Text: "words"}}
	end := llm.End{Finish: "tool_calls", Calls: []llm.Call{
		{ID: "a", Name: "add_ignore_rule", Arguments: `{"pattern":"gpt-5*"}`}, {ID: "b", Name: "save_changes", Arguments: `{}`},
	}}
	if req.Messages[len(req.Messages)-1].Role == llm.RoleTool {
		end = llm.End{Finish: "stop"}
	}
	return func(yield func(llm.Part, error) bool) {
		for _, p := range append(words, end) {
			select {
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case <-time.After(40 * time.Millisecond):
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// steadyFixture is a program in a bubble, with two pairs and a pane. Without answers the
// model is steady.
func steadyFixture(t *testing.T, answers ...at.Answer) (*bench, *fixture) {
	t.Helper()
	var model llm.Model = steady{}
	if answers != nil {
		model = at.NewScript(answers...)
	}
	m, d := newProgram(t, setup{
		model: model, pairs: []assistant.Pair{told("question", "an answer with a needle"), failed("another")},
		change: func(o *Options) { o.Now = nil }, // the time of the bubble, so that what is typed is no paste
	})
	b := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
	b.start(m.Init())
	b.start(m.resize(120, 32))
	b.settle()
	return b, d
}

// begin opens the program of an outset.
func (o outset) begin(t *testing.T) *bench {
	t.Helper()
	if !o.fixture {
		return newBench(t)
	}
	b, _ := steadyFixture(t)
	for _, c := range []byte(o.keys) {
		b.event(c)
	}
	return b
}

// event gives the program what a byte stands for: a key, or what else can
// happen to a terminal.
func (b *bench) event(c byte) {
	widths := [...]int{120, 80, 99, 40, 200, 100, 41, 66}
	switch {
	case c == 0xc0:
		b.press(tea.KeyPressMsg{Code: 'n', Mod: tea.ModAlt})
	case c > 0xc0 && c < 0xd0: // in a hurry: nothing is waited for
		for range c & 7 {
			b.take([]tea.Msg{
				tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: 'x', Text: "x"}, tea.KeyPressMsg{Code: tea.KeyEnter},
			}[int(c>>3)%3])
		}
		b.settle()
	case c == 0xd0, c == 0xd1:
		b.take(tea.PasteMsg{Content: "pasted\r\n漢字\x1b[31m words"})
		b.settle()
	case c > 0xd1 && c < 0xe0:
		b.take(tea.MouseClickMsg(tea.Mouse{X: int(c&7) * 15, Y: int(c) & 31, Button: tea.MouseLeft}))
		b.settle()
	case c >= 0xe0 && c < 0xe8:
		b.start(b.resize(widths[c-0xe0], 12+4*int(c-0xe0)))
		b.settle()
	case c == 0xf0, c == 0xf1: // in the bubble: what streams moves on
		time.Sleep(50 * time.Millisecond)
		b.settle()
	case c == 0xf2:
		b.take(tea.MouseWheelMsg(tea.Mouse{X: 10, Y: 10, Button: tea.MouseWheelUp}))
		b.settle()
	case c == 0xf3:
		b.take(tea.BackgroundColorMsg{Color: color.White})
		b.settle()
	default:
		time.Sleep(20 * time.Millisecond) // as a hand types, not as a paste comes
		b.press(keyOf(c))
	}
}

func TestOutsetsBeginWhereTheySay(t *testing.T) {
	for i, want := range []func(*bench) bool{
		func(b *bench) bool { return b.plainChat() && b.mode == keymap.Input },
		func(b *bench) bool { return b.mode == keymap.View && b.conv.chat.Len() == 2 },
		func(b *bench) bool { return b.turn.running },
		func(b *bench) bool { return b.turn.running && b.top() == overlay.Confirm },
		func(b *bench) bool { return b.mode == keymap.Pane && b.pane.Typing() },
		func(b *bench) bool { return b.mode == keymap.Pane && b.pane.Status().Unsaved > 0 },
		func(b *bench) bool { return b.mode == keymap.Command },
		func(b *bench) bool { return b.top() == overlay.Settings },
		func(b *bench) bool { return b.turn.running && b.top() == overlay.Models },
		func(b *bench) bool { return b.turn.running && b.conv.search.Active && b.parts.queuedText() != "" },
		func(b *bench) bool { return b.top() == overlay.TopicName },
		func(b *bench) bool { return b.mode == keymap.Pane && b.layout.Chat.Empty() },
	} {
		t.Run(outsets[i].name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := outsets[i].begin(t)
				if !want(b) {
					t.Errorf("%q lead elsewhere:\n%s", outsets[i].keys, plainFrame(b.View().Content))
				}
				b.leave()
			})
		})
	}
}

// top is the kind of the topmost overlay; -1 is none.
func (b *bench) top() overlay.Kind {
	if _, kind, ok := b.overlay.Top(); ok {
		return kind
	}
	return -1
}

// leave lets turns and timers of the bubble end.
func (b *bench) leave() {
	for range 10 { // a turn that is cancelled may be followed by one that waited
		b.opts.Work.Session().Cancel()
		b.settle()
	}
	time.Sleep(time.Minute)
	b.settle()
}

func FuzzKeys(f *testing.F) {
	for i, seed := range []string{
		"hello\x0e", "\x00\x00jkzG/ab\x01nN", "\x86\x86\x00", "\x8f\x01", "hi\x0e\x00", "\xb1\x0e  \x00\x00d", "a\x0eb\x0ec\x0e\x83\x83",
		"\x00r\x00e\x01", "\x87\x04\x01\x00", "do\x0e             \x87\x04\x01", "\x00t\x00*0123axvyYc1", "\x02\x02ijk\x00", "\x13\x13", "q\x0e\x91\x91",
		"\x8f\x06\x8b\x93", "\xd0\xd5\xe3\xf2\xf3\xd9", "\x07\x08\x00\x08", "ip]]/x\x01D", "\xf0\xf0\xf0y\xf0n\x92", "fs1|\x01:export", "@a\x02",
		"\xc6\xcf\x00", "\xce\xcf", "\x00\xce\xcf\xc6", "x\xc7\xce",
	} {
		f.Add(byte(i), []byte(seed))
		f.Add(byte(i+5), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, at byte, keys []byte) {
		if len(keys) > 60 {
			keys = keys[:60]
		}
		o := outsets[int(at)%len(outsets)]
		synctest.Test(t, func(t *testing.T) {
			b := o.begin(t)
			for i, c := range keys {
				b.event(c)
				if i%3 == 0 {
					b.event(0xf0)
				}
			}
			for range 4 {
				b.press(tea.KeyPressMsg{Code: tea.KeyEscape})
			}
			if b.overlay.Open() || b.opts.Work.Session().Busy() {
				t.Errorf("%s, %q and four Esc: overlay %v (%d), turn %v", o.name, keys, b.overlay.Open(), b.top(), b.opts.Work.Session().Busy())
			}
			time.Sleep(20 * time.Millisecond) // as a hand types
			for range 2 {
				if b.mode != keymap.Input {
					b.press(tea.KeyPressMsg{Code: tea.KeyEnter})
				}
			}
			if b.mode != keymap.Input {
				t.Errorf("%s, %q, four Esc and two Enter lead to %s", o.name, keys, b.mode)
			}
			b.leave()
		})
	})
}
