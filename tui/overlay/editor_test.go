package overlay

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
)

// edit types keys: a name stands in <>, everything else is text.
func edit(e *Editor, keys string) {
	for keys != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); keys[0] == '<' && ok {
			e.Do((*keymap.Map)(nil).Action(keymap.Editing, keymap.Key(name)))
			keys = rest
			continue
		}
		r, n := utf8.DecodeRuneInString(keys)
		e.Insert(string(r))
		keys = keys[n:]
	}
}

func TestEditorKeys(t *testing.T) {
	for name, c := range map[string]struct{ keys, want string }{ // want: the cursor is at |
		"typing":               {"ab界c", "ab界c|"},
		"in the middle":        {"ac<left>b", "ab|c"},
		"home and end":         {"bc<home>a<end>d", "abcd|"},
		"ctrl+a and ctrl+e":    {"bc<ctrl+a>a<ctrl+e>d", "abcd|"},
		"backspace":            {"a界<backspace>b", "ab|"},
		"ctrl+h":               {"ab<ctrl+h>", "a|"},
		"delete":               {"abc<home><delete>", "|bc"},
		"ends":                 {"<backspace><delete><left>a<right><right><delete>", "a|"},
		"ctrl+u":               {"abc<left><ctrl+u>", "|c"},
		"ctrl+k":               {"abc<home><right><ctrl+k>", "a|"},
		"ctrl+w":               {"gpt-4-turbo*<ctrl+w>", "gpt-4-|"},
		"ctrl+w twice":         {"gpt-4-turbo*<ctrl+w><ctrl+w>", "gpt-|"},
		"ctrl+w and a space":   {"one two <ctrl+w>", "one |"},
		"a word back":          {"one two<alt+b>x", "one x|two"},
		"a word on":            {"one two<home><ctrl+right><ctrl+right>x", "one twox|"},
		"unknown keys":         {"a<f5><insert>b", "ab|"},
		"a family is one":      {"a👨‍👩‍👧<left>b", "ab|👨‍👩‍👧"},
		"a family goes whole":  {"a👨‍👩‍👧<backspace>", "a|"},
		"a flag of two":        {"🇩🇪🇫🇷<left><delete>", "🇩🇪|"},
		"a letter with accent": {"xe\u0301<backspace>", "x|"},
		"delete a keycap":      {"1\ufe0f\u20e32<home><delete>", "|2"},
	} {
		t.Run(name, func(t *testing.T) {
			var e Editor
			edit(&e, c.keys)
			before, after := e.Split()
			if got := before + "|" + after; got != c.want {
				t.Errorf("%s = %q, want %q", c.keys, got, c.want)
			}
			if e.Text() != before+after || e.Cursor() != utf8.RuneCountInString(before) || e.Len() != utf8.RuneCountInString(before+after) {
				t.Errorf("text %q, cursor %d, length %d do not agree", e.Text(), e.Cursor(), e.Len())
			}
		})
	}
}

func TestAnEditorTakesOnlyItsOwnKeys(t *testing.T) {
	var e Editor
	for _, name := range []string{"enter", "esc", "up", "a", "", "tab", "alt+x"} {
		if e.Do((*keymap.Map)(nil).Action(keymap.Editing, keymap.Key(name))) {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestReplaceCountsRunes(t *testing.T) {
	var e Editor
	e.Set("t'界' s2")
	e.Replace(2, 3, "work")
	if before, after := e.Split(); before != "t'work" || after != "' s2" {
		t.Errorf("Replace = %q|%q", before, after)
	}
}

func TestACopyOfAnEditorStays(t *testing.T) {
	var e Editor
	e.Set("kept")
	kept := e
	edit(&e, "<left>xyz<ctrl+u>")
	if kept.Text() != "kept" {
		t.Errorf("the copy is %q", kept.Text())
	}
}

func TestEditorShowsItsCursor(t *testing.T) {
	var e Editor
	e.Set("ab界👨‍👩‍👧c漢字d")
	for range 12 {
		for w := 3; w < 16; w++ {
			view := e.View(w)
			_, at := e.Scroll(w)
			if n := ansi.StringWidth(view); n > w || at < 0 || at >= w {
				t.Errorf("%q|: View(%d) = %q of %d cells, the cursor in %d", e.before, w, view, n, at)
			}
		}
		e.Do((*keymap.Map)(nil).Action(keymap.Editing, "left"))
	}
}
