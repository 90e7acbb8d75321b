package markdown

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// hostile are units of which a small answer is made to cost as much as possible.
var hostile = []string{
	">", "- ", "* a\n", "1. ", "> - ", "> a\n\n", "[", "![", "[a](b) ", "[a]: b\n", "*a **b ", "`", "``` ", "_", "~~", "|", "| a ", "|-",
	"&", "\\", "<", "# ", "\t", " ", "\n", "- - ", "  - a\n", "www.a.b ", "**", "a\n-\n", "日", "a\u0301", "```\n", "> ```\n", "*-a",
}

// cost is what a text costs that is given at once and drawn: bytes allocated and
// bytes that go through the stages.
func cost(src string) (allocated uint64, worked int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := New(look)
	d.Append(src)
	d.Finish()
	d.Lines(100)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, d.work.total()
}

// linear fails when four times the text costs clearly more than four times.
func linear(t *testing.T, name string, source func(size int) string) {
	t.Helper()
	const size = 16 << 10
	small, work := cost(source(size))
	large, workLarge := cost(source(4 * size))
	if large > 6*small+1<<20 || workLarge > 6*work+1<<16 {
		t.Errorf("%s: %d bytes allocated and %d of work for %d, but %d and %d for four times as much", name, small, work, size, large, workLarge)
	}
}

func TestHostileTextCostsWhatItsLengthCosts(t *testing.T) {
	for _, unit := range hostile {
		linear(t, fmt.Sprintf("%q", unit), func(size int) string { return strings.Repeat(unit, size/len(unit)) })
	}
	linear(t, "columns", func(size int) string {
		return strings.Repeat("|a", 250) + "\n" + strings.Repeat("|-", 250) + "\n" + strings.Repeat("b\n", size/2)
	})
	linear(t, "deep fence", func(size int) string {
		return strings.Repeat("> ", 60) + "```\n" + strings.Repeat(strings.Repeat("> ", 60)+"x\n", size/122)
	})
}

// The texts that froze or killed the program, drawn in full.
func TestHostileTextIsBounded(t *testing.T) {
	for name, src := range map[string]string{
		"quotes": strings.Repeat(">", 20_000) + " text", "items": strings.Repeat("- ", 32_000), "list": strings.Repeat("* a\n", 262_144),
		"a line of 4 MiB": strings.Repeat("words ", 700_000), "4 MiB of prose": strings.Repeat("some **words** of it\n\n", 200_000),
		"a line of code of 4 MiB": "```\n" + strings.Repeat("words ", 700_000),
		"quotes of items":         strings.Repeat("> - ", 16_000) + "\n" + strings.Repeat("text ", 2000),
	} {
		allocated, _ := cost(src)
		if most := uint64(128*len(src) + 64<<20); allocated > most {
			t.Errorf("%s: %d bytes allocated for %d, want at most %d", name, allocated, len(src), most)
		}
	}
}

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
		if got := d.Lines(80); !slices.Equal(got, want) {
			t.Errorf("%s: in pieces it has %d lines, at once %d", name, len(got), len(want))
		}
		if d.Source() != src {
			t.Errorf("%s: the source is lost", name)
		}
	}
}

// FuzzCost repeats a unit: whatever it is, cost is linear in the length.
func FuzzCost(f *testing.F) {
	f.Add("", "> - a\n")
	f.Add("- > ", "[a](b) *c ")
	f.Fuzz(func(t *testing.T, start, unit string) {
		if len(unit) == 0 || len(unit) > 64 || len(start) > 256 {
			t.Skip()
		}
		linear(t, fmt.Sprintf("%q then %q", start, unit), func(size int) string { return start + strings.Repeat(unit, size/len(unit)) })
	})
}
