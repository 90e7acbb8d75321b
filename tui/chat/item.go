package chat

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// renderContext is what items need to draw themselves.
type renderContext struct {
	st           style.Styles
	md           *markdown.Style
	now          func() time.Time
	keys         pane.Keys
	spinnerFrame int                              // current frame of the spinner
	payloadTypes map[string]assistant.PayloadType // registered types by name
	extraRows    map[string][]Row                 // additional rows of payload cards, by payload ID
	budget       int                              // how much may still be laid out for the frame
	pending      bool                             // something on the screen is not laid out yet
	raw          bool                             // answers are shown as source text, see SetRaw
	busy         bool                             // a turn is running: nothing can be chosen
	keyed        int64                            // the focused pair, on which keys such as Retry act; 0 if none
	saved        bool                             // there are no unsaved changes, so no choice offers to save
	cost         func(seq int64) int              // see View.cost
}

// item is one pair in the list. Until the pair is loaded, the item is a placeholder.
type item struct {
	seq    int64
	rc     *renderContext
	pair   assistant.Pair
	loaded bool
	parts  []part

	// The layout of the last drawing.
	first  string // line above the parts
	asked  string // see question
	starts []int  // first line of each part
	end    int    // line below the last part, which shows foot
	foot   string
	height int  // number of lines
	width  int  // width for which the lines were drawn; 0 if all parts must be drawn again
	stale  bool // some part must be drawn again

	running     bool
	raw         bool
	newest      bool // this is the newest pair, whose choices can be chosen by number
	saved       bool // there were no unsaved changes when the choices were built
	notInFilter bool // the filter does not match the pair, which is shown because it is running or was just answered
}

// changed makes the next layOut draw the changed parts.
func (it *item) changed() { it.stale = true }

// redraw makes the next layOut draw all parts.
func (it *item) redraw() { it.starts, it.width, it.asked = nil, 0, "" }

// layOut draws the pair for a width, as far as the budget of the frame allows. Unchanged
// parts keep their lines.
func (it *item) layOut(width int) {
	if it.width == width && !it.stale {
		return
	}
	drawn := 0
	if it.width == width {
		drawn = len(it.starts)
	}
	it.width, it.stale = width, false
	it.starts = it.starts[:0]
	if !it.loaded {
		it.first, it.height, it.end, it.foot = it.rc.st.Chat.Time.Render("…"), 2, 2, ""
		return
	}
	message, _ := it.parts[0].(*userPart)
	if drawn == 0 && message != nil {
		message.marks, message.when = it.marks(), it.when(width)
	}
	it.height = 0
	for i, p := range it.parts {
		if s := p.state(); i >= drawn || s.dirty {
			p.draw(width, it.rc)
			s.dirty = s.pending
			it.rc.pending = it.rc.pending || s.pending
			it.stale = it.stale || s.pending
		}
		if i == 0 && message != nil && message.headed {
			it.first, it.height = spread(message.marks, message.when, width), 1
		}
		if i > 0 && isReasoningOrTool(p) && isReasoningOrTool(it.parts[i-1]) && !it.parts[i-1].state().open {
			it.height-- // no blank line between two folded parts
		}
		it.starts = append(it.starts, it.height)
		it.height += p.Len()
	}
	it.layOutFoot(width)
}

// layOutAll draws the whole pair regardless of the budget.
func (it *item) layOutAll(width int) {
	before := it.rc.budget
	it.rc.budget = math.MaxInt
	it.layOut(width)
	it.rc.budget -= math.MaxInt - before // the cost of the pair is still deducted from the budget of the frame
}

// line returns a line of the pair as last laid out; "" if there is none.
func (it *item) line(y int) string {
	n, at, ok := it.partAt(y)
	switch {
	case ok:
		return it.parts[n].Line(at)
	case y < it.end:
		return it.first
	case y == it.end:
		return it.foot
	}
	return ""
}

// isReasoningOrTool reports whether a part is reasoning or a tool card.
func isReasoningOrTool(p part) bool {
	switch p.(type) {
	case *toolCard, *reasoningPart:
		return true
	}
	return false
}

// lineRange returns the first and last line of a part, without the blank line below it.
func (it *item) lineRange(part int) (first, last int) {
	if part >= len(it.starts) {
		return 0, 0
	}
	first, last = it.starts[part], it.end-1
	if part+1 < len(it.starts) {
		last = it.starts[part+1] - 1
	}
	if last > first && it.line(last) == "" {
		last--
	}
	return first, max(first, last)
}

// partAt returns the part that contains a line of the pair, and the index of the line
// within it; ok is false above the first part and below the last.
func (it *item) partAt(line int) (n, at int, ok bool) {
	if len(it.starts) == 0 || line < it.starts[0] || line >= it.end {
		return 0, 0, false
	}
	for n+1 < len(it.starts) && line >= it.starts[n+1] {
		n++
	}
	return n, line - it.starts[n], true
}

// setPair shows p in the item; running means that its turn has not ended. Parts that the user
// has opened or closed stay open or closed.
func (it *item) setPair(p assistant.Pair, running bool) {
	before := it.partsByName()
	it.pair, it.loaded, it.running = p, true, running
	it.parts = it.build(p)
	if last, isText := it.parts[len(it.parts)-1].(*textPart); !running {
		it.parts = append(it.parts, it.ending()...)
	} else if isText {
		last.reopen()
	}
	it.setRaw(it.raw)
	for name, part := range it.partsByName() {
		if old, ok := before[name]; ok && old.state().byUser {
			part.state().setOpen(old.state().open)
		}
	}
	it.redraw()
}

// partsByName returns the parts by names that are stable when the parts are rebuilt.
func (it *item) partsByName() map[string]part {
	out, count := map[string]part{}, map[string]int{}
	for _, p := range it.parts {
		kind := fmt.Sprintf("%T", p)
		out[fmt.Sprint(kind, count[kind])] = p
		count[kind]++
	}
	return out
}

// setRaw shows the answer as source or rendered text.
func (it *item) setRaw(raw bool) {
	it.raw = raw
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			t.raw = raw
		}
	}
	it.redraw()
}

// build returns the parts of a pair up to the end of its answer: the message, then reasoning,
// text and tool cards in order of arrival, then payload cards.
func (it *item) build(p assistant.Pair) []part {
	parts := []part{newUserPart(p)}
	cards := toolCards(p)
	used, from := make([]bool, len(cards)), 0
	addAnswer := func(text safetext.Text) {
		for _, piece := range markup.Pieces(text, len(cards)) {
			if piece.Call >= 0 {
				parts = append(parts, cards[piece.Call])
				used[piece.Call] = true
				continue
			}
			parts, _ = addText(parts, piece.Text, it.rc.md)
		}
	}
	thoughts := assistant.PairThoughts(&p)
	for len(thoughts) > 0 && thoughts[0].Place < max(len(p.AssistantText), 1) {
		t := thoughts[0]
		addAnswer(p.AssistantText[from:t.Place])
		parts = append(parts, newReasoningPart(t.Text, t.Took))
		thoughts, from = thoughts[1:], t.Place
	}
	addAnswer(p.AssistantText[from:])
	for i, c := range cards {
		if !used[i] { // the marker of the card was lost with the end of a truncated answer
			parts = append(parts, c)
		}
	}
	markRepeated(parts, p.AssistantText)
	for _, t := range thoughts { // reasoning after the last text
		parts = append(parts, newReasoningPart(t.Text, t.Took))
	}
	for _, payload := range p.Payloads {
		parts = it.rc.addPayload(parts, payload)
	}
	return parts
}

// ending returns the parts after the answer: notice, error, choices.
func (it *item) ending() (parts []part) {
	if it.pair.Notice != "" {
		parts = append(parts, newNoticePart(it.pair.Notice, ""))
	}
	if it.pair.State == assistant.PairError {
		code := cmp.Or(it.pair.ErrorCode, string(llm.KindUnknown)) // an imported pair may have no error code
		text := safetext.Sprintf("[error: %s]", code)
		if string(it.pair.ErrorMessage) != code {
			text += " " + it.pair.ErrorMessage
		}
		parts = append(parts, newNoticePart(text, code))
	}
	it.saved = it.rc.saved
	if choices := it.rc.choicesOf(it.pair); len(choices) > 0 {
		parts = append(parts, &choicesPart{seq: it.seq, choices: choices, selectable: it.selectable()})
	}
	return parts
}
