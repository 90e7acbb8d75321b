package chat

import (
	"winnow/assistant"
	"winnow/assistant/markup"
	"winnow/assistant/safetext"
)

// StartTurn shows a running pair. A pair that failed keeps its complete responses, up to the
// last tool call; a pair with a complete answer, which is answered again, keeps only its
// message.
func (v *View) StartTurn(p assistant.Pair) {
	it := v.src.item(p.Seq)
	parts := []part{newUserPart(p)}
	regenerated := it.loaded && it.pair.State == assistant.PairComplete
	for i, old := range it.parts {
		if _, ok := old.(*toolCard); ok && !regenerated {
			parts = it.parts[: i+1 : i+1]
		}
	}
	it.pair, it.loaded, it.running, it.parts = p, true, true, parts
	it.redraw()
	v.runningSeq = p.Seq
}

// ResumeTurn shows a running pair with what was received so far; Apply continues from
// there.
func (v *View) ResumeTurn(p assistant.Pair) {
	it := v.src.item(p.Seq)
	it.setPair(p, true)
	v.runningSeq = p.Seq
}

// EndTurn ends a failed turn. What was streamed disappears when its pair is loaded.
func (v *View) EndTurn() {
	if it := v.running(); it != nil {
		it.running = false
		it.redraw()
	}
}

// running returns the item of the running turn, or nil.
func (v *View) running() *item {
	if it := v.src.items[v.runningSeq]; it != nil && it.running {
		return it
	}
	return nil
}

// Apply shows one event of the running turn.
func (v *View) Apply(e assistant.Event) {
	it := v.running()
	if it == nil {
		return
	}
	switch e := e.(type) {
	case assistant.ReasoningDelta:
		it.streamingReasoning().write(e.Text)
	case assistant.TextDelta:
		v.endReasoning(it)
		it.addAnswer(e.Text)
	case assistant.ToolStart:
		v.endReasoning(it)
		it.parts = append(it.parts, newToolCard(assistant.ToolCall{Name: e.Tool, Arguments: e.Input}, e.Index))
	case assistant.ToolProgress:
		if c := it.toolCard(e.Index); c != nil {
			c.progress, c.dirty = e.Message, true
		}
	case assistant.ToolComplete:
		if c := it.toolCard(e.Index); c != nil {
			c.call.Result, c.dirty = &assistant.ToolResult{Success: e.Success, Message: e.Message, Data: e.Data}, true
		}
	case assistant.PayloadFound:
		it.parts = it.rc.addPayload(it.parts, e.Payload)
	case assistant.TurnStarted, assistant.Complete, assistant.Error, assistant.Cancelled, assistant.Status, assistant.Queued,
		assistant.Retrying, assistant.CheckpointCreated, assistant.ContextTrimmed, assistant.ConfirmRequest:
		return
	}
	it.changed()
}

// replace shows a stored pair in an item. If the turn succeeded, the streamed parts stay
// where they are, so that nothing jumps.
func (v *View) replace(it *item, p assistant.Pair) {
	if !it.running || p.State != assistant.PairComplete {
		it.setPair(p, false)
		return
	}
	v.endReasoning(it)
	for _, part := range it.parts {
		if t, ok := part.(*textPart); ok {
			t.end()
		}
	}
	if parts, thoughts := it.reasoningParts(), assistant.PairThoughts(&p); len(parts) == len(thoughts) {
		for i, t := range thoughts { // the session measures closer to the network
			parts[i].finish(t.Took)
		}
	}
	it.pair, it.running = p, false
	markRepeated(it.parts, p.AssistantText)
	for _, payload := range p.Payloads {
		if it.payloadCard(payload.ID) == nil { // payloads of tool results arrived before the answer and are shown already
			it.parts = it.rc.addPayload(it.parts, payload)
		}
	}
	it.parts = append(it.parts, it.ending()...)
	it.redraw()
}

// Remove removes a pair that was cancelled before it had a result.
func (v *View) Remove(seq int64) { delete(v.src.items, seq) }

// Tick advances the spinner by one frame.
func (v *View) Tick() {
	v.rc.spinnerFrame++
	if it := v.running(); it != nil {
		for _, p := range it.parts {
			if c, ok := p.(*toolCard); ok && c.call.Result == nil {
				c.dirty = true
				it.changed()
			}
		}
	}
}

// SetNotInFilter sets whether a pair is marked as one that the filter does not match.
func (v *View) SetNotInFilter(seq int64, notInFilter bool) {
	if it := v.src.item(seq); it.notInFilter != notInFilter {
		it.notInFilter = notInFilter
		it.redraw()
	}
}

// reasoningParts returns the pair's reasoning blocks in order.
func (it *item) reasoningParts() []*reasoningPart {
	var out []*reasoningPart
	for _, p := range it.parts {
		if r, ok := p.(*reasoningPart); ok {
			out = append(out, r)
		}
	}
	return out
}

// streamingReasoning returns the block to which reasoning is appended: the last part, or a
// new one after text and tools.
func (it *item) streamingReasoning() *reasoningPart {
	r, ok := it.parts[len(it.parts)-1].(*reasoningPart)
	if !ok {
		r = newReasoningPart("", 0)
		it.parts = append(it.parts, r)
	}
	if !r.streaming {
		r.open, r.began = r.open || !r.byUser, it.rc.now().Add(-r.took)
	}
	return r
}

// endReasoning folds the reasoning when the first content arrives. The lines below move, so
// the selection ends.
func (v *View) endReasoning(it *item) {
	for _, r := range it.reasoningParts() {
		if r.streaming {
			r.finish(it.rc.now().Sub(r.began))
			v.sel = selection{}
		}
	}
}

// addAnswer appends text to the answer. Text after a card starts a new stretch.
func (it *item) addAnswer(delta safetext.Text) {
	if c := it.lastToolCard(); c != nil && delta == markup.CardMarker(c.index) {
		return // the card already exists
	}
	t, ok := it.parts[len(it.parts)-1].(*textPart)
	if !ok {
		it.parts, t = addText(it.parts, "", it.rc.md)
	}
	t.write(markup.Unescape(delta))
}

func (it *item) lastToolCard() *toolCard {
	for i := len(it.parts) - 1; i >= 0; i-- {
		if c, ok := it.parts[i].(*toolCard); ok {
			return c
		}
	}
	return nil
}

func (it *item) toolCard(index int) *toolCard {
	for _, p := range it.parts {
		if c, ok := p.(*toolCard); ok && c.index == index {
			return c
		}
	}
	return nil
}
