package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// ContextPanel is the HUD next to the conversation. It lists the visible pairs, newest
// first, shows which of them the next request contains, and says why the others are left
// out.
type ContextPanel struct {
	refs    []assistant.Ref // the visible pairs, oldest first
	at      budget.Boundary
	running int64          // the pair that is being answered; 0 if none
	leftOut map[int64]bool // pairs that the last request left out
	hidden  int            // number of pairs that the filter hides
	heads   map[int64]head // heads of pairs that have been on the screen
	loads   int            // number of Reload calls; heads loaded before the last of them are out of date
	trims   trims

	cursor  overlay.ListCursor // position 0 is the newest pair
	height  int                // height in lines, including the titles; 0 if the panel is closed
	focused bool
	styles  *style.Styles
}

// head is what a row shows about a loaded pair.
type head struct {
	text   string // safe to show
	star   int
	failed bool
	load   int // value of ContextPanel.loads when the head was loaded
}

// trims caches which pairs the draft pushes out: the oldest included pairs, up to index end.
// The other fields are what end was computed from.
type trims struct {
	count, first, visible int
	end                   int
}

const (
	maxHeads  = 4096 // maximum number of stored heads
	maxText   = 200  // maximum cells of a head's text
	leftWidth = 11   // cells of the sign and the estimate, together
	minBorder = 20   // a narrower panel is empty
	minText   = 6    // minimum cells of a pair's text before its reason is shortened
	wideText  = 20   // minimum cells of a pair's text before only the start of its reason is shown
	// From this height on, the draft and the system prompt have separate rows, and the bar and
	// the number of hidden pairs have a line each.
	tall = 8
)

// SetStyles changes the colours and icons.
func (p *ContextPanel) SetStyles(st *style.Styles) { p.styles = st }

// Resize sets the height and the focus before the panel is drawn. A height of 0 closes the
// panel, which then forgets the loaded pairs.
func (p *ContextPanel) Resize(height int, focused bool) {
	p.height, p.focused = height, focused
	if height == 0 {
		p.heads = nil
	}
	p.cursor.Rows = max(0, height-2-len(p.fixed()))
}

// fixed returns the names of the lines above the pairs.
func (p *ContextPanel) fixed() []string {
	if p.height-2 < tall {
		return []string{"sum"}
	}
	return []string{"sum", "bar", "draft", "system"}
}

// Show replaces the pairs and sets which of them are included. The cursor stays on its pair,
// but if that was the newest, the cursor moves to the pair that is the newest now.
func (p *ContextPanel) Show(refs []assistant.Ref, at budget.Boundary) {
	seq, ok := p.Current()
	p.refs, p.at, p.trims = refs, at, trims{count: -1}
	if i, found := slices.BinarySearchFunc(refs, seq, func(r assistant.Ref, seq int64) int { return cmp.Compare(r.Seq, seq) }); ok && found && p.cursor.At > 0 {
		moved := len(refs) - 1 - i - p.cursor.At
		p.cursor.At, p.cursor.Top = p.cursor.At+moved, p.cursor.Top+moved
	}
	p.scroll()
}

// SetRunning sets the pair that is being answered, and its message; 0 means that no pair is
// being answered.
func (p *ContextPanel) SetRunning(seq int64, text safetext.Text) {
	if p.running = seq; seq != 0 {
		p.Load(assistant.Pair{Seq: seq, UserText: text})
	}
}

// SetLast sets which pairs the last request left out.
func (p *ContextPanel) SetLast(last *assistant.LastSend) {
	p.leftOut = map[int64]bool{}
	if last == nil {
		return
	}
	for _, out := range last.LeftOut {
		p.leftOut[out.Seq] = true
	}
}

// SetHidden sets how many pairs the filter hides.
func (p *ContextPanel) SetHidden(n int) { p.hidden = n }

// Load stores loaded pairs, if the panel is open.
func (p *ContextPanel) Load(pairs ...assistant.Pair) {
	if p.height == 0 {
		return
	}
	if p.heads == nil || len(p.heads) > maxHeads {
		p.heads = map[int64]head{}
	}
	for _, pair := range pairs {
		text, _, _ := strings.Cut(strings.TrimSpace(string(pair.UserText)), "\n")
		p.heads[pair.Seq] = head{string(safetext.Line(text, maxText)), pair.Star, pair.State == assistant.PairError, p.loads}
	}
}

// Reload makes Missing return pairs that are loaded already, because other users may have
// changed them.
func (p *ContextPanel) Reload() { p.loads++ }

// Missing returns the pairs on the screen that are not loaded or are out of date; none if
// the panel is closed.
func (p *ContextPanel) Missing() (seqs []int64) {
	from, to := p.cursor.Shown(len(p.refs))
	for row := from; row < to; row++ {
		seq := p.ref(row).Seq
		if h, known := p.heads[seq]; !known || h.load != p.loads {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

func (p *ContextPanel) ref(row int) assistant.Ref { return p.refs[len(p.refs)-1-row] }

// Current returns the pair under the cursor.
func (p *ContextPanel) Current() (seq int64, ok bool) {
	if p.cursor.At >= len(p.refs) {
		return 0, false
	}
	return p.ref(p.cursor.At).Seq, true
}

// Move moves the cursor by n pairs.
func (p *ContextPanel) Move(n int) {
	p.cursor.MoveTo(p.cursor.At+n, len(p.refs))
	p.scroll()
}

// Page moves the cursor by n screens.
func (p *ContextPanel) Page(n int) { p.Move(n * p.cursor.Page()) }

// MoveToEnd moves the cursor to the oldest or to the newest pair.
func (p *ContextPanel) MoveToEnd(oldest bool) {
	if p.Move(-p.cursor.At); oldest {
		p.Move(len(p.refs))
	}
}

// Click moves the cursor to the pair on line y of the panel, if there is one. Line 0 is the
// top of the panel.
func (p *ContextPanel) Click(y int) {
	from, to := p.cursor.Shown(len(p.refs))
	if row := from + y - 2 - len(p.fixed()); row >= from && row < to {
		p.cursor.At = row
	}
}

// scroll moves the cursor to an existing pair if necessary, and scrolls to it.
func (p *ContextPanel) scroll() {
	p.cursor.MoveTo(p.cursor.At, len(p.refs))
	p.cursor.Scroll(p.cursor.Rows, p.cursor.At, p.cursor.At+1, len(p.refs))
}

// Lines draws the panel: h lines of w cells. It reads only the pairs that it shows. counter
// is the context counter.
func (p *ContextPanel) Lines(w, h int, counter string, draft assistant.DraftCost) []string {
	if w < minBorder || h < 3 {
		return slices.Repeat([]string{strings.Repeat(" ", w)}, h)
	}
	frame := pane.Frame{Styles: p.styles, Focused: p.focused, Below: true, Titles: []string{"context " + counter}}
	lines, _ := frame.Draw(w, h, func(w, h int) []string { return p.body(w, h, draft) })
	return lines
}

func (p *ContextPanel) body(w, h int, draft assistant.DraftCost) []string {
	p.trims.find(p.refs, p.at.First, draft.Trims)
	var lines []string
	for _, what := range p.fixed() {
		lines = append(lines, p.fixedLine(what, w, draft))
	}
	foot := p.hidden > 0 && h >= tall
	p.cursor.Rows = h - len(lines)
	if foot {
		p.cursor.Rows--
	}
	p.scroll()
	from, to := p.cursor.Shown(len(p.refs))
	for row := from; row < to; row++ {
		lines = append(lines, p.row(row, w))
	}
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", w))
	}
	if foot {
		lines[h-1] = p.styles.Overlay.Muted.Render(style.Fit(" "+assistant.Counted(p.hidden, "other message")+": hidden by the filter", w, p.styles.Icons.Ellipsis))
	}
	return lines
}

// fixedLine draws one of the lines returned by fixed.
func (p *ContextPanel) fixedLine(what string, w int, draft assistant.DraftCost) string {
	switch what {
	case "bar":
		full := 0
		if p.at.ML > 0 {
			full = max(0, min(w-2, (w-2)*draft.Total/p.at.ML))
		}
		shape := p.styles.Chat.ToolOK
		if p.at.NearLimit() || draft.OverReserve || draft.OverBudget {
			shape = p.styles.Rules.Warn
		}
		return " " + shape.Render(strings.Repeat(p.styles.Icons.BarFull, full)) + p.styles.Overlay.Muted.Render(strings.Repeat(p.styles.Icons.BarEmpty, w-2-full)) + " "
	case "draft":
		return p.draw(w, p.styles.Icons.ToolOK, p.styles.Chat.ToolOK, draft.AUT, p.styles.Overlay.Text, "your draft", nil, Warning(draft))
	case "system":
		return p.draw(w, p.styles.Icons.ToolOK, p.styles.Chat.ToolOK, p.at.SYS, p.styles.Overlay.Text, "system prompt and tools", nil, "")
	}
	limit := fmt.Sprintf("%d", p.at.ML)
	if !p.at.Known {
		limit = "~" + limit
	}
	text, shape := fmt.Sprintf(" ~%d of %s", draft.Total, limit), p.styles.Overlay.Text
	left := fmt.Sprintf(" · %d left", draft.Left)
	if draft.Left < 0 {
		left, shape = fmt.Sprintf(" · %d too many", -draft.Left), p.styles.Rules.Warn
	}
	own := ""
	if p.height-2 < tall {
		own = fmt.Sprintf(" · draft ~%d", draft.AUT)
	}
	return shape.Render(style.Fit(pane.FirstFitting(w-1, text+" tokens"+own+left, text+own+left, text+own), w, p.styles.Icons.Ellipsis))
}

// row draws the pair in a row of the list.
func (p *ContextPanel) row(row, w int) string {
	ref := p.ref(row)
	h, known := p.heads[ref.Seq]
	if !known {
		h.text = p.styles.Icons.Ellipsis
	}
	in, reason := p.reason(len(p.refs)-1-row, ref, h)
	sign, shape, text := p.styles.Icons.ToolOK, p.styles.Chat.ToolOK, p.styles.Overlay.Text
	switch {
	case in && reason != "":
		sign, shape = p.styles.Icons.Warn, p.styles.Rules.Warn
	case h.failed:
		sign, shape, text = p.styles.Icons.ToolBad, p.styles.Chat.ToolBad, p.styles.Chat.OffContext
	case !in:
		sign, shape, text = p.styles.Icons.Hidden, p.styles.Chat.OffContext, p.styles.Chat.OffContext
	}
	var selected *style.Style
	if p.focused && row == p.cursor.At {
		selected = &p.styles.Overlay.Selected
	}
	if h.star > 0 {
		h.text = strings.Repeat(p.styles.Icons.Star, h.star) + " " + h.text
	}
	return p.draw(w, sign, shape, ref.Cost, text, h.text, selected, reason)
}

// reason reports whether a visible pair is in the next request. why says why the pair is not
// in that request or may be dropped from it; "" for a pair that stays in it.
func (p *ContextPanel) reason(i int, ref assistant.Ref, h head) (included bool, why string) {
	switch {
	case ref.Seq == p.running:
		return false, "being answered"
	case !ref.Contributes && h.failed:
		return false, "failed: nothing to send"
	case !ref.Contributes:
		return false, "nothing to send"
	case i < p.at.First:
		return false, "before the boundary"
	case i < p.trims.end:
		return true, "will not fit"
	case p.leftOut[ref.Seq]:
		return true, "left out of the last request"
	}
	return true, ""
}

// draw draws a sign, an estimate and words in w cells, with a remark at the right end. If
// selected is not nil, it is the style of the whole line.
func (p *ContextPanel) draw(w int, sign string, shape style.Style, cost int, text style.Style, words string, selected *style.Style, remark string) string {
	head := style.Fit(fmt.Sprintf(" %s%7s", sign, fmt.Sprintf("~%d", cost)), min(w, leftWidth), "")
	room := w - min(w, leftWidth)
	if short, _, more := strings.Cut(remark, ":"); more && room-len(remark)-len("   ") < min(wideText, style.Width(words)) {
		remark = short
	}
	remark = style.TruncateWords(remark, max(0, room-minText-len("   ")), p.styles.Icons.Ellipsis) + " "
	if remark != " " {
		remark = "  " + remark
	}
	room -= style.Width(remark)
	words = style.Fit(style.TruncateWords(words, max(0, room), p.styles.Icons.Ellipsis), max(0, room), "")
	if selected != nil {
		return selected.Render(head + words + remark)
	}
	return shape.Render(head) + text.Render(words) + p.styles.Overlay.Muted.Render(remark)
}

// find computes which pairs a draft pushes out: count pairs that contribute to the request,
// starting at index first.
func (t *trims) find(refs []assistant.Ref, first, count int) {
	if t.count == count && t.first == first && t.visible == len(refs) {
		return
	}
	*t = trims{count: count, first: first, visible: len(refs)}
	for i := first; i < len(refs) && count > 0; i++ {
		if refs[i].Contributes {
			count--
		}
		t.end = i + 1
	}
}

// Warning says why a draft would not be accepted, or what it would push out of the request;
// "" if neither is the case.
func Warning(c assistant.DraftCost) string {
	switch {
	case c.OverBudget:
		return "too long for the model"
	case c.OverQuota:
		return "over the endpoint's limit"
	case c.OverReserve && c.Trims > 0:
		return assistant.Counted(c.Trims, "old message") + " will not fit"
	}
	return ""
}
