package tui

import (
	"fmt"
	"image"
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/chat"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/overlay"
	"winnow/tui/status"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// conversation is the state of VIEW mode: the pairs, the search, and the mouse selection.
type conversation struct {
	chat      *chat.View
	widths    style.Cache
	area      image.Rectangle  // position on the screen, including the head
	boundary  assistant.Shown  // which pairs are visible and included, as last received
	unmatched []int64          // visible pairs that the filter line does not match
	requested map[int64]int64  // last request for each pair that is being loaded
	search    status.InputLine // the search line opened with "/"
	found     struct {         // the pairs in the whole history that contain needle
		needle string
		seqs   []int64 // sorted
	}
	forecast  int64                         // last request to read the effects of proposals
	effects   map[string][]assistant.Effect // displayed effects of proposals, by ID; replaced, never modified
	layingOut bool                          // a layOutMsg is pending
	copying   bool                          // the selection is copied once all its pairs are loaded
}

// layOutMsg continues laying out long texts on the screen, after the messages that arrived
// in the meantime.
type layOutMsg struct{}

// layOut lays out as much of the long texts on the screen as the budget of a frame allows. If
// this finds the hit that a search was looking for, layOut reports the hit.
func (c *conversation) layOut() intent {
	var all several
	more := c.chat.LayOut()
	if hit, ok := c.chat.LateHit(); ok {
		all = append(all, c.sayHit(hit))
	}
	if more && !c.layingOut {
		c.layingOut = true
		all = append(all, run{func() tea.Msg { return layOutMsg{} }})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// setShown updates which pairs are visible and which of them the next request includes. It
// reports whether the context has become nearly full.
func (c *conversation) setShown(now assistant.Shown) (nearlyFull bool) {
	nearlyFull = now.Boundary.NearLimit() && !c.boundary.Boundary.NearLimit()
	c.boundary = now
	c.chat.SetRefs(now.Refs, now.Boundary.First)
	c.unmatched = slices.DeleteFunc(c.unmatched, func(seq int64) bool {
		gone := !slices.Contains(now.Added, seq) // the line was evaluated again
		if gone {
			c.chat.SetNotInFilter(seq, false)
		}
		return gone
	})
	return nearlyFull
}

// onMatched marks a pair that the filter line does not match, unless the line was evaluated
// again in the meantime.
func (c *conversation) onMatched(o usecase.Matched) {
	if !o.Yes && slices.Contains(c.boundary.Added, o.Pair) {
		c.unmatched = append(c.unmatched, o.Pair)
		c.chat.SetNotInFilter(o.Pair, true)
	}
}

// onTrimmed updates the counter with the number of pairs that the request has left out so
// far.
func (c *conversation) onTrimmed(e assistant.ContextTrimmed) {
	c.boundary.Counter = fmt.Sprintf("[%d-%d]/%d", e.Sent+e.Trimmed, e.Trimmed, e.Visible)
}

// newest returns the last pair that the filter shows; false if there is none.
func (c *conversation) newest() (int64, bool) {
	if refs := c.boundary.Refs; len(refs) > 0 {
		return refs[len(refs)-1].Seq, true
	}
	return 0, false
}

// number returns the position, from 1, of a pair among the pairs that the filter shows; 0 if
// the filter hides the pair.
func (c *conversation) number(seq int64) int {
	return 1 + slices.IndexFunc(c.boundary.Refs, func(r assistant.Ref) bool { return r.Seq == seq })
}

// unrequested returns the pairs of seqs that are not being loaded, without duplicates.
func (c *conversation) unrequested(seqs []int64) (want []int64) {
	for _, seq := range seqs {
		if c.requested[seq] == 0 && !slices.Contains(want, seq) {
			want = append(want, seq)
		}
	}
	return want
}

// await records which request loads some pairs.
func (c *conversation) await(request int64, seqs []int64) {
	for _, seq := range seqs {
		c.requested[seq] = request
	}
}

// arrived returns the loaded pairs that no later request is loading again.
func (c *conversation) arrived(o usecase.PairsLoaded) []assistant.Pair {
	pairs := slices.DeleteFunc(o.Pairs, func(p assistant.Pair) bool { return c.requested[p.Seq] != o.Request })
	maps.DeleteFunc(c.requested, func(_, request int64) bool { return request == o.Request })
	return pairs
}

// jumpToBoundary scrolls to the first pair that the next request includes, and says how many
// it includes. If it includes all pairs or none, nothing scrolls.
func (c *conversation) jumpToBoundary() intent {
	b, text := c.boundary.Boundary, safetext.Text("")
	switch {
	case b.Y == 0:
		text = "there is nothing to send yet"
	case b.All() && b.X < b.Y:
		text = safetext.Sprintf("requests include %d of %d messages, no failed or unfinished ones", b.X, b.Y)
	case b.All() && b.Y == 1:
		text = "the only message is sent"
	case b.All():
		text = safetext.Sprintf("all %d messages are sent", b.Y)
	case b.First >= len(c.boundary.Refs):
		text = "no earlier message fits; only the next one will be sent"
	default:
		c.chat.JumpTo(c.boundary.Refs[b.First].Seq)
		text = safetext.Sprintf("the request starts here: it includes %d of %d messages", b.X, b.Y)
	}
	return several{notify{text: text}, loadMissing{}}
}

// searchKey performs an action of the search line, or inserts a text. An empty line repeats
// the last search.
func (c *conversation) searchKey(a keymap.Action, text string) intent {
	switch a {
	case keymap.LineAccept:
		c.search.Active = false
		if text := c.search.Text(); text != "" {
			c.chat.Search(text)
			c.search.Remember(text)
		}
		return c.toHit(markdown.Forward)
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

// escapeSearch clears the search line, or closes it if it is empty.
func (c *conversation) escapeSearch() {
	if c.search.Empty() {
		c.search.Active = false
	} else {
		c.search.Clear()
	}
	c.chat.Search("")
}

// toHit goes to the next or previous hit. For a new search text, it searches the history
// first, because not all pairs are loaded.
func (c *conversation) toHit(back markdown.Direction) intent {
	needle := c.chat.Searching()
	if needle == "" {
		return notify{"no search is active", []clause{{" · %s searches", keymap.Search}}}
	}
	if c.found.needle != needle {
		return findText{needle, back}
	}
	hit, ok := c.chat.NextFound(back, c.found.seqs)
	if !ok {
		return notify{safetext.Sprintf("no shown message contains “%s”", needle), []clause{{" · %s with c'…' searches all sessions", keymap.Filter}}}
	}
	return several{c.sayHit(hit), loadMissing{}}
}

// sayHit returns a notice about the current hit.
func (c *conversation) sayHit(hit chat.Hit) intent {
	count := func(n int) string {
		if n >= chat.MostHits {
			return fmt.Sprintf("%d+", n)
		}
		return strconv.Itoa(n)
	}
	said, sep := safetext.Sprintf("“%s”", c.chat.Searching()), " · "
	if hit.Nth > 0 {
		said, sep = said+safetext.Sprintf("%smatch %s of %s", sep, count(hit.Nth), count(hit.Of)), " in "
	}
	if hit.Pairs > 1 && hit.Pair > 0 {
		said += safetext.Sprintf("%smessage %d of %d", sep, hit.Pair, hit.Pairs)
	}
	return notify{said, []clause{{" · %s next", keymap.NextHit}, {" · %s previous", keymap.PreviousHit}}}
}

// onFound records which pairs contain the search text and goes to a hit, unless the search
// text has changed in the meantime.
func (c *conversation) onFound(o usecase.Found) intent {
	if o.Text != c.chat.Searching() {
		return nil
	}
	c.found.needle, c.found.seqs = o.Text, o.Seqs
	return c.toHit(o.Backward)
}

// copyCode copies the only code block, or asks which one. It reads the blocks of a long
// answer outside the update loop.
func (c *conversation) copyCode() intent {
	blocks, more := c.chat.Code()
	if more == nil {
		return c.onCode(blocks)
	}
	return run{func() tea.Msg { return codeReadMsg{more()} }}
}

// onCode copies the only code block, or lists them to choose from.
func (c *conversation) onCode(blocks []markdown.Code) intent {
	switch len(blocks) {
	case 0:
		return notify{text: "there is no code in this message"}
	case 1:
		return copyText{what: "the code", text: blocks[0].Text}
	}
	entries := make([]overlay.Entry, len(blocks))
	for i, b := range blocks {
		text := strings.TrimSpace(b.Text)
		first, _, _ := strings.Cut(text, "\n")
		lines := assistant.Counted(1+strings.Count(text, "\n"), "line")
		entries[i] = overlay.Entry{
			Value: strconv.Itoa(i), Text: fmt.Sprintf("%2d  %s", i+1, oneLine(first)), Extra: strings.TrimSpace(string(oneLine(b.Language)+"  ") + lines), Short: lines,
		}
	}
	picker := overlay.NewPicker("Copy which code block?", entries, 0).WithNumbers().Offer(keymap.List, keymap.To("copies it", keymap.LineAccept))
	return open{overlay.CodeBlocks, picker, func(chosen overlay.Chosen) intent {
		i, err := strconv.Atoi(chosen.Value)
		if err != nil {
			return nil
		}
		return copyText{what: fmt.Sprintf("code block %d", i+1), text: blocks[i].Text}
	}}
}

// onEffects shows the effects of proposals, unless they have been requested again.
func (c *conversation) onEffects(o usecase.EffectsRead) {
	if o.Request != c.forecast {
		return
	}
	c.effects = o.Effects
	for id, effects := range o.Effects {
		c.chat.SetExtraRows(id, c.chat.EffectRows(effects))
	}
}

// inChat converts a position on the screen to one in the conversation.
func (c *conversation) inChat(at tea.Mouse) (x, y int) {
	return at.X - c.area.Min.X, at.Y - c.area.Min.Y - chatHead
}

// copySelection copies the selected text once all of it is loaded.
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
