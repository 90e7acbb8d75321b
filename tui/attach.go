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

// fetch is a message whose files are being read, or that waits for one before
// it. It has left the box: one can go on to write the next.
type fetch struct {
	n      int // of its filesReadMsg
	typed  string
	prompt assistant.Prompt
	err    error
	done   bool
}

// read takes the message out of the box and puts its files to it.
func (m *Model) read(p assistant.Prompt, names []string) tea.Cmd {
	m.fetches++
	m.reading = append(m.reading, fetch{n: m.fetches, typed: m.draft.Take()})
	m.fitInput()
	m.notice.say("reading the files of your message")
	return readFiles(m.fetches, p, names)
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

// onFiles sends the messages whose files are there, in the order in which they
// were sent.
func (m *Model) onFiles(msg filesReadMsg) tea.Cmd {
	for i := range m.reading {
		if f := &m.reading[i]; f.n == msg.n {
			f.prompt, f.err, f.done = msg.prompt, msg.err, true
		}
	}
	var cmds []tea.Cmd
	for len(m.reading) > 0 && m.reading[0].done {
		f := m.reading[0]
		m.reading = m.reading[1:]
		m.notice.clear()
		cmds = append(cmds, m.fetched(f))
	}
	return tea.Batch(cmds...)
}

// fetched sends a message as if it still stood in the box; what was written
// since is there again afterwards. One whose files could not be read comes back.
func (m *Model) fetched(f fetch) tea.Cmd {
	since := m.draft.Text()
	if f.err != nil && since != "" {
		m.draft.PutAway(f.typed)
		return tea.Batch(m.complain(fmt.Errorf("%w · %s on the first line brings the message back", f.err, m.firstKey(modeInput, "older-message", "the key for earlier messages"))), m.keepDraftNow())
	}
	m.draft.Set(f.typed)
	m.fitInput()
	if f.err != nil {
		return tea.Batch(m.complain(f.err), m.keepDraftNow())
	}
	cmd := m.dispatch(f.prompt)
	if since != "" && m.draft.Empty() {
		m.draft.Set(since)
		m.fitInput()
	}
	return tea.Batch(cmd, m.keepDraftNow())
}
