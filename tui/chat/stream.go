package chat

import (
	"fmt"
	"strings"

	"winnow/assistant"
)

// Begin shows a running pair: its text, and that the assistant works, at once.
// Of a pair that is tried again the responses stay that were whole: those up to
// its last tool call.
func (v *View) Begin(seq int64, p assistant.Pair) {
	it := v.src.item(seq)
	parts := []part{newUser(p)}
	if it.loaded {
		for i, old := range it.parts {
			if _, ok := old.(*card); ok {
				parts = it.parts[: i+1 : i+1]
			}
		}
	}
	it.pair, it.loaded, it.running = p, true, true
	it.parts = parts
	it.redraw()
	v.runs = seq
}

// running is the item that is fed, nil when there is none.
func (v *View) running() *item {
	if it := v.src.items[v.runs]; it != nil && it.running {
		return it
	}
	return nil
}

// Take shows one event of the running turn.
func (v *View) Take(e assistant.Event) {
	it := v.running()
	if it == nil {
		return
	}
	switch e := e.(type) {
	case assistant.ReasoningDelta:
		r := it.reasoning()
		if r.thought.Len() == 0 { // a later response's thinking begins a block of its own
			e.Text = strings.TrimLeft(e.Text, "\n")
		}
		r.write(e.Text)
	case assistant.TextDelta:
		it.text(e.Text)
	case assistant.ToolStart:
		it.settleReasoning()
		it.parts = append(it.parts, newCard(assistant.ToolCall{Name: e.Tool, Arguments: e.Input}))
		it.lastCard().index = e.Index
	case assistant.ToolProgress:
		if c := it.card(e.Index); c != nil {
			c.progress, c.dirty = e.Message, true
		}
	case assistant.ToolComplete:
		if c := it.card(e.Index); c != nil {
			c.finish(e.Success, e.Message, e.Data)
		}
	case assistant.PayloadFound:
		it.parts = append(it.parts, newPayload(e.Payload))
	case assistant.TurnStarted, assistant.Complete, assistant.Error, assistant.Cancelled, assistant.Status, assistant.Queued,
		assistant.Retrying, assistant.CheckpointCreated, assistant.ContextTrimmed, assistant.ConfirmRequest:
		return
	}
	it.bump()
}

// Settle puts the stored pair in the place of the running one. What was
// streamed stays where it is when the turn went well: nothing jumps.
func (v *View) Settle(p assistant.Pair) {
	it := v.src.item(p.Seq)
	if it.running && p.State == assistant.PairComplete {
		it.finish(p)
		return
	}
	it.setPair(p)
}

// finish ends the streaming: the parts are whole, and what ends a pair follows.
func (it *item) finish(p assistant.Pair) {
	it.settleReasoning()
	for _, part := range it.parts {
		if t, ok := part.(*textPart); ok {
			t.doc().Finish()
			t.dirty = true
		}
	}
	if thoughts := it.thoughts(); len(thoughts) == 1 { // the core measured nearer to the wire
		thoughts[0].settle(p.ReasoningFor)
	}
	it.pair, it.running = p, false
	it.parts = append(it.parts, it.ending(p)...)
	it.redraw()
}

// thoughts are the blocks of thinking.
func (it *item) thoughts() []*reasoningPart {
	var out []*reasoningPart
	for _, p := range it.parts {
		if r, ok := p.(*reasoningPart); ok {
			out = append(out, r)
		}
	}
	return out
}

// Drop lets the running pair vanish.
func (v *View) Drop(seq int64) { delete(v.src.items, seq) }

// Tick moves the spinner on; it reports whether anything spins.
func (v *View) Tick() bool {
	v.look.frame++
	it := v.running()
	if it == nil {
		return false
	}
	for _, p := range it.parts {
		if c, ok := p.(*card); ok && c.state == cardRunning {
			it.bump()
			return true
		}
	}
	return false
}

// Hide marks the pair that the filter would hide.
func (v *View) Hide(seq int64, hidden bool) {
	it := v.src.item(seq)
	if it.hidden != hidden {
		it.hidden = hidden
		it.redraw()
	}
}

// reasoning is the block that the model's thinking goes to: the last one, or a
// new one after text and tools.
func (it *item) reasoning() *reasoningPart {
	if r, ok := it.parts[len(it.parts)-1].(*reasoningPart); ok {
		r.live, r.dirty = true, true
		return r
	}
	r := newReasoning("", 0)
	r.live, r.open, r.began = true, true, it.look.now()
	it.parts = append(it.parts, r)
	return r
}

// settleReasoning folds the thinking when the first content comes.
func (it *item) settleReasoning() {
	for _, r := range it.thoughts() {
		if r.live {
			r.settle(it.look.now().Sub(r.began))
		}
	}
}

// text adds to the last stretch of text; a marker ends it.
func (it *item) text(delta string) {
	it.settleReasoning()
	if c := it.lastCard(); c != nil && delta == cardMarker(c.index) {
		return // the card stands there already
	}
	t, ok := it.parts[len(it.parts)-1].(*textPart)
	if !ok {
		t = newText("", it.look.md)
		it.parts = append(it.parts, t)
	}
	t.doc().Append(unescape(delta))
	t.dirty = true
}

// cardMarker is the text delta that follows the end of call n.
func cardMarker(n int) string { return fmt.Sprintf("[[tool:%d]]", n) }

// unescape shows what the model wrote where the core kept it apart from a marker.
func unescape(text string) string { return strings.ReplaceAll(text, `\[[tool:`, "[[tool:") }

func (it *item) lastCard() *card {
	for i := len(it.parts) - 1; i >= 0; i-- {
		if c, ok := it.parts[i].(*card); ok {
			return c
		}
	}
	return nil
}

func (it *item) card(index int) *card {
	for _, p := range it.parts {
		if c, ok := p.(*card); ok && c.index == index {
			return c
		}
	}
	return nil
}
