package tui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// maxAttachment bounds one file in a message, in bytes: about 75,000 tokens,
// more than most models take at all.
const maxAttachment = 256 << 10

// attached lists the files that a text names as @path. A word is a path when it
// has a dot or a slash in it, so that a mention of @someone stays a word.
func attached(text string) []string {
	var names []string
	for _, word := range strings.Fields(text) {
		name, marked := strings.CutPrefix(word, "@")
		name = strings.TrimRight(name, ",;:!?)")
		if marked && strings.ContainsAny(name, "./") && strings.Trim(name, "./") != "" {
			names = append(names, name)
		}
	}
	return names
}

// outgoing is a message that has left the box and waits: for its files, for the
// session, or for one before it. One can go on to write the next.
type outgoing struct {
	n      int // of its filesReadMsg
	typed  string
	prompt assistant.Prompt
	err    error
	read   bool
}

// post takes the message out of the box into the outbox and reads its files.
func (i *input) post(p assistant.Prompt, names []string) tea.Cmd {
	i.posted++
	p.Text = i.draft.Take()
	i.outbox = append(i.outbox, outgoing{n: i.posted, typed: p.Text, prompt: p, read: len(names) == 0})
	if !i.ready {
		i.notice.info("your message goes out as soon as everything is loaded")
	} else {
		i.notice.info("reading the files of your message")
	}
	if len(names) == 0 {
		return nil
	}
	return readFiles(i.posted, p, names)
}

// readFiles puts the texts of files after the message that names them.
func readFiles(n int, p assistant.Prompt, names []string) tea.Cmd {
	return func() tea.Msg {
		for _, name := range names {
			text, err := readText(name)
			if err != nil {
				return filesReadMsg{n: n, err: err}
			}
			p.Text += fmt.Sprintf("\n\n%s:\n```\n%s\n```", name, strings.TrimRight(text, "\n"))
			p.Attachments = append(p.Attachments, assistant.Attachment{Name: name, Type: "text/plain", Size: int64(len(text))})
		}
		return filesReadMsg{n: n, prompt: p}
	}
}

// filePath is the path of a name as it is typed: ~/ is the home of the user.
func filePath(name string) (string, error) {
	rest, home := strings.CutPrefix(name, "~/")
	if !home {
		return name, nil
	}
	dir, err := os.UserHomeDir()
	return filepath.Join(dir, rest), err
}

// readText reads a file of text, and refuses what is none.
func readText(name string) (string, error) {
	path, err := filePath(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("@%s: %w", name, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("@%s is not a file", name)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("@%s: %w", name, err)
	}
	defer file.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxAttachment+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("@%s: %w", name, err)
	case len(data) > maxAttachment:
		return "", fmt.Errorf("@%s is larger than %d KB", name, maxAttachment>>10)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("@%s is not text", name)
	}
	return string(data), nil
}

// onFilesRead sends the messages whose files are there.
func (m *Model) onFilesRead(msg filesReadMsg) tea.Cmd {
	for i := range m.input.outbox {
		if o := &m.input.outbox[i]; o.n == msg.n {
			o.prompt, o.err, o.read = msg.prompt, msg.err, true
		}
	}
	return m.flushOutbox()
}

// flushOutbox sends the messages that wait for nothing any more, in the order in
// which they were sent.
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

// sendOutgoing sends a message as if it still stood in the box; what was written
// since is there again afterwards. One that cannot be sent comes back into an
// empty box, and is put away where something was written since.
func (m *Model) sendOutgoing(o outgoing) tea.Cmd {
	since := m.input.draft.Text()
	m.input.draft.Set(o.typed)
	var cmd tea.Cmd
	if o.err != nil {
		cmd = m.fail(o.err)
	} else {
		cmd = m.dispatch(o.prompt)
	}
	if since != "" {
		refused := !m.input.draft.Empty()
		m.input.draft.Set(since)
		if refused {
			m.input.draft.PutAway(o.typed)
		}
		if refused && m.notice.text != "" {
			m.notice.text += m.hintIn(modeInput, " · %s on the first line brings the message back", "older-message")
		}
	}
	return tea.Batch(cmd, m.input.storeDraft())
}
