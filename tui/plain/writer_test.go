package plain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
)

// keep removes no key.
func keep(s string) string { return s }

// spoken is what is written of text that comes in pieces of so many bytes.
func spoken(text string, size int) string {
	var b bytes.Buffer
	s := NewWriter(&b, false, keep).Sentences("Assistant")
	var clean safetext.Cleaner
	for text != "" {
		n := min(size, len(text))
		_ = s.Write(clean.Write(text[:n]))
		text = text[n:]
	}
	_ = s.Write(clean.Flush())
	_ = s.Close()
	return b.String()
}

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
	}{
		"a sentence":        {"Hello there.", "Assistant: Hello there.\n"},
		"paragraphs":        {"One.\n\nTwo.  \n\n", "Assistant: One.\n\nTwo.\n"},
		"nothing":           {" \n ", ""},
		"code":              {"```\na. b\n\n\n  x\n```\nlast", "Assistant: ```\na. b\n\n\n  x\n```\nlast\n"},
		"wide sentences":    {"你好世界。你好世界。", "Assistant: 你好世界。你好世界。\n"},
		"lists keep spaces": {"- a\n  - b", "Assistant: - a\n  - b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.text)+1; size++ {
				if got := spoken(c.text, size); got != c.want {
					t.Fatalf("in pieces of %d: %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// TestSentencesComesBySentences: what is whole is there, what is not waits.
func TestSentencesComesBySentences(t *testing.T) {
	var b bytes.Buffer
	s := NewWriter(&b, false, keep).Sentences("A")
	for _, step := range []struct {
		piece safetext.Text
		want  string
	}{
		{"Five mod", ""},
		{"els. Are", "A: Five models."},
		{" 3.5 and ", "A: Five models."},
		{"4 (yes!) hidden? ", "A: Five models. Are 3.5 and 4 (yes!) hidden?"},
		{"Line\nnext", "A: Five models. Are 3.5 and 4 (yes!) hidden? Line"},
		{safetext.Clean(strings.Repeat(" word", maxPending/4)), "A: Five models. Are 3.5 and 4 (yes!) hidden? Line\nnext" + strings.Repeat(" word", maxPending/4-1)},
	} {
		_ = s.Write(step.piece)
		if got := b.String(); got != step.want {
			t.Fatalf("after %q: %q, want %q", step.piece, got, step.want)
		}
	}
}

// BenchmarkSentencesWithoutEnds: text that never ends a word costs no more at its end.
func BenchmarkSentencesWithoutEnds(b *testing.B) {
	s := NewWriter(io.Discard, false, keep).Sentences("A")
	for b.Loop() {
		_ = s.Write("xxxx")
	}
}

func FuzzSentences(f *testing.F) {
	for _, text := range []string{"One. Two\n\nthree", "```go\nx := 1\n```\nafter", "你好。\x1b[31m\u202e", "| a |\n", "a\tb  c \n d", strings.Repeat("x", maxWord+9), "a" + strings.Repeat(" ", 300) + "b"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, size%64)
		whole, pieces := spoken(text, len(text)+1), spoken(text, size)
		if whole != pieces {
			t.Fatalf("whole %q, in pieces of %d %q", whole, size, pieces)
		}
		for _, r := range whole {
			if unicode.IsControl(r) && r != '\n' {
				t.Fatalf("%U in %q", r, whole)
			}
		}
		if whole != "" && !strings.HasSuffix(whole, "\n") {
			t.Fatalf("no end: %q", whole)
		}
		if ansi.Strip(whole) != whole {
			t.Fatalf("a sequence in %q", whole)
		}
	})
}

func TestReadLines(t *testing.T) {
	at := time.Unix(1, 0)
	long := strings.Repeat("x", 1<<20)
	var got []string
	for l := range ReadLines(iotest.OneByteReader(strings.NewReader("a\r\n\n"+long+"\nlast")), func() time.Time { return at }) {
		if l.Err != nil || l.Read != at {
			t.Fatalf("%v at %v", l.Err, l.Read)
		}
		got = append(got, l.Text)
	}
	want := []string{"a", "", long, "last"}
	if len(got) != len(want) {
		t.Fatalf("%d lines", len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d differs", i)
		}
	}
}

func TestLineThatIsTooLong(t *testing.T) {
	in := strings.NewReader(strings.Repeat("x", maxLine+1) + "\nnext\n")
	lines := ReadLines(in, time.Now)
	if l := <-lines; !errors.Is(l.Err, ErrTooLong) || l.Text != "" {
		t.Errorf("%d bytes, %v", len(l.Text), l.Err)
	}
	if l := <-lines; l.Text != "next" {
		t.Errorf("then %q", l.Text)
	}
}

func TestInput(t *testing.T) {
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r := Input(ctx, in)
	go func() { _, _ = out.Write([]byte("whole")); _ = out.CloseWithError(errTest) }()
	got, err := io.ReadAll(r)
	if string(got) != "whole" || !errors.Is(err, errTest) {
		t.Errorf("read %q, %v", got, err)
	}
	in, _ = io.Pipe()
	r = Input(ctx, in)
	ended := make(chan error)
	go func() { _, err := r.Read(make([]byte, 1)); ended <- err }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a read ends with %v, want that of the context", err)
	}
}

var errTest = errors.New("of the test")
