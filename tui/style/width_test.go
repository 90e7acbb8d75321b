package style

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestKeycaps(t *testing.T) {
	const s = "\x1b[31m1️⃣ a #️⃣ b *️⃣\x1b[m"
	for name, c := range map[string]struct{ got, want string }{
		"all":         {Truncate(s, 12, "…"), s},
		"cut":         {ansi.Strip(Truncate(s, 7, "…")), "1️⃣ a …"},
		"cut between": {ansi.Strip(Truncate(s, 8, "…")), "1️⃣ a #️⃣…"},
		"left":        {ansi.Strip(TruncateLeft(s, 5, "")), "#️⃣ b *️⃣"},
		"left more":   {ansi.Strip(TruncateLeft(s, 8, "…")), "…b *️⃣"},
		"middle":      {ansi.Strip(Cut(s, 3, 7)), "a #️⃣"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// What is cut is never wider than asked, and what fits stays as it is.
func TestCutTextHasItsWidth(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"1️⃣", "#️⃣", "*⃣", "9", "a", " ", "字", "👩‍👩‍👧", "e\u0301", "〾", "㍻", "\x1b[1m", "\x1b[m", "🇩🇪", "⚠️", "1\ufe0f",
	})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		n := rapid.IntRange(0, 20).Draw(t, "width")
		cut := Truncate(s, n, "")
		if w := ansi.StringWidth(cut); w > n {
			t.Errorf("Truncate(%q, %d) = %q of %d cells", s, n, cut, w)
		}
		if ansi.StringWidth(s) <= n && cut != s {
			t.Errorf("Truncate(%q, %d) = %q", s, n, cut)
		}
		for _, line := range Wrap(s, max(2, n)) {
			if w := ansi.StringWidth(line); w > max(2, n) {
				t.Errorf("Wrap(%q, %d) has %q of %d cells", s, max(2, n), line, w)
			}
		}
		left := rapid.IntRange(0, n).Draw(t, "left")
		if w := ansi.StringWidth(Cut(s, left, n)); w > n-left+1 { // half of a wide character may stay
			t.Errorf("Cut(%q, %d, %d) = %q of %d cells", s, left, n, Cut(s, left, n), w)
		}
	})
}

// The shortcuts for ASCII change no result.
func TestWidthsAreThoseOfAnsi(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"a", "~", " ", "some words", "字", "👩‍👩‍👧", "e\u0301", " \u0301", "│", "…", "🇩🇪", "\u200b", "\u202e", "\u00ad", "\x7f", "\x00", "\t", "\n", "\r\n", "\x1b",
		"\x1b[m", "\x1b[1;38;5;12m", "\x1b[4:3m", "\x1b[3", "\x1b[?25l", "\x1b[2K", "\x1b]8;;http://e.x\x07", "\x1b]0;t\x1b\\", "\x1bP", "\x18", "\u009b", "\x9b", "\xc2", "\xff", "\xf0\x9f", "\xc1a",
	}), rapid.StringN(0, 3, -1))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "text"), ""), emojiSelector, "")
		tail := rapid.SampledFrom([]string{"", "…", "...", "字"}).Draw(t, "tail")
		left, right := rapid.IntRange(-2, 20).Draw(t, "left"), rapid.IntRange(-2, 20).Draw(t, "right")
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
		if got, want := Strip(s), ansi.Strip(s); got != want {
			t.Errorf("Strip(%q) = %q, want %q", s, got, want)
		}
		if got, want := Truncate(s, right, tail), ansi.Truncate(s, right, tail); got != want {
			t.Errorf("Truncate(%q, %d, %q) = %q, want %q", s, right, tail, got, want)
		}
		if got, want := TruncateLeft(s, left, tail), ansi.TruncateLeft(s, left, tail); got != want {
			t.Errorf("TruncateLeft(%q, %d, %q) = %q, want %q", s, left, tail, got, want)
		}
		if got, want := Cut(s, left, right), ansi.Cut(s, left, right); got != want {
			t.Errorf("Cut(%q, %d, %d) = %q, want %q", s, left, right, got, want)
		}
	})
}

func TestTruncateWordsCutsAfterAWord(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"select a model", 14, "select a model"},
		{"select a model", 12, "select a…"},
		{"select a model", 9, "select a…"},
		{"tools · reasons", 10, "tools…"},
		{"a-very-long-name", 8, "a-very-…"},
		{"x a-very-long-name", 10, "x a-very-…"}, // hardly anything would be left
		{"日本語 モデル名", 9, "日本語…"},
		{"word", 0, ""},
	} {
		if got := TruncateWords(c.text, c.w, "…"); got != c.want {
			t.Errorf("TruncateWords(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestWrapClausesBreaksBetweenClauses(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"esc view · / or ctrl+p finds it · f1 help", 41, []string{"esc view · / or ctrl+p finds it · f1 help"}},
		{"esc view · / or ctrl+p finds it · f1 help", 18, []string{"esc view", "/ or ctrl+p finds", "it", "f1 help"}},
		{"esc view · / or ctrl+p finds it · f1 help", 24, []string{"esc view", "/ or ctrl+p finds it", "f1 help"}},
		{"a · b\nc · d", 9, []string{"a · b", "c · d"}},
		{"", 9, []string{""}},
	} {
		if got := WrapClauses(c.text, c.w); !slices.Equal(got, c.want) {
			t.Errorf("WrapClauses(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}
