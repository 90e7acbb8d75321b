package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/mention"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// maxFiles is how many entries of the list of files are on the screen at once.
const maxFiles = 8

// outgoing is a message that has left the box and waits for its files, for the
// session, or for an earlier outgoing message. The user can write the next one.
type outgoing struct {
	typed  string // the text as it stood in the box
	prompt assistant.Prompt
	err    error // why a file could not be read
	read   bool  // its files are read
}

// post moves the message from the box to the outbox and reads its files.
func (m *Model) post(p assistant.Prompt, names []string) tea.Cmd {
	p.Text = m.input.draft.Reset()
	o := &outgoing{typed: p.Text, prompt: p, read: len(names) == 0}
	m.input.outbox = append(m.input.outbox, o)
	if m.ready {
		m.notice.info("reading the files of your message")
	} else {
		m.notice.info("your message is sent as soon as everything is loaded")
	}
	if o.read {
		return nil
	}
	return async(func(context.Context) (assistant.Prompt, error) { return mention.Attach(p, names) }, func(p assistant.Prompt, err error) tea.Cmd {
		o.prompt, o.err, o.read = p, err, true
		return m.flushOutbox()
	})
}

// flushOutbox sends the messages that no longer wait, in the order in which they left
// the box.
func (m *Model) flushOutbox() tea.Cmd {
	var cmds []tea.Cmd
	for m.ready && len(m.input.outbox) > 0 && m.input.outbox[0].read {
		o := m.input.outbox[0]
		m.input.outbox = m.input.outbox[1:]
		m.notice.clear()
		cmds = append(cmds, m.sendOutgoing(o))
	}
	return tea.Batch(cmds...)
}

// sendOutgoing sends a message as if it were still in the box, and then restores what
// was written since. A refused message returns to the box when that is empty;
// otherwise it can be recalled.
func (m *Model) sendOutgoing(o *outgoing) tea.Cmd {
	since := m.input.draft.Text()
	restore := m.input.draft.Exchange(o.typed)
	var cmd tea.Cmd
	if o.err != nil {
		cmd = m.fail(o.err)
	} else {
		cmd = m.dispatch(o.prompt)
	}
	if since != "" {
		refused := !m.input.draft.Empty()
		restore()
		if refused {
			m.input.draft.AddToStash(o.typed)
		}
		if refused && m.notice.text != "" {
			m.notice.text += m.hint(" · %s on the first line brings the message back", "older-message")
		}
	}
	return tea.Batch(cmd, m.input.storeDraft())
}

// mentions is the list above the input while the word before the cursor begins with
// @: files, and names from the pane, such as rules and models. The zero value offers
// nothing.
type mentions struct {
	word    string          // the word that the list is for, with its @; "": no list
	shown   []overlay.Entry // what can replace the word, best first; until listed, for an earlier word
	listed  bool
	closed  bool // closed by the user, while the word stays in the same folder
	at      int  // the selected one, an index in shown
	pending bool // tab was pressed before the list came
}

// completing reports whether the list is on the screen.
func (i *input) completing() bool {
	return i.mode == modeInput && len(i.files.shown) > 0 && i.files.word == i.draft.Word()
}

// listing reports whether the list is being read.
func (i *input) listing() bool {
	return i.mode == modeInput && i.files.word != "" && !i.files.listed && i.files.word == i.draft.Word()
}

// offerFiles opens the list when the word before the cursor begins with @.
func (i *input) offerFiles() tea.Cmd {
	word, c := i.draft.Word(), &i.files
	dir, _ := mention.Split(word)
	before, _ := mention.Split(c.word)
	same := c.word != "" && before == dir
	switch {
	case !strings.HasPrefix(word, "@") || i.mode != modeInput:
		*c = mentions{}
		return nil
	case word == c.word:
		return nil
	case same && c.closed:
		c.word = word
		return nil
	case !same:
		c.shown = nil
	}
	*c = mentions{word: word, shown: c.shown}
	var names []string
	if p, ok := i.pane.(pane.Completer); ok {
		names = p.Completions()
	}
	return async(func(context.Context) ([]overlay.Entry, error) { return mention.Suggest(word, names), nil }, func(shown []overlay.Entry, _ error) tea.Cmd {
		if c.word != word || c.closed {
			return nil
		}
		c.shown, c.listed, c.at = shown, true, 0
		if c.pending {
			return i.takeFile()
		}
		return nil
	})
}

// takeFile puts the selected entry into the message. For a folder it then lists what
// is inside.
func (i *input) takeFile() tea.Cmd {
	if !i.completing() {
		return nil
	}
	text := i.files.shown[i.files.at].Value
	i.files = mentions{}
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	i.draft.ReplaceWord(text)
	return tea.Batch(i.draftChanged(), i.offerFiles())
}
