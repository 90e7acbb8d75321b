package tui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/completion"
	"winnow/tui/composer"
	"winnow/tui/keymap"
	"winnow/tui/terminal"
	"winnow/tui/usecase"
)

// input is INPUT: the box in which a message is written, the list of what completes it, the
// outbox, and the stored draft.
type input struct {
	*shared
	draft     *composer.Model
	fitted    string          // the text that the layout was made for
	list      completion.List // above the box, for what word is
	outbox    []*outgoing     // messages that wait for files or for the session, in order
	saved     string          // the draft as stored last
	explained bool            // which key sends has been said
	storing   struct {
		due     bool  // a timer runs
		request int64 // a draft is being stored; 0: none is
		again   bool  // it is out of date already
	}
	cost struct {
		text  string
		shown *assistant.Shown     // it was computed for
		turn  *assistant.TurnState // likewise
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
	i.notice.Clear()
	return tea.Batch(i.draftChanged(), i.offer())
}

// newLine breaks the line.
func (i *input) newLine() tea.Cmd {
	i.draft.NewLine()
	return tea.Batch(i.draftChanged(), i.explainEnter())
}

// explainEnter says once which key sends, when a draft of one line rests on enter: the
// user may have meant to send it.
func (i *input) explainEnter() tea.Cmd {
	text := i.draft.Text()
	if line, ok := strings.CutSuffix(text, "\n"); i.explained || i.opts.EnterSends || !ok || strings.TrimSpace(line) == "" || strings.Contains(line, "\n") {
		return nil
	}
	return tick(idlePause, enterDueMsg{text})
}

func (i *input) onEnterDue(msg enterDueMsg) tea.Cmd {
	if i.explained || i.draft.Text() != msg.text {
		return nil
	}
	i.explained = true
	return i.info(i.key(keymap.Newline) + " breaks the line" + i.hint(" · %s sends", keymap.Send) + i.hint(" · %s, “Settings”, swaps them", keymap.Palette))
}

// paste puts pasted text into the box; line breaks in it never send.
func (i *input) paste(text string) tea.Cmd {
	i.notice.Clear()
	if hidden := i.draft.Paste(text); hidden > 0 {
		i.notice.Info(assistant.Counted(hidden, "invisible character") + " left out of the paste")
	}
	return tea.Batch(i.draftChanged(), i.offer())
}

// clear empties the box; the key that undoes typing brings the text back.
func (i *input) clear() tea.Cmd {
	i.commands.EndReAsk()
	i.draft.Clear()
	i.notice.Info("cleared" + i.hint(" · %s brings it back", keymap.UndoTyping))
	return i.storeDraft()
}

func (i *input) undoTyping() tea.Cmd {
	if !i.draft.Undo() {
		i.notice.Info("nothing to undo")
	}
	i.commands.EndReAsk()
	return i.draftChanged()
}

// recall is the action that moves in the open list, else, at the edge of the text,
// through sent messages, else moves the cursor.
func recall(step int) func(*Model) tea.Cmd {
	return onInput(func(i *input) tea.Cmd {
		edge, walk := i.draft.AtFirstLine(), i.draft.Older
		if step > 0 {
			edge, walk = i.draft.AtLastLine(), i.draft.Newer
		}
		switch {
		case i.completing():
			i.list.Move(step)
		case edge && walk():
			i.commands.EndReAsk()
		default:
			i.draft.Move(step)
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

// draftChanged stores the draft draftPause after its first change, even if the user
// still types. A draft that was emptied no longer replaces a failed message.
func (i *input) draftChanged() tea.Cmd {
	if i.draft.Empty() {
		i.commands.EndReAsk()
	}
	if i.storing.due || !i.commands.Stores() && i.ready {
		return nil
	}
	i.storing.due = true
	return tick(draftPause, draftDueMsg{})
}

func (i *input) onDraftDue() tea.Cmd {
	i.storing.due = false
	if i.draft.Text() == i.saved {
		return nil
	}
	return i.storeDraft()
}

// waitingTexts are the messages in the outbox.
func (i *input) waitingTexts() (texts []string) {
	for _, o := range i.outbox {
		texts = append(texts, o.typed)
	}
	return texts
}

// drafted is the draft to store: box, stash and outbox.
func (i *input) drafted() history.Draft {
	return history.Draft{Text: i.draft.Text(), Stash: append(slices.Clone(i.draft.Stash()), i.waitingTexts()...)}
}

// storeDraft stores the draft, one write at a time: an older one must not be written
// last.
func (i *input) storeDraft() tea.Cmd {
	if i.storing.request != 0 || !i.commands.Stores() {
		i.storing.again = i.storing.request != 0
		return nil
	}
	i.storing.request = i.query()
	return i.commands.StoreDraft(i.storing.request, i.drafted(), 0)
}

// onDraftStored stores what was written since.
func (i *input) onDraftStored(o usecase.DraftStored) tea.Cmd {
	if o.Request != i.storing.request {
		return nil
	}
	again := i.storing.again
	i.storing.request, i.storing.again = 0, false
	if o.Err != nil {
		return i.fail(fmt.Errorf("the draft could not be stored: %w", o.Err))
	}
	if i.saved = o.Draft.Text; again {
		return i.storeDraft()
	}
	return nil
}

// openEditor edits the draft in the user's editor.
func (m *Model) openEditor() tea.Cmd {
	if m.opts.Editor == nil {
		return m.info("no editor: set VISUAL or EDITOR where winnow runs")
	}
	text := m.input.draft.Text()
	return func() tea.Msg {
		path, err := terminal.EditorFile(text)
		return editorFileMsg{path, err}
	}
}

// onEditorFile lends the terminal to the editor.
func (m *Model) onEditorFile(msg editorFileMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return tea.ExecProcess(m.opts.Editor(msg.path), func(err error) tea.Msg {
		defer os.Remove(msg.path) // a leftover temporary file does no harm
		var text []byte
		if err == nil {
			text, err = os.ReadFile(msg.path)
		}
		return editedMsg{string(text), err}
	})
}

// onEdited puts the edited text into the box.
func (m *Model) onEdited(msg editedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.setMode(keymap.Input)
	m.input.draft.Set(strings.TrimRight(msg.text, "\r\n")) // editors end a file with line breaks
	return m.input.draftChanged()
}
