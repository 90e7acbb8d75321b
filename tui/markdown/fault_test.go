package markdown

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// What glamour gets wrong, and what must come out instead.
func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		src   string
		width int
		want  string
	}{
		"raw HTML is text":              {"Vec<String> <think>a</think> <br/>\n\n<div>\nx\n</div>", 60, "Vec<String> <think>a</think> <br/>\n\n<div> x </div>"},
		"second paragraph of an item":   {"- one\n\n  two\n- three", 40, "• one\n\n  two\n• three"},
		"wrapped code keeps its indent": {"```\n    abcdefghij\n```", 12, "      abcdef\n      ghij"},
		"code in an item":               {"1. a\n   ```\n   x\n     y\n   ```", 40, "1. a\n     x\n       y"},
		"no padding":                    {"# a\n\nb\n\n> c", 40, "a\n\nb\n\n│ c"},
		"escapes once":                  {`\\* \* a\&amp;b &amp;lt; &lt;`, 40, `\* * a&amp;b &lt; <`},
		"nothing resolved in code":      {"`&lt; \\* \\\\`", 40, `&lt; \* \\`},
		"hard break":                    {"a  \nb\\\nc\nd", 40, "a\nb\nc d"},
		"address after the text":        {"[docs](http://e.x/y) and <http://e.x>", 60, "docs http://e.x/y and http://e.x"},
		"relative address":              {"[docs](/a/b) [top](#top)", 60, "docs /a/b top #top"},
		"image":                         {"![a *pic*](p.png)", 60, "image: a pic p.png"},
		"empty item ends":               {"-\n\n  two\nword", 40, "•\n\ntwo word"},
		"empty item":                    {"-\n- b", 40, "•\n• b"},
		"tasks":                         {"- [x] a\n- [ ] b", 40, "✓ a\n□ b"},
		"numbers go on":                 {"3. a\n3. b\n\n3. c", 40, "3. a\n4. b\n\n5. c"},
		"wide runes wrap":               {"日本語日本語", 5, "日本\n語日\n本語"},
		"combining marks":               {"cafe\u0301 1\ufe0f\u20e3 `e\u0301`", 40, "cafe\u0301 1\ufe0f\u20e3 e\u0301"},
		"too narrow for a rune":         {"日a", 1, "…\na"},
		"tabs in code":                  {"```\n\ta\n b\tc\n```", 40, "      a\n   b  c"},
		"table":                         {"| a | b |\n|--:|:-:|\n| 1 | wide |", 40, "   a │  b\n─────┼─────\n   1 │ wide"},
		"narrow table":                  {"| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 8, "a: 1\nb: 2\n\na: 3\nb: 4"},
		"pipe in code in a table":       {"| a |\n|---|\n| `x\\|y` |", 40, "a\n────\nx|y"},
		"controls":                      {"a\x1b[31mb\u009bc &#27;[0m", 40, "a\ufffd[31mb\ufffdc \ufffd[0m"},
		"rule":                          {"a\n\n---", 5, "a\n\n─────"},
		"deep nesting stays in width":   {"> > > > > > words that wrap", 10, "│ words\n│ that\n│ wrap"},
	} {
		if got := plain(c.src, c.width); got != c.want {
			t.Errorf("%s: %q gives\n%q, want\n%q", name, c.src, got, c.want)
		}
	}
}

// A pattern keeps its asterisks where it is plainly one; emphasis stays what it is.
func TestPatternsKeepTheirAsterisks(t *testing.T) {
	for src, want := range map[string]string{
		"hidden by the ignore rule “*mini*”":        "hidden by the ignore rule “*mini*”",
		`the rules "*mini*" and '*-preview*' match`: `the rules "*mini*" and '*-preview*' match`,
		"use *-preview* or (*-mini*) now":           "use *-preview* or (*-mini*) now",
		"gpt-* and openai/* stay, gpt-*-mini* too":  "gpt-* and openai/* stay, gpt-*-mini* too",
		"`*mini*` stays":                            "*mini* stays",
		"*emphasis* and **bold** “*two words*” x":   "emphasis and bold “two words” x",
		"well-*known* and **-x-** and a*b*c":        "well-known and -x- and abc",
		"(*really*) *so it is.* ***all***":          "(really) so it is. all",
	} {
		if got := plain(src, 80); got != want {
			t.Errorf("%q shows %q, want %q", src, got, want)
		}
	}
}

// Every kind of node must have a renderer: glamour prints a warning to standard
// output for those it does not know, into the middle of the screen.
func TestNothingIsPrinted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	whole("# H\n\nTerm\n: Definition\n\n[^1] $x$ <b>&copy;</b> ~~a~~ :smile: \"q\" -- ...\n\n[^1]: note\n\n- [x] t\n\n[a]: b\n\n**[x] *- [ ] y***\n\n|a|\n|-|\n|[x]|\n", 40)
	os.Stdout = old
	_ = w.Close()
	if out, _ := io.ReadAll(r); len(out) > 0 {
		t.Errorf("rendering printed %q", out)
	}
}

func TestHyperlinksOnlyWhereTheTextIsTheAddress(t *testing.T) {
	src := "[click](http://evil.example/x) <http://a.example/y> http://b.example/z [http://c.example](http://c.example) " +
		"[http://c.example](http://d.example) ![i](http://e.example/p.png) <javascript:alert(1)> <file://h.example/etc> <http://ünïcode.example> mail@f.example www.g.example"
	all := strings.Join(whole(src, 30), "\n")
	for seq := range strings.SplitSeq(all, "\x1b]8;") {
		params, rest, ok := strings.Cut(seq, "\a")
		_, address, _ := strings.Cut(params, ";")
		if !ok || address == "" || !strings.HasPrefix(params, "id=") {
			continue
		}
		text, _, _ := strings.Cut(rest, "\x1b]8;")
		if shown := ansi.Strip(text); !strings.Contains(address, strings.TrimSpace(shown)) || shown == "" {
			t.Errorf("%q opens %q", shown, address)
		}
	}
	for address, linked := range map[string]bool{
		"http://evil.example/x": true, "http://a.example/y": true, "http://b.example/z": true, "http://c.example": true,
		"http://d.example": true, "http://e.example/p.png": true, "javascript:alert(1)": false, "file://h.example/etc": false, "http://ünïcode.example": false,
		"http://www.g.example": false, "mailto:mail@f.example": false,
	} {
		if got := strings.Contains(all, ";"+address+"\a"); got != linked {
			t.Errorf("%s is a hyperlink: %v, want %v", address, got, linked)
		}
	}
	if shown := ansi.Strip(strings.Join(whole(src, 400), "")); !strings.Contains(shown, "click http://evil.example/x") {
		t.Errorf("the address of a link is not shown: %s", shown)
	}
}

// A Style is shared by documents in several goroutines.
func TestStyleIsSharedByGoroutines(t *testing.T) {
	src := "# T\n\nsome *words* `x` [l](http://e.x)\n\n```go\nfunc f() {}\n```\n\n| a |\n|---|\n| *b* |\n"
	want := strings.Join(whole(src, 40), "\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := strings.Join(whole(src, 40), "\n"); got != want {
					t.Errorf("got\n%s, want\n%s", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// glamour keeps the code theme it was given first, for all.
func TestThemesOfCodeAreSeparate(t *testing.T) {
	other := NewStyle(style.New(style.Options{Theme: "high-contrast", Unicode: true}).Markdown)
	src := "```go\nfunc f() {}\n```"
	dark := strings.Join(whole(src, 40), "\n")
	d := New(other)
	d.Append(src)
	if light := d.Render(40); light == dark || ansi.Strip(light) != ansi.Strip(dark) {
		t.Errorf("themes give %q and %q", dark, light)
	}
	if again := strings.Join(whole(src, 40), "\n"); again != dark {
		t.Errorf("the first theme now gives %q", again)
	}
}

func TestCodeIsColoured(t *testing.T) {
	lines := whole("```go\n// note\nfunc f() string { return \"x\" }\n```", 60)
	if s := look.syntax; !strings.Contains(lines[0], s[chroma.Comment]+"// note") || !strings.Contains(lines[1], s[chroma.Keyword]+"func") ||
		!strings.Contains(lines[1], s[chroma.LiteralString]+"\"x\"") {
		t.Errorf("code is not coloured: %q", lines)
	}
}

// A comment over the place where long code is cut must stay a comment.
func TestLongCodeIsCutOutsideOfComments(t *testing.T) {
	src := "```go\n" + strings.Repeat("var x = 1\n", 380) + "/*\n" + strings.Repeat("func in comment\n", 200) + "*/\nfunc out() {}\n```"
	lines := whole(src, 60)
	comment := 0
	for _, line := range lines {
		if strings.Contains(line, "in comment") && strings.Contains(line, look.syntax[chroma.Comment]) {
			comment++
		}
	}
	if comment != 200 {
		t.Errorf("%d of 200 lines of a comment look like one", comment)
	}
}
