package tui

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
	"winnow/tui/style"
)

// slow is a model that takes its time: reasoning, text, a tool, text.
type slow struct{}

func (slow) Stream(ctx context.Context, req assistant.Request) iter.Seq2[assistant.Part, error] {
	parts := []assistant.Part{
		assistant.Reasoning{Text: "hm"},
		assistant.Text{Text: "# So\n\n```go\nx\n```\n"},
		assistant.Text{Text: "words"},
		assistant.End{Calls: []assistant.Call{{ID: "a", Name: "add_word", Arguments: `{"word":"x"}`}}, Finish: "tool_calls"},
	}
	if req.Messages[len(req.Messages)-1].Role == assistant.RoleTool {
		parts = []assistant.Part{assistant.Text{Text: "done SUGGESTED_VALUES: {\"values\":[{\"label\":\"a\",\"value\":\"b\"}]}"}, assistant.End{Finish: "stop"}}
	}
	return func(yield func(assistant.Part, error) bool) {
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
	msgs chan tea.Msg
}

func newBench(t *testing.T) *bench {
	t.Helper()
	registry := &assistant.Registry{}
	if err := registry.Add(assistant.Provider{Name: "test", Model: slow{}, Known: []assistant.ModelInfo{{ID: "test/slow", Context: 600, Known: true, Tools: true}}}); err != nil {
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
	if err := session.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{
		Session: session, Fixed: true, Style: style.Options{Unicode: true, Colors: style.None}, Examples: []string{"do it"},
		Clipboard: func(string) error { return errors.New("none here") },
	})
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
	_, cmd := b.Update(msg)
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

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{
		"hello\x0e", "\x00\x00jkzG/ab\x01nN", "\x86\x86\x00", "\x8f\x01", "hi\x0e\x00", "\xb1\x0e  \x00\x00d", "a\x0eb\x0ec\x0e\x83\x83",
		"\x00r\x00e\x01", "\x87\x04\x01\x00", "do\x0e             \x87\x04\x01", "\x00t\x00*0123axvyYc1", "\x02\x02ijk\x00", "\x13\x13", "q\x0e\x91\x91",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, keys []byte) {
		if len(keys) > 60 {
			keys = keys[:60]
		}
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			for i, c := range keys {
				b.press(keyOf(c))
				if i%3 == 0 {
					time.Sleep(50 * time.Millisecond) // in the bubble: the stream moves on
					b.settle()
				}
			}
			for range 4 {
				b.press(tea.KeyPressMsg{Code: tea.KeyEscape})
			}
			if b.overlay.Open() || b.session.Busy() {
				t.Errorf("%q and four Esc: overlay %v, turn %v", keys, b.overlay.Open(), b.session.Busy())
			}
			for range 2 {
				if b.mode != modeInput {
					b.press(tea.KeyPressMsg{Code: tea.KeyEnter})
				}
			}
			if b.mode != modeInput {
				t.Errorf("%q, four Esc and two Enter lead to %s", keys, b.mode)
			}
			b.session.Cancel()
			b.settle()
			for b.turn.running { // let a turn that an Enter has begun end
				time.Sleep(time.Second)
				b.settle()
			}
			time.Sleep(time.Minute) // and every timer fire
			b.settle()
		})
	})
}
