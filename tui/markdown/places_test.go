package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// hostile are texts whose characters are hard to follow to their place.
var hostile = []string{
	"# Title *x* `y`\n\n## Two ##\n\nSet\n===\n\nplain **bold** and *em **x*** `co  de` ~~gone~~ end",
	"[tx](http://a.b \"t\") <http://e.x> http://c.d **http://d.d** ![i](p.png) [r][q] [q] [a *b*](<x y>) [](http://only.x)\n\n[q]: http://z.example",
	`\* \\ a\&amp;b &amp;lt; &lt; &#x41; &copy; & &nope; \a ` + "`&lt; \\*`" + ` &ngE;x`,
	"日本語日本語 👩‍👩‍👧 family e\u0301 ❤️ a\u0301\u0302b \u200b x",
	"- one\n\n  two\n  - deep `x`\n    1. num\n- [x] done\n- [ ] not\n*  star\n+ plus",
	"> quote *a*\n> more\n> > deep\n> - item\n>   ```go\n>   \tx := 1\n>   ```\nlazy",
	"```go\nfunc main() {\n\tif x {\n\t\treturn \"日本\"\n\t}\n}\n```\n\n    indented\n\tcode\n\n  ~~~\n  a\n    b\n  ~~~",
	"- a\n\n\tcode in tab\n\n-\tx\n\n  \t  y",
	"| a | b |\n|--:|:-:|\n| 1 | wide 日本 *x* |\n| `x\\|y` | d\\|e |\n| only |\n\n> | q | r |\n> |---|---|\n> | s | t |",
	"hard  \nbreak\\\nsoft\nend   \nx",
	"a\tb\x00c\x9bd\u202ee \xff\xfe half \xe6\x97",
	strings.Repeat("long **bold** words and `code` ", 400),
	strings.Repeat("日本語", 1500), strings.Repeat("x", 9000),
	"```json\n" + strings.Repeat(`{"n":1},`, 900) + "\n```",
	"- " + strings.Repeat("item words ", 1200) + "\n\n  " + strings.Repeat("second ", 700),
	"> " + strings.Repeat("quote words\n> ", 900),
	"| a | b |\n|---|---|\n" + strings.Repeat("| some *words* here | 日本 |\n", 300),
}

// checkPlaces checks the places of every line of a document at a width: each
// character that is seen stands where its glyph says.
func checkPlaces(t fataler, d *Doc, width int) {
	lines := d.Lines(width)
	src := d.Source()
	for y, line := range lines {
		seen := map[int]cell{}
		x := 0
		for _, c := range cells(line) {
			seen[x] = c
			x += c.width
		}
		last := 0
		for _, g := range d.Trace(y, width) {
			c, ok := seen[g.X]
			if !ok || c.width != g.Width {
				t.Fatalf("width %d line %d %q: no character at %+v", width, y, ansi.Strip(line), g)
			}
			if g.X < last {
				t.Fatalf("glyphs are not in order")
			}
			last = g.X + g.Width
			if g.Start < 0 || g.End > len(src) || g.Start >= g.End && c.text != " " {
				t.Fatalf("width %d line %q: %q stands at %+v of %d bytes", width, ansi.Strip(line), c.text, g, len(src))
			}
			if from := src[g.Start:g.End]; c.text != tooWide && !shows(from, c.text) {
				t.Fatalf("width %d line %q: %q stands at %d:%d, which is %q", width, ansi.Strip(line), c.text, g.Start, g.End, from)
			}
			delete(seen, g.X)
		}
		label := strings.Contains(ansi.Strip(line), "image") || strings.Contains(src, "]: ") || strings.Contains(src, "|--") && width < 20
		for _, c := range seen { // the address of a reference and a label in a list of cells stand elsewhere
			if c.text != " " && !decoration(c.text) && !label {
				t.Fatalf("width %d line %d %q: %q stands nowhere", width, y, ansi.Strip(line), c.text)
			}
		}
	}
}

// shows reports whether the source from shows text.
func shows(from, text string) bool {
	switch {
	case from == text, text == " " && strings.TrimSpace(from) == "", text == " " && strings.HasPrefix(from, "]("):
		return true
	case literal([]byte(from)) == text:
		return true
	}
	for _, r := range []string{"*", "**", "_", "~~", "`"} { // marks inside of one grapheme
		if strings.ReplaceAll(from, r, "") == text {
			return true
		}
	}
	return clean(from) == text || !utf8.ValidString(from)
}

// decoration reports whether text may stand on the screen without being in the source.
func decoration(text string) bool {
	return strings.Contains("•│─┼☑☐#…0123456789.):", text)
}

func TestEveryCharacterHasItsPlace(t *testing.T) {
	for _, src := range hostile {
		for _, n := range []int{len(src), 7, 997} {
			for _, nest := range []int{1, nestAt} {
				d := nested(nest)
				for rest := src; rest != ""; {
					k := min(n, len(rest))
					d.Append(rest[:k])
					rest = rest[k:]
				}
				for _, width := range []int{1, 2, 7, 14, 20, 33, 80, 200} {
					checkPlaces(t, d, width)
				}
				d.Finish()
				checkPlaces(t, d, 40)
			}
		}
	}
}

func TestEveryCharacterOfAnyTextHasItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.NewReplacer("[ref]: https", "ref https", "]: ", "] ").Replace(markdown().Draw(t, "source"))
		d := nested(nests(t))
		feed(t, d, src, 0, func() { checkPlaces(t, d, rapid.IntRange(16, 60).Draw(t, "width")) })
		d.Finish()
		checkPlaces(t, d, rapid.IntRange(16, 60).Draw(t, "width"))
	})
}
