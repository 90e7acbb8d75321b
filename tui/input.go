package tui

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/composer"
)

// input is the box in which a message is written, with what belongs to it: the
// files it names, the messages on their way out, the draft in the store.
type input struct {
	*shared
	draft     *composer.Model
	fitted    string     // the text that the layout was made for
	burst     burst      // a paste without brackets
	files     completion // of the @path before the cursor
	outbox    []outgoing // messages that wait for files or for the session, in order
	posted    int        // how many there were
	sentEarly []string   // sent before the sent history was loaded
	saved     string     // the draft as stored last
	storing   struct {
		due     bool // a timer runs
		running bool // a draft is being stored
		again   bool // it is out of date already
	}
	cost struct {
		key costKey
		assistant.DraftCost
	}
}

// onInput is an action of the box.
func onInput(do func(*input) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return do(&m.input) }
}

// write gives the box a key and sees to it that the draft is stored.
func (i *input) write(k tea.KeyPressMsg) tea.Cmd {
	i.draft.Key(k)
	i.burst.first = k.Text
	i.notice.clear()
	return tea.Batch(i.draftChanged(), i.offerFiles())
}

// newLine breaks the line.
func (i *input) newLine() tea.Cmd {
	i.draft.NewLine()
	i.burst.first = "\r" // that a \n may follow
	return i.draftChanged()
}

// onPasted shows the box after a paste from which characters were left out.
func (i *input) onPasted(hidden int) tea.Cmd {
	if hidden > 0 {
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

func (i *input) older() tea.Cmd {
	if i.completing() {
		return i.moveFile(-1)
	}
	return i.recall(tea.KeyUp, i.draft.AtFirstLine(), i.draft.Older)
}

func (i *input) newer() tea.Cmd {
	if i.completing() {
		return i.moveFile(1)
	}
	return i.recall(tea.KeyDown, i.draft.AtLastLine(), i.draft.Newer)
}

// recall walks through sent messages at the edge of the text, and moves the
// cursor inside it.
func (i *input) recall(key rune, edge bool, step func() bool) tea.Cmd {
	if !edge || !step() {
		i.draft.Key(tea.KeyPressMsg{Code: key})
		return nil
	}
	i.work.EndReAsk()
	return nil
}

// giveBack returns text to an empty box; the sent history has it in any case.
func (i *input) giveBack(text string) {
	if i.draft.Empty() {
		i.draft.Set(text)
	}
}

// offerDraft puts the draft of before into an empty box. Where something was
// typed already it is an older text, which comes back as those do.
func (i *input) offerDraft(stored string) {
	switch {
	case stored == "":
	case i.draft.Empty():
		i.draft.Set(stored)
		i.saved = stored
	default:
		i.draft.SetStash(append(i.draft.Stash(), stored))
	}
}

// drafted is what the box would lose.
func (i *input) drafted() history.Draft {
	return history.Draft{Text: i.draft.Text(), Stash: append(slices.Clone(i.draft.Stash()), i.waitingTexts()...)}
}

// waitingTexts are the messages that are on their way, but not there.
func (i *input) waitingTexts() []string {
	var texts []string
	for _, o := range i.outbox {
		texts = append(texts, o.typed)
	}
	return texts
}

// draftPause is how long a draft that was changed is not stored: well under the
// four seconds after which a draft is promised to survive a crash.
const draftPause = 1500 * time.Millisecond

// draftChanged sees to it that the draft is stored soon. A draft that was
// emptied replaces nothing any more.
func (i *input) draftChanged() tea.Cmd {
	if i.draft.Empty() {
		i.work.EndReAsk()
	}
	if i.storing.due || i.opts.History == nil && i.ready {
		return nil
	}
	i.storing.due = true
	return after(draftPause, draftDueMsg{})
}

// onDraftDue stores the draft a while after its first change, whether it is
// still being written or not.
func (i *input) onDraftDue() tea.Cmd {
	i.storing.due = false
	if i.draft.Text() == i.saved {
		return nil
	}
	return i.storeDraft()
}

// storeDraft stores the draft, one after the other: an older one must not come
// last.
func (i *input) storeDraft() tea.Cmd {
	if i.storing.running || i.opts.History == nil {
		i.storing.again = i.storing.running
		return nil
	}
	i.storing.running = true
	return storeDraft(i.work, i.drafted())
}

func (i *input) onDraftStored(msg draftStoredMsg) tea.Cmd {
	again := i.storing.again
	i.storing.running, i.storing.again = false, false
	if msg.err != nil {
		i.notice.fail("the draft could not be stored: " + sentence(msg.err))
		return nil
	}
	i.saved = msg.text
	if again {
		return i.storeDraft()
	}
	return nil
}

// openEditor edits the draft in the user's editor: in a file that only the user
// can read.
func (i *input) openEditor() tea.Cmd {
	if len(i.opts.Editor) == 0 {
		return i.info("no editor: set VISUAL or EDITOR")
	}
	text := i.draft.Text()
	return func() tea.Msg {
		file, err := os.CreateTemp("", "winnow-*.md")
		if err != nil {
			return editorClosedMsg{err: err}
		}
		_, err = file.WriteString(text)
		if closed := file.Close(); err == nil {
			err = closed
		}
		return editorReadyMsg{path: file.Name(), err: err}
	}
}

// onEditorReady gives the terminal to the editor.
func (i *input) onEditorReady(msg editorReadyMsg) tea.Cmd {
	if msg.err != nil {
		return i.fail(msg.err)
	}
	args := append(slices.Clone(i.opts.Editor[1:]), msg.path)
	cmd := exec.CommandContext(context.Background(), i.opts.Editor[0], args...)
	cmd.Env = withoutKeys(os.Environ())
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		defer os.Remove(msg.path) // a leftover temporary file harms nobody
		if err != nil {
			return editorClosedMsg{err: err}
		}
		text, err := os.ReadFile(msg.path)
		return editorClosedMsg{text: string(text), err: err}
	})
}

// withoutKeys leaves out of an environment what looks like a secret: an editor
// and its plugins have no use for the keys of providers.
func withoutKeys(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(entry), "=")
		for _, part := range []string{"API_KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(name, part) {
				return true
			}
		}
		return false
	})
}

// onEditorClosed puts what was edited into the box.
func (m *Model) onEditorClosed(msg editorClosedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.setMode(modeInput)
	m.input.draft.Set(strings.TrimRight(msg.text, "\r\n")) // editors end a file with line breaks
	return m.input.draftChanged()
}
