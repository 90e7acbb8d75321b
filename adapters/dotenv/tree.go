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

// disabled names the variable that stops python-dotenv from loading anything.
const disabled = "PYTHON_DOTENV_DISABLED"

// Origin is the place that gives a key its value.
type Origin struct {
	Path  string // empty for the real environment
	Line  int    // from 1; 0 for the real environment
	Value string // as the proxy sees it, variables resolved
}

// String is "FILE:LINE" or "the environment", without the value.
func (o Origin) String() string {
	if o.Path == "" {
		return "the environment"
	}
	return fmt.Sprintf("%s:%d", printable(filepath.Base(o.Path)), o.Line)
}

// GoString is String: %#v must not print the value either.
func (o Origin) GoString() string { return o.String() }

// Tree is what the proxy sees when it starts: the real environment, then its
// `.env`, then the other `*.env` files of that folder by name. The first that
// gives a key a value wins.
type Tree struct {
	Problems []error // other files that cannot be read

	env     map[string]string // grows with the files, as the proxy's does
	origins map[string]Origin
	keys    []string // those of the main file in its order, then the others by name
}

// LoadTree reads what the proxy sees with the file of s. environ is the proxy's
// environment as os.Environ gives it. Only a file that is called .env is read
// together with others.
func LoadTree(s *Source, environ []string) *Tree {
	t := &Tree{env: map[string]string{}, origins: map[string]Origin{}, keys: s.File.Keys()}
	for _, pair := range environ {
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := t.env[key]; ok && key != "" && !twice {
			t.env[key], t.origins[key] = value, Origin{Value: value}
		}
	}
	others := t.load(s.Path, s.File, nil)
	if filepath.Base(s.Path) == mainFile {
		entries, err := os.ReadDir(filepath.Dir(s.Path))
		if err != nil {
			t.Problems = append(t.Problems, fileError(filepath.Dir(s.Path), "cannot be read", err))
		}
		for _, e := range entries { // by name, as the proxy sorts them
			if name := e.Name(); strings.HasSuffix(name, mainFile) && name != mainFile {
				others = t.loadOther(filepath.Join(filepath.Dir(s.Path), name), others)
			}
		}
	}
	for key := range t.origins {
		others = append(others, key)
	}
	slices.Sort(others)
	for _, key := range slices.Compact(others) {
		if _, here := s.File.last[key]; !here {
			t.keys = append(t.keys, key)
		}
	}
	return t
}

func (t *Tree) loadOther(path string, keys []string) []string {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return keys // python-dotenv passes over both
	}
	target, err := resolve(path)
	var current snapshot
	if err == nil {
		current, err = readSnapshot(target)
	}
	if err != nil {
		t.Problems = append(t.Problems, err)
		return keys
	}
	return t.load(path, Parse(current.data), keys)
}

// load applies a file as load_dotenv does and appends its keys to keys.
func (t *Tree) load(path string, f *File, keys []string) []string {
	if yes := []string{"1", "true", "t", "yes", "y"}; slices.Contains(yes, strings.ToLower(t.env[disabled])) {
		return keys
	}
	env := func(name string) (string, bool) { value, ok := t.env[name]; return value, ok }
	above := newScope()
	for _, b := range f.bindings {
		above.read(b, env)
	}
	for key, value := range above.values { // resolved with the environment from before this file
		if _, ok := t.env[key]; !ok && value != nil {
			t.env[key], t.origins[key] = *value, Origin{path, f.Line(key), *value}
		}
	}
	return append(keys, f.Keys()...)
}

// Lookup is what the proxy sees of a key.
func (t *Tree) Lookup(key string) (Origin, bool) {
	o, ok := t.origins[key]
	return o, ok
}

// Keys lists all keys: those of the main file in its order, then all others by name.
func (t *Tree) Keys() []string { return slices.Clone(t.keys) }

// String is the number of keys, without the values.
func (t *Tree) String() string { return fmt.Sprintf("%d keys", len(t.keys)) }

// GoString is String: %#v must not print values either.
func (t *Tree) GoString() string { return t.String() }
