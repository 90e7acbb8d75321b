package chat

import (
	"slices"
	"sort"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/tui/list"
	"winnow/tui/markdown"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// maxLoaded is the number of pairs above which those far from the screen are unloaded:
// enough for hundreds of screens, without much memory if the pairs are of ordinary size.
const maxLoaded = 2000

// View is the message viewport. Create it with New.
type View struct {
	list          list.List
	src           *source
	rc            renderContext
	firstIncluded int   // index of the oldest included pair
	focus         int   // index of the focused part in the focused pair
	jumpTarget    int64 // the target of JumpTo; 0 if none
	runningSeq    int64 // the pair of the last started turn
	active        bool  // the view has the focus
	search        search
	sel           selection
	width, height int
}

// source provides the visible pairs to the list.
type source struct {
	refs  []assistant.Ref
	items map[int64]*item
	rc    *renderContext
}

// Len implements list.Source.
func (s *source) Len() int { return len(s.refs) }

// ID implements list.Source.
func (s *source) ID(i int) int64 { return s.refs[i].Seq }

// Index implements list.Source.
func (s *source) Index(seq int64) (int, bool) {
	i := sort.Search(len(s.refs), func(i int) bool { return s.refs[i].Seq >= seq })
	return i, i < len(s.refs) && s.refs[i].Seq == seq
}

// Height implements list.Source.
func (s *source) Height(i, width int) int {
	it := s.at(i)
	it.layOut(width)
	return it.height
}

// Line implements list.Source.
func (s *source) Line(i, width, line int) string {
	return s.at(i).line(line)
}

func (s *source) at(i int) *item { return s.item(s.refs[i].Seq) }

func (s *source) item(seq int64) *item {
	it, ok := s.items[seq]
	if !ok {
		it = &item{seq: seq, rc: s.rc, raw: s.rc.raw, newest: seq == s.newest()}
		s.items[seq] = it
	}
	return it
}

// newest returns the Seq of the last visible pair; 0 if there is none.
func (s *source) newest() int64 {
	if len(s.refs) == 0 {
		return 0
	}
	return s.refs[len(s.refs)-1].Seq
}

// loaded returns the item of a loaded pair, or nil.
func (s *source) loaded(seq int64) *item {
	if it := s.items[seq]; it != nil && it.loaded {
		return it
	}
	return nil
}

// New returns an empty view. now returns the time; nil means time.Now.
func New(st style.Styles, now func() time.Time) *View {
	if now == nil {
		now = time.Now
	}
	v := &View{rc: renderContext{now: now, payloadTypes: map[string]assistant.PayloadType{}, extraRows: map[string][]Row{}}}
	v.src = &source{items: map[int64]*item{}, rc: &v.rc}
	v.rc.cost = v.cost
	v.SetStyles(st)
	v.list.SetSource(v.src)
	return v
}

// cost returns the approximate number of tokens that a pair takes in a request; 0 if the
// filter hides the pair.
func (v *View) cost(seq int64) int {
	if i, ok := v.src.Index(seq); ok {
		return v.src.refs[i].Cost
	}
	return 0
}

// SetStyles changes the colours and icons.
func (v *View) SetStyles(st style.Styles) {
	v.rc.st, v.rc.md = st, markdown.NewStyle(st.Markdown)
	for _, it := range v.src.items {
		for _, p := range it.parts {
			if t, ok := p.(*textPart); ok {
				t.setStyle(v.rc.md)
			}
		}
		it.redraw()
	}
}

// SetKeys sets the keys named in the texts of the view.
func (v *View) SetKeys(keys pane.Keys) {
	v.rc.keys = keys
	for _, it := range v.src.items {
		it.redraw()
	}
}

// SetRefs sets the visible pairs; first is the index of the oldest included pair. The line
// at the top of the screen stays there, or the end if the view follows it.
func (v *View) SetRefs(refs []assistant.Ref, first int) {
	at, newest, atEnd := v.list.Focused(), v.src.newest(), v.list.AtEnd()
	v.src, v.firstIncluded = &source{refs: refs, items: v.src.items, rc: &v.rc}, first
	v.unload()
	v.markNewest(newest)
	v.list.SetSource(v.src)
	if at >= 0 && v.list.Focused() < 0 && len(refs) > 0 { // the focused pair is gone, so its neighbour gets the focus
		v.focusOn(min(at, len(refs)-1), 0)
		if atEnd { // as after a cancelled turn: the focus scrolls to the first line of its pair
			v.list.Bottom()
		}
	}
}

// unload unloads the pairs that are not near the screen if more than maxLoaded are loaded.
// Running and selected pairs stay, and those that the user has switched between source and
// rendered text.
func (v *View) unload() {
	if len(v.src.items) <= maxLoaded {
		return
	}
	from, to := v.list.Visible()
	sel, selected := v.selected()
	for seq, it := range v.src.items {
		i, visible := v.src.Index(seq)
		near := visible && i >= from-maxLoaded/4 && i <= to+maxLoaded/4
		if !near && !it.running && it.raw == v.rc.raw && !(selected && seq >= sel.from.seq && seq <= sel.to.seq) {
			delete(v.src.items, seq)
		}
	}
}

// markNewest marks the newest pair, whose choices can be chosen by number. before is the
// pair that was the newest.
func (v *View) markNewest(before int64) {
	newest := v.src.newest()
	for _, seq := range [...]int64{before, newest} {
		it := v.src.items[seq]
		if it == nil || it.newest == (seq == newest) {
			continue
		}
		it.newest = seq == newest
		it.updateSelectable()
	}
	v.updateChoices()
}

// Resize sets the size of the view, as View does. Call it before LayOut or Missing if the
// size has changed since the last View.
func (v *View) Resize(w, h int) {
	if w != v.width { // the cells of the selection move if the width changes
		v.sel = selection{}
	}
	v.width, v.height = w, h
}

// LayOut lays out what the next frame shows, within the budget of a frame. It reports
// whether another call is needed.
func (v *View) LayOut() (more bool) {
	if v.width <= 0 || v.height <= 0 {
		return false
	}
	v.rc.budget, v.rc.pending = frameBudget, false
	v.goOn()
	v.layout()
	return v.rc.pending
}

// layout lays out the list for the next frame.
func (v *View) layout() []string { return v.list.View(v.innerWidth(), v.height) }

// Missing returns the pairs near the screen that are not loaded. Near are the pairs on the
// screen and, before and after them, half as many pairs as the screen has rows.
func (v *View) Missing() []int64 {
	if v.height > 0 {
		v.layout()
	}
	from, to := v.list.Visible()
	if from < 0 {
		from, to = max(0, len(v.src.refs)-v.height), len(v.src.refs)-1
	}
	var out []int64
	for i := max(0, from-v.height/2); i <= min(len(v.src.refs)-1, to+v.height/2); i++ {
		if it := v.src.at(i); !it.loaded {
			out = append(out, it.seq)
		}
	}
	return out
}

// Load fills in pairs, and ends the running turn if its pair is among them.
func (v *View) Load(pairs []assistant.Pair) {
	for _, p := range pairs {
		if it, known := v.src.items[p.Seq]; known {
			v.replace(it, p)
		}
	}
	switch { // a loaded pair has a different height than its placeholder
	case v.jumpTarget == 0:
	case v.search.at.seq == v.jumpTarget && v.search.goingOn:
		v.goOn()
	case v.search.at.seq == v.jumpTarget:
		v.goToHit(v.search.at)
	default:
		v.Show(v.jumpTarget, true)
	}
}

// Loaded returns the loaded pairs whose turn has ended, in order. They include pairs that
// the filter hides, which would otherwise be out of date when they reappear.
func (v *View) Loaded() []int64 {
	var out []int64
	for seq, it := range v.src.items {
		if it.loaded && !it.running {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out
}

// Len returns the number of visible pairs.
func (v *View) Len() int { return len(v.src.refs) }

// SetActive sets whether the view has the focus; the focus mark is drawn only then.
func (v *View) SetActive(on bool) { v.active = on }

// gutterWidth is the width of the column to the left of the lines, which shows the focus and
// the boundary; rightWidth is the margin on the right. A view narrower than minGuttered cells
// has neither.
const (
	gutterWidth = 2
	rightWidth  = 2
	minGuttered = 8
)

func (v *View) gutter() int {
	if v.width < minGuttered {
		return 0
	}
	return gutterWidth
}

// innerWidth returns the width of the items.
func (v *View) innerWidth() int {
	if v.gutter() == 0 {
		return max(1, v.width)
	}
	return v.width - gutterWidth - rightWidth
}

// View draws the viewport: exactly h lines of exactly w cells.
func (v *View) View(w, h int) []string {
	v.Resize(w, h)
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	v.updateChoiceFocus()
	v.rc.budget = frameBudget
	rows := v.layout()
	st := &v.rc.st
	sel, selected := v.selected()
	texts := lineTexts{}
	for y, row := range rows {
		i, line, ok := v.list.ItemAt(y)
		gutter := "  "
		if ok && i < v.firstIncluded {
			row = st.Chat.OffContext.Render(style.Strip(row))
			if line == 0 {
				row = badge(row, v.innerWidth(), st.Chat.Badge, "off")
			}
		}
		if ok && i == v.firstIncluded && line == 0 && v.firstIncluded > 0 {
			gutter = st.Chat.Separator.Render(st.Icons.Selected) + " "
			row = badge(row, v.innerWidth(), st.Chat.Separator, "sent from here on", "sent")
		}
		if ok && v.active && i == v.list.Focused() && v.inFocus(i, line) {
			gutter = st.Chat.Focus.Render(st.Icons.RuleBar) + " "
		}
		if ok && v.search.needle != "" {
			row = v.drawHits(row, i, line, texts)
		}
		if ok && selected {
			row = v.drawSelected(row, i, line, sel)
		}
		if v.gutter() > 0 {
			row = gutter + row + strings.Repeat(" ", rightWidth)
		}
		rows[y] = row
	}
	return rows
}

// inFocus reports whether a line of pair i, which has the focus, belongs to the focused
// part.
func (v *View) inFocus(i, line int) bool {
	it := v.src.at(i)
	if v.focus >= len(it.starts) {
		return line == 0
	}
	first, last := it.lineRange(v.focus)
	return line >= first && line <= last
}
