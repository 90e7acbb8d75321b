package list

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// text is an item of fixed lines that counts how often it is rendered.
type text struct {
	id      string
	version uint64
	lines   []string
	renders *int
}

func (t *text) ID() string      { return t.id }
func (t *text) Version() uint64 { return t.version }

func (t *text) Render(int) string {
	if t.renders != nil {
		*t.renders++
	}
	return strings.Join(t.lines, "\n")
}

// grow adds n lines at the end, as a streamed answer does.
func (t *text) grow(n int) {
	t.version++
	for range n {
		t.lines = append(t.lines, fmt.Sprintf("%s/%d", t.id, len(t.lines)))
	}
}

// item makes an item with lines "id/0", "id/1", ….
func item(id string, lines int) *text {
	t := &text{id: id}
	t.grow(lines)
	return t
}

// items makes n items of 1 to 3 lines.
func items(n int) []Item {
	var all []Item
	for i := range n {
		all = append(all, item(strconv.Itoa(i), 1+i%3))
	}
	return all
}

// screen is what the list shows, without the padding.
func screen(l *List, w, h int) []string {
	lines := strings.Split(l.View(w, h), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func newList(all ...Item) *List {
	l := &List{}
	l.SetItems(all)
	return l
}

func TestFollowsTheEnd(t *testing.T) {
	l := newList(items(20)...)
	last := item("last", 1)
	l.Append(last)
	for range 30 {
		last.grow(1)
		got := screen(l, 20, 5)
		if want := last.lines[len(last.lines)-1]; got[4] != want || !l.AtEnd() {
			t.Fatalf("last row is %q, want %q", got[4], want)
		}
	}
}

func TestShortListStandsAtTheTop(t *testing.T) {
	l := newList(item("a", 2))
	if got, want := screen(l, 5, 4), []string{"a/0", "a/1", "", ""}; !slices.Equal(got, want) {
		t.Errorf("screen is %q, want %q", got, want)
	}
	l.ScrollBy(-1)
	if !l.AtEnd() {
		t.Error("a list that fits cannot leave its end")
	}
}

func TestScrolling(t *testing.T) {
	l := newList(items(30)...) // 60 lines
	all := screen(l, 20, 60)
	at := func(name string, first int) {
		t.Helper()
		if got, want := screen(l, 20, 10), all[first:first+10]; !slices.Equal(got, want) {
			t.Errorf("%s: screen is %q, want %q", name, got, want)
		}
	}
	at("start", 50)
	l.ScrollBy(-7)
	at("up 7", 43)
	l.ScrollBy(3)
	at("down 3", 46)
	l.Page(-1)
	at("page up", 37)
	l.HalfPage(-2)
	at("two half pages up", 27)
	l.HalfPage(1)
	at("half page down", 32)
	l.Top()
	at("top", 0)
	l.ScrollBy(-1)
	at("above the top", 0)
	if l.AtEnd() {
		t.Error("the top is the end")
	}
	l.ScrollBy(1000)
	at("far below", 50)
	if !l.AtEnd() {
		t.Error("scrolled to the end, but does not follow it")
	}
	l.Top()
	l.Bottom()
	at("bottom", 50)
	l.ScrollTo(15, false) // items 0…14 have 30 lines
	at("to item 15", 30)
	l.ScrollTo(15, true) // one line in ten: four lines above it
	at("to item 15, centred", 26)
	if top, total := l.Offset(); top != 26 || total != 60 {
		t.Errorf("Offset() = %d, %d, want 26, 60", top, total)
	}
}

func TestLineUnderTheEyeStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 60).Draw(t, "items")
		w, h := rapid.IntRange(8, 40).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
		all := items(n)
		l := newList(all...)
		l.View(w, h)
		l.ScrollBy(-rapid.IntRange(1, 3*h+20).Draw(t, "up"))
		before := screen(l, w, h)
		if l.AtEnd() {
			t.Skip("everything fits")
		}
		first, last := l.Visible()
		next := n
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			switch rapid.SampledFrom([]string{"above", "below", "append", "insert", "remove", "filter"}).Draw(t, "change") {
			case "above":
				if first > 0 {
					l.At(rapid.IntRange(0, first-1).Draw(t, "which")).(*text).grow(3)
				}
			case "below":
				if last < l.Len()-1 {
					l.At(l.Len() - 1).(*text).grow(5)
				}
			case "append":
				next++
				l.Append(item(strconv.Itoa(next), 4))
			case "insert":
				next++
				l.own.items = slices.Insert(l.own.items, 0, Item(item(strconv.Itoa(next), 2)))
				l.Inserted(0, 1)
				first, last = first+1, last+1
			case "remove":
				if first > 0 {
					l.Remove(rapid.IntRange(0, first-1).Draw(t, "which"))
					first, last = first-1, last-1
				}
			case "filter":
				if first > 0 {
					l.SetItems(slices.Clone(l.own.items[first:]))
					first, last = 0, last-first
				}
			}
			if got := screen(l, w, h); !slices.Equal(got, before) {
				t.Fatalf("screen is\n%q, want\n%q", got, before)
			}
		}
	})
}

// A list that grows item by item and line by line shows the same as one that is
// given the result, wherever one scrolls.
func TestScrollingAgreesWithAPlainSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := 30, rapid.IntRange(1, 15).Draw(t, "height")
		l := newList(items(rapid.IntRange(1, 40).Draw(t, "items"))...)
		var all []string
		for i := range l.Len() {
			all = append(all, l.At(i).(*text).lines...)
		}
		most := max(0, len(all)-h)
		top := most
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			by := rapid.IntRange(-4*h, 4*h).Draw(t, "by")
			l.View(w, h)
			l.ScrollBy(by)
			top = max(0, min(top+by, most))
			got := screen(l, w, h)
			for y := range h {
				want := ""
				if top+y < len(all) {
					want = all[top+y]
				}
				if got[y] != want {
					t.Fatalf("row %d is %q, want %q (top %d of %d)", y, got[y], want, top, len(all))
				}
			}
			if l.AtEnd() != (top == most) {
				t.Fatalf("AtEnd() = %v at line %d of %d", l.AtEnd(), top, most)
			}
		}
	})
}

func TestViewHasItsShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"plain words", "日本語の文", "👩‍👩‍👧‍👦", "e\u0301", "\x1b[31mred\x1b[m", "\x1b[1mleft open", "\t", "\r", "\u200b", "🇩🇪", "\x7f", "\u0085", "⚠️", "", "\a", link,
		})
		var all []Item
		for i := range rapid.IntRange(0, 6).Draw(t, "items") {
			it := &text{id: strconv.Itoa(i)}
			for range rapid.IntRange(0, 4).Draw(t, "lines") {
				it.lines = append(it.lines, strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "line"), ""))
			}
			all = append(all, it)
		}
		l := newList(all...)
		for range 3 {
			w, h := rapid.IntRange(0, 30).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "height")
			l.ScrollBy(rapid.IntRange(-9, 9).Draw(t, "by"))
			out := l.View(w, h)
			lines := strings.Split(out, "\n")
			if h == 0 && out != "" || h > 0 && len(lines) != h {
				t.Fatalf("View(%d, %d) has %d lines", w, h, len(lines))
			}
			for _, line := range lines {
				if h > 0 && ansi.StringWidth(line) != w {
					t.Fatalf("View(%d, %d): line %q is %d cells", w, h, line, ansi.StringWidth(line))
				}
				if strings.ContainsFunc(linkParts.Replace(line), isControl) {
					t.Fatalf("a control character in %q", line)
				}
				if strings.Contains(line, "\x1b[1m") && !strings.Contains(line, reset) {
					t.Fatalf("%q leaves a style open", line)
				}
			}
		}
	})
}

// link is a hyperlink as Markdown draws it: BEL ends its address and the link.
const link = linkStart + "https://example.com" + linkEnd

const (
	linkStart = "\x1b]8;;https://example.com\a"
	linkEnd   = "\x1b]8;;\a"
)

var linkParts = strings.NewReplacer(linkStart, "", linkEnd, "")

func TestLinksStayWhole(t *testing.T) {
	l := newList(&text{id: "a", lines: []string{"see\a " + link + " or\a not"}})
	if got, want := strings.TrimRight(l.View(60, 1), " "), "see "+link+" or not"; got != want {
		t.Errorf("View = %q, want %q", got, want)
	}
}

// lazy is a source of any number of items that exist only while they are used.
type lazy struct {
	n, asked, rendered int
}

func (s *lazy) Len() int { return s.n }
func (s *lazy) At(i int) Item {
	s.asked++
	return &text{id: strconv.Itoa(i), lines: []string{strconv.Itoa(i), "", "end"}[:1+i%3], renders: &s.rendered}
}

// costOf is how often the items of a list of n are asked for and rendered by
// the same walk through it.
func costOf(n int) (asked, rendered int) {
	s := &lazy{n: n}
	l := &List{}
	l.SetSource(s)
	l.View(40, 20)
	for range 50 {
		l.ScrollBy(-3)
		l.View(40, 20)
	}
	l.Top()
	l.View(40, 20)
	l.ScrollTo(n/2, true)
	l.View(40, 20)
	l.ScrollBy(1000)
	l.View(40, 20)
	l.Bottom()
	l.View(40, 20)
	return s.asked, s.rendered
}

func TestCostDoesNotDependOnTheNumberOfItems(t *testing.T) {
	asked, rendered := costOf(3_000)
	for _, n := range []int{30_000, 1_000_000} {
		a, r := costOf(n)
		if a > asked*11/10 || r > rendered*11/10 {
			t.Errorf("%d items: %d asked for, %d rendered; 3,000 items: %d and %d", n, a, r, asked, rendered)
		}
	}
	if rendered > 400 {
		t.Errorf("%d renders for a walk over about 200 items", rendered)
	}
}

func TestUnchangedFramesRenderNothing(t *testing.T) {
	s := &lazy{n: 1000}
	l := &List{}
	l.SetSource(s)
	l.View(40, 20)
	before := s.rendered
	for range 100 {
		l.View(40, 20)
	}
	if s.rendered != before {
		t.Errorf("%d renders in frames without a change", s.rendered-before)
	}
}

func TestOnlyTheChangedItemRendersAgain(t *testing.T) {
	renders := 0
	all := items(20)
	for _, it := range all {
		it.(*text).renders = &renders
	}
	l := newList(all...)
	l.View(40, 20)
	renders = 0
	all[18].(*text).version++
	l.View(40, 20)
	if renders != 1 {
		t.Errorf("%d renders, want 1", renders)
	}
	l.Invalidate()
	renders = 0
	l.View(40, 20)
	if renders < 10 {
		t.Errorf("%d renders after Invalidate, want all on the screen", renders)
	}
}

func TestCacheIsBounded(t *testing.T) {
	s := &lazy{n: 100_000}
	l := &List{}
	l.SetSource(s)
	l.View(40, 50)
	l.Top()
	for range 2000 {
		l.Page(1)
		l.View(40, 50)
	}
	if l.cache.lines > cacheLines+200 || len(l.cache.entries) != l.cache.used.Len() {
		t.Errorf("%d lines of %d items kept, want at most %d", l.cache.lines, len(l.cache.entries), cacheLines)
	}
}

func TestGiantNeighboursAreRenderedOnce(t *testing.T) {
	renders := 0
	a, b := item("a", 3*cacheLines), item("b", 3*cacheLines)
	a.renders = &renders
	l := newList(a, b)
	l.View(20, 10)
	l.ScrollTo(1, false)
	l.ScrollBy(-5) // half a screen of each
	l.View(20, 10)
	renders = 0
	for range 10 {
		b.grow(1)
		l.View(20, 10)
	}
	if first, last := l.Visible(); first != 0 || last != 1 {
		t.Fatalf("items %d to %d are on the screen, want both", first, last)
	}
	if renders > 0 {
		t.Errorf("%d renders of an item that did not change", renders)
	}
}

func TestRemovedItemsAreLetGo(t *testing.T) {
	l := newList(items(5)...)
	l.View(20, 20)
	l.Remove(2)
	if _, kept := l.cache.entries["2"]; kept || l.Len() != 4 || l.own.items[:5][4] != nil {
		t.Errorf("item 2 is still held: %v", l.own.items[:5])
	}
	if got := strings.Join(screen(l, 20, 20), " "); strings.Contains(got, "2/0") {
		t.Errorf("item 2 is still shown: %s", got)
	}
	l.SetItems(nil)
	if got := l.View(3, 2); got != "   \n   " {
		t.Errorf("the empty list shows %q", got)
	}
}

func TestReplace(t *testing.T) {
	l := newList(item("a", 1), item("b", 1))
	l.View(5, 3)
	l.Replace(0, item("c", 2))
	if got, want := screen(l, 5, 3), []string{"c/0", "c/1", "b/0"}; !slices.Equal(got, want) {
		t.Errorf("screen is %q, want %q", got, want)
	}
}

// wrapped is an item whose height depends on the width: one word a line of
// width cells.
type wrapped struct{ text }

func (s *wrapped) Render(width int) string {
	var b strings.Builder
	per := max(1, width/4)
	for i := range 120 {
		if i > 0 {
			b.WriteString(map[bool]string{true: "\n", false: " "}[i%per == 0])
		}
		fmt.Fprintf(&b, "%03d", i)
	}
	return b.String()
}

func TestResizeKeepsTheAnchor(t *testing.T) {
	l := newList()
	for i := range 50 {
		l.Append(&wrapped{text{id: strconv.Itoa(i)}})
	}
	l.View(80, 20) // 20 words a line, 6 lines an item
	l.ScrollTo(25, false)
	l.ScrollBy(3)
	l.View(80, 20)
	for _, w := range []int{40, 80, 16, 200, 80} {
		out := screen(l, w, 20)
		i, _, _ := l.ItemAt(0)
		if i != 25 {
			t.Fatalf("width %d: item %d is at the top, want 25", w, i)
		}
		word, _ := strconv.Atoi(strings.Fields(out[0])[0])
		if word < 30 || word > 75 {
			t.Errorf("width %d: word %d is at the top, want about 60", w, word)
		}
	}
	l.Resize(80, 10)
	if i, _, _ := l.ItemAt(0); i != 25 {
		t.Errorf("another height moved the top to item %d", i)
	}
}

func TestBelow(t *testing.T) {
	l := newList(items(40)...)
	l.View(20, 10)
	last := l.At(39).(*text)
	if n, lines := l.Below(); n != 0 || lines != 0 {
		t.Errorf("at the end: Below() = %d, %d", n, lines)
	}
	l.ScrollBy(-20)
	l.View(20, 10)
	if n, lines := l.Below(); n != 0 || lines != 0 {
		t.Errorf("nothing arrived: Below() = %d, %d", n, lines)
	}
	last.grow(2)
	if n, lines := l.Below(); n != 0 || lines < 1 {
		t.Errorf("an item grew: Below() = %d, %d, want 0 and some", n, lines)
	}
	l.Append(item("new", 3), item("newer", 1))
	if n, lines := l.Below(); n != 2 || lines < 2 {
		t.Errorf("two arrived: Below() = %d, %d, want 2 and some", n, lines)
	}
	l.Bottom()
	l.View(20, 10)
	if n, lines := l.Below(); n != 0 || lines != 0 {
		t.Errorf("back at the end: Below() = %d, %d", n, lines)
	}
}

func TestFocus(t *testing.T) {
	l := newList(items(40)...)
	l.Append(item("tall", 30))
	l.View(20, 10)
	if l.Focused() != -1 {
		t.Fatalf("item %d has the focus at the start", l.Focused())
	}
	shown := func(i int) {
		t.Helper()
		l.View(20, 10)
		first, last := l.Visible()
		if l.Focused() != i || i < first || i > last {
			t.Errorf("focus is on %d, want %d; items %d to %d are on the screen", l.Focused(), i, first, last)
		}
	}
	l.Prev()
	shown(40)
	l.Prev()
	shown(39)
	for i := 38; i >= 0; i-- {
		l.Prev()
		shown(i)
	}
	if l.Prev() {
		t.Error("moved above the first item")
	}
	for i := 1; i <= 40; i++ {
		l.Next()
		shown(i)
	}
	if i, line, ok := l.ItemAt(0); i != 40 || line != 0 || !ok {
		t.Errorf("top is item %d line %d, want the first line of the tall one", i, line)
	}
	if l.Next() {
		t.Error("moved below the last item")
	}
	l.Remove(40)
	shown(39)
	l.SetItems(slices.Clone(l.own.items[30:]))
	shown(9)
	l.Focus(-1)
	if l.Focused() != -1 {
		t.Error("the focus cannot be taken away")
	}
}

func TestItemAt(t *testing.T) {
	l := newList(item("a", 2), item("b", 1))
	l.View(5, 5)
	for y, want := range []row{{0, 0}, {0, 1}, {1, 0}} {
		if i, line, ok := l.ItemAt(y); !ok || i != want.item || line != want.line {
			t.Errorf("ItemAt(%d) = %d, %d, %v, want %v", y, i, line, ok, want)
		}
	}
	for _, y := range []int{-1, 3, 5} {
		if _, _, ok := l.ItemAt(y); ok {
			t.Errorf("there is an item on row %d", y)
		}
	}
}

// stream is an item that keeps its own lines.
type stream struct{ text }

func (s *stream) Lines(int) []string { return s.lines }
func (s *stream) Render(int) string  { panic("Render of a Liner") }

func TestLinerIsNotCached(t *testing.T) {
	s := &stream{}
	l := newList(item("a", 1), s)
	if got, want := screen(l, 5, 3), []string{"a/0", "", ""}; !slices.Equal(got, want) {
		t.Errorf("screen is %q, want %q", got, want)
	}
	s.lines = append(s.lines, "x", "yyyyyyy", "z")
	if got, want := screen(l, 5, 3), []string{"x", "yyyyy", "z"}; !slices.Equal(got, want) {
		t.Errorf("screen is %q, want %q", got, want)
	}
	if s.lines[1] != "yyyyyyy" {
		t.Error("the lines of the item were changed")
	}
	l.ScrollBy(-1)
	s.version++
	s.lines = append(s.lines, "1", "2")
	if _, lines := l.Below(); lines != 2 {
		t.Errorf("%d lines below, want 2", lines)
	}
}

func TestSourceThatIsNotOurs(t *testing.T) {
	l := &List{}
	l.SetSource(&lazy{n: 3})
	defer func() {
		if recover() == nil {
			t.Error("Append changed a source that is not the list's")
		}
	}()
	l.Append(item("x", 1))
}

func TestHeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heights
		h.reset(rapid.IntRange(0, 20).Draw(t, "items"))
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
			case op == 0:
				h.insert(rapid.IntRange(0, h.len()).Draw(t, "at"), rapid.IntRange(1, 5).Draw(t, "n"))
			case op == 1 && h.len() > 0:
				i := rapid.IntRange(0, h.len()-1).Draw(t, "at")
				h.remove(i, rapid.IntRange(1, h.len()-i).Draw(t, "n"))
			case h.len() > 0:
				h.set(rapid.IntRange(0, h.len()-1).Draw(t, "at"), rapid.IntRange(1, 50).Draw(t, "lines"))
			}
			sum := 0
			for i, n := range h.each {
				if got := h.before(i); got != sum {
					t.Fatalf("before(%d) = %d, want %d in %v", i, got, sum, h.each)
				}
				for line := range int(n) {
					if got := h.find(sum + line); got != (anchor{i, line}) {
						t.Fatalf("find(%d) = %v, want item %d line %d", sum+line, got, i, line)
					}
				}
				sum += int(n)
			}
			if h.all() != sum {
				t.Fatalf("all() = %d, want %d", h.all(), sum)
			}
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 200_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			l := &List{}
			l.SetSource(&lazy{n: n})
			l.View(160, 50)
			l.ScrollBy(-60)
			b.ReportAllocs()
			for b.Loop() {
				l.View(160, 50)
			}
		})
	}
}

// BenchmarkToken is one streamed token a frame under a long history.
func BenchmarkToken(b *testing.B) {
	for _, n := range []int{20, 2_000, 200_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			l := newList(items(n)...)
			s := &stream{}
			l.Append(s)
			for b.Loop() {
				s.version++
				if len(s.lines) < 100_000 {
					s.lines = append(s.lines, "some words of an answer that streams")
				}
				l.View(160, 50)
			}
		})
	}
}
