package markdown

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

func FuzzRender(f *testing.F) {
	for _, s := range []string{
		"# Title\n\nSome *words* and **more**.", "- a\n  - b\n\n    c\n1. x", "```go\nfunc f() {\n\treturn \"日本\"\n}\n```",
		"| a | b |\n|---|---|\n| 👩‍👩‍👧 | `x` |", "> quote\n> - item\nlazy", "[a]: http://e.x\n\n[a] <http://e.x/y>",
		"\x1b[31mred\x1b]8;;http://evil\x07click\x1b]8;;\x07", "a\x00b\x9bc\u202e\u200b\ufe0f", "\xff\xfe half \xe6\x97",
		strings.Repeat("long ", 1000), "0\u200d", "0\ufe0f", "> " + strings.Repeat("- a\n> ", 300), "- a\n" + strings.Repeat("  > b\n\n", 200), "```\n" + strings.Repeat("x", 3000), "&#0;&#27;[31m &#x9b;", "- \n\n  - > ```\n",
	} {
		f.Add(s, 40, 10)
		f.Add(s, 3, 4)
	}
	term := vt.NewEmulator(1, 1)
	f.Fuzz(func(t *testing.T, s string, w, h int) {
		if len(s) > 1<<13 || w < -1 || w > 300 || h < 1 || h > 100 {
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
			emulate(t, term, lines, max(w, 1), h)
		}
	})
}

// seen is what is seen of a row, but for marks and joiners, which take no cell: the
// emulator drops those behind an ASCII character.
func seen(row string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return -1
		}
		return r
	}, row), " ")
}

// wiped ends what an earlier text may have left open and clears the screen.
const wiped = "\x18\x1b]8;;\x07\x1b[m\x1b[2J\x1b[H"

// emulate writes lines to a terminal, made w×h cells large, and reads them off its
// screen. Making another takes longer than all the rest: it has a buffer of 4 MB.
func emulate(t *testing.T, term *vt.Emulator, lines []string, w, h int) {
	t.Helper()
	lines = lines[:min(len(lines), h)]
	term.Resize(w, h)
	_, _ = term.WriteString(wiped + strings.Join(lines, "\r\n"))
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
		got, want := seen(row.String()), seen(ansi.Strip(line))
		if got != want {
			t.Fatalf("row %d shows %q, want %q", y, got, want)
		}
	}
}
