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

// item is an item of a list: its lines are "id/0", "id/1", ….
type item struct {
	id    int64
	lines []string
}

// grow adds n lines at the end, as a streamed answer does.
func (t *item) grow(n int) {
	for range n {
		t.lines = append(t.lines, fmt.Sprintf("%d/%d", t.id, len(t.lines)))
	}
}

func newItem(id int64, lines int) *item {
	t := &item{id: id}
	t.grow(lines)
	return t
}

// items is a Source.
type items []*item

func (s items) Len() int            { return len(s) }
func (s items) ID(i int) int64      { return s[i].id }
func (s items) Height(i, _ int) int { return len(s[i].lines) }

func (s items) Line(i, _, line int) string { return s[i].lines[line] }

func (s items) Index(id int64) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(t *item, id int64) int { return int(t.id - id) })
}

// some are n items of 1 to 3 lines, from ID 1000 on.
func some(n int) items {
	var all items
	for i := range n {
		all = append(all, newItem(int64(1000+i), 1+i%3))
	}
	return all
}

func newList(all items) *List {
	l := &List{}
	l.SetSource(all)
	return l
}

// screen is what the list shows, without the padding.
func screen(l *List, w, h int) []string {
	lines := l.View(w, h)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestFollowsTheEnd(t *testing.T) {
	all := some(20)
	l := newList(all)
	last := all[19]
	for range 30 {
		last.grow(1)
		got := screen(l, 20, 5)
		if want := last.lines[len(last.lines)-1]; got[4] != want || !l.AtEnd() {
			t.Fatalf("last row is %q, want %q", got[4], want)
		}
	}
}

func TestShortListStandsAtTheTop(t *testing.T) {
	l := newList(items{newItem(1, 2)})
	if got, want := screen(l, 5, 4), []string{"1/0", "1/1", "", ""}; !slices.Equal(got, want) {
		t.Errorf("screen is %q, want %q", got, want)
	}
	l.ScrollBy(-1)
	if !l.AtEnd() {
		t.Error("a list that fits cannot leave its end")
	}
	if got := newList(nil).View(3, 2); !slices.Equal(got, []string{"   ", "   "}) {
		t.Errorf("the empty list shows %q", got)
	}
}

func TestScrolling(t *testing.T) {
	l := newList(some(30)) // 60 lines
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
	l.ScrollTo(15, 0, 0) // items 0…14 have 30 lines
	at("to item 15", 30)
	l.ScrollTo(15, 0, 4)
	at("to item 15 in row 4", 26)
	l.ScrollTo(29, 0, 0)
	at("to the last item", 50)
}

func TestAnyLineCanStandOnAnyRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := some(rapid.IntRange(1, 30).Draw(t, "items"))
		l, h := newList(all), rapid.IntRange(1, 12).Draw(t, "height")
		l.View(20, h)
		i := rapid.IntRange(0, len(all)-1).Draw(t, "item")
		line := rapid.IntRange(0, len(all[i].lines)-1).Draw(t, "line")
		row := rapid.IntRange(0, h-1).Draw(t, "row")
		above := line // lines of the list above it
		for _, it := range all[:i] {
			above += len(it.lines)
		}
		l.ShowLine(i, line, row)
		if got := screen(l, 20, h)[min(row, above)]; got != all[i].lines[line] {
			t.Fatalf("row %d shows %q, want %q", row, got, all[i].lines[line])
		}
		if y, ok := l.RowOf(i, line); !ok || y != min(row, above) {
			t.Fatalf("RowOf = %d, %v, want %d", y, ok, min(row, above))
		}
	})
}

func TestLineAtTheTopStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 60).Draw(t, "items")
		w, h := rapid.IntRange(8, 40).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
		all := some(n)
		l := newList(all)
		l.View(w, h)
		l.ScrollBy(-rapid.IntRange(1, 3*h+20).Draw(t, "up"))
		before := screen(l, w, h)
		if l.AtEnd() {
			t.Skip("everything fits")
		}
		first, last := l.Visible()
		for k := range rapid.IntRange(1, 8).Draw(t, "changes") {
			switch rapid.SampledFrom([]string{"above", "below", "append", "insert", "remove", "filter"}).Draw(t, "change") {
			case "above":
				if first > 0 {
					all[rapid.IntRange(0, first-1).Draw(t, "which")].grow(3)
				}
			case "below":
				if last < len(all)-1 {
					all[len(all)-1].grow(5)
				}
			case "append":
				all = append(slices.Clone(all), newItem(int64(2000+k), 4))
			case "insert":
				all = slices.Insert(slices.Clone(all), 0, newItem(int64(500-k), 2))
				first, last = first+1, last+1
			case "remove":
				if first > 0 {
					at := rapid.IntRange(0, first-1).Draw(t, "which")
					all = slices.Delete(slices.Clone(all), at, at+1)
					first, last = first-1, last-1
				}
			case "filter":
				all = slices.Clone(all[first:])
				first, last = 0, last-first
			}
			l.SetSource(all)
			if got := screen(l, w, h); !slices.Equal(got, before) {
				t.Fatalf("screen is\n%q, want\n%q", got, before)
			}
		}
	})
}

// Scrolling shows the same as a window on one slice of all lines.
func TestScrollingAgreesWithAPlainSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := 30, rapid.IntRange(1, 15).Draw(t, "height")
		source := some(rapid.IntRange(1, 40).Draw(t, "items"))
		l := newList(source)
		var all []string
		for _, it := range source {
			all = append(all, it.lines...)
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
	const link = "\x1b]8;;https://example.com\ahttps://example.com\x1b]8;;\a"
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"plain words", "日本語の文", "👩‍👩‍👧‍👦", "e\u0301", "\x1b[31mred\x1b[m", "\x1b[1mstrong\x1b[m", "\u200b", "🇩🇪", "⚠️", "", link,
		})
		var all items
		for i := range rapid.IntRange(0, 6).Draw(t, "items") {
			it := &item{id: int64(i + 1)}
			for range rapid.IntRange(1, 4).Draw(t, "lines") {
				it.lines = append(it.lines, strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "line"), ""))
			}
			all = append(all, it)
		}
		l := newList(all)
		for range 3 {
			w, h := rapid.IntRange(0, 30).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "height")
			l.ScrollBy(rapid.IntRange(-9, 9).Draw(t, "by"))
			lines := l.View(w, h)
			if len(lines) != h {
				t.Fatalf("View(%d, %d) has %d lines", w, h, len(lines))
			}
			for _, line := range lines {
				if ansi.StringWidth(line) != w {
					t.Fatalf("View(%d, %d): line %q is %d cells", w, h, line, ansi.StringWidth(line))
				}
				if strings.Count(line, "\x1b[1m")+strings.Count(line, "\x1b[31m") != strings.Count(line, "\x1b[m") {
					t.Fatalf("%q leaves a style open", line)
				}
				if strings.Count(line, "\x1b]8;;https") > strings.Count(line, "\x1b]8;;\a") {
					t.Fatalf("%q leaves a link open", line)
				}
			}
		}
	})
}

// counted is a source of any number of items that counts how often it is asked.
type counted struct{ n, asked int }

func (s *counted) Len() int                   { return s.n }
func (s *counted) ID(i int) int64             { return int64(i + 1) }
func (s *counted) Index(id int64) (int, bool) { return int(id - 1), id >= 1 && int(id) <= s.n }

func (s *counted) Height(i, _ int) int {
	s.asked++
	return 1 + i%3
}

func (s *counted) Line(i, _, line int) string { return []string{strconv.Itoa(i), "", "end"}[line] }

// costOf is how often the items of a list of n are asked for by the same walk
// through it.
func costOf(n int) int {
	s := &counted{n: n}
	l := &List{}
	l.SetSource(s)
	l.View(40, 20)
	for range 50 {
		l.ScrollBy(-3)
		l.View(40, 20)
		l.Below()
	}
	l.Top()
	l.View(40, 20)
	l.ScrollTo(n/2, 0, 9)
	l.View(40, 20)
	l.ScrollBy(1000)
	l.View(40, 20)
	s.n *= 2 // a wider filter
	l.SetSource(s)
	l.View(40, 20)
	l.Below()
	l.Bottom()
	l.View(40, 20)
	return s.asked
}

func TestCostDoesNotDependOnTheNumberOfItems(t *testing.T) {
	asked := costOf(3_000)
	for _, n := range []int{30_000, 1_000_000} {
		if a := costOf(n); a > asked*11/10 {
			t.Errorf("%d items: lines asked for %d times; 3,000 items: %d", n, a, asked)
		}
	}
}

// words is a source whose heights depend on the width: one word takes 4 cells.
type words struct{ counted }

func (s *words) Height(_, width int) int { return len(s.lines(width)) }

func (s *words) Line(_, width, line int) string { return s.lines(width)[line] }

func (s *words) lines(width int) []string {
	var lines []string
	per := max(1, width/4)
	for from := 0; from < 120; from += per {
		line := ""
		for i := from; i < min(from+per, 120); i++ {
			line += fmt.Sprintf("%03d ", i)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestResizeKeepsThePlace(t *testing.T) {
	l := &List{}
	l.SetSource(&words{counted{n: 50}})
	l.View(80, 20) // 20 words a line, 6 lines an item
	l.ScrollTo(25, 0, 0)
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
	l.View(80, 10)
	if i, _, _ := l.ItemAt(0); i != 25 {
		t.Errorf("another height moved the top to item %d", i)
	}
}

func TestBelowCountsWhatArrived(t *testing.T) {
	all := some(40)
	l := newList(all)
	check := func(when string, want int) {
		t.Helper()
		l.View(20, 10)
		if n := l.Below(); n != want {
			t.Errorf("%s: Below() = %d, want %d", when, n, want)
		}
	}
	check("at the end", 0)
	l.ScrollBy(-20)
	check("nothing arrived", 0)
	all[39].grow(2)
	check("the last item grew", 2)
	all = append(all, newItem(2000, 3), newItem(2001, 1))
	l.SetSource(all)
	check("two items arrived", 6)
	l.ScrollBy(24)
	check("some of it is on the screen", 2)
	l.Bottom()
	check("back at the end", 0)
}

func TestFocus(t *testing.T) {
	all := append(some(40), newItem(2000, 30))
	l := newList(all)
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
	for i := 40; i >= 0; i-- {
		l.Step(-1)
		shown(i)
	}
	if l.Step(-1) {
		t.Error("moved above the first item")
	}
	for i := 1; i <= 40; i++ {
		l.Step(1)
		shown(i)
	}
	if i, line, ok := l.ItemAt(0); i != 40 || line != 0 || !ok {
		t.Errorf("top is item %d line %d, want the first line of the tall one", i, line)
	}
	if l.Step(1) {
		t.Error("moved below the last item")
	}
	l.Step(-1)
	l.SetSource(all[30:40])
	shown(9)
	l.SetSource(all[:20])
	if l.Focused() != -1 {
		t.Error("an item that is gone has the focus")
	}
	l.Focus(3)
	l.Focus(-1)
	if l.Focused() != -1 {
		t.Error("the focus cannot be taken away")
	}
}

func TestItemAt(t *testing.T) {
	l := newList(items{newItem(1, 2), newItem(2, 1)})
	l.View(5, 5)
	for y, want := range []position{{0, 0}, {0, 1}, {1, 0}} {
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

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 200_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			l := &List{}
			l.SetSource(&counted{n: n})
			l.View(160, 50)
			l.ScrollBy(-60)
			b.ReportAllocs()
			for b.Loop() {
				l.View(160, 50)
			}
		})
	}
}

// BenchmarkToken is one streamed line a frame under a long history.
func BenchmarkToken(b *testing.B) {
	for _, n := range []int{20, 2_000, 200_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			all := append(some(n), newItem(1<<40, 0))
			l := newList(all)
			for b.Loop() {
				if last := all[n]; len(last.lines) < 100_000 {
					last.grow(1)
				}
				l.View(160, 50)
			}
		})
	}
}
