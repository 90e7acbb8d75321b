package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// Code that is too long for its column is broken at blanks, and what follows begins with a
// sign that is not copied. Joined again it is the code, byte for byte.
func TestLongCodeIsBrokenAtBlanks(t *testing.T) {
	look := style.New(style.Options{Unicode: true, Profile: style.NoColor}).Markdown
	for name, c := range map[string]struct {
		code  string
		width int
		want  string // without the indent of the block
	}{
		"at blanks":         {"    return firstValue, secondValue, nil", 28, "    return firstValue,|    → secondValue, nil"},
		"a word too long":   {"abcdefghijklmnopqrstuvwxyz0123456789", 20, "abcdefghijklmnopqr|→ stuvwxyz01234567|→ 89"},
		"blanks in a row":   {"a := 12345678      // the comment", 20, "a := 12345678|→       // the|→ comment"},
		"short":             {"a := 1", 20, "a := 1"},
		"two blanks":        {"aaaaaaaaaaaa  bbbbbbbbb", 20, "aaaaaaaaaaaa  bbbb|→ bbbbb"},
		"no room for signs": {"abcdef ghijkl", 10, "abcdef|ghijkl"},
	} {
		d := New(NewStyle(look))
		d.Append("```\n" + c.code + "\n```\n")
		d.Finish()
		lines := d.Lines(c.width)
		var shown []string
		var joined strings.Builder
		for i, line := range lines {
			info := d.LineInfos(c.width)[i]
			plain := ansi.Strip(line)
			if ansi.StringWidth(plain) > c.width {
				t.Errorf("%s: %q is wider than %d", name, plain, c.width)
			}
			shown = append(shown, strings.TrimPrefix(plain, codeIndent))
			if info.Soft && info.Space {
				joined.WriteByte(' ')
			}
			joined.WriteString(style.Cut(plain, int(info.Lead), c.width))
		}
		if got := strings.Join(shown, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if joined.String() != c.code {
			t.Errorf("%s: copied %q, want %q", name, joined.String(), c.code)
		}
	}
}
