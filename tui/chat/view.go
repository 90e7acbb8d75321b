package chat

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/tui/list"
	"winnow/tui/markdown"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// keepItems is how many pairs stay loaded: hundreds of screens, and well under
// the memory that a client may take when pairs are of ordinary size.
const keepItems = 2000

// View is the message viewport. New makes one.
type View struct {
	list   list.List
	src    *source
	look   look
	first  int   // index of the oldest included pair
	focus  int   // part of the focused pair that has the focus
	aim    int64 // the pair that a jump led to; 0 is none
	runs   int64 // the pair that was begun last
	active bool
	found  search
	sel    selection
	width  int
	height int
	now    func() time.Time

	ownProposal bool // the program handles proposals itself
}

// source hands the visible pairs to the list.
type source struct {
	refs  []assistant.Ref
	items map[int64]*item
	look  *look
}

// Len implements list.Source.
func (s *source) Len() int { return len(s.refs) }

// At implements list.Source.
func (s *source) At(i int) list.Item { return s.item(s.refs[i].Seq) }

// Index implements list.Indexer.
func (s *source) Index(id string) (int, bool) {
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, false
	}
	return s.find(seq)
}

func (s *source) find(seq int64) (int, bool) {
	lo, hi := 0, len(s.refs)
	for lo < hi {
		mid := (lo + hi) / 2
		if s.refs[mid].Seq < seq {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s.refs) && s.refs[lo].Seq == seq
}

func (s *source) item(seq int64) *item {
	it, ok := s.items[seq]
	if !ok {
		it = &item{seq: seq, look: s.look}
		s.items[seq] = it
	}
	return it
}

// New makes an empty view. now tells the time; nil is time.Now.
func New(st style.Styles, now func() time.Time) *View {
	if now == nil {
		now = time.Now
	}
	v := &View{now: now}
	v.src = &source{items: map[int64]*item{}, look: &v.look}
	v.look.clock, v.look.now = v.clock, now
	v.look.keyOf = func(action string) string { return defaultKeys[action] }
	v.look.handlers, v.look.extra = map[string]Handler{}, map[string][]Row{}
	v.SetStyles(st)
	v.list.SetSource(v.src)
	return v
}

// clock shows the time of day, and the day when it is another one.
func (v *View) clock(p assistant.Pair) string {
	at, now := p.CreatedAt.Local(), v.now().Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// SetStyles draws with other colours from now on.
func (v *View) SetStyles(st style.Styles) {
	v.look.st, v.look.md = st, markdown.NewStyle(st.Markdown)
	if !v.ownProposal {
		v.look.handlers[RuleProposal] = proposalHandler(st.Icons)
	}
	for _, it := range v.src.items {
		for _, p := range it.parts {
			switch p := p.(type) {
			case *textPart:
				if p.md = v.look.md; p.parsed != nil {
					p.parsed.SetStyle(p.md)
				}
			case *reasoningPart:
				p.body = growing{}
			}
		}
		it.redraw()
	}
	v.list.Invalidate()
}

// SetRefs makes refs the visible pairs; first is the index of the oldest
// included one. Where the user looks stays.
func (v *View) SetRefs(refs []assistant.Ref, first int) {
	// A new source: the list still asks the old one where the eye was.
	v.src, v.first = &source{refs: refs, items: v.src.items, look: &v.look}, first
	v.forget()
	v.markLatest()
	at := v.list.Focused()
	v.list.SetSource(v.src)
	if at >= 0 && v.list.Focused() < 0 && v.Len() > 0 { // the focused pair is gone: its neighbour has it
		v.focus = 0
		v.list.Focus(min(at, v.Len()-1))
	}
}

// forget lets go of what is not near the screen when too much is loaded.
func (v *View) forget() {
	if len(v.src.items) <= keepItems {
		return
	}
	from, to := v.list.Visible()
	for seq, it := range v.src.items {
		i, in := v.src.find(seq)
		if it.running || it.raw || (in && i >= from-keepItems/4 && i <= to+keepItems/4) || v.holds(seq) {
			continue
		}
		delete(v.src.items, seq)
	}
}

// holds says whether a pair is selected.
func (v *View) holds(seq int64) bool {
	sel, ok := v.selected()
	return ok && seq >= sel.from.seq && seq <= sel.to.seq
}

// markLatest lets only the choices of the newest pair be chosen.
func (v *View) markLatest() {
	for i, r := range v.src.refs {
		if i < len(v.src.refs)-2 {
			continue
		}
		it := v.src.item(r.Seq)
		if latest := i == len(v.src.refs)-1; it.latest != latest {
			it.latest = latest
			if p := it.choices(); p != nil {
				p.live, p.drawn = latest, false
			}
			it.bump()
		}
	}
}

// Resize tells the size of the screen before anything is drawn on it, so that
// Missing names what will be seen.
func (v *View) Resize(w, h int) {
	if w != v.width { // the selection is one of cells
		v.sel = selection{}
	}
	v.width, v.height = w, h
}

// Missing names the pairs on the screen, and a screen around it, that are not
// loaded.
func (v *View) Missing() []int64 {
	if v.height > 0 { // the list knows what it drew, not where a jump has led since
		v.list.View(v.inner(), v.height)
	}
	from, to := v.list.Visible()
	if from < 0 {
		from, to = max(0, len(v.src.refs)-v.height), len(v.src.refs)-1
	}
	from, to = max(0, from-v.height/2), min(len(v.src.refs)-1, to+v.height/2)
	var out []int64
	for i := from; i <= to; i++ {
		if it := v.src.item(v.src.refs[i].Seq); !it.loaded && !it.running {
			out = append(out, it.seq)
		}
	}
	return out
}

// Load fills in pairs.
func (v *View) Load(pairs []assistant.Pair) {
	for _, p := range pairs {
		if it, known := v.src.items[p.Seq]; known && !it.running {
			it.setPair(p)
		}
	}
	switch { // what was loaded is not as high as it was taken for
	case v.aim == 0:
	case v.found.at.seq == v.aim:
		v.goToHit(v.found.at)
	default:
		v.Show(v.aim, true)
	}
}

// Loaded names the pairs that are loaded, for a change that they may not show
// yet.
func (v *View) Loaded() []int64 {
	var out []int64
	for _, r := range v.src.refs {
		if it, known := v.src.items[r.Seq]; known && it.loaded && !it.running {
			out = append(out, r.Seq)
		}
	}
	return out
}

// Len counts the visible pairs.
func (v *View) Len() int { return len(v.src.refs) }

// SetActive says whether the view has the focus: only then the mark is shown.
func (v *View) SetActive(on bool) { v.active = on }

// gutterWidth is the column left of the lines: the focus mark and the boundary.
// Below leastGuttered cells the text needs it more.
const (
	gutterWidth   = 2
	leastGuttered = 8
)

// gutter is how wide the gutter is.
func (v *View) gutter() int {
	if v.width < leastGuttered {
		return 0
	}
	return gutterWidth
}

// inner is the width of the items.
func (v *View) inner() int { return max(1, v.width-v.gutter()) }

// View draws the viewport: exactly h lines of exactly w cells.
func (v *View) View(w, h int) []string {
	v.Resize(w, h)
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	inner := v.inner()
	v.pointAtChoice()
	rows := strings.Split(v.list.View(inner, h), "\n")
	st := &v.look.st
	sel, selected := v.selected()
	for y, row := range rows {
		i, line, ok := v.list.ItemAt(y)
		gutter := "  "
		if ok && i < v.first {
			row = st.Chat.Outside.Render(ansi.Strip(row))
			if line == 0 {
				row = badge(row, st.Chat.Badge.Render("off"), inner)
			}
		}
		if ok && i == v.first && line == 0 && v.first > 0 {
			gutter = st.Chat.Separator.Render(st.Icons.Selected) + " "
			row = badge(row, st.Chat.Separator.Render("sent from here on"), inner)
		}
		if ok && v.active && i == v.list.Focused() && v.inFocus(i, line) {
			gutter = st.Chat.Focus.Render(st.Icons.RuleBar) + " "
		}
		row = v.found.mark(row, &st.Chat.Found)
		if ok && selected {
			row = v.markSelected(row, i, line, sel)
		}
		if v.gutter() > 0 {
			row = gutter + row
		}
		rows[y] = row
	}
	if hint := v.hint(); hint != "" && h > 0 {
		label := st.Chat.New.Render(textwidth.Truncate(" "+hint+" ", w, ""))
		rows[h-1] = strings.Repeat(" ", max(0, w-ansi.StringWidth(label))) + label
	}
	return rows
}

// hint tells what arrived below the screen.
func (v *View) hint() string {
	items, lines := v.list.Below()
	if v.list.AtEnd() || (items == 0 && lines == 0) {
		return ""
	}
	n := max(items, lines)
	return v.look.st.Icons.New + " " + strconv.Itoa(n) + " new" + v.look.keyHint("last-message")
}

// badge puts a sign at the left of a line. A wide rune that the sign would cut
// in half gives way to a space.
func badge(row, sign string, width int) string {
	w := ansi.StringWidth(sign)
	rest := textwidth.Cut(row, w, width)
	if w+ansi.StringWidth(rest) > width {
		rest = textwidth.Cut(row, w+1, width)
	}
	if w > width {
		return textwidth.Truncate(sign, width, "")
	}
	return sign + strings.Repeat(" ", max(0, width-w-ansi.StringWidth(rest))) + rest
}

// inFocus says whether a line of the focused pair belongs to the focused part.
func (v *View) inFocus(i, line int) bool {
	it := v.src.item(v.src.refs[i].Seq)
	if len(it.starts) == 0 || v.focus >= len(it.starts) {
		return line == 0
	}
	end := len(it.lines)
	if v.focus+1 < len(it.starts) {
		end = it.starts[v.focus+1]
	}
	return line >= it.starts[v.focus] && line < max(end-1, it.starts[v.focus]+1)
}
