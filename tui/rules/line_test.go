package rules

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
	"winnow/tui/style"
)

func TestLineEditing(t *testing.T) {
	for name, c := range map[string]struct{ keys, want, cursor string }{
		"typing":       {"ab界c", "ab界c", ""},
		"the middle":   {"ac<left>b", "abc", "c"},
		"ctrl+w":       {"gpt-4-turbo*<ctrl+w>", "gpt-4-", ""},
		"unknown keys": {"a<f5><insert>b", "ab", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, "", someModels)
			b.do("add-ignore")
			b.keys(c.keys)
			if got := b.input.Text(); got != c.want {
				t.Errorf("text = %q, want %q", got, c.want)
			}
			if _, got := b.input.Split(); got != c.cursor {
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
	if b.input.Text() != "" || !b.Typing() {
		t.Fatalf("esc left %q, typing %v", b.input.Text(), b.Typing())
	}
	b.Escape()
	if b.Typing() {
		t.Fatal("esc does not leave an empty line")
	}
	b.do("add-ignore")
	b.keys("<up>")
	if b.input.Text() != "typed*" || b.input.preview.pattern != "typed*" {
		t.Errorf("up brought %q", b.input.Text())
	}
}

func TestPasteIntoALine(t *testing.T) {
	b := open(t, "", someModels)
	b.do("add-ignore")
	b.Key("", "a\r\nb\tc\x1b[31m\x00")
	if got := b.input.Text(); got != "a b c[31m" {
		t.Errorf("text = %q", got)
	}
	b.Key("", strings.Repeat("x", 2*maxPattern))
	if n := b.input.Len(); n != maxPattern {
		t.Errorf("the line holds %d characters, want %d", n, maxPattern)
	}
}

func TestLineShowsTheCursorAndWhatHides(t *testing.T) {
	all := style.New(style.Options{Unicode: true})
	st := stylesOf(&all)
	var e textInput
	e.Set("a界\u200bb")
	for ; ; e.Do(keymap.EditLeft) {
		for w := 1; w < 20; w++ {
			if line := e.draw(w, &st); ansi.StringWidth(line) != w {
				t.Errorf("cursor %d: view(%d) = %q, %d cells", e.Cursor(), w, line, ansi.StringWidth(line))
			} else if !strings.Contains(line, "\x1b[7") && !strings.Contains(line, ";7") {
				t.Errorf("cursor %d: view(%d) = %q shows no cursor", e.Cursor(), w, line)
			}
		}
		if e.Cursor() == 0 {
			break
		}
	}
	if line := ansi.Strip(e.draw(30, &st)); !strings.Contains(line, "‹U+200B›") {
		t.Errorf("the line hides something: %q", line)
	}
}
