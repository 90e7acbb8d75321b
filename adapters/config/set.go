package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"winnow/checkpoint/privatefile"
)

// Set writes a setting to the file at path with Edit. It changes only the bytes of the value, or inserts a line if the
// key is missing. It returns an error if the key would end up with another value, or if any other key would change.
// themes is Options.Themes.
func Set(path, key, value string, themes []string) error {
	k, ok := find(key, themes)
	if !ok {
		return &Error{Where: key, Reason: "is not a setting" + hint(key, settingNames())}
	}
	var want Settings
	if err := k.set(&want, value); err != nil {
		return &Error{Where: key, Reason: err.Error()}
	}
	return Edit(path, themes, func(_ *Settings, data []byte) []byte {
		return WithValue(data, key, k.literal(value))
	}, func(result *Settings, before, after []byte) error {
		if k.Show(result) != k.Show(&want) || !othersUnchanged(before, after, key) {
			return &Error{Path: path, Where: key, Reason: "winnow cannot set this key safely: edit the file by hand"}
		}
		return nil
	})
}

// Edit changes the text of the file at path. change receives the current settings and the text, and returns the new
// text. A new file is readable only by its owner. The result is decoded and passed to check before it replaces the
// file, so after an error the file is unchanged.
func Edit(path string, themes []string, change func(now *Settings, data []byte) []byte, check func(result *Settings, before, after []byte) error) error {
	mode, data := fs.FileMode(0o600), []byte(nil) // for a new file; private, because keys may be added to it
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		target, err = path, nil
	case err == nil:
		data, mode, err = read(target)
	}
	if err != nil {
		return &Error{Path: path, Reason: reason(err)}
	}
	now, result := newSettings(path, themes), newSettings(path, themes)
	if err := now.readFile(path, data); err != nil {
		return err
	}
	changed := change(now, data)
	if err := result.readFile(path, changed); err != nil {
		return err
	}
	if err := check(result, data, changed); err != nil {
		return err
	}
	if err := replaceFile(target, mode, changed); err != nil {
		return &Error{Path: path, Reason: reason(err)}
	}
	return nil
}

// othersUnchanged reports whether two files have the same values for all keys except one.
func othersUnchanged(before, after []byte, key string) bool {
	old, updated := map[string]any{}, map[string]any{}
	if toml.Unmarshal(before, &old) != nil || toml.Unmarshal(after, &updated) != nil {
		return false
	}
	delete(old, key)
	delete(updated, key)
	return reflect.DeepEqual(old, updated)
}

// tablePattern matches the start of the first table, with the comments above it.
var tablePattern = regexp.MustCompile(`(?m)(^[ \t]*(#.*)?\r?\n)*^[ \t]*\[`)

// WithValue returns the text of a file, or of a table, with a new value for a top-level key; text is the value as TOML.
// A missing key is inserted after the line of the template that mentions it in a comment, or else before the first
// table. Edit verifies the result.
func WithValue(data []byte, key, text string) []byte {
	from, to := len(data), len(data) // start of the first table, with and without its comments
	if at := tablePattern.FindIndex(data); at != nil {
		from, to = at[0], at[1]
	}
	name := regexp.QuoteMeta(key)
	value := regexp.MustCompile(`(?m)^[ \t]*["']?` + name + `["']?[ \t]*=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#]+)`)
	if at := value.FindSubmatchIndex(data[:to]); at != nil {
		return slices.Concat(data[:at[2]], []byte(text), data[at[3]:])
	}
	comment := regexp.MustCompile(`(?m)^#[ \t]*` + name + `[ \t]*=.*(\n|$)`)
	if at := comment.FindIndex(data[:to]); at != nil {
		from = at[1]
	}
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	line := key + " = " + text + end
	if from > 0 && data[from-1] != '\n' {
		line = end + line
	}
	return slices.Concat(data[:from], []byte(line), data[from:])
}

// replaceFile replaces the file at path. It creates missing folders, accessible only to their owner.
func replaceFile(path string, mode fs.FileMode, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), privatefile.FolderMode); err != nil {
		return err
	}
	return privatefile.Replace(path, mode, func(w io.Writer) error { _, err := w.Write(data); return err })
}
