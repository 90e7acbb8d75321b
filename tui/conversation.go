package tui

import (
	"context"
	"fmt"
	"image"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/workspace"
	"winnow/tui/chat"
)

// conversation is VIEW: the pairs, the search in them, and what the pointer
// selects.
type conversation struct {
	*shared
	chat      *chat.View
	at        image.Rectangle     // where it is on the screen, with its border
	boundary  boundaryComputedMsg // the newest
	requested map[int64]bool      // pairs that are being loaded
	search    textLine            // "/"
	found     textFoundMsg        // what the history knows of the text searched for
	pointer   pointer
	pending   bool // the next key picks a code block
}

// noteTimeout bounds how long the note of a drawing may hold up the frame. One
// that cannot be stored is done without.
const noteTimeout = 100 * time.Millisecond

// watchDrawing notes in the history which long answer is being drawn. One that
// kills the program is shown as its source at the next start.
func (c *conversation) watchDrawing() {
	note := func(store func(context.Context, int64) error, seq int64) {
		ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
		defer cancel()
		_ = store(ctx, seq)
	}
	c.chat.WatchDrawing(func(seq int64) (done func()) {
		note(c.work.BeginDrawing, seq)
		return func() { note(c.work.EndDrawing, seq) }
	})
}

// showSource shows pairs as their source that were being drawn when the program
// died.
func (c *conversation) showSource(seqs []int64) {
	for _, seq := range seqs {
		c.chat.SetRaw(seq)
	}
	if len(seqs) > 0 {
		c.notice.info("an answer that winnow stopped at is shown as its source" + c.hintIn(modeView, " · %s renders it", "raw"))
	}
}

// setBoundary shows what is visible and which of it is included.
func (c *conversation) setBoundary(b boundaryComputedMsg) {
	c.boundary = b
	c.chat.SetRefs(b.refs, b.at.First)
}

// showRefs shows what is visible, until the boundary that belongs to it is known.
func (c *conversation) showRefs(refs []assistant.Ref) {
	c.boundary.refs = refs
	c.chat.SetRefs(refs, c.boundary.at.First)
}

// onTrimmed lets the counter say what the request leaves out by now.
func (c *conversation) onTrimmed(e assistant.ContextTrimmed) {
	c.boundary.counter = fmt.Sprintf("[%d-%d]/%d", e.Sent+e.Trimmed, e.Trimmed, e.Visible)
}

// newest is the last pair in view.
func (c *conversation) newest() (int64, bool) {
	refs := c.boundary.refs
	if len(refs) == 0 {
		return 0, false
	}
	return refs[len(refs)-1].Seq, true
}

// walk is the action that moves in the view.
func walk(move func(*chat.View)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		move(m.conv.chat)
		return m.conv.loadMissing()
	}
}

// onConversation is an action of the conversation.
func onConversation(do func(*conversation) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.conv) }
}

// loadMissing asks for the pairs on the screen that are not loaded.
func (c *conversation) loadMissing() tea.Cmd {
	var want []int64
	for _, seq := range c.chat.Missing() {
		if !c.requested[seq] {
			c.requested[seq] = true
			want = append(want, seq)
		}
	}
	if len(want) == 0 {
		return nil
	}
	return loadPairs(c.session, want)
}

// answered says that pairs that were asked for have come, or cannot.
func (c *conversation) answered(seqs []int64) {
	for _, seq := range seqs {
		delete(c.requested, seq)
	}
}

// jumpToBoundary shows the first pair that the next request holds.
func (c *conversation) jumpToBoundary() tea.Cmd {
	b := c.boundary.at
	switch {
	case b.Y == 0:
		c.notice.info("there is nothing to send yet")
	case b.All() && b.Y == 1:
		c.notice.info("the only pair is included")
	case b.All():
		c.notice.info(fmt.Sprintf("all %d pairs are included", b.Y))
	case b.First >= b.Y:
		c.notice.info("no pair fits; the next message goes alone")
	default:
		c.chat.JumpTo(c.boundary.refs[b.First].Seq)
		c.notice.info(fmt.Sprintf("from here on %d of %d pairs are sent", b.X, b.Y))
	}
	return c.loadMissing()
}

// openSearch starts the search line.
func (c *conversation) openSearch() tea.Cmd {
	c.search.open("")
	return nil
}

// searchKey gives the search line a key.
func (c *conversation) searchKey(name, text string) tea.Cmd {
	switch name {
	case "enter":
		return c.startSearch()
	case "up", "ctrl+p":
		c.search.walk(-1)
	case "down", "ctrl+n":
		c.search.walk(1)
	default:
		if !c.search.key(name, text) {
			return nil
		}
	}
	c.chat.Search(c.search.Text())
	return nil
}

// escapeSearch clears the search line, or leaves it when it is empty.
func (c *conversation) escapeSearch() {
	if c.search.Empty() {
		c.search.active = false
	} else {
		c.search.clear()
	}
	c.chat.Search("")
}

// startSearch searches for what the line says; an empty one goes on with the
// search there was.
func (c *conversation) startSearch() tea.Cmd {
	c.search.active = false
	if text := c.search.Text(); text != "" {
		c.chat.Search(text)
		c.search.remember(text)
	}
	return c.nextHit()
}

func (c *conversation) nextHit() tea.Cmd     { return c.toHit(false) }
func (c *conversation) previousHit() tea.Cmd { return c.toHit(true) }

// toHit goes to the next hit or the one before; of pairs that are not loaded the
// history is asked first.
func (c *conversation) toHit(back bool) tea.Cmd {
	needle := c.chat.Searching()
	if needle == "" {
		return c.info("nothing is searched for" + c.hint(" · %s searches", "search"))
	}
	if c.opts.History != nil && c.found.needle != needle {
		return findText(c.work, needle, back)
	}
	hit, ok := c.chat.NextFound(back, c.found.seqs)
	if !ok {
		c.notice.info("“" + needle + "” is in no pair that is shown" + c.hint(" · %s with c'…' searches all sessions", "filter"))
		return nil
	}
	c.notice.info(fmt.Sprintf("“%s” · message %d of %d that contain it%s%s", needle, hit.Nth, hit.Of, c.hint(" · %s next", "next-hit"), c.hint(" · %s previous", "previous-hit")))
	return c.loadMissing()
}

// onFound goes to the next hit, now that it is known where the history has any.
func (c *conversation) onFound(msg textFoundMsg) tea.Cmd {
	switch {
	case msg.needle != c.chat.Searching():
		return nil // another text is searched for by now
	case msg.err != nil:
		return c.fail(msg.err)
	}
	c.found = msg
	return c.toHit(msg.back)
}

// previousCheckpoint and nextCheckpoint walk over the turns that changed the window.
func (c *conversation) previousCheckpoint() tea.Cmd { return c.toCheckpoint(-1) }
func (c *conversation) nextCheckpoint() tea.Cmd     { return c.toCheckpoint(1) }

func (c *conversation) toCheckpoint(step int) tea.Cmd {
	focused, _ := c.chat.Focused()
	found := int64(0)
	for _, p := range c.session.Checkpoints() {
		switch at := p.Position; {
		case at == 0:
		case step < 0 && at < focused.Seq && at > found, step > 0 && at > focused.Seq && (found == 0 || at < found):
			found = at
		}
	}
	if found == 0 || !c.chat.JumpTo(found) {
		c.notice.info("no checkpoint that way")
	}
	return c.loadMissing()
}

// nextChoice and previousChoice walk along the chips and buttons with the focus.
func (c *conversation) nextChoice() tea.Cmd     { return c.moveChoice(1) }
func (c *conversation) previousChoice() tea.Cmd { return c.moveChoice(-1) }

func (c *conversation) moveChoice(n int) tea.Cmd {
	if !c.chat.MoveChoice(n) && len(c.chat.Choices()) > 0 {
		c.notice.info("the suggestions of the newest answer" + c.hint(" · %s goes on to them", "next-item") + c.hint(" · %s chooses the first from anywhere", "choose-1"))
	}
	return nil
}

// onPairChecked marks a pair that stays on the screen although the line hides it.
func (c *conversation) onPairChecked(msg pairCheckedMsg) tea.Cmd {
	c.chat.SetHidden(msg.seq, !msg.shown)
	return nil
}

// Copying takes the logical text, never what is on the screen.

func (c *conversation) copyAnswer() tea.Cmd {
	text, _ := c.chat.Answer()
	return c.copyOut("the answer", text)
}

func (c *conversation) copyPair() tea.Cmd {
	text, _ := c.chat.Markdown()
	return c.copyOut("the pair", text)
}

// copyCode copies the only block, or waits for the digit of one.
func (c *conversation) copyCode() tea.Cmd {
	switch blocks := c.chat.Code(); len(blocks) {
	case 0:
		c.notice.info("there is no code in this pair")
	case 1:
		return c.copyOut("the code", blocks[0].Text)
	default:
		c.pending = true
		c.notice.info(fmt.Sprintf("which block? 1-%d", min(len(blocks), 9)))
	}
	return nil
}

// copyCodeBlock copies the block whose digit was pressed.
func (c *conversation) copyCodeBlock(digit string) tea.Cmd {
	c.pending = false
	c.notice.clear()
	n, err := strconv.Atoi(digit)
	blocks := c.chat.Code()
	if err != nil || n < 1 || n > len(blocks) {
		return nil
	}
	return c.copyOut(fmt.Sprintf("code block %d", n), blocks[n-1].Text)
}

// viewEnter chooses what has the focus, else goes to the input.
func (m *Model) viewEnter() tea.Cmd {
	if i, ok := m.conv.chat.Choice(); ok {
		return m.choose(i)
	}
	m.setMode(modeInput)
	return nil
}

// stars is the action that gives the pair with the focus so many stars; -1 is
// one more than the store has, and none after the last.
func stars(n int) func(*Model) tea.Cmd {
	return onPair(func(m *Model, p assistant.Pair) tea.Cmd {
		work, star := m.work, n
		if n < 0 {
			star = (p.Star + 1) % 4
		}
		return markPair(p.Seq, func(ctx context.Context) (string, error) {
			return assistant.Counted(star, "star"), work.SetStars(ctx, p.Seq, star)
		})
	})
}

// flagPair turns the flag of a pair over.
func flagPair(m *Model, p assistant.Pair) tea.Cmd {
	return markPair(p.Seq, func(ctx context.Context) (string, error) {
		flag, err := m.work.ToggleFlag(ctx, p.Seq)
		return map[bool]string{true: "flagged", false: "flag removed"}[flag], err
	})
}

// onPair is an action on the pair with the focus, as the store has it: the
// screen may be behind. Keys after it find what it has left.
func onPair(do func(*Model, assistant.Pair) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p, ok := m.conv.chat.Focused()
		if !ok {
			return nil
		}
		return m.change(do(m, p))
	}
}

// whenIdle is an action on the pair with the focus that no turn may run beside.
func whenIdle(do func(*workspace.Workspace, int64) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.session.Busy() {
			return m.fail(assistant.ErrBusy)
		}
		return onPair(func(m *Model, p assistant.Pair) tea.Cmd { return do(m.work, p.Seq) })(m)
	}
}
