package plain

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// spoken is what is written of text that comes in pieces of so many bytes.
func spoken(text string, size, width int) string {
	var b bytes.Buffer
	s := sentenceWriter{out: &printer{w: &b, redact: func(s string) string { return s }}, label: "Assistant", width: width}
	for text != "" {
		n := min(size, len(text))
		s.write(text[:n])
		text = text[n:]
	}
	s.end()
	return b.String()
}

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		width int
		want  string
	}{
		"a sentence":        {"Hello there.", 0, "Assistant: Hello there.\n"},
		"paragraphs":        {"One.\n\n\n\nTwo.  \n\n", 0, "Assistant: One.\n\nTwo.\n"},
		"nothing":           {" \n ", 0, ""},
		"wrapped":           {"one two three four", 20, "Assistant: one two\nthree four\n"},
		"a long word":       {"one " + strings.Repeat("x", 30), 20, "Assistant: one\n" + strings.Repeat("x", 30) + "\n"},
		"code is not":       {"```\na b c d e f g h i j k\n\n\n  x\n```\nlast word here now", 16, "Assistant: ```\na b c d e f g h i j k\n\n\n  x\n```\nlast word here\nnow\n"},
		"a table is not":    {"T:\n| a | b | c | d | e | f |\nlast", 16, "Assistant: T:\n| a | b | c | d | e | f |\nlast\n"},
		"wide sentences":    {"你好世界。你好世界。", 24, "Assistant: 你好世界。\n你好世界。\n"},
		"lists keep spaces": {"- a\n  - b", 40, "Assistant: - a\n  - b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.text)+1; size++ {
				if got := spoken(c.text, size, c.width); got != c.want {
					t.Fatalf("in pieces of %d: %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// TestSentencesComesBySentences: what is whole is there, what is not waits.
func TestSentencesComesBySentences(t *testing.T) {
	var b bytes.Buffer
	s := sentenceWriter{out: &printer{w: &b, redact: func(s string) string { return s }}, label: "A"}
	for _, step := range []struct{ piece, want string }{
		{"Five mod", ""},
		{"els. Are", "A: Five models."},
		{" 3.5 and ", "A: Five models."},
		{"4 (yes!) hidden? ", "A: Five models. Are 3.5 and 4 (yes!) hidden?"},
		{"Line\nnext", "A: Five models. Are 3.5 and 4 (yes!) hidden? Line"},
		{strings.Repeat(" word", maxHeld/4), "A: Five models. Are 3.5 and 4 (yes!) hidden? Line\nnext" + strings.Repeat(" word", maxHeld/4-1)},
	} {
		s.write(step.piece)
		if got := b.String(); got != step.want {
			t.Fatalf("after %q: %q, want %q", step.piece, got, step.want)
		}
	}
}

// BenchmarkSentencesWithoutEnds: text that never ends a word costs no more at its end.
func BenchmarkSentencesWithoutEnds(b *testing.B) {
	s := sentenceWriter{out: &printer{w: io.Discard, redact: func(s string) string { return s }}, label: "A", width: 80}
	for b.Loop() {
		s.write("xxxx")
	}
}

func FuzzSentences(f *testing.F) {
	for _, text := range []string{"One. Two\n\nthree", "```go\nx := 1\n```\nafter", "你好。\x1b[31m\u202e", "| a |\n", "a\tb  c \n d", strings.Repeat("x", maxWord+9), "a" + strings.Repeat(" ", 300) + "b"} {
		f.Add(text, 3, 20)
	}
	f.Fuzz(func(t *testing.T, text string, size, width int) {
		size, width = max(1, size%64), max(0, width%200)
		whole, pieces := spoken(text, len(text)+1, width), spoken(text, size, width)
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
	for l := range readLines(iotest.OneByteReader(strings.NewReader("a\r\n\n"+long+"\nlast")), func() time.Time { return at }) {
		if l.err != nil || l.at != at {
			t.Fatalf("%v at %v", l.err, l.at)
		}
		got = append(got, l.text)
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
	lines := readLines(in, time.Now)
	if l := <-lines; !errors.Is(l.err, errLongLine) || l.text != "" {
		t.Errorf("%d bytes, %v", len(l.text), l.err)
	}
	if l := <-lines; l.text != "next" {
		t.Errorf("then %q", l.text)
	}
}
