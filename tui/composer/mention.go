package composer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
)

// MaxAttachment is the maximum size of a text file in bytes. It corresponds to about 75,000
// tokens, more than most models accept.
const MaxAttachment = 256 << 10

const maxSuggested = 5000 // maximum number of folder entries, and of names, that Suggest looks at

// MentionSource finds the files that messages mention.
type MentionSource struct {
	None bool // the user is on another machine, so the files here cannot be mentioned or written
}

// Files returns the files that a text mentions as @path. A word is a path only if it
// contains a dot or a slash, so that @someone is not treated as a file.
func (s MentionSource) Files(text string) (names []string) {
	if s.None {
		return nil
	}
	for _, word := range strings.Fields(text) {
		name, marked := strings.CutPrefix(word, "@")
		name = strings.TrimRight(name, ",;:!?)")
		if marked && strings.ContainsAny(name, "./") && strings.Trim(name, "./") != "" {
			names = append(names, name)
		}
	}
	return names
}

// Attach appends each named text file to the message, and attaches each named picture. It
// fails at the first file that cannot be added.
func Attach(p assistant.Prompt, names []string) (assistant.Prompt, error) {
	for _, name := range names {
		data, err := read(filePath(name))
		var picture assistant.Attachment
		switch isPicture := err == nil && attachment.IsPicture(name, data); {
		case err != nil:
		case isPicture:
			if picture, err = attachment.NewPicture(name, data); err == nil {
				p.Attachments, err = addPicture(p.Attachments, picture)
			}
		default:
			if err = checkText(data); err == nil {
				p.Text += fmt.Sprintf("\n\n%s:\n```\n%s\n```", name, strings.TrimRight(string(data), "\n"))
				p.Attachments = append(p.Attachments, assistant.Attachment{Name: name, Type: "text/plain", Size: int64(len(data))})
			}
		}
		if err != nil {
			return p, fmt.Errorf("@%s %w", name, err)
		}
	}
	return p, nil
}

// addPicture adds a picture, unless the same picture was already added under the same name.
func addPicture(files []assistant.Attachment, f assistant.Attachment) ([]assistant.Attachment, error) {
	pictures := attachment.Pictures(files)
	switch {
	case slices.ContainsFunc(pictures, func(have assistant.Attachment) bool { return have.Name == f.Name && have.Hash == f.Hash }):
		return files, nil
	case len(pictures) == attachment.MaxPictures:
		return files, fmt.Errorf("was not added: a message can have at most %d pictures", attachment.MaxPictures)
	}
	return append(files, f), nil
}

// filePath expands ~/ at the start of a name to the home folder of the user.
func filePath(name string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return name
}

// read reads a file, up to slightly more than can be attached. The text of an error
// continues a sentence that starts with the name of the file.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close() // the file was only read, so an error is harmless
	data, err := io.ReadAll(io.LimitReader(file, attachment.MaxPictureBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	return data, nil
}

// unreadable returns why a file cannot be read, without the path, which fs.PathError would
// repeat.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("does not exist")
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// checkText returns an error for data that cannot be part of a message. The text of the
// error continues a sentence, as for read.
func checkText(data []byte) error {
	switch {
	case len(data) > MaxAttachment:
		return fmt.Errorf("is larger than %s", attachment.SizeText(MaxAttachment))
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return errors.New("is neither text nor a supported picture")
	}
	return nil
}

// SplitMention splits an @word into its folder, including the final slash, and the rest.
func SplitMention(word string) (dir, name string) {
	path := strings.TrimPrefix(word, "@")
	n := strings.LastIndexByte(path, '/') + 1
	return path[:n], path[n:]
}

// Suggest returns replacements for an @word: folders, files and the given names. Entries
// that start with the typed text come first, then entries that contain it. Hidden files are
// included only after a typed dot. Folders that cannot be read are left out, and so are
// names that Files would not find again, such as names with white space or with a comma at the
// end, and names with invisible characters.
func (s MentionSource) Suggest(word string, names []string) []overlay.Entry {
	dir, typed := SplitMention(word)
	typed = strings.ToLower(typed)
	const folders, files, others = 0, 1, 2
	var ranked [6][]overlay.Entry // by kind; from index 3 on, entries that only contain the typed text
	add := func(kind int, name, text, extra string) {
		i := strings.Index(strings.ToLower(name), typed)
		if i < 0 || name[0] == '.' && !strings.HasPrefix(typed, ".") || string(safetext.Line(text, len(text))) != text || strings.ContainsAny(text, " \t") {
			return
		}
		if i > 0 {
			kind += 3
		}
		ranked[kind] = append(ranked[kind], overlay.Entry{Value: text, Text: strings.TrimPrefix(text, "@"), Extra: extra})
	}
	var entries []os.DirEntry
	if !s.None {
		entries, _ = os.ReadDir(filepath.Clean(filePath(dir))) // the folder "" means the working folder
	}
	for _, e := range entries[:min(len(entries), maxSuggested)] {
		path := dir + e.Name()
		info, err := os.Stat(filePath(path)) // for a link, the info of its target
		switch {
		case err != nil:
			continue
		case info.IsDir():
			path += "/"
		case !info.Mode().IsRegular():
			continue
		case !strings.ContainsAny(path, "./"):
			path = "./" + path // so that Files recognises it as a path
		}
		if !slices.Equal(s.Files("@"+path), []string{path}) {
			continue
		}
		if info.IsDir() {
			add(folders, e.Name(), "@"+path, "folder")
		} else {
			add(files, e.Name(), "@"+path, fileSize(e.Name(), info.Size()))
		}
	}
	for _, n := range names[:min(len(names), maxSuggested)] {
		if dir == "" {
			add(others, n, n, "rule or model")
		}
	}
	all := slices.Concat(ranked[:]...)
	if len(all) == 1 && all[0].Value == word {
		return nil // the word is complete
	}
	return all
}

func fileSize(name string, size int64) string {
	most := int64(MaxAttachment)
	if attachment.IsPicture(name, nil) {
		most = attachment.MaxPictureBytes
	}
	if size > most {
		return "too large"
	}
	return attachment.SizeText(size)
}
