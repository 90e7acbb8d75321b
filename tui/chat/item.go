package chat

import (
	"cmp"
	"fmt"
	"strings"
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
	spinnerFrame int                              // of the spinner
	payloadTypes map[string]assistant.PayloadType // registered, by name
	extraRows    map[string][]Row                 // by the id of a payload
	raw          bool                             // answers are shown as their source, see SetRaw
	saved        bool                             // nothing is unsaved: no choice offers to save
}

// timeOfDay shows the time of day of a pair, the day when it is not today, and before
// them the author in a history that several share.
func (rc *renderContext) timeOfDay(p assistant.Pair) string {
	at, now := p.CreatedAt.Local(), rc.now().Local()
	layout := "2006-01-02 15:04"
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		layout = "15:04"
	}
	if p.Author == "" {
		return at.Format(layout)
	}
	return safetext.Line(p.Author, maxAuthor) + " " + at.Format(layout)
}

// maxAuthor is the width of an author beside a time.
const maxAuthor = 24

// item is one pair in the list. Until it is loaded it is a placeholder.
type item struct {
	seq    int64
	rc     *renderContext
	pair   assistant.Pair
	loaded bool
	parts  []part

	// The lines as drawn last, and where each part begins in them.
	lines  []string
	starts []int
	infos  map[int][]markdown.LineInfo // by part, made when they are asked for
	width  int                         // of lines; 0: all parts must be drawn anew
	stale  bool                        // some part must

	running     bool
	raw         bool
	newest      bool // its suggestions can be chosen
	saved       bool // nothing was unsaved when its choices were made
	notInFilter bool // shown all the same, because it is running or was just answered
}

// changed makes the next Lines draw the parts that have changed.
func (it *item) changed() { it.stale = true }

// redraw makes the next Lines draw all parts.
func (it *item) redraw() { it.lines, it.starts, it.width = nil, nil, 0 }

// Lines are the lines of the pair. Parts that did not change keep theirs: a
// streaming answer costs what its last part costs.
func (it *item) Lines(width int) []string {
	if it.width == width && !it.stale {
		return it.lines
	}
	first := 0
	if it.width == width {
		first = it.unchanged()
	}
	it.width, it.stale, it.infos = width, false, nil
	if !it.loaded {
		it.lines, it.starts = []string{it.rc.st.Chat.Time.Render("…"), ""}, nil
		return it.lines
	}
	room := max(1, width-1) // a blank column before the border
	grows := -1             // where the first part that changed begins; -1: its lines are not there
	switch {
	case first == 0:
		it.lines, it.starts = append(it.lines[:0], it.head(width)), it.starts[:0]
	case first < len(it.starts):
		grows = it.starts[first]
		it.lines, it.starts = it.lines[:grows], it.starts[:first]
	}
	for i, p := range it.parts[first:] {
		it.addGap(first + i)
		at := len(it.lines)
		it.starts = append(it.starts, at)
		if t, ok := p.(*textPart); ok && !t.raw {
			it.addText(t, room, i == 0 && at == grows)
		} else if u, ok := p.(*userPart); ok { // it has a margin of its own
			it.lines = append(it.lines, u.draw(width, it.rc)...)
		} else {
			it.lines = append(it.lines, p.draw(room, it.rc)...)
		}
		p.state().dirty = false
	}
	return it.lines
}

// addText adds the lines of a part of the answer. Where those of its last drawing
// are still there, behind the lines so far, only what changed since is written.
func (it *item) addText(t *textPart, width int, there bool) {
	lines, from := t.fresh(width)
	if !there {
		from = 0
	}
	it.lines = append(append(it.lines[:len(it.lines)+from], lines[from:]...), "")
}

// addGap puts a blank line above part i, except between folded parts that are
// reasoning or tool calls.
func (it *item) addGap(i int) {
	if i == 0 || !isReasoningOrTool(it.parts[i-1]) || it.parts[i-1].state().open {
		return
	}
	end := len(it.lines) - 1
	switch gap := it.lines[end] == ""; {
	case isReasoningOrTool(it.parts[i]) && gap:
		it.lines = it.lines[:end]
	case !isReasoningOrTool(it.parts[i]) && !gap:
		it.lines = append(it.lines, "")
	}
}

// isReasoningOrTool reports whether a part shows how the answer was made.
func isReasoningOrTool(p part) bool {
	switch p.(type) {
	case *toolCard, *reasoningPart:
		return true
	}
	return false
}

// unchanged counts the parts at the beginning whose lines still hold.
func (it *item) unchanged() int {
	n := 0
	for n < len(it.parts) && n < len(it.starts) && !it.parts[n].state().dirty {
		n++
	}
	return n
}

// lineRange is the first and the last line of a part, without the blank one below it.
func (it *item) lineRange(part int) (first, last int) {
	if part >= len(it.starts) {
		return 0, 0
	}
	first, last = it.starts[part], len(it.lines)-1
	if part+1 < len(it.starts) {
		last = it.starts[part+1] - 1
	}
	if last > first && it.lines[last] == "" {
		last--
	}
	return first, max(first, last)
}

// partAt is the part that a line of the pair belongs to, and which of its lines it
// is; ok is false above the first part.
func (it *item) partAt(line int) (n, at int, ok bool) {
	if len(it.starts) == 0 || line < it.starts[0] || line >= len(it.lines) {
		return 0, 0, false
	}
	for n+1 < len(it.starts) && line >= it.starts[n+1] {
		n++
	}
	return n, line - it.starts[n], true
}

// head is the first line of a pair: what is marked on it, and its time, which ends
// above the end of the user's text, a column before the border.
func (it *item) head(width int) string {
	st := &it.rc.st
	var left []string
	if it.pair.Star > 0 {
		left = append(left, st.Chat.Star.Render(strings.Repeat(st.Icons.Star, it.pair.Star)))
	}
	if !it.pair.Flag {
		left = append(left, st.Chat.Flag.Render("grey"))
	}
	if it.pair.Topic != "" {
		left = append(left, st.Chat.Time.Render(oneLine(it.pair.Topic)))
	}
	right := it.rc.timeOfDay(it.pair)
	if it.running {
		right += " " + st.Icons.Ellipsis
	}
	right = st.Chat.Time.Render(right)
	if it.notInFilter {
		right = st.Chat.Badge.Render("not in filter") + " " + right
	}
	return spread(strings.Join(left, " "), right+" ", width)
}

// setPair makes p what the item shows. What the user opened or closed stays so.
func (it *item) setPair(p assistant.Pair) {
	before := it.partsByName()
	it.pair, it.loaded, it.running = p, true, false
	it.parts = it.build(p)
	it.setRaw(it.raw)
	for name, part := range it.partsByName() {
		if old, ok := before[name]; ok && old.state().byUser {
			part.state().setOpen(old.state().open)
		}
	}
	it.redraw()
}

// partsByName are the parts by names that stay the same when the parts are rebuilt.
func (it *item) partsByName() map[string]part {
	out, count := map[string]part{}, map[string]int{}
	for _, p := range it.parts {
		kind := fmt.Sprintf("%T", p)
		out[fmt.Sprint(kind, count[kind])] = p
		count[kind]++
	}
	return out
}

// setRaw shows the answer as its source, or rendered.
func (it *item) setRaw(raw bool) {
	it.raw = raw
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			t.raw = raw
		}
	}
	it.redraw()
}

// build makes the parts of a pair that is stored: thinking, text and cards in
// the order in which they came.
func (it *item) build(p assistant.Pair) []part {
	parts := []part{newUserPart(p)}
	cards := toolCards(p)
	used, from := make([]bool, len(cards)), 0
	addAnswer := func(text string) {
		for _, piece := range markup.Pieces(text, len(cards)) {
			if piece.Call >= 0 {
				parts = append(parts, cards[piece.Call])
				used[piece.Call] = true
				continue
			}
			parts = append(parts, newTextPart(piece.Text, it.rc.md))
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
		if !used[i] { // its marker was lost with the end of a cut answer
			parts = append(parts, c)
		}
	}
	for _, t := range thoughts { // nothing was said after them
		parts = append(parts, newReasoningPart(t.Text, t.Took))
	}
	for _, payload := range p.Payloads {
		parts = append(parts, newPayloadPart(payload))
	}
	return append(parts, it.ending()...)
}

// ending are the parts after the answer: notice, error, choices.
func (it *item) ending() (parts []part) {
	if it.pair.Notice != "" {
		parts = append(parts, newNoticePart(it.pair.Notice, ""))
	}
	if it.pair.State == assistant.PairError {
		code := cmp.Or(it.pair.ErrorCode, string(llm.KindUnknown)) // an imported pair may have none
		text := fmt.Sprintf("[error: %s]", code)
		if it.pair.ErrorMessage != code {
			text += " " + it.pair.ErrorMessage
		}
		parts = append(parts, newNoticePart(text, code))
	}
	it.saved = it.rc.saved
	if choices := it.rc.choicesOf(it.pair); len(choices) > 0 {
		parts = append(parts, &choicesPart{choices: choices, selectable: it.newest})
	}
	return parts
}
