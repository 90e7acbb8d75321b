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

// readFiles puts the texts of files after the message that names them.
func readFiles(p assistant.Prompt, names []string) tea.Cmd {
	return func() tea.Msg {
		typed := p.Text
		for _, name := range names {
			text, err := readText(name)
			if err != nil {
				return filesReadMsg{prompt: assistant.Prompt{Text: typed}, err: err}
			}
			p.Text += fmt.Sprintf("\n\n%s:\n```\n%s\n```", name, strings.TrimRight(text, "\n"))
			p.Attachments = append(p.Attachments, assistant.Attachment{Name: name, Type: "text/plain", Size: int64(len(text))})
		}
		return filesReadMsg{prompt: p}
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

// onFiles sends the message with its files. When one could not be read, the
// message stays where it is.
func (m *Model) onFiles(msg filesReadMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	return m.dispatch(msg.prompt)
}
