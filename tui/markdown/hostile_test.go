package markdown

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestNestingBeyondItsDepthIsText(t *testing.T) {
	d := New(look)
	d.Append(strings.Repeat("> ", 67) + "words\n")
	d.Finish()
	if got := ansi.Strip(strings.Join(d.Lines(300), "")); strings.Count(got, "│") != 64 || !strings.HasSuffix(got, "> > > words") {
		t.Errorf("%d bars, and %q", strings.Count(got, "│"), got)
	}
}

// What is over the budget is shown as it stands, with a word, however it arrives.
func TestTextOverTheBudgetIsPlain(t *testing.T) {
	for name, src := range map[string]string{
		"items": strings.Repeat("* a\n", maxNodes+100) + "**last** words", "line": strings.Repeat("*a* ", maxBytes/4+2000) + "**last** words",
		"code": "```\n" + strings.Repeat("code\n", maxBytes/5+2000) + "```\n**last** words",
	} {
		want := whole(src, 80)
		if text := ansi.Strip(strings.Join(want, "\n")); !strings.Contains(text, "too long for Markdown") || !strings.Contains(text, "**last** words") {
			t.Errorf("%s: the rest is not plain text, or nothing says so", name)
		}
		d := New(look)
		for rest := src; rest != ""; {
			n := min(len(rest), 9973)
			d.Append(rest[:n])
			rest = rest[n:]
		}
		d.Finish()
		if got := d.all(80); !slices.Equal(got, want) {
			t.Errorf("%s: in pieces it has %d lines, at once %d", name, len(got), len(want))
		}
		if d.Source() != src {
			t.Errorf("%s: the source is lost", name)
		}
	}
}
