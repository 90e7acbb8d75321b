package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/composer"
	"winnow/tui/hud"
	"winnow/tui/overlay"
)

// input is INPUT: the box in which a message is written, the list of files for it, the
// outbox, and the stored draft.
type input struct {
	*shared
	draft   *composer.Model
	fitted  string      // the text that the layout was made for
	files   mentions    // for the @word before the cursor
	outbox  []*outgoing // messages that wait for files or for the session, in order
	saved   string      // the draft as stored last
	storing struct {
		due     bool // a timer runs
		running bool // a draft is being stored
		again   bool // it is out of date already
	}
	cost struct {
		text       string
		recomputes int // Session.Recomputes when it was computed
		assistant.DraftCost
	}
}

// draftPause is how long after a change the draft is stored: well under the four
// seconds after which a draft is promised to survive a crash.
const draftPause = 1500 * time.Millisecond

// onInput is an action of the box.
func onInput(do func(*input) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.input) }
}

// write gives the box a key.
func (i *input) write(k tea.KeyPressMsg) tea.Cmd {
	i.draft.Key(k)
	i.notice.clear()
	return tea.Batch(i.draftChanged(), i.offerFiles())
}

// newLine breaks the line.
func (i *input) newLine() tea.Cmd {
	i.draft.NewLine()
	return i.draftChanged()
}

// paste puts pasted text into the box; line breaks in it never send.
func (i *input) paste(text string) tea.Cmd {
	i.notice.clear()
	if hidden := i.draft.Paste(text); hidden > 0 {
		i.notice.info(assistant.Counted(hidden, "invisible character") + " left out of the paste")
	}
	return tea.Batch(i.draftChanged(), i.offerFiles())
}

// clear empties the box; the key that undoes typing brings the text back.
func (i *input) clear() tea.Cmd {
	i.work.EndReAsk()
	i.draft.Clear()
	i.notice.info("cleared" + i.hint(" · %s brings it back", "undo-typing"))
	return i.storeDraft()
}

func (i *input) undoTyping() tea.Cmd {
	if !i.draft.Undo() {
		i.notice.info("nothing to undo")
	}
	i.work.EndReAsk()
	return i.draftChanged()
}

// recall is the action that moves in the list of files, else, at the edge of the text,
// through sent messages, else moves the cursor.
func recall(step int) func(*Model) tea.Cmd {
	return onInput(func(i *input) tea.Cmd {
		key, edge, walk := tea.KeyUp, i.draft.AtFirstLine(), i.draft.Older
		if step > 0 {
			key, edge, walk = tea.KeyDown, i.draft.AtLastLine(), i.draft.Newer
		}
		switch {
		case i.completing():
			i.files.at = min(max(i.files.at+step, 0), len(i.files.shown)-1)
		case edge && walk():
			i.work.EndReAsk()
		default:
			i.draft.Key(tea.KeyPressMsg{Code: key})
		}
		return nil
	})
}

// giveBack returns text to an empty box; the sent history has it in any case.
func (i *input) giveBack(text string) {
	if i.draft.Empty() {
		i.draft.Set(text)
	}
}

// restoreDraft puts the stored draft into an empty box. When something was typed
// already it goes to the stash, from which it can be recalled.
func (i *input) restoreDraft(stored string) {
	switch {
	case stored == "":
	case i.draft.Empty():
		i.draft.Set(stored)
		i.saved = stored
	default:
		i.draft.SetStash(append(i.draft.Stash(), stored))
	}
}

// waitingTexts are the messages in the outbox.
func (i *input) waitingTexts() (texts []string) {
	for _, o := range i.outbox {
		texts = append(texts, o.typed)
	}
	return texts
}

// draftChanged stores the draft draftPause after its first change, even if the user
// still types. A draft that was emptied no longer replaces a failed message.
func (i *input) draftChanged() tea.Cmd {
	if i.draft.Empty() {
		i.work.EndReAsk()
	}
	if i.storing.due || i.opts.History == nil && i.ready {
		return nil
	}
	i.storing.due = true
	return after(draftPause, func() tea.Cmd {
		i.storing.due = false
		if i.draft.Text() == i.saved {
			return nil
		}
		return i.storeDraft()
	})
}

// drafted is the draft to store: box, stash and outbox.
func (i *input) drafted() history.Draft {
	return history.Draft{Text: i.draft.Text(), Stash: append(slices.Clone(i.draft.Stash()), i.waitingTexts()...)}
}

// storeDraft stores the draft, one write at a time: an older one must not be written
// last.
func (i *input) storeDraft() tea.Cmd {
	if i.storing.running || i.opts.History == nil {
		i.storing.again = i.storing.running
		return nil
	}
	i.storing.running = true
	draft := i.drafted()
	return attempt(func(ctx context.Context) error { return i.work.SaveDraft(ctx, draft) }, func(err error) tea.Cmd {
		again := i.storing.again
		i.storing.running, i.storing.again = false, false
		if err != nil {
			i.notice.fail("the draft could not be stored: " + sentence(err))
			return nil
		}
		if i.saved = draft.Text; again {
			return i.storeDraft()
		}
		return nil
	})
}

// openEditor edits the draft in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	if m.opts.Editor == nil {
		return m.info("no editor: set VISUAL or EDITOR")
	}
	text := m.input.draft.Text()
	return async(func(context.Context) (string, error) { return writeDraft(text) }, m.runEditor)
}

// writeDraft writes a draft to a new file that only the user can read.
func writeDraft(text string) (path string, err error) {
	file, err := os.CreateTemp("", "winnow-*.md")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Close())
}

// runEditor lends the terminal to the editor, and then puts the edited text into the
// box.
func (m *Model) runEditor(path string, err error) tea.Cmd {
	if err != nil {
		return m.fail(err)
	}
	return tea.ExecProcess(m.opts.Editor(path), func(err error) tea.Msg {
		defer os.Remove(path) // a leftover temporary file does no harm
		var text []byte
		if err == nil {
			text, err = os.ReadFile(path)
		}
		return resultMsg(func() tea.Cmd { return m.edited(string(text), err) })
	})
}

func (m *Model) edited(text string, err error) tea.Cmd {
	if err != nil {
		return m.fail(err)
	}
	m.setMode(modeInput)
	m.input.draft.Set(strings.TrimRight(text, "\r\n")) // editors end a file with line breaks
	return m.input.draftChanged()
}

// openHUD opens the HUD: the numbers of the context.
func (m *Model) openHUD() tea.Cmd {
	return m.open(overlay.HUD, overlay.NewText("Context", m.numbers()), nil)
}

// numbers are the numbers of the context as lines.
func (m *Model) numbers() []string {
	focused, _ := m.conv.chat.Focused()
	return hud.Numbers{
		Session: m.session, Boundary: m.conv.boundary.at, Counter: m.conv.boundary.counter,
		Draft: m.input.draftCost(), Focused: focused, UserText: m.conv.chat.UserText,
	}.Lines(m.width, m.styles.Overlay)
}

// draftCost is what sending the draft would take, computed once for each text and
// boundary, not for each frame.
func (i *input) draftCost() assistant.DraftCost {
	c, text, recomputes := &i.cost, i.draft.Shown(), i.session.Recomputes()
	if c.text != text || c.recomputes != recomputes {
		c.text, c.recomputes, c.DraftCost = text, recomputes, i.session.Draft(i.draft.Text())
	}
	return i.cost.DraftCost
}

// estimate is the size of the draft, and what it would do to what is sent with it;
// "" for an empty one.
func (i *input) estimate() string {
	if i.draft.Empty() {
		return ""
	}
	c := i.draftCost()
	text := fmt.Sprintf(" ~%d", c.AUT)
	switch {
	case c.OverBudget:
		text += " · too long for the model"
	case c.OverQuota:
		text += " · over the endpoint's limit"
	case c.OverReserve && c.Trims > 0:
		text += " · " + assistant.Counted(c.Trims, "old pair") + " will not fit"
	}
	return text + " "
}
