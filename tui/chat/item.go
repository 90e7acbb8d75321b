package chat

import (
	"strconv"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// look is what items need to draw themselves.
type look struct {
	st    style.Styles
	md    *markdown.Style
	clock func(assistant.Pair) string // the time of a pair, short
	now   func() time.Time
	frame int // of the spinner

	keyOf    func(action string) string
	watch    func(seq int64) (done func()) // see WatchDrawing
	handlers map[string]Handler            // by payload type
	extra    map[string][]Row              // by the id of a payload
}

// item is one pair in the list. Until it is loaded it is a placeholder.
type item struct {
	seq     int64
	look    *look
	pair    assistant.Pair
	loaded  bool
	parts   []part
	version uint64

	// The lines as drawn last, and where each part begins in them.
	lines  []string
	starts []int
	joints map[int][]markdown.Joint // by part, made when they are asked for
	drawn  struct {
		width   int
		version uint64
	}
	running bool
	raw     bool
	latest  bool // the suggestions of the newest pair can be chosen
	hidden  bool // the filter hides it: it is here because it is running, or just answered
}

// ID implements list.Item.
func (it *item) ID() string { return strconv.FormatInt(it.seq, 10) }

// Version implements list.Item.
func (it *item) Version() uint64 { return it.version }

// Render implements list.Item.
func (it *item) Render(width int) string { return strings.Join(it.Lines(width), "\n") }

func (it *item) bump() { it.version++ }

// redraw forgets what was drawn, also of parts that did not change.
func (it *item) redraw() {
	it.lines, it.starts, it.drawn.width = nil, nil, 0
	it.bump()
}

// Lines implements list.Liner. Parts that did not change keep their lines: a
// streaming answer costs what its last part costs.
func (it *item) Lines(width int) []string {
	if it.drawn.width == width && it.drawn.version == it.version && it.lines != nil {
		return it.lines
	}
	same := it.drawn.width == width
	it.drawn.width, it.drawn.version, it.joints = width, it.version, nil
	if !it.loaded {
		it.lines, it.starts = []string{it.look.st.Chat.Time.Render("…"), ""}, nil
		return it.lines
	}
	first := 0
	if same {
		first = it.unchanged()
	} else {
		defer it.watched(len(it.pair.AssistantText))()
	}
	grows := -1 // where the first part begins that changed; -1: its lines stand nowhere
	switch {
	case first == 0:
		it.lines, it.starts = append(it.lines[:0], it.meta(width)), it.starts[:0]
	case first < len(it.starts):
		grows = it.starts[first]
		it.lines, it.starts = it.lines[:grows], it.starts[:first]
	}
	for i, p := range it.parts[first:] {
		it.join(first + i)
		at := len(it.lines)
		it.starts = append(it.starts, at)
		if t, ok := p.(*textPart); ok && !t.raw {
			it.addText(t, width, i == 0 && at == grows)
			continue
		}
		it.lines = append(it.lines, p.lines(width, it.look)...)
	}
	return it.lines
}

// addText adds the lines of a part of the answer. Where those of its last drawing
// still stand, behind the lines so far, only what changed since is written.
func (it *item) addText(t *textPart, width int, stands bool) {
	lines, from := t.fresh(width)
	if !stands {
		from = 0
	}
	it.lines = append(append(it.lines[:len(it.lines)+from], lines[from:]...), "")
}

// join sees to it that the lines of folded work, thoughts and tools, stand below
// each other without a gap, and everything else with one.
func (it *item) join(i int) {
	if i == 0 || !foldedWork(it.parts[i-1]) {
		return
	}
	end := len(it.lines) - 1
	gap := it.lines[end] == ""
	switch joined := isWork(it.parts[i]); {
	case joined && gap:
		it.lines = it.lines[:end]
	case !joined && !gap:
		it.lines = append(it.lines, "")
	}
}

// isWork says whether a part tells how an answer came about.
func isWork(p part) bool {
	switch p.(type) {
	case *card, *reasoningPart:
		return true
	}
	return false
}

// foldedWork says whether it takes one line for that.
func foldedWork(p part) bool {
	open, _ := p.folded()
	return isWork(p) && !open
}

// unchanged counts the parts at the beginning whose lines still hold.
func (it *item) unchanged() int {
	n := 0
	for n < len(it.parts) && n < len(it.starts) && !it.parts[n].changed() {
		n++
	}
	return n
}

// meta is the first line of a pair: what is marked on it, and its time.
func (it *item) meta(width int) string {
	st := it.look.st
	var left []string
	if it.pair.Star > 0 {
		left = append(left, st.Chat.Star.Render(strings.Repeat(st.Icons.Star, it.pair.Star)))
	}
	if !it.pair.Flag {
		left = append(left, st.Chat.Flag.Render("grey"))
	}
	if it.pair.Topic != "" {
		left = append(left, st.Chat.Time.Render(one(it.pair.Topic)))
	}
	right := st.Chat.Time.Render(it.look.clock(it.pair))
	if it.running {
		right = st.Chat.Time.Render(it.look.clock(it.pair) + " " + st.Icons.Ellipsis)
	}
	if it.hidden {
		right = st.Chat.Badge.Render("not in filter") + " " + right
	}
	return spread(strings.Join(left, " "), right, width)
}

// setPair makes p what the item shows. Folds that the user set stay.
func (it *item) setPair(p assistant.Pair) {
	folds := it.folds()
	it.pair, it.loaded, it.running = p, true, false
	it.parts = it.build(p)
	it.setRaw(it.raw)
	for i, part := range it.parts {
		if open, set := folds[part.key(i)]; set {
			part.fold(!open)
		}
	}
	it.redraw()
}

// setRaw shows the answer as its source, or rendered.
func (it *item) setRaw(raw bool) {
	it.raw = raw
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok && t.raw != raw {
			t.raw, t.dirty = raw, true
			it.drawn.width = 0 // from the beginning, and watched
		}
	}
	it.bump()
}

// watchedFrom is the length in bytes from which on the drawing of an answer is
// watched.
const watchedFrom = 8 << 10

// watched begins to draw an answer of so many bytes; the function that it returns
// ends that.
func (it *item) watched(bytes int) (done func()) {
	if it.look.watch == nil || bytes < watchedFrom || it.raw {
		return func() {}
	}
	return it.look.watch(it.seq)
}

// folds remembers which parts the user opened or closed himself.
func (it *item) folds() map[string]bool {
	out := map[string]bool{}
	for i, p := range it.parts {
		if open, byUser := p.folded(); byUser {
			out[p.key(i)] = open
		}
	}
	return out
}

// build makes the parts of a pair that is stored: thinking, text and cards in
// the order in which they came.
func (it *item) build(p assistant.Pair) []part {
	parts := []part{newUser(p)}
	cards := cardsOf(p)
	used, from := make([]bool, len(cards)), 0
	tell := func(text string) {
		for _, piece := range assistant.Pieces(text, len(cards)) {
			if piece.Call >= 0 {
				parts = append(parts, cards[piece.Call])
				used[piece.Call] = true
				continue
			}
			parts = append(parts, newText(piece.Text, it.look.md))
		}
	}
	thoughts := assistant.PairThoughts(&p)
	for len(thoughts) > 0 && thoughts[0].Place < max(len(p.AssistantText), 1) {
		t := thoughts[0]
		tell(p.AssistantText[from:t.Place])
		parts = append(parts, newReasoning(t.Text, t.Took))
		thoughts, from = thoughts[1:], t.Place
	}
	tell(p.AssistantText[from:])
	for i, c := range cards {
		if !used[i] { // its marker was lost with the end of a cut answer
			parts = append(parts, c)
		}
	}
	for _, t := range thoughts { // nothing was said after them
		parts = append(parts, newReasoning(t.Text, t.Took))
	}
	for _, payload := range p.Payloads {
		parts = append(parts, newPayload(payload))
	}
	return append(parts, it.ending(p)...)
}

// ending are the parts after the answer: notice, error, suggestions.
func (it *item) ending(p assistant.Pair) []part {
	var parts []part
	if p.Notice != "" {
		parts = append(parts, &notePart{note: p.Notice})
	}
	if p.State == assistant.PairError {
		parts = append(parts, &errorPart{code: p.ErrorCode, message: p.ErrorMessage})
	}
	if choices := it.look.choicesOf(p); len(choices) > 0 {
		parts = append(parts, &choicesPart{choices: choices, live: it.latest})
	}
	return parts
}

// redecide makes the choices anew: another handler gives others.
func (it *item) redecide() {
	if !it.loaded || it.running {
		return
	}
	if it.choices() != nil {
		it.parts = it.parts[:len(it.parts)-1]
	}
	if choices := it.look.choicesOf(it.pair); len(choices) > 0 {
		it.parts = append(it.parts, &choicesPart{choices: choices, live: it.latest})
	}
}

// cardsOf makes the cards of the calls that the user sees, in marker order.
func cardsOf(p assistant.Pair) []*card {
	var cards []*card
	for _, c := range p.ToolCalls {
		if !c.Silent {
			shown := newCard(c)
			shown.index = len(cards)
			cards = append(cards, shown)
		}
	}
	return cards
}
