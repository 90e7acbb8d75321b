package tui

import (
	"fmt"
	"image"
	"maps"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history/transfer"
	"winnow/tui/chat"
	"winnow/tui/footerline"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/usecase"
)

// conversation is VIEW: the pairs, the search in them, and what the pointer selects.
type conversation struct {
	*shared
	chat      *chat.View
	area      image.Rectangle // on the screen, with its border
	boundary  assistant.Shown // the newest that has come
	requested map[int64]int64 // the last request of each pair that is being loaded
	search    footerline.Line // "/"
	found     struct {        // the pairs of the whole history that contain needle
		needle string
		seqs   []int64 // sorted
	}
	forecast  int64 // the last request that reads what proposals would do
	layingOut bool  // a layOutMsg is on its way
	copying   bool  // the selection is copied when all its pairs are loaded
	picking   bool  // the next key picks a code block
}

// showRaw shows all answers as their source.
func (c *conversation) showRaw() {
	c.chat.SetRaw()
	c.notice.Info("the last starts crashed or were killed: answers are shown as raw text" + c.hint(" · %s renders one", keymap.Raw))
}

// layOutMsg says that the messages which came meanwhile are handled: long texts on the
// screen are laid out further.
type layOutMsg struct{}

// layOut lays out what the budget of a frame pays for of the long texts on the screen.
func (c *conversation) layOut() tea.Cmd {
	if !c.chat.LayOut() || c.layingOut {
		return nil
	}
	c.layingOut = true
	return func() tea.Msg { return layOutMsg{} }
}

// setShown shows which pairs are visible, and which of them are included.
func (c *conversation) setShown(now assistant.Shown) {
	nearly := now.Boundary.NearLimit() && !c.boundary.Boundary.NearLimit()
	c.boundary = now
	c.chat.SetRefs(now.Refs, now.Boundary.First)
	c.hud.Show(now.Refs, now.Boundary)
	if nearly && (c.notice.Text == "" || c.notice.Text == c.opts.Notice) {
		c.notice.Info("the context is nearly full" + c.hint(" · %s starts a new session", keymap.NewSession))
	}
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

// loadMissing loads the pairs on the screen that are not loaded.
func (c *conversation) loadMissing() tea.Cmd {
	var want []int64
	for _, seq := range append(c.chat.Missing(), c.hud.Missing()...) {
		if c.requested[seq] == 0 && !slices.Contains(want, seq) {
			want = append(want, seq)
		}
	}
	return c.load(want...)
}

// load reads pairs. Of several that read the same pair only the last one is shown.
func (c *conversation) load(seqs ...int64) tea.Cmd {
	if len(seqs) == 0 {
		return nil
	}
	request := c.query()
	for _, seq := range seqs {
		c.requested[seq] = request
	}
	return c.commands.LoadPairs(request, seqs)
}

// onPairs shows loaded pairs. The pair of the running turn stays as it is.
func (m *Model) onPairs(o usecase.PairsLoaded) tea.Cmd {
	pairs := slices.DeleteFunc(o.Pairs, func(p assistant.Pair) bool {
		return m.conv.requested[p.Seq] != o.Request || m.turn.running && p.Seq == m.turn.seq
	})
	maps.DeleteFunc(m.conv.requested, func(_, request int64) bool { return request == o.Request })
	if o.Err != nil {
		return m.fail(fmt.Errorf("the history could not be read: %w", o.Err))
	}
	m.conv.chat.Load(pairs)
	m.hud.Load(pairs...)
	return tea.Batch(m.conv.loadMissing(), m.conv.copySelection(), m.conv.computeEffects())
}

// reloadStale reads the pairs again whose stored form has changed.
func (c *conversation) reloadStale(stale *assistant.StalePairs) tea.Cmd {
	if stale.All {
		c.hud.Reload()
	}
	return c.load(slices.DeleteFunc(c.chat.Loaded(), func(seq int64) bool { return !stale.Has(seq) })...)
}

// reload reads the loaded pairs again, and evaluates the filter again when it reads
// marks, which a tool may have changed.
func (c *conversation) reload() tea.Cmd {
	c.hud.Reload()
	load := c.load(c.chat.Loaded()...)
	if transfer.ReadsMarks(c.filterLine()) {
		return tea.Batch(load, c.refilter())
	}
	return load
}

// checkPair marks the pair just answered when the user's own filter line hides it.
func (c *conversation) checkPair(seq int64) tea.Cmd {
	if line := c.filterLine(); !c.commands.Stores() || seq == 0 || line == "" || line == "x" {
		return nil
	}
	return c.commands.Matches(c.query(), seq)
}

// onChat is an action of the view, which may scroll to pairs that are not loaded.
func onChat(move func(*chat.View)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		move(m.conv.chat)
		return m.conv.loadMissing()
	}
}

// onConversation is an action of the conversation.
func onConversation(do func(*conversation) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.conv) }
}

// jumpToBoundary shows the first pair that the next request contains.
func (c *conversation) jumpToBoundary() tea.Cmd {
	b, text := c.boundary.Boundary, ""
	switch {
	case b.Y == 0:
		text = "there is nothing to send yet"
	case b.All() && b.Y == 1:
		text = "the only pair is included"
	case b.All():
		text = fmt.Sprintf("all %d pairs are included", b.Y)
	case b.First >= len(c.boundary.Refs):
		text = "no pair fits; the next message is sent alone"
	default:
		c.chat.JumpTo(c.boundary.Refs[b.First].Seq)
		text = fmt.Sprintf("the request starts here: %d of %d pairs are sent", b.X, b.Y)
	}
	c.notice.Info(text)
	return c.loadMissing()
}

// searchKey does an action of the search line, or types a text. An empty line
// continues the last search.
func (c *conversation) searchKey(a keymap.Action, text string) tea.Cmd {
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
func (c *conversation) toHit(back bool) tea.Cmd {
	needle := c.chat.Searching()
	if needle == "" {
		return c.info("no search is active" + c.hint(" · %s searches", keymap.Search))
	}
	if c.commands.Stores() && c.found.needle != needle {
		return c.act(func(request int64) tea.Cmd { return c.commands.FindText(request, needle, back) }) // the next key goes on from the hit
	}
	hit, ok := c.chat.NextFound(back, c.found.seqs)
	if !ok {
		return c.info("no shown pair contains “" + needle + "”" + c.hint(" · %s with c'…' searches all sessions", keymap.Filter))
	}
	c.notice.Info(fmt.Sprintf("“%s” · message %d of %d that contain it%s%s", needle, hit.Nth, hit.Of, c.hint(" · %s next", keymap.NextHit), c.hint(" · %s previous", keymap.PreviousHit)))
	return c.loadMissing()
}

// onFound goes to a hit, unless another text is searched by now.
func (c *conversation) onFound(o usecase.Found) tea.Cmd {
	if o.Text != c.chat.Searching() {
		return nil
	}
	c.found.needle, c.found.seqs = o.Text, o.Seqs
	return c.toHit(o.Back)
}

// toCheckpoint is the action that goes to the next or the previous turn that changed
// the window.
func toCheckpoint(step int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		focused, _ := m.conv.chat.Focused()
		found := int64(0)
		for _, c := range m.parts.Checkpoints.Of(m.shownSession()) {
			at := c.PairSeq
			if at != 0 && (step < 0 && at < focused.Seq && at > found || step > 0 && at > focused.Seq && (found == 0 || at < found)) {
				found = at
			}
		}
		if found == 0 || !m.conv.chat.JumpTo(found) {
			m.notice.Info("no checkpoint in that direction")
		}
		return m.conv.loadMissing()
	}
}

// moveChoice is the action that moves the focus along chips and buttons.
func moveChoice(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !m.conv.chat.MoveChoice(n) && len(m.conv.chat.Choices()) > 0 {
			m.notice.Info("the newest answer has suggestions" + m.hint(" · %s moves towards them", keymap.NextItem) + m.hint(" · %s chooses the first from anywhere", keymap.Choose(1)))
		}
		return nil
	}
}

// copyFocused is the action that copies a text of the focused pair.
func copyFocused(what string, text func(*chat.View) (string, bool)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		copied, _ := text(m.conv.chat)
		return m.copyOut(what, copied)
	}
}

// copyCode copies the only code block, or waits for a digit that picks one.
func (c *conversation) copyCode() tea.Cmd { return c.readCode(0) }

// copyCodeBlock copies the block whose digit was pressed.
func (c *conversation) copyCodeBlock(digit string) tea.Cmd {
	c.picking = false
	c.notice.Clear()
	n, err := strconv.Atoi(digit)
	if err != nil || n < 1 {
		return nil
	}
	return c.readCode(n)
}

// readCode reads the code blocks of the focused pair, those of a long answer beside the
// screen; digit is that of the block to copy, 0: it is not known yet.
func (c *conversation) readCode(digit int) tea.Cmd {
	blocks, more := c.chat.Code()
	if more == nil {
		return c.onCode(blocks, digit)
	}
	return func() tea.Msg { return codeReadMsg{more(), digit} }
}

// onCode copies a code block, or asks which one.
func (c *conversation) onCode(blocks []markdown.Code, digit int) tea.Cmd {
	switch {
	case digit > len(blocks):
	case digit > 0:
		return c.copyOut(fmt.Sprintf("code block %d", digit), blocks[digit-1].Text)
	case len(blocks) == 0:
		c.notice.Info("there is no code in this pair")
	case len(blocks) == 1:
		return c.copyOut("the code", blocks[0].Text)
	default:
		c.picking = true
		c.notice.Info(fmt.Sprintf("which block? 1-%d", min(len(blocks), 9)))
	}
	return nil
}

// viewEnter chooses the focused suggestion, or else focuses the input.
func (m *Model) viewEnter() tea.Cmd {
	if i, ok := m.conv.chat.Choice(); ok {
		return m.choose(i)
	}
	m.setMode(keymap.Input)
	return nil
}
