package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Set writes a setting into the file at path, which is made when there is none,
// readable by its owner alone. Every byte that is not the value stays. The
// result is read, strictly, before it takes the place of the file: one that
// would not say value for key and for all other keys what it said before is an
// error, and so is a file with faults; the file is then as it was. themes are
// Options.Themes.
func Set(path, key, value string, themes []string) error {
	k, ok := named(key, themes)
	if !ok {
		return &Error{Where: key, Reason: "is not a setting" + hint(key, settingNames())}
	}
	var probe Settings
	if err := k.set(&probe, value); err != nil {
		return &Error{Where: key, Reason: err.Error()}
	}
	place, mode, data, err := current(path)
	if err != nil {
		return &Error{Path: path, Reason: reason(err)}
	}
	before, err := readAlone(path, data, themes)
	if err != nil {
		return err
	}
	changed, err := edited(data, key, literal(k, value))
	if err != nil {
		return &Error{Path: path, Where: key, Reason: err.Error()}
	}
	after, err := readAlone(path, changed, themes)
	if err != nil {
		return err
	}
	if err := onlyChanged(before, after, k, k.Show(&probe)); err != nil {
		return &Error{Path: path, Where: key, Reason: err.Error()}
	}
	if err := replace(place, mode, changed); err != nil {
		return &Error{Path: path, Reason: reason(err)}
	}
	return nil
}

func named(key string, themes []string) (Setting, bool) {
	for _, k := range All(themes) {
		if k.Key == key {
			return k, true
		}
	}
	return Setting{}, false
}

// newFile is the mode of a file that Set makes: it may hold keys one day.
const newFile = 0o600

// current reads the file behind path, through links; one that does not exist is
// empty.
func current(path string) (place string, mode fs.FileMode, data []byte, err error) {
	place, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, newFile, nil, nil
	}
	if err != nil {
		return "", 0, nil, err
	}
	info, err := os.Stat(place)
	if err != nil {
		return "", 0, nil, err
	}
	data, err = read(place)
	return place, info.Mode().Perm(), data, err
}

// readAlone is what a file says without environment and flags.
func readAlone(path string, data []byte, themes []string) (*Settings, error) {
	s := &Settings{Path: path, Origins: map[string]Origin{}, themes: themes}
	for _, k := range All(themes) {
		if err := k.set(s, k.Default); err != nil {
			return nil, err
		}
	}
	return s, s.readFile(path, data)
}

// literal is a value as TOML.
func literal(k Setting, value string) string {
	var probe Settings
	if !quotedValue(k, &probe) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// edited is the file with another value for a key at its top.
func edited(data []byte, key, text string) ([]byte, error) {
	from, to, found, err := valueAt(data, key)
	if err != nil {
		return nil, err
	}
	if found {
		return splice(data, from, to, text), nil
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
	return splice(data, at, at, line), nil
}

func splice(data []byte, from, to int, text string) []byte {
	return append(append(bytes.Clone(data[:from]), text...), data[to:]...)
}

// valueAt is where the value of a key at the top stands.
func valueAt(data []byte, key string) (from, to int, found bool, err error) {
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			break // what comes after belongs to it
		}
		if e.Kind != unstable.KeyValue {
			continue
		}
		if path, _ := names(&p, e); len(path) != 1 || path[0] != key {
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

// lineFor is where a line for a key that is not there goes: behind the one of
// the template that has it as a comment, else behind the last line before the
// first table.
func lineFor(data []byte, key string) int {
	commented := regexp.MustCompile(`(?m)^#[ \t]*` + regexp.QuoteMeta(key) + `[ \t]*=.*(\n|$)`)
	table := regexp.MustCompile(`(?m)^[ \t]*\[`)
	end := len(data)
	if at := table.FindIndex(data); at != nil {
		end = at[0]
	}
	if at := commented.FindIndex(data[:end]); at != nil {
		return at[1]
	}
	if end == len(data) {
		return end
	}
	// Comments above a table belong to it.
	for end > 0 {
		start := bytes.LastIndexByte(data[:end-1], '\n') + 1
		if line := bytes.TrimSpace(data[start:end]); len(line) > 0 && line[0] != '#' {
			break
		}
		end = start
	}
	return end
}

// onlyChanged checks that a file says one thing differently, and that rightly.
func onlyChanged(before, after *Settings, changed Setting, want string) error {
	for _, k := range All(after.themes) {
		was, is := k.Show(before), k.Show(after)
		if k.Key == changed.Key {
			was = want
		}
		if was != is {
			return fmt.Errorf("the file would say %s for %s", quoted(is), k.Key)
		}
	}
	if !reflect.DeepEqual(keysAlone(before.Keys), keysAlone(after.Keys)) || !reflect.DeepEqual(endpointsAlone(before.Providers), endpointsAlone(after.Providers)) {
		return errors.New("the file would say something else for its other keys")
	}
	return nil
}

// keysAlone and endpointsAlone leave the lines out, which may move.
func keysAlone(all []Binding) []Binding {
	out := append([]Binding(nil), all...)
	for i := range out {
		out[i].Line = 0
	}
	return out
}

func endpointsAlone(all []Provider) []Provider {
	out := append([]Provider(nil), all...)
	for i := range out {
		out[i].Line = 0
	}
	return out
}

// replace writes a file through one beside it, so that it is there whole and
// durable, the old or the new.
func replace(path string, mode fs.FileMode, data []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".winnow-config-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename it is gone
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
