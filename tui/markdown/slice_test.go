package markdown

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sliced is what is taken of src between the first place where from is and the
// end of the first place after it where to is.
func sliced(t *testing.T, src, from, to string, whole bool, nest int) string {
	t.Helper()
	d := nested(nest)
	d.Append(src)
	d.Finish()
	d.Lines(40)
	a := strings.Index(src, from)
	b := strings.Index(src[max(a, 0):], to)
	if a < 0 || b < 0 {
		t.Fatalf("%q has no %q … %q", src, from, to)
	}
	return d.Slice(a, a+b+len(to), whole)
}

func TestSlice(t *testing.T) {
	for name, c := range map[string]struct{ src, from, to, want string }{
		"words":                       {"some plain words here", "plain", "words", "plain words"},
		"no line breaks of the width": {strings.Repeat("word ", 40) + "end", "word", "end", strings.Repeat("word ", 40) + "end"},
		"emphasis alone":              {"a **bold** word", "bold", "bold", "bold"},
		"emphasis and more":           {"a **bold** word", "a", "word", "a **bold** word"},
		"from emphasis on":            {"a **bold** word", "bold", "word", "**bold** word"},
		"from inside emphasis":        {"a **bold** word", "ld", "word", "ld word"},
		"to inside emphasis":          {"a **bold** word", "a", "bo", "a bo"},
		"to the words of a link":      {"see [the docs](http://a.b) now", "see", "the", "see the"},
		"to the address of a link":    {"see [the docs](http://a.b) now", "the", "http", "the docs http"},
		"from the address of a link":  {"see [the docs](http://a.b) now", "a.b", "now", "a.b now"},
		"nested emphasis":             {"x *a **b*** c", "b", "c", "**b** c"},
		"code span":                   {"see `x y` now", "y", "now", "y now"},
		"whole code span":             {"see ``x`y`` now", "see", "y", "see ``x`y``"},
		"link and more":               {"see [the *docs*](http://a.b \"t\") now", "see", "now", "see [the *docs*](http://a.b \"t\") now"},
		"words of a link":             {"see [the docs](http://a.b) now", "the", "docs", "the docs"},
		"from a link on":              {"see [the docs](http://a.b) now", "docs", "now", "docs (http://a.b) now"},
		"escapes":                     {`a \*b\* &amp; c`, "a", "c", `a \*b\* &amp; c`},
		"item":                        {"- one\n- two\n- three", "two", "two", "two"},
		"items":                       {"- one\n- two\n- three", "one", "two", "- one\n- two"},
		"from inside an item":         {"- one\n- two\n- three", "ne", "two", "ne\n- two"},
		"heading and text":            {"## Title\n\ntext", "Title", "text", "## Title\n\ntext"},
		"heading":                     {"## Title ##\n\ntext", "Title", "Title", "Title"},
		"underlined heading":          {"a\n\nTitle\n---\n\ntext", "a", "Title", "a\n\nTitle\n---"},
		"code":                        {"```go\nfunc f() {\n\tx := 1\n}\n```", "func", "}", "func f() {\n\tx := 1\n}"},
		"line of code":                {"```go\nfunc f() {\n\tx := 1\n}\n```", "\tx", "1", "\tx := 1"},
		"code and text":               {"```go\nf()\n```\n\nafter", "f()", "after", "```go\nf()\n```\n\nafter"},
		"from inside code":            {"```go\nf()\ng()\n```\n\nafter", "g()", "after", "g()\n\nafter"},
		"to inside code":              {"before\n\n```go\nf()\ng()\n```", "before", "f()", "before\n\nf()"},
		"code in an item":             {"- a\n\n  ```go\n  \tf()\n    g()\n  ```\n\nb", "\tf", "g()", "\tf()\n  g()"},
		"indented code":               {"a\n\n    f()\n      g()\n\nb", "f()", "g()", "f()\n  g()"},
		"quote":                       {"> one\n> two\n> three", "ne", "tw", "ne\ntw"},
		"quote and more":              {"> one\n> two\n\nafter", "one", "after", "> one\n> two\n\nafter"},
		"cell":                        {"| a | b |\n|---|---|\n| one *x* | d |", "one", "x", "one *x*"},
		"cells":                       {"| a | b |\n|---|---|\n| one | two |", "one", "two", "one | two"},
		"rows":                        {"| a | b |\n|---|---|\n| one | two |", "a", "two", "| a | b |\n|---|---|\n| one | two |"},
		"wide runes":                  {"日本**語日**本語", "本", "日", "本**語日**"},
	} {
		for _, nest := range []int{1, nestAt} {
			if got := sliced(t, c.src, c.from, c.to, false, nest); got != c.want {
				t.Errorf("%s: %q from %q to %q gives %q, want %q (nested from %d)", name, c.src, c.from, c.to, got, c.want, nest)
			}
		}
	}
}

func TestLongTextIsSlicedAsItIs(t *testing.T) {
	for _, src := range []string{strings.Repeat("many words ", 900) + "end", "```\n" + strings.Repeat("\tline of code\n", 900) + "```"} {
		d := New(look)
		d.Append(src)
		d.Finish()
		d.Lines(60)
		body := strings.TrimSuffix(strings.TrimPrefix(src, "```\n"), "\n```")
		at := strings.Index(src, body)
		if got := d.Slice(at+5, at+len(body), false); got != body[5:] {
			t.Errorf("%d bytes, want %d", len(got), len(body)-5)
		}
	}
}

func TestWordsAndParagraphs(t *testing.T) {
	src := "Use **mod**els openai/gpt-5.1-mini. Done!\nnext line\n\n- item *uno* two\n\n```go\n\tcode here\nmore\n```\n\n| a | b |\n|---|---|\n| c *d* | e |"
	d := New(look)
	d.Append(src)
	d.Finish()
	d.Lines(20)
	for at, want := range map[string][2]string{
		"els":       {"**mod**els", "Use **mod**els openai/gpt-5.1-mini. Done!\nnext line"},
		"gpt":       {"openai/gpt-5.1-mini", "Use **mod**els openai/gpt-5.1-mini. Done!\nnext line"},
		"uno":       {"uno", "item *uno* two"},
		"code here": {"code", "\tcode here"},
		"more":      {"more", "more"},
		"d* |":      {"d", "c *d* | e"},
	} {
		i := strings.Index(src, at)
		a, b := d.Word(i)
		from, to := d.Paragraph(i)
		if got := d.Slice(a, b, false); got != want[0] {
			t.Errorf("word at %q is %q, want %q", at, got, want[0])
		}
		if got := d.Slice(from, to, true); got != want[1] {
			t.Errorf("paragraph at %q is %q, want %q", at, got, want[1])
		}
	}
}

func TestNothingOfAnyTextIsLostInSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ReplaceAll(markdown().Draw(t, "source"), "\r\n", "\n")
		d := nested(nests(t))
		d.Append(src)
		d.Finish()
		var all []Glyph
		for y := range d.Lines(30) {
			all = append(all, d.Trace(y, 30)...)
		}
		if len(all) == 0 {
			return
		}
		i := rapid.IntRange(0, len(all)-1).Draw(t, "from")
		k := rapid.IntRange(0, len(all)-1).Draw(t, "to")
		start, end := min(all[i].Start, all[k].Start), max(all[i].End, all[k].End)
		got := d.Slice(start, end, rapid.Bool().Draw(t, "whole"))
		for _, g := range all {
			if g.Start >= start && g.End <= end && !strings.HasPrefix(src[g.Start:], "](") && !strings.Contains(got, strings.TrimSpace(src[g.Start:g.End])) {
				t.Fatalf("of %q from %d to %d came %q without %q", src, start, end, got, src[g.Start:g.End])
			}
		}
		if w, v := d.Word(all[i].Start); w > all[i].Start || v < all[i].End {
			t.Fatalf("the word at %d is %d to %d", all[i].Start, w, v)
		}
	})
}
