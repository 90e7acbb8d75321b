package style

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestASCII(t *testing.T) {
	for in, want := range map[string]string{
		"":      "",
		"plain": "plain",
		"a · b … “c” ‘d’ ↑↓←→ ‹U+202E›": "a - b ~ \"c\" 'd' ^v<> <U+202E>",
		"größer 界":        "größer 界",
		"\x1b[1m●\x1b[0m": "\x1b[1m*\x1b[0m",
		"\x1b]8;;http://x/…\x1b\\http://x/…\x1b]8;;\x1b\\": "\x1b]8;;http://x/…\x1b\\http://x/~\x1b]8;;\x1b\\",
		"\x1b]8;;http://x/…\a…":                            "\x1b]8;;http://x/…\a~",
		"\x1b]never ends …":                                "\x1b]never ends …",
		"a\xffb":                                           "a?b",
	} {
		got := ASCII(in)
		if got != want {
			t.Errorf("ASCII(%q) = %q, want %q", in, got, want)
		}
		if a, b := ansi.StringWidth(in), ansi.StringWidth(got); a != b && in != "a\xffb" {
			t.Errorf("ASCII(%q) is %d cells wide, was %d", in, b, a)
		}
	}
}

// TestASCIISignsAreOneCell: a frame keeps its columns.
func TestASCIISignsAreOneCell(t *testing.T) {
	for r, sign := range equivalents {
		if ansi.StringWidth(string(r)) != 1 || sign < ' ' || sign > '~' {
			t.Errorf("%q becomes %q, but is %d cells wide", r, sign, ansi.StringWidth(string(r)))
		}
	}
}
