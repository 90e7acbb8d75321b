package markdown

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"winnow/tui/style"
)

// TestMain collects garbage less often: a sixth of the time went into it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// look is shared by the tests: making it is not what they are about.
var look = NewStyle(style.New(style.Options{Dark: true, Unicode: true}).Markdown)

// whole renders src given at once.
func whole(src string, width int) []string {
	d := New(look)
	d.Append(src)
	d.Finish()
	return d.all(width)
}

// all are the lines of the document and of its rest.
func (d *Doc) all(width int) []string {
	lines := d.Lines(width)
	rest := d.Rest()
	if rest == nil {
		return lines
	}
	rest.LayOut(width, math.MaxInt)
	lines = append(slices.Clone(lines), "")
	for i := range rest.Len() {
		line, _ := rest.Line(i)
		lines = append(lines, line)
	}
	return lines
}

// Render is Lines joined by line breaks.
func (d *Doc) Render(width int) string { return strings.Join(d.all(width), "\n") }

// Plain is Render without styles and links.
func (d *Doc) Plain(width int) string { return ansi.Strip(d.Render(width)) }

// plain is src rendered without styles.
func plain(src string, width int) string { return ansi.Strip(strings.Join(whole(src, width), "\n")) }

// markdown draws a document out of lines that look like Markdown.
func markdown() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{
		"", "", "", "word", "two words **bold** and `code`", "*emph", "# Heading", "## Two ##", "---", "===", "***",
		"- item", "- [x] done", "  - nested", "    deep", "* other", "1. one", "2. two", "1) paren", "-", "10. ten",
		"> quote", "> - item in quote", ">", "```go", "```", "~~~", "func main() {", "\tx := `a", "/* open", "*/", "    code",
		"| a | b |", "|---|:-:|", "| 1 | 2 | 3 |", "a | b", "--|--", "[ref]", "[ref]: https://example.com", "see [x][ref] and [ref]",
		"<think>", "Vec<String>", "<https://example.com/a?b=c&d>", "![pic](a.png)", "[l](http://e.x \"t\")", "hard  ", `a\*b\`, "&amp;&lt;",
		"日本語の長い文", "👩‍👩‍👧 family", "~~gone~~", "www.example.com", "a@b.example", "12", "  two", "   three", "\u00a0nbsp",
		"- - two", "- > quote", "  > in item", "> > deep", "> # Heading", "> ```", "  ```go", "   ~~~", "- ```", "  ---", "> 1. one",
		"  | a | b |", "  |---|---|", "  | 1 | 2 |", "-\titem", ">\ttab", "\t- deep", "     five", "  [ref]: https://example.org", "- [ ] *todo* x",
		"- # [x] done", "  1. in", "   2. other", "> lazy **a", "  a | b",
	})
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 0, 25).Draw(t, "lines")
		s := strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, "crlf") {
			s = strings.ReplaceAll(s, "\n", "\r\n")
		}
		return s
	})
}

// feed appends src in random pieces, drawing in between.
func feed(t *rapid.T, d *Doc, src string, width int, each func()) {
	for len(src) > 0 {
		n := rapid.IntRange(1, min(len(src), 40)).Draw(t, "chunk")
		d.Append(src[:n])
		src = src[n:]
		if rapid.Bool().Draw(t, "draw") {
			each()
		}
	}
	_ = width
}

func TestAnyChunkingGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := markdown().Draw(t, "source")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		want := slices.Clone(whole(src, width))
		d := New(look)
		feed(t, d, src, width, func() { d.Lines(width) })
		d.Finish()
		if got := d.Lines(width); !slices.Equal(got, want) {
			t.Fatalf("in pieces:\n%s\nat once:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got, want := d.Source(), strings.ReplaceAll(src, "\r\n", "\n"); got != want {
			t.Fatalf("Source() = %q, want %q", got, want)
		}
	})
}

// long draws texts that are cut inside: paragraphs and code of many kilobytes.
func TestAnyChunkingOfLongTextGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"plain words ", "**bold words** ", "*open ", "`code", "日本語", "[link](http://e.x) ", "_x_ ", "snake_case ", "\n", "| ", "- ", "--- ", "# ", "> ",
		})
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "```go\n", "```\n", "    ", "- ", "> ", "| a | b |\n|---|---|\n"}).Draw(t, "start"))
		for range rapid.IntRange(1, 12).Draw(t, "parts") {
			b.WriteString(strings.Repeat(piece.Draw(t, "piece"), rapid.IntRange(1, 400).Draw(t, "times")))
		}
		src := b.String()
		want := slices.Clone(whole(src, 80))
		d := New(look)
		for rest := src; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 3000)).Draw(t, "chunk")
			d.Append(rest[:n])
			rest = rest[n:]
			d.Lines(80)
		}
		d.Finish()
		if got := d.Lines(80); !slices.Equal(got, want) {
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("line %d of %d, %d: %q, want %q", i, len(got), len(want), got[min(i, len(got)-1)], want[i])
				}
			}
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	})
}

// underTable finds a table whose last line is an underline.
var underTable = regexp.MustCompile(`(?m)^[ >]*(\|---\|:-:\||--\|--|\|---\|---\|)\n(.*\|.*\n|[^\n]+\n)*[ >]*(---|===|-)$`)

// emptyItem finds an item without a word on its first line and a list in it.
var emptyItem = regexp.MustCompile(`(?m)^[ >]*- *\n[ >]+(\d|[-*])`)

// containedFence finds a fence in an item or quote. One that is not closed has the
// blank lines after it as code for goldmark; here they are none.
var containedFence = regexp.MustCompile("(?m)^(- |> |  )[ `]*(```|~~~)")

// bothEmpty reports whether no words are on two lines.
func bothEmpty(a, b string) bool { return len(strings.Trim(ansi.Strip(a+b), "│ ")) == 0 }

// What one parse of the whole text gives, the blocks must give one by one.
func TestBlocksAgreeWithOneParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ReplaceAll(markdown().Draw(t, "source"), "\r\n", "\n") + "\n"
		if underTable.MatchString(src) {
			t.Skip("goldmark puts what stands above a table below it when an underline follows")
		}
		if emptyItem.MatchString(src) {
			t.Skip("goldmark ends an item without a word where it goes on with a list")
		}
		d := New(look)
		d.Append(src)
		d.Finish()
		want := referenceLines(src, 60)
		got := d.Lines(60)
		if containedFence.MatchString(src) {
			got, want = slices.CompactFunc(slices.Clone(got), bothEmpty), slices.CompactFunc(want, bothEmpty)
			for len(want) > len(got) && bothEmpty(want[len(want)-1], "") {
				want = want[:len(want)-1]
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("source:\n%s\nin blocks:\n%s\nin one:\n%s", src, ansi.Strip(strings.Join(got, "\n")), ansi.Strip(strings.Join(want, "\n")))
		}
	})
}

// Nothing jumps: lines of whole blocks stay, unless a definition arrives late.
func TestWholeBlocksStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ReplaceAll(markdown().Draw(t, "source"), "]: ", "] ")
		d := New(look)
		var before []string
		feed(t, d, src, 40, func() {
			lines := d.Lines(40)
			if !slices.Equal(lines[:len(before)], before) {
				t.Fatalf("lines were\n%q\nand are\n%q", before, lines[:len(before)])
			}
			before = slices.Clone(lines[:d.view.kept])
		})
	})
}

func TestLinesHaveTheirShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := markdown().Draw(t, "source")
		d := New(look)
		feed(t, d, src, 0, func() {
			width := rapid.IntRange(-1, 50).Draw(t, "width")
			shape(t, d.Lines(width), max(width, 1))
		})
	})
}

// fataler is what shape needs of a test.
type fataler interface{ Fatalf(string, ...any) }

// shape checks the lines of a document at a width.
func shape(t fataler, lines []string, width int) {
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Fatalf("line %q has %d cells, want at most %d", line, n, width)
		}
		if text := ansi.Strip(line); strings.HasSuffix(text, " ") {
			t.Fatalf("line %q ends in blanks", line)
		}
		if strings.ContainsAny(ansi.Strip(line), "\t\r\x1b\a") {
			t.Fatalf("line %q holds control characters", line)
		}
		if open := appendCells(nil, line+"x"); open[len(open)-1].pen != (pen{}) {
			t.Fatalf("line %q leaves a style open", line)
		}
	}
}

func TestStreamingShowsWhatCame(t *testing.T) {
	src := "First words and more.\n\n- an item with words\n\n```go\nfunc f() {}\n```\n\n| a | b |\n|---|---|\n| cell | other |\n"
	d := New(look)
	for i := range len(src) {
		d.Append(src[i : i+1])
		shown := ansi.Strip(strings.Join(d.Lines(60), "\n"))
		words := strings.Fields(strings.NewReplacer("|", " ", "`", " ", "-", " ").Replace(src[:i+1]))
		if n := len(words); n > 1 && words[n-2] != "go" && !strings.Contains(shown, words[n-2]) {
			t.Fatalf("after %q the screen shows\n%s", src[:i+1], shown)
		}
	}
}

func TestLateDefinition(t *testing.T) {
	d := New(look)
	for i := range 50 {
		d.Append(fmt.Sprintf("Paragraph %d.\n\n", i))
		if i == 20 {
			d.Append("See [the docs].\n\n")
		}
	}
	before := slices.Clone(d.Lines(60))
	d.work = work{}
	d.Append("[The Docs]: https://example.com/docs\n\n")
	after := d.Lines(60)
	if got := strings.Join(after, "\n"); !strings.Contains(ansi.Strip(got), "See the docs https://example.com/docs.") {
		t.Errorf("the link was not made:\n%s", ansi.Strip(got))
	}
	if d.work.parsed > 200 {
		t.Errorf("%d bytes were parsed again for one link", d.work.parsed)
	}
	if !slices.Equal(before[:41], after[:41]) {
		t.Error("blocks that do not use the label changed")
	}
}

func TestSetStyle(t *testing.T) {
	d := New(look)
	d.Append("# Title\n\n```go\nfunc f() {}\n```\n\n- item\n\nlast")
	before := slices.Clone(d.Lines(40))
	d.SetStyle(NewStyle(style.New(style.Options{Profile: style.NoColor}).Markdown))
	after := d.Lines(40)
	if slices.Equal(before, after) {
		t.Error("another style gives the same lines")
	}
	if all := strings.Join(after, "\n"); strings.Contains(all, "38;") {
		t.Errorf("a colour without colours: %q", all)
	}
	d.SetStyle(look)
	if !slices.Equal(d.Lines(40), before) {
		t.Error("the first style gives other lines than before")
	}
}

func TestCode(t *testing.T) {
	d := New(look)
	long := strings.Repeat("line of code\n", 1000)
	d.Append("```go title\na\n\n\tb\n```\n\n- item\n\n  ```sh\n  ls\n  ```\n\n> ~~~\n> quoted\n> ~~~\n\n    indented\n\n      more\n\n  ```\n  x\n   y\n  ```\n\n```\n" + long + "```\n\n```py\nopen")
	want := []Code{
		{"go", "a\n\n\tb\n"},
		{"sh", "ls\n"},
		{"", "quoted\n"},
		{"", "indented\n\n  more\n"},
		{"", "x\n y\n"},
		{"", long},
		{"py", "open"},
	}
	got := d.Code()
	if len(got) != len(want) {
		t.Fatalf("%d blocks of code, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("code %d is %.80q, want %.80q", i, got[i], want[i])
		}
	}
}

// A paragraph is not cut inside of a line that may become the head of a table,
// nor where the break of a line or a link would be lost.
func TestLongParagraphsAreCutWhereNothingIsLost(t *testing.T) {
	words := strings.Repeat("some plain words ", minCut/17-8)
	for name, c := range map[string]struct{ src, want string }{
		"head of a table": {words + "\n| first column with a long head | second column with a long head | third | fourth | fifth |\n|---|---|---|---|---|\n| cell | b | c | d | e |", "│ fourth   │"},
		"break":           {strings.Repeat("words  \n", minCut/4), "words\nwords\nwords"},
		"title":           {strings.Repeat("w ", minCut/2-20) + strings.Repeat("[l](http://e.x \"t t t t\") ", 20), "l http://e.x"},
		"struck":          {strings.Repeat("w ", minCut/2-8) + "~~" + strings.Repeat("gone away ", 9) + "back~~ end", "gone away back end"},
		"names":           {strings.Repeat("call __init__ and snake_case now ", 100), "snake_case"},
	} {
		d := New(look)
		d.Append(c.src)
		d.Finish()
		got := d.Plain(200)
		if !strings.Contains(got, c.want) || strings.Contains(got, "~~") || strings.Contains(got, "\"t") || strings.Contains(got, "|--") {
			t.Errorf("%s: %q is not in\n%s", name, c.want, got)
		}
		if name == "names" && len(d.blocks) < 3 {
			t.Errorf("%s: %d blocks", name, len(d.blocks))
		}
	}
}
