package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Set writes a setting into the file at path. A new file is readable by its
// owner alone. No byte outside the value changes. The result is decoded before
// it replaces the file: Set refuses a file with errors, and a result in which
// the key has another value or any other key changed; the file is then as it
// was. themes are Options.Themes.
func Set(path, key, value string, themes []string) error {
	k, ok := find(key, themes)
	if !ok {
		return &Error{Where: key, Reason: "is not a setting" + hint(key, settingNames())}
	}
	var want Settings
	if err := k.set(&want, value); err != nil {
		return &Error{Where: key, Reason: err.Error()}
	}
	mode, data := fs.FileMode(0o600), []byte(nil) // of a new file: it may contain keys later
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
	if err := newSettings(path, themes).readFile(path, data); err != nil {
		return err
	}
	changed, err := edited(data, key, k.literal(value))
	if err != nil {
		return &Error{Path: path, Where: key, Reason: err.Error()}
	}
	result := newSettings(path, themes)
	if err := result.readFile(path, changed); err != nil {
		return err
	}
	if k.Show(result) != k.Show(&want) || !sameOthers(data, changed, key) {
		return &Error{Path: path, Where: key, Reason: "cannot be changed alone: the file would be read differently"}
	}
	if err := WriteFile(target, mode, changed); err != nil {
		return &Error{Path: path, Reason: reason(err)}
	}
	return nil
}

// sameOthers reports whether two files have the same values for all keys but one.
func sameOthers(before, after []byte, key string) bool {
	was, is := map[string]any{}, map[string]any{}
	if toml.Unmarshal(before, &was) != nil || toml.Unmarshal(after, &is) != nil {
		return false
	}
	delete(was, key)
	delete(is, key)
	return reflect.DeepEqual(was, is)
}

// edited is the file with another value for a top-level key.
func edited(data []byte, key, text string) ([]byte, error) {
	from, to, found, err := valueAt(data, key)
	if err != nil {
		return nil, err
	}
	if found {
		return slices.Concat(data[:from], []byte(text), data[to:]), nil
	}
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	at := lineFor(data, key)
	line := key + " = " + text + end
	if at > 0 && data[at-1] != '\n' {
		line = end + line
	}
	return slices.Concat(data[:at], []byte(line), data[at:]), nil
}

// valueAt is the range of the value of a top-level key.
func valueAt(data []byte, key string) (from, to int, found bool, err error) {
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			break // the keys that follow belong to it
		}
		if e.Kind != unstable.KeyValue {
			continue
		}
		name := e.Key()
		if name.Next(); string(name.Node().Data) != key || !name.IsLast() {
			continue
		}
		v := e.Value()
		at := v.Raw
		if at.Length == 0 {
			at = p.Range(v.Data)
		}
		return int(at.Offset), int(at.Offset + at.Length), true, nil
	}
	return 0, 0, false, p.Error()
}

// lineFor is the offset at which a line for a missing key is inserted: after the
// line of the template that has it as a comment, else before the first table and
// the comments above it.
func lineFor(data []byte, key string) int {
	commented := regexp.MustCompile(`(?m)^#[ \t]*` + regexp.QuoteMeta(key) + `[ \t]*=.*(\n|$)`)
	table := regexp.MustCompile(`(?m)(^[ \t]*(#.*)?\r?\n)*^[ \t]*\[`)
	from, to := len(data), len(data)
	if at := table.FindIndex(data); at != nil {
		from, to = at[0], at[1]
	}
	if at := commented.FindIndex(data[:to]); at != nil {
		return at[1]
	}
	return from
}

// WriteFile replaces the file at path by rename: after a crash the old or the new
// file is there, whole. It creates missing folders for their owner alone.
func WriteFile(path string, mode fs.FileMode, data []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".winnow-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename it is gone
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
