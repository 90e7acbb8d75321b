package rules

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

func TestLineEditing(t *testing.T) {
	for name, c := range map[string]struct{ keys, want, cursor string }{
		"typing":        {"ab界c", "ab界c", ""},
		"in the middle": {"ac<left>b", "abc", "c"},
		"home and end":  {"bc<home>a<end>d", "abcd", ""},
		"backspace":     {"a界<backspace>b", "ab", ""},
		"delete":        {"abc<home><delete>", "bc", "bc"},
		"ends":          {"<backspace><delete><left>a<right><right><delete>", "a", ""},
		"ctrl+u":        {"abc<left><ctrl+u>", "c", "c"},
		"ctrl+w":        {"gpt-4-turbo*<ctrl+w>", "gpt-4-", ""},
		"ctrl+w twice":  {"gpt-4-turbo*<ctrl+w><ctrl+w>", "gpt-", ""},
		"unknown keys":  {"a<f5><insert>b", "ab", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, "", someModels)
			b.do("add-ignore")
			b.keys(c.keys)
			if got := b.line.text(); got != c.want {
				t.Errorf("text = %q, want %q", got, c.want)
			}
			if got := string(b.line.runes[b.line.at:]); got != c.cursor {
				t.Errorf("after the cursor: %q, want %q", got, c.cursor)
			}
		})
	}
}

func TestTypedTextComesBack(t *testing.T) {
	b := open(t, "", someModels)
	b.do("add-ignore")
	b.keys("typed*")
	b.Escape()
	if b.line.text() != "" || !b.Typing() {
		t.Fatalf("esc left %q, typing %v", b.line.text(), b.Typing())
	}
	b.Escape()
	if b.Typing() {
		t.Fatal("esc does not leave an empty line")
	}
	b.do("add-ignore")
	b.keys("<up>")
	if b.line.text() != "typed*" || b.line.preview.pattern != "typed*" {
		t.Errorf("up brought %q", b.line.text())
	}
}

func TestPasteIntoALine(t *testing.T) {
	b := open(t, "", someModels)
	b.do("add-ignore")
	b.Key("", "a\r\nb\tc\x1b[31m\x00")
	if got := b.line.text(); got != "a b c[31m" {
		t.Errorf("text = %q", got)
	}
	b.Key("", strings.Repeat("x", 2*maxPattern))
	if n := len(b.line.runes); n != maxPattern {
		t.Errorf("the line holds %d characters, want %d", n, maxPattern)
	}
}

func TestLineShowsTheCursorAndWhatHides(t *testing.T) {
	in := newPaint(style.New(style.Options{Unicode: true}))
	var e editor
	e.set("a界\u200bb")
	for e.at = len(e.runes); ; e.at-- {
		for w := 1; w < 20; w++ {
			if line := e.view(w, &in); ansi.StringWidth(line) != w {
				t.Errorf("cursor %d: view(%d) = %q, %d cells", e.at, w, line, ansi.StringWidth(line))
			} else if !strings.Contains(line, "\x1b[7") && !strings.Contains(line, ";7") {
				t.Errorf("cursor %d: view(%d) = %q shows no cursor", e.at, w, line)
			}
		}
		if e.at == 0 {
			break
		}
	}
	if line := ansi.Strip(e.view(30, &in)); !strings.Contains(line, "‹U+200B›") {
		t.Errorf("the line hides something: %q", line)
	}
}
