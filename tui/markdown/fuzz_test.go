package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

func FuzzRender(f *testing.F) {
	for _, s := range []string{
		"# Title\n\nSome *words* and **more**.", "- a\n  - b\n\n    c\n1. x", "```go\nfunc f() {\n\treturn \"日本\"\n}\n```",
		"| a | b |\n|---|---|\n| 👩‍👩‍👧 | `x` |", "> quote\n> - item\nlazy", "[a]: http://e.x\n\n[a] <http://e.x/y>",
		"\x1b[31mred\x1b]8;;http://evil\x07click\x1b]8;;\x07", "a\x00b\x9bc\u202e\u200b\ufe0f", "\xff\xfe half \xe6\x97",
		strings.Repeat("long ", 2000), "```\n" + strings.Repeat("x", 5000), "&#0;&#27;[31m &#x9b;", "- \n\n  - > ```\n",
	} {
		f.Add(s, 40, 10)
		f.Add(s, 3, 4)
	}
	f.Fuzz(func(t *testing.T, s string, w, h int) {
		if len(s) > 1<<14 || w < -1 || w > 300 || h < 1 || h > 100 {
			t.Skip()
		}
		d := New(look)
		d.Append(s[:len(s)/2])
		shape(t, d.Lines(w), max(w, 1))
		d.Append(s[len(s)/2:])
		d.Finish()
		lines := d.Lines(w)
		shape(t, lines, max(w, 1))
		want := New(look)
		want.Append(s)
		want.Finish()
		if got, want := strings.Join(lines, "\n"), want.Render(w); got != want {
			t.Fatalf("in two pieces:\n%q\nat once:\n%q", got, want)
		}
		if utf8.ValidString(s) {
			emulate(t, lines, max(w, 1), h)
		}
	})
}

// emulate writes lines to a terminal of w×h cells and reads them off its screen.
func emulate(t *testing.T, lines []string, w, h int) {
	t.Helper()
	lines = lines[:min(len(lines), h)]
	term := vt.NewEmulator(w, h)
	_, _ = term.WriteString(strings.Join(lines, "\r\n"))
	for y, line := range lines {
		var row strings.Builder
		for x := 0; x < w; {
			c := term.CellAt(x, y)
			if c == nil || c.Width == 0 {
				x++
				continue
			}
			row.WriteString(c.Content)
			x += c.Width
		}
		got, want := strings.TrimRight(row.String(), " "), strings.TrimRight(ansi.Strip(line), " ")
		if got != want {
			t.Fatalf("row %d shows %q, want %q", y, got, want)
		}
	}
}
