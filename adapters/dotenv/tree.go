package dotenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mainFile is the file that the proxy loads first, and the ending of the others.
const mainFile = ".env"

// disabled names the variable that keeps python-dotenv from loading anything.
const disabled = "PYTHON_DOTENV_DISABLED"

// Origin is one place that gives a key a value.
type Origin struct {
	Path  string // empty for the real environment
	Line  int    // from 1; 0 for the real environment
	Value string // as the proxy would see it, variables resolved
	Bare  bool   // a key without "=": it gives no value
}

// String is "file:line" or "environment", without the value.
func (o Origin) String() string {
	if o.Path == "" {
		return "environment"
	}
	return fmt.Sprintf("%s:%d", printable(filepath.Base(o.Path)), o.Line)
}

// GoString is String: %#v must not print the value either.
func (o Origin) GoString() string { return o.String() }

// TreeFile is one of the files that the proxy loads.
type TreeFile struct {
	Path    string
	File    *File
	Skipped bool  // PYTHON_DOTENV_DISABLED was set when its turn came
	Err     error // it cannot be read; File is empty then
}

// Tree is what the proxy sees when it starts in a folder: the real environment,
// then `.env`, then the other `*.env` files by name; none overrides an earlier one.
type Tree struct {
	Folder string
	Files  []TreeFile // in the order of loading; a missing `.env` is left out

	env     map[string]string
	origins map[string][]Origin
	winner  map[string]int // index into origins; absent when nothing gives a value
}

// LoadTree reads the files of a folder. environ is the environment of the
// proxy as os.Environ gives it. A file that cannot be read is a TreeFile with an error.
func LoadTree(folder string, environ []string) (*Tree, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("dotenv: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &FileError{folder, "cannot be read", reason(err)}
	}
	t := &Tree{Folder: folder, env: map[string]string{}, origins: map[string][]Origin{}, winner: map[string]int{}}
	for _, pair := range environ {
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := t.env[key]; ok && key != "" && !twice {
			t.env[key] = value
			t.offer(key, Origin{Value: value})
		}
	}
	names := []string{mainFile}
	for _, e := range entries { // sorted by name, as the proxy sorts them
		if name := e.Name(); strings.HasSuffix(name, mainFile) && name != mainFile {
			names = append(names, name)
		}
	}
	for _, name := range names {
		t.load(filepath.Join(folder, name))
	}
	return t, nil
}

// load reads one file as load_dotenv does.
func (t *Tree) load(path string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return // python-dotenv passes over both
	}
	file := TreeFile{Path: path, File: &File{}}
	if target, err := resolve(path); err != nil {
		file.Err = err
	} else if st, err := readState(target); err != nil {
		file.Err = err
	} else {
		file.File = Parse(st.data)
	}
	file.Skipped = truthy(t.env[disabled])
	t.Files = append(t.Files, file)
	if file.Skipped || file.Err != nil {
		return
	}
	env := func(name string) (string, bool) { value, ok := t.env[name]; return value, ok }
	above, found := newScope(), map[string][]Origin{}
	for _, b := range file.File.bindings {
		above.read(b, env)
		if b.Key == "" {
			continue
		}
		o := Origin{Path: path, Line: b.Line, Bare: !b.HasValue}
		if value := above.values[b.Key]; value != nil {
			o.Value = *value
		}
		found[b.Key] = append(found[b.Key], o)
	}
	for _, key := range file.File.Keys() {
		last := len(found[key]) - 1
		t.offer(key, found[key][last])
		for _, o := range slices.Backward(found[key][:last]) {
			t.shadow(key, o)
		}
	}
	for key, value := range above.values {
		if _, ok := t.env[key]; !ok && value != nil {
			t.env[key] = *value
		}
	}
}

// offer adds an origin that wins when nothing won before and it has a value.
func (t *Tree) offer(key string, o Origin) {
	if _, ok := t.winner[key]; !ok && !o.Bare {
		t.winner[key] = len(t.origins[key])
	}
	t.shadow(key, o)
}

// shadow adds an origin that does not win.
func (t *Tree) shadow(key string, o Origin) { t.origins[key] = append(t.origins[key], o) }

// Lookup is what the proxy sees of a key: where its value comes from, and the
// other places that give it one in vain, nearest to winning first.
func (t *Tree) Lookup(key string) (wins Origin, shadowed []Origin, ok bool) {
	i, ok := t.winner[key]
	all := slices.Clone(t.origins[key])
	if !ok {
		return Origin{}, all, false
	}
	wins = all[i]
	return wins, slices.Delete(all, i, i+1), true
}

// Keys lists all keys of the environment and the files, sorted.
func (t *Tree) Keys() []string {
	keys := make([]string, 0, len(t.origins))
	for key := range t.origins {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// String names the folder and none of the values.
func (t *Tree) String() string {
	return fmt.Sprintf("%s: %d files, %d keys", printable(t.Folder), len(t.Files), len(t.origins))
}

// GoString is String: %#v must not print values either.
func (t *Tree) GoString() string { return t.String() }

// truthy is what python-dotenv takes for a yes.
func truthy(value string) bool {
	return slices.Contains([]string{"1", "true", "t", "yes", "y"}, strings.ToLower(value))
}
