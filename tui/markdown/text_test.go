package markdown

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// textLines are the lines of a text, counted a few bytes at a time.
func textLines(src string, width, step int) (lines []string, infos []LineInfo) {
	var text Text
	for rest := src; rest != ""; {
		n := min(len(rest), step)
		for n < len(rest) && rest[n]&0xC0 == 0x80 {
			n++
		}
		text.Append(rest[:n])
		text.LayOut(width, step)
		rest = rest[n:]
	}
	for !text.LaidOut() {
		text.LayOut(width, step)
	}
	for i := range text.Len() {
		line, info := text.Line(i)
		lines, infos = append(lines, line), append(infos, info)
	}
	return lines, infos
}

// However a text arrives and is counted, its lines are those of Wrap, and each can be asked
// for by itself.
func TestTextIsWrapped(t *testing.T) {
	piece := rapid.SampledFrom([]string{"word", "a", " ", "  ", "\n", "\n\n", "日本", "é", "e\u0301", "👩‍👩‍👧", "longer-than-a-line-of-the-text", ".", "🇩🇪"})
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(piece, 0, 300).Draw(t, "text"), "")
		width, step := rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 500).Draw(t, "step")
		got, infos := textLines(src, width, step)
		var want []string
		var wantInfos []LineInfo
		if strings.Trim(src, "\n") != "" {
			want, wantInfos = Wrap(strings.TrimRight(src, "\n"), width)
			for i := range wantInfos {
				wantInfos[i].Space = wantInfos[i].Space && wantInfos[i].Soft
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(infos, wantInfos) {
			t.Fatalf("%q at %d:\n%q %v\nwant\n%q %v", src, width, got, infos, want, wantInfos)
		}
		var text Text
		text.Append(src)
		text.LayOut(width, math.MaxInt)
		for range min(len(want), 20) {
			i := rapid.IntRange(0, len(want)-1).Draw(t, "line")
			if line, info := text.Line(i); line != want[i] || info != wantInfos[i] {
				t.Fatalf("%q at %d: line %d is %q %v, want %q %v", src, width, i, line, info, want[i], wantInfos[i])
			}
		}
	})
}

// No byte of a text controls the terminal, and no line is wider than it may be.
func TestTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		width := rapid.IntRange(1, 20).Draw(t, "width")
		lines, _ := textLines(src, width, 64)
		for _, line := range lines {
			if ansi.StringWidth(line) > width || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) {
				t.Fatalf("%q at %d has the line %q", src, width, line)
			}
		}
	})
}
