package tui

import (
	"fmt"
	"image"
	"maps"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// conversation is VIEW: the pairs, the search in them, and what the pointer selects.
type conversation struct {
	chat      *chat.View
	widths    style.Cache
	area      image.Rectangle  // on the screen, with its head
	boundary  assistant.Shown  // the newest that has come
	requested map[int64]int64  // the last request of each pair that is being loaded
	search    status.InputLine // "/"
	found     struct {         // the pairs of the whole history that contain needle
		needle string
		seqs   []int64 // sorted
	}
	forecast  int64                         // the last request that reads what proposals would do
	effects   map[string][]assistant.Effect // of the proposals, as they are shown, by ID; not changed any more
	layingOut bool                          // a layOutMsg is on its way
	copying   bool                          // the selection is copied when all its pairs are loaded
	picking   bool                          // the next key picks a code block
}

// layOutMsg says that the messages which came meanwhile are handled: long texts on the
// screen are laid out further.
type layOutMsg struct{}

// layOut lays out what the budget of a frame pays for of the long texts on the screen.
func (c *conversation) layOut() intent {
	if !c.chat.LayOut() || c.layingOut {
		return nil
	}
	c.layingOut = true
	return run{func() tea.Msg { return layOutMsg{} }}
}

// setShown shows which pairs are visible, and which of them are included. It reports
// whether the context has become nearly full.
func (c *conversation) setShown(now assistant.Shown) (nearlyFull bool) {
	nearlyFull = now.Boundary.NearLimit() && !c.boundary.Boundary.NearLimit()
	c.boundary = now
	c.chat.SetRefs(now.Refs, now.Boundary.First)
	return nearlyFull
}

// onTrimmed shows in the counter how many pairs the request leaves out so far.
func (c *conversation) onTrimmed(e assistant.ContextTrimmed) {
	c.boundary.Counter = fmt.Sprintf("[%d-%d]/%d", e.Sent+e.Trimmed, e.Trimmed, e.Visible)
}

// newest is the last pair in view.
func (c *conversation) newest() (int64, bool) {
	if refs := c.boundary.Refs; len(refs) > 0 {
		return refs[len(refs)-1].Seq, true
	}
	return 0, false
}

// unrequested are the pairs that are not being loaded, each once.
func (c *conversation) unrequested(seqs []int64) (want []int64) {
	for _, seq := range seqs {
		if c.requested[seq] == 0 && !slices.Contains(want, seq) {
			want = append(want, seq)
		}
	}
	return want
}

// await notes which request loads some pairs.
func (c *conversation) await(request int64, seqs []int64) {
	for _, seq := range seqs {
		c.requested[seq] = request
	}
}

// arrived are the loaded pairs that no later request loads again.
func (c *conversation) arrived(o usecase.PairsLoaded) []assistant.Pair {
	pairs := slices.DeleteFunc(o.Pairs, func(p assistant.Pair) bool { return c.requested[p.Seq] != o.Request })
	maps.DeleteFunc(c.requested, func(_, request int64) bool { return request == o.Request })
	return pairs
}

// jumpToBoundary shows the first pair that the next request contains.
func (c *conversation) jumpToBoundary() intent {
	b, text := c.boundary.Boundary, ""
	switch {
	case b.Y == 0:
		text = "there is nothing to send yet"
	case b.All() && b.Y == 1:
		text = "the only pair is included"
	case b.All():
		text = fmt.Sprintf("all %d pairs are included", b.Y)
	case b.First >= len(c.boundary.Refs):
		text = "no earlier message fits; only the next one will be sent"
	default:
		c.chat.JumpTo(c.boundary.Refs[b.First].Seq)
		text = fmt.Sprintf("the request starts here: %d of %d pairs are sent", b.X, b.Y)
	}
	return several{notify{text: text}, loadMissing{}}
}

// searchKey does an action of the search line, or types a text. An empty line
// continues the last search.
func (c *conversation) searchKey(a keymap.Action, text string) intent {
	switch a {
	case keymap.LineAccept:
		c.search.Active = false
		if text := c.search.Text(); text != "" {
			c.chat.Search(text)
			c.search.Remember(text)
		}
		return c.toHit(false)
	case keymap.LineUp:
		c.search.Walk(-1)
	case keymap.LineDown:
		c.search.Walk(1)
	default:
		if !c.search.Edit(a, text) {
			return nil
		}
	}
	c.chat.Search(c.search.Text())
	return nil
}

// escapeSearch clears the search line, or closes it when it is empty.
func (c *conversation) escapeSearch() {
	if c.search.Empty() {
		c.search.Active = false
	} else {
		c.search.Clear()
	}
	c.chat.Search("")
}

// toHit goes to the next or the previous hit. It searches the history first, since
// not all pairs are loaded.
func (c *conversation) toHit(back bool) intent {
	needle := c.chat.Searching()
	if needle == "" {
		return notify{"no search is active", []clause{{" · %s searches", keymap.Search}}}
	}
	if c.found.needle != needle {
		return findText{needle, back}
	}
	hit, ok := c.chat.NextFound(back, c.found.seqs)
	if !ok {
		return notify{"no shown pair contains “" + needle + "”", []clause{{" · %s with c'…' searches all sessions", keymap.Filter}}}
	}
	said := fmt.Sprintf("“%s” · match %d of %d", needle, hit.Nth, hit.Of)
	return several{notify{said, []clause{{" · %s next", keymap.NextHit}, {" · %s previous", keymap.PreviousHit}}}, loadMissing{}}
}

// onFound goes to a hit, unless another text is searched by now.
func (c *conversation) onFound(o usecase.Found) intent {
	if o.Text != c.chat.Searching() {
		return nil
	}
	c.found.needle, c.found.seqs = o.Text, o.Seqs
	return c.toHit(o.Back)
}

// copyCode copies the only code block, or waits for a digit that picks one.
func (c *conversation) copyCode() intent { return c.readCode(0) }

// copyCodeBlock copies the block whose digit was pressed.
func (c *conversation) copyCodeBlock(digit string) intent {
	c.picking = false
	n, err := strconv.Atoi(digit)
	if err != nil || n < 1 {
		return clearNotice{}
	}
	return several{clearNotice{}, c.readCode(n)}
}

// readCode reads the code blocks of the focused pair, those of a long answer beside the
// screen; digit is that of the block to copy, 0: it is not known yet.
func (c *conversation) readCode(digit int) intent {
	blocks, more := c.chat.Code()
	if more == nil {
		return c.onCode(blocks, digit)
	}
	return run{func() tea.Msg { return codeReadMsg{more(), digit} }}
}

// onCode copies a code block, or asks which one.
func (c *conversation) onCode(blocks []markdown.Code, digit int) intent {
	switch {
	case digit > len(blocks):
	case digit > 0:
		return copyText{what: fmt.Sprintf("code block %d", digit), text: blocks[digit-1].Text}
	case len(blocks) == 0:
		return notify{text: "there is no code in this pair"}
	case len(blocks) == 1:
		return copyText{what: "the code", text: blocks[0].Text}
	default:
		c.picking = true
		return notify{text: fmt.Sprintf("which block? 1-%d", min(len(blocks), 9))}
	}
	return nil
}

// onEffects shows what the proposals would do, unless that was computed again since.
func (c *conversation) onEffects(o usecase.EffectsRead) {
	if o.Request != c.forecast {
		return
	}
	c.effects = o.Effects
	for id, effects := range o.Effects {
		c.chat.SetExtraRows(id, c.chat.EffectRows(effects))
	}
}

// inChat is a cell of the screen as one of the conversation.
func (c *conversation) inChat(at tea.Mouse) (x, y int) {
	return at.X - c.area.Min.X, at.Y - c.area.Min.Y - chatHead
}

// copySelection copies the selected text, as soon as all of it is loaded.
func (c *conversation) copySelection() intent {
	if !c.copying {
		return nil
	}
	if missing := c.chat.SelectionMissing(); len(missing) > 0 {
		return loadPairs{missing}
	}
	c.copying = false
	return copyText{what: "the selection", text: c.chat.SelectionText()}
}
