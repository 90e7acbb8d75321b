package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/safetext"
)

// completion is the list of files above the input while a word that begins
// with @ stands before the cursor. The zero value offers nothing.
type completion struct {
	word    string      // what the list belongs to, with its @; "" is no list
	dir     string      // as typed, with its slash, whose files are listed
	listed  bool        // files are those of dir
	files   []fileEntry // all of dir
	shown   []fileEntry // those that the word matches, best first
	at      int         // in shown
	pending bool        // tab was pressed before the list came
}

// fileEntry is a file or a folder that a message can name.
type fileEntry struct {
	path string // as it is typed after the @, a folder with its slash
	name string
	dir  bool
	size int64
}

// Bounds of a list of files: what one looks through, and what one sees at once.
const (
	maxListed = 5000
	filesSeen = 8
)

// offerFiles lists files when the text before the cursor asks for them.
func (i *input) offerFiles() tea.Cmd {
	word := i.draft.Word()
	c := &i.files
	if !strings.HasPrefix(word, "@") || i.mode != modeInput {
		*c = completion{}
		return nil
	}
	if word == c.word {
		return nil
	}
	path := word[1:]
	dir := path[:strings.LastIndexByte(path, '/')+1]
	if c.word != "" && c.dir == dir {
		c.word, c.pending = word, false
		c.match()
		return nil // the same folder: what is listed holds, or is on its way
	}
	*c = completion{word: word, dir: dir}
	return listFiles(dir)
}

// listFiles reads a folder: folders first, each part by name.
func listFiles(dir string) tea.Cmd {
	return func() tea.Msg {
		files, err := readFolder(dir)
		return filesListedMsg{dir: dir, files: files, err: err}
	}
}

func readFolder(dir string) ([]fileEntry, error) {
	path, err := filePath(dir)
	if err != nil {
		return nil, err
	}
	folder, err := os.Open(filepath.Clean(path)) // "" is the folder of the program
	if err != nil {
		return nil, err
	}
	defer folder.Close() // it was only read
	names, err := folder.Readdirnames(maxListed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var files []fileEntry
	for _, name := range names {
		info, err := os.Stat(filepath.Join(folder.Name(), name))
		if err != nil || !(info.IsDir() || info.Mode().IsRegular()) {
			continue // gone, or nothing that could be read as text
		}
		if f, ok := newFileEntry(dir, name, info); ok {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b fileEntry) int {
		if a.dir != b.dir {
			return map[bool]int{true: -1, false: 1}[a.dir]
		}
		return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	return files, nil
}

// newFileEntry makes an entry; ok is false for a name that no message can hold:
// one with white space, a comma at its end or what no screen shows.
func newFileEntry(dir, name string, info os.FileInfo) (f fileEntry, ok bool) {
	f = fileEntry{path: dir + name, name: name, dir: info.IsDir(), size: info.Size()}
	if !strings.ContainsAny(f.path, "./") && !f.dir {
		f.path = "./" + name // so that it is seen to be a path
	}
	if f.dir {
		f.path += "/"
	}
	return f, safetext.Line(f.path, len(f.path)) == f.path && slices.Equal(attached("@"+f.path), []string{f.path})
}

// onFilesListed shows what the folder holds, when it is still asked for.
func (i *input) onFilesListed(msg filesListedMsg) tea.Cmd {
	c := &i.files
	if c.word == "" || c.word != i.draft.Word() || c.dir != msg.dir {
		return nil // the answer to a word that is not there any more
	}
	c.files, c.listed = msg.files, true // a folder that cannot be read offers nothing
	c.match()
	if c.pending {
		c.pending = false
		return i.takeFile()
	}
	return nil
}

// match keeps the files whose name holds what was typed: those that begin with
// it come first. Hidden ones are for those who type their dot.
func (c *completion) match() {
	typed := strings.ToLower(c.word[1+len(c.dir):])
	c.at, c.shown = 0, nil
	var inside []fileEntry
	for _, f := range c.files {
		name := strings.ToLower(f.name)
		switch {
		case strings.HasPrefix(name, ".") && !strings.HasPrefix(typed, "."):
		case strings.HasPrefix(name, typed):
			c.shown = append(c.shown, f)
		case strings.Contains(name, typed):
			inside = append(inside, f)
		}
	}
	c.shown = append(c.shown, inside...)
	if len(c.shown) == 1 && "@"+c.shown[0].path == c.word {
		c.shown = nil // it is all there
	}
}

// completing says whether the list is on the screen.
func (i *input) completing() bool {
	return i.mode == modeInput && len(i.files.shown) > 0 && i.files.word == i.draft.Word()
}

// listing says whether the list is about to come.
func (i *input) listing() bool {
	return i.mode == modeInput && i.files.word != "" && !i.files.listed && i.files.word == i.draft.Word()
}

// takeFile puts the selected path into the message. After a folder the list
// goes on inside it.
func (i *input) takeFile() tea.Cmd {
	if !i.completing() {
		return nil
	}
	f := i.files.shown[i.files.at]
	i.files = completion{}
	text := "@" + f.path
	if !f.dir {
		text += " "
	}
	i.draft.ReplaceWord(text)
	return tea.Batch(i.draftChanged(), i.offerFiles())
}

// moveFile selects another file of the list.
func (i *input) moveFile(step int) tea.Cmd {
	i.files.at = min(max(i.files.at+step, 0), len(i.files.shown)-1)
	return nil
}

// closeFiles takes the list away; the word stays, and offers nothing until it
// changes its folder.
func (i *input) closeFiles() tea.Cmd {
	i.files.files, i.files.shown, i.files.listed = nil, nil, true
	return nil
}

// fileLines draws the list, h lines at most with its frame.
func (i *input) fileLines(w, h int) []string {
	rows := min(h-listFrame, filesSeen)
	if rows < 1 {
		return nil
	}
	lines := make([]listLine, len(i.files.shown))
	for i, f := range i.files.shown {
		lines[i] = listLine{f.path, fileSize(f.size)}
		if f.dir {
			lines[i].extra = "folder"
		}
	}
	return listBox(lines, i.files.at, rows, w, i.styles)
}

// fileSize says a number of bytes for people, and that a file is too large.
func fileSize(n int64) string {
	switch {
	case n > maxAttachment:
		return "too large"
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
}
