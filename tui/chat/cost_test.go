//go:build !race

// What is measured here is wrong under the race detector, which allocates more.

package chat

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// units are what long texts are repeated of.
var units = map[string]string{
	"prose": "some **words** of an answer\n\n", "lines": "a\n", "no line break": "word ", "one word": "w", "wide": "日本語", "marks": "e\u0301\u0301 ", "blanks": " ", "line breaks": "\n",
	"tabs": "\t", "fences": "```\na\n```\n", "named fences": "``` zz\na\n```\n", "code": "```c\n\n\n\n\nx = \"\n```\n", "quotes": "> > ", "fences in quotes": "> ```\n> a\n\n", "items": "- a\n  - b\n",
	"tables": "| a | b |\n|---|---|\n| c | d |\n\n", "definitions": "[a]: http://e.x\n[a] ", "brackets": "[![", "open brackets": "[[ ", "open code": "```go\n| x |\n", "open code with links": "some words\n```go\n| x |  | x |\n\n![\x1b[31m\r[[ ][a]\n\n[a]: <http://e.x>\n\n",
	"open strings": "```python\nx = \"\n", "think": "<think>a</think>", "escapes": "\x1b[31m\r\u202e", "markers": "[[tool:0]]",
	"headings": "# a\n", "headings of many elements": "## *a* `b` c\n", "paragraphs": "a\n\n", "emphasis": "*a* ", "links": "[a](b)\n",
}

// places are where in a pair a long text may stand.
var places = map[string]func(p *assistant.Pair, text string){
	"answer":    func(p *assistant.Pair, text string) { p.AssistantText = safetext.Text(text) },
	"reasoning": func(p *assistant.Pair, text string) { p.Reasoning = safetext.Text(text) },
	"message":   func(p *assistant.Pair, text string) { p.UserText = safetext.Text(text) },
	"notice":    func(p *assistant.Pair, text string) { p.Notice = safetext.Text(text) },
	"error": func(p *assistant.Pair, text string) {
		p.State, p.ErrorMessage = assistant.PairError, safetext.Text(text)
	},
	"output": func(p *assistant.Pair, text string) { call(p).Result.Message = text },
	"arguments": func(p *assistant.Pair, text string) {
		call(p).Arguments, _ = json.Marshal(map[string]string{"a": text})
	},
	"name": func(p *assistant.Pair, text string) { call(p).Name = text },
	"payload": func(p *assistant.Pair, text string) {
		data, _ := json.Marshal(map[string]string{"a": text})
		p.Payloads = []assistant.Payload{{ID: "p", Type: "t", Data: data, Summary: text}}
	},
	"topic": func(p *assistant.Pair, text string) { p.Topic, p.Author, p.Model = text, text, text },
}

func call(p *assistant.Pair) *assistant.ToolCall {
	p.ToolCalls = []assistant.ToolCall{{ID: "c", Name: "f", Arguments: json.RawMessage(`{}`), Result: &assistant.ToolResult{Success: true}}}
	return &p.ToolCalls[0]
}

// use is what a long pair costs: allocations, their bytes and what was laid out, of all and
// of the key or the frame that needs most, and what stays in memory.
type use struct {
	all, most   counts
	stays       int64
	frames      int
	description string // of the key or frame that allocates most
}

// counts do not depend on how busy the machine is. laid is in units of the frame's budget.
type counts struct{ allocs, bytes, laid uint64 }

func (c counts) max(d counts) counts {
	return counts{max(c.allocs, d.allocs), max(c.bytes, d.bytes), max(c.laid, d.laid)}
}

// measured is what do costs.
func measured(v *View, do func()) (c counts) {
	var before, after runtime.MemStats
	v.rc.budget = 0
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return counts{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc, uint64(max(0, frameBudget-v.rc.budget))}
}

// drawAll draws a pair in all its forms: rendered, as source, unfolded, at another width, as
// the hits of a search, and copies it.
func drawAll(p assistant.Pair) (u use, v *View) {
	v = view()
	count := func(what string, do func()) {
		c := measured(v, do)
		if c.bytes > u.most.bytes {
			u.description = what
		}
		u.all.allocs, u.all.bytes, u.all.laid = u.all.allocs+c.allocs, u.all.bytes+c.bytes, u.all.laid+c.laid
		u.most = u.most.max(c)
		u.frames++
	}
	do := func(what string, key func()) {
		count(what, func() { key(); v.View(80, 30) })
		for more := true; more; {
			count("a frame after "+what, func() { more = v.LayOut(); v.View(80, 30) })
		}
	}
	do("drawing", func() { show(v, p) })
	v.Search("this is nowhere")
	do("a search before all is laid out", func() { v.NextFound(markdown.Forward, nil) })
	v.Search("w")
	do("a hit before all is laid out", func() { v.NextFound(markdown.Backward, nil) })
	do("unfolding", func() { v.FocusLast(); v.ToggleAll() })
	do("raw", v.ToggleRaw)
	do("the top", v.Top)
	do("another width", func() { v.View(50, 30) })
	do("rendering", v.ToggleRaw)
	for _, needle := range []string{"a", "word", "日", "this is nowhere"} {
		v.Search(needle)
		do("a search", func() { v.NextFound(markdown.Forward, nil) })
		do("the next hit", func() { v.NextFound(markdown.Forward, nil) })
		do("the hit before", func() { v.NextFound(markdown.Backward, nil) })
		do("the hit before that", func() { v.NextFound(markdown.Backward, nil) })
	}
	do("copying", func() { v.Answer(); v.Markdown() })
	do("copying code", func() { v.Code() })
	return u, v
}

// useOf is what drawAll needs and what stays in memory after it.
func useOf(p assistant.Pair) use {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	u, v := drawAll(p)
	runtime.GC()
	runtime.ReadMemStats(&after)
	u.stays = int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(v)
	return u
}

// longTextSize is the length of the smaller text if the larger one is to be read and laid out
// in several steps, and to exceed the limits of what is indented and named.
const longTextSize = 32 << 10

// shortTextSize is the length of all other texts.
var shortTextSize = assistanttest.Rounds(longTextSize/4, longTextSize)

// stepped are the units of which every place has a text of longTextSize.
var stepped = []string{"lines", "one word", "headings", "tabs"}

// everywhere are the units that every place has a text of. The others are Markdown, which is
// drawn in answers only; in the long form other places have some of them too.
var everywhere = []string{"prose", "lines", "no line break", "one word", "wide", "marks", "blanks", "line breaks", "tabs", "escapes"}

// linear fails the test unless what a pair of a text costs grows with the text, and no key
// or frame needs more than its share. size is the length of all of the pair's texts.
func linear(t interface {
	Helper()
	Errorf(string, ...any)
	Logf(string, ...any)
}, what string, pairOf func(size int) assistant.Pair, size int,
) {
	t.Helper()
	small, _ := drawAll(pairOf(size)) // nothing is asked about what stays of it
	large := useOf(pairOf(4 * size))
	most := func(n, m uint64) bool { return n > 6*m+m/2+uint64(128*size) }
	if most(large.all.bytes, small.all.bytes) || most(large.all.allocs*64, small.all.allocs*64) || most(large.all.laid*64, small.all.laid*64) {
		t.Errorf("%s: %+v for %d KiB of text, %+v for four times as much", what, small.all, size>>10, large.all)
	}
	const frameBytes, frameAllocs, frameLaid = 32 << 20, 600_000, 3 * frameBudget // a step may exceed the budget by its own size
	if large.most.bytes > frameBytes || large.most.allocs > frameAllocs || large.most.laid > frameLaid {
		t.Errorf("%s: a frame needs %+v (most bytes: %s)", what, large.most, large.description)
	}
	if most := int64(64<<20 + 16*4*size); large.stays > most {
		t.Errorf("%s: %d KiB stay in memory, want at most %d", what, large.stays>>10, most>>10)
	}
	t.Logf("%s: %+v, a frame %+v (%s) of %d, stays %d KiB", what, large.all, large.most, large.description, large.frames, large.stays>>10)
}

// Whatever a pair holds, and wherever: drawing, unfolding, its source, searching and copying
// cost in proportion to it, no key and no frame more than its share, and little stays.
func TestALongPairCostsWhatItsLengthCosts(t *testing.T) {
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for _, name := range slices.Sorted(maps.Keys(units)) {
			if place != "answer" && !slices.Contains(everywhere, name) && (assistanttest.Rounds(0, 1) == 0 || strings.ContainsAny(units[name], "`|>[")) {
				continue
			}
			size := shortTextSize
			if slices.Contains(stepped, name) {
				size = longTextSize
			}
			linear(t, fmt.Sprintf("%s of %s", place, name), func(size int) assistant.Pair {
				p := pair(1, "q", "a")
				places[place](&p, strings.Repeat(units[name], size/len(units[name])))
				return p
			}, size)
		}
	}
}

// constructs are pieces of an answer around another one.
var constructs = []func(inner string) string{
	func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") + "\n\n" },
	func(s string) string { return "- " + strings.ReplaceAll(s, "\n", "\n  ") + "\n" },
	func(s string) string { return "12. " + s },
	func(s string) string { return "```go\n" + s + "\n```\n" },
	func(s string) string { return "~~~ zz\n" + s },
	func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n" },
	func(s string) string {
		return "| a | b |\n|---|:-:|\n| " + strings.ReplaceAll(s, "\n", " | ") + " | x |\n\n"
	},
	func(s string) string { return "[" + s + "](http://e.x/a \"t\")" },
	func(s string) string { return "![" + s + "][a]\n\n[a]: <http://e.x>\n" },
	func(s string) string { return "**" + s + "** *" + s + "_" },
	func(s string) string { return "<think>" + s + "</think>" },
	func(s string) string { return "<div>\n" + s + "</div>\n\n" },
	func(s string) string { return "## " + s + "\n\n" },
	func(s string) string { return "`` " + s + " ``" },
	func(s string) string { return s + "[[tool:0]]" + s },
	func(s string) string { return strings.ReplaceAll(s, " ", "\t") },
	func(s string) string { return strings.ReplaceAll(s, "\n", "") }, // no line break
	func(s string) string { return s + "\n\n\n" },
	func(s string) string { return s + "\\[ \\* &amp; <!-- " },
}

// leaves are what constructs are put around.
var leaves = []string{
	"some words of an answer", "word", "日本語 の 文", "e\u0301\u0301", "👩‍👩‍👧‍👦", "https://example.org/a_(b)?c=d", "x", "\u200b\u202e", "\x1b[31m\r", "a\nb\n\nc", "***", "|", "```", "[[", "\u00a0", strings.Repeat("w", 300),
}

// anUnit is a random text that a long one is repeated of.
func anUnit(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, "pieces") {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
			b.WriteString(rapid.SampledFrom(leaves).Draw(t, "text"))
			b.WriteString(rapid.SampledFrom([]string{" ", "\n", ""}).Draw(t, "end"))
			continue
		}
		b.WriteString(constructs[rapid.IntRange(0, len(constructs)-1).Draw(t, "construct")](anUnit(t, depth-1)))
	}
	return b.String()
}

// TestARandomPairCostsWhatItsLengthCosts is the same for random texts, in several places of
// a pair.
func TestARandomPairCostsWhatItsLengthCosts(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("15"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	all := slices.Sorted(maps.Keys(places))
	rapid.Check(t, func(rt *rapid.T) {
		texts := map[string]string{"answer": anUnit(rt, 4)}
		for range rapid.IntRange(0, 2).Draw(rt, "more places") {
			texts[rapid.SampledFrom(all).Draw(rt, "place")] = anUnit(rt, 3)
		}
		linear(rt, fmt.Sprintf("%.100q", texts), func(size int) assistant.Pair {
			p := pair(1, "q", "a")
			for _, place := range all {
				if unit := texts[place]; unit != "" {
					places[place](&p, strings.Repeat(unit, 1+size/len(unit)))
				}
			}
			return p
		}, shortTextSize)
	})
}

// The bound of a frame holds at a very long answer; in the long form at the longest there may be.
func TestAFrameOfTheLongestAnswer(t *testing.T) {
	size := assistanttest.Rounds(4<<20, 16<<20)
	for _, test := range []struct{ place, unit string }{
		{"answer", "prose"}, {"answer", "wide"}, {"between cards", "code"}, {"between cards", "prose"}, {"reasoning", "one word"}, {"output", "lines"},
	} {
		p := pair(1, "q", "a")
		if text := strings.Repeat(units[test.unit], size/len(units[test.unit])); test.place == "between cards" {
			betweenCards(&p, text)
		} else {
			places[test.place](&p, text)
		}
		u := useOf(p)
		if u.most.laid > 4*frameBudget || u.most.allocs > 600_000 || u.most.bytes > uint64(4*size) || u.stays > int64(64<<20+12*size) {
			t.Errorf("%s of %s: a frame needs %+v (most bytes: %s), %d KiB stay", test.place, test.unit, u.most, u.description, u.stays>>10)
		}
		t.Logf("%s of %s: %+v in %d frames, one %+v (%s), stays %d KiB", test.place, test.unit, u.all, u.frames, u.most, u.description, u.stays>>10)
	}
}

// betweenCards makes an answer of pieces of a text, each before a card.
func betweenCards(p *assistant.Pair, text string) {
	const cards = 60
	call(p)
	p.ToolCalls = slices.Repeat(p.ToolCalls, cards)
	var b strings.Builder
	for i := range cards {
		fmt.Fprintf(&b, "%s\n[[tool:%d]]\n", text[i*len(text)/cards:(i+1)*len(text)/cards], i)
	}
	p.AssistantText = safetext.Text(b.String())
}
