package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

const (
	maxAttachment = 256 << 10 // bytes of one file: 75,000 tokens, more than most models take
	maxListed     = 5000      // files of a folder that are looked through
	filesSeen     = 8         // lines of the list
)

// attached lists the files that a text names as @path. A word is a path when it
// has a dot or a slash in it, so that a mention of @someone stays a word.
func attached(text string) (names []string) {
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
// session, or for one before it. The user can write the next one.
type outgoing struct {
	typed  string
	prompt assistant.Prompt
	err    error
	read   bool
}

// post moves the message from the box to the outbox and reads its files.
func (m *Model) post(p assistant.Prompt, names []string) tea.Cmd {
	p.Text = m.input.draft.Take()
	o := &outgoing{typed: p.Text, prompt: p, read: len(names) == 0}
	m.input.outbox = append(m.input.outbox, o)
	if m.ready {
		m.notice.info("reading the files of your message")
	} else {
		m.notice.info("your message goes out as soon as everything is loaded")
	}
	if o.read {
		return nil
	}
	return async(func(context.Context) (assistant.Prompt, error) { return withFiles(p, names) }, func(p assistant.Prompt, err error) tea.Cmd {
		o.prompt, o.err, o.read = p, err, true
		return m.flushOutbox()
	})
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

// sendOutgoing sends a message as if it still stood in the box, and then puts
// back what was written since. A message that is refused returns to an empty box;
// else it can be recalled.
func (m *Model) sendOutgoing(o *outgoing) tea.Cmd {
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
			m.notice.text += m.hint(" · %s on the first line brings the message back", "older-message")
		}
	}
	return tea.Batch(cmd, m.input.storeDraft())
}

// withFiles adds the texts of files to the message that names them.
func withFiles(p assistant.Prompt, names []string) (assistant.Prompt, error) {
	for _, name := range names {
		text, err := readText(filePath(name))
		if err != nil {
			return p, fmt.Errorf("@%s %w", name, err)
		}
		p.Text += fmt.Sprintf("\n\n%s:\n```\n%s\n```", name, strings.TrimRight(text, "\n"))
		p.Attachments = append(p.Attachments, assistant.Attachment{Name: name, Type: "text/plain", Size: int64(len(text))})
	}
	return p, nil
}

// filePath is the path of a name as it is typed: ~/ is the home of the user.
func filePath(name string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return name
}

// readText reads a file of text.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	defer file.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxAttachment+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot be read: %w", err)
	case len(data) > maxAttachment:
		return "", fmt.Errorf("is larger than %d KB", maxAttachment>>10)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", errors.New("is not text")
	}
	return string(data), nil
}

// completion is the list above the input while a word that begins with @ stands
// before the cursor: files, and what the pane names, such as rules and models. The
// zero value offers nothing.
type completion struct {
	word    string       // what the list belongs to, with its @; "" is no list
	dir     string       // as typed, with its slash, whose files are listed
	all     []suggestion // of dir
	shown   []suggestion // those that the word matches, best first
	listed  bool
	at      int  // in shown
	pending bool // tab was pressed before the list came
}

// suggestion is what can stand in the place of the word.
type suggestion struct {
	name  string // what is matched
	text  string // in the place of the word, with the @ of a file
	extra string
}

// completing reports whether the list is on the screen.
func (i *input) completing() bool {
	return i.mode == modeInput && len(i.files.shown) > 0 && i.files.word == i.draft.Word()
}

// listing reports whether the list is about to come.
func (i *input) listing() bool {
	return i.mode == modeInput && i.files.word != "" && !i.files.listed && i.files.word == i.draft.Word()
}

// offerFiles opens the list when the word before the cursor begins with @.
func (i *input) offerFiles() tea.Cmd {
	word, c := i.draft.Word(), &i.files
	switch {
	case !strings.HasPrefix(word, "@") || i.mode != modeInput:
		*c = completion{}
		return nil
	case word == c.word:
		return nil
	}
	dir := word[1 : strings.LastIndexByte("/"+word[1:], '/')+1]
	if c.word != "" && c.dir == dir {
		c.word, c.pending = word, false
		c.match()
		return nil // the same folder: it is listed, or will be
	}
	*c = completion{word: word, dir: dir}
	var names []string
	if p, ok := i.pane.(pane.Completer); ok && dir == "" {
		names = p.Completions()
	}
	return async(func(context.Context) ([]suggestion, error) { return suggest(dir, names), nil }, func(all []suggestion, _ error) tea.Cmd {
		if c.word == "" || c.word != i.draft.Word() || c.dir != dir {
			return nil // the word has changed
		}
		c.all, c.listed = all, true
		if c.match(); c.pending {
			c.pending = false
			return i.takeFile()
		}
		return nil
	})
}

// suggest lists a folder, folders first, each part by name, and then names. A
// folder that cannot be read, and a name with white space, a comma at its end or
// invisible characters, which a message cannot contain as one word, is left out.
func suggest(dir string, names []string) (all []suggestion) {
	entries, _ := os.ReadDir(filepath.Clean(filePath(dir))) // "" is the folder of the program
	for _, folders := range []bool{true, false} {
		for _, e := range entries[:min(len(entries), maxListed)] {
			info, err := os.Stat(filepath.Join(filePath(dir), e.Name())) // of what a link leads to
			if err != nil || info.IsDir() != folders || !folders && !info.Mode().IsRegular() {
				continue
			}
			path, extra := dir+e.Name(), fmt.Sprintf("%.1f KB", float64(info.Size())/(1<<10))
			switch {
			case folders:
				path, extra = path+"/", "folder"
			case !strings.ContainsAny(path, "./"):
				path = "./" + path // so that it is seen to be a path
			}
			switch size := info.Size(); {
			case folders:
			case size > maxAttachment:
				extra = "too large"
			case size < 1<<10:
				extra = fmt.Sprintf("%d B", size)
			}
			if safetext.Line(path, len(path)) == path && slices.Equal(attached("@"+path), []string{path}) {
				all = append(all, suggestion{e.Name(), "@" + path, extra})
			}
		}
	}
	for _, name := range names[:min(len(names), maxListed)] {
		if safetext.Line(name, len(name)) == name && !strings.ContainsAny(name, " \t") {
			all = append(all, suggestion{name, name, "rule or model"})
		}
	}
	return all
}

// match selects what contains the typed text: what begins with it comes first.
// Hidden files are shown once their dot is typed.
func (c *completion) match() {
	typed := strings.ToLower(c.word[1+len(c.dir):])
	var inside []suggestion
	c.at, c.shown = 0, nil
	for _, s := range c.all {
		name := strings.ToLower(s.name)
		switch {
		case strings.HasPrefix(name, ".") && !strings.HasPrefix(typed, "."):
		case strings.HasPrefix(name, typed):
			c.shown = append(c.shown, s)
		case strings.Contains(name, typed):
			inside = append(inside, s)
		}
	}
	c.shown = append(c.shown, inside...)
	if len(c.shown) == 1 && c.shown[0].text == c.word {
		c.shown = nil // it is complete
	}
}

// takeFile puts the selected entry into the message. After a folder the list
// continues inside it.
func (i *input) takeFile() tea.Cmd {
	if !i.completing() {
		return nil
	}
	text := i.files.shown[i.files.at].text
	i.files = completion{}
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	i.draft.ReplaceWord(text)
	return tea.Batch(i.draftChanged(), i.offerFiles())
}

// moveFile selects another entry of the list.
func (i *input) moveFile(step int) tea.Cmd {
	i.files.at = min(max(i.files.at+step, 0), len(i.files.shown)-1)
	return nil
}

// closeFiles closes the list until the word names another folder.
func (i *input) closeFiles() tea.Cmd {
	i.files.all, i.files.shown, i.files.listed = nil, nil, true
	return nil
}

// fileLines draws the list in at most h lines with its frame.
func (i *input) fileLines(w, h int) []string {
	lines := make([]listLine, len(i.files.shown))
	for n, s := range i.files.shown {
		lines[n] = listLine{strings.TrimPrefix(s.text, "@"), s.extra}
	}
	return listBox(lines, i.files.at, min(h-listFrame, filesSeen), w, i.styles)
}
