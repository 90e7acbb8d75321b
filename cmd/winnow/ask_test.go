package main

import (
	"runtime"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

// written notes each write.
type written struct {
	lines []string
	each  chan string // told of each; nil tells nobody
}

func (w *written) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	if w.each != nil {
		w.each <- string(p)
	}
	return len(p), nil
}

// TestABurstIsWrittenAtOnce: tokens that came together cost one write, and one
// that comes alone is written before the next is waited for.
func TestABurstIsWrittenAtOnce(t *testing.T) {
	burst := make(chan assistant.Event, 100)
	var want strings.Builder
	for range cap(burst) {
		burst <- assistant.TextDelta{Text: "word "}
		want.WriteString("word ")
	}
	close(burst)
	out := &written{}
	a := &app{stdout: out, redactor: safetext.NewRedactor(nil)}
	if err := a.follow(nil, burst, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(out.lines, ""); got != want.String()+"\n" || len(out.lines) > 2 {
		t.Errorf("%d writes of %q", len(out.lines), got)
	}

	slow, each := make(chan assistant.Event), make(chan string)
	a = &app{stdout: &written{each: each}, redactor: safetext.NewRedactor(nil)}
	done := make(chan error)
	go func() { done <- a.follow(nil, slow, false) }()
	for _, word := range []string{"one", " two", " three"} {
		slow <- assistant.TextDelta{Text: word}
		if got := <-each; got != word {
			t.Errorf("wrote %q, want %q", got, word)
		}
	}
	close(slow)
	if got := <-each; got != "\n" {
		t.Errorf("the end is %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAnAnswerKeepsToOneProcessor: while it streams, no other one is woken up for it;
// before and after it is as usual.
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
