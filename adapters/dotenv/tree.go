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

// mainFile is the name of the file that the proxy loads first, and also the suffix of the other files.
const mainFile = ".env"

// disableVariable is the variable that stops python-dotenv from loading anything.
const disableVariable = "PYTHON_DOTENV_DISABLED"

// Origin is the value of a key and the place that sets it.
type Origin struct {
	Path  string // the path of the file; "" for the real environment
	Line  int    // the line, from 1; 0 for the real environment
	Value string // the value as the proxy sees it, with variables resolved
}

// String returns "FILE:LINE" or "the environment", without the value.
func (o Origin) String() string {
	if o.Path == "" {
		return "the environment"
	}
	return fmt.Sprintf("%s:%d", printable(filepath.Base(o.Path)), o.Line)
}

// GoString returns the same as String, so that %#v does not print the value either.
func (o Origin) GoString() string { return o.String() }

// Tree is what the proxy sees when it starts: the real environment, then its `.env`, then the other `*.env` files of
// the same folder, sorted by name. The first source that sets a key wins.
type Tree struct {
	Errors []error // errors from reading the other files

	origins map[string]Origin
	keys    []string // the keys of the main file in file order, then the others by name
}

// LoadTree reads what the proxy sees if s is its main file. environ is the proxy's environment in the form of
// os.Environ. Other files are read only if the file of s is called .env.
func LoadTree(s *Source, environ []string) *Tree {
	t := &Tree{origins: map[string]Origin{}}
	for _, pair := range environ {
		if key, value, ok := strings.Cut(pair, "="); ok && key != "" {
			if _, twice := t.origins[key]; !twice {
				t.origins[key] = Origin{Value: value}
			}
		}
	}
	others := t.load(s.Path, s.File)
	if filepath.Base(s.Path) == mainFile {
		entries, err := os.ReadDir(filepath.Dir(s.Path))
		if err != nil {
			t.Errors = append(t.Errors, fileError(filepath.Dir(s.Path), "cannot be read", err))
		}
		for _, e := range entries { // sorted by name, as in the proxy
			if name := e.Name(); strings.HasSuffix(name, mainFile) && name != mainFile {
				others = append(others, t.loadOther(filepath.Join(filepath.Dir(s.Path), name))...)
			}
		}
	}
	for key := range t.origins {
		others = append(others, key)
	}
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(key string) bool { _, here := s.File.last[key]; return here })
	t.keys = append(s.File.Keys(), others...)
	return t
}

func (t *Tree) loadOther(path string) (keys []string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil // python-dotenv skips such files
	}
	target, err := resolve(path)
	var current snapshot
	if err == nil {
		current, err = readSnapshot(target)
	}
	if err != nil {
		t.Errors = append(t.Errors, err)
		return nil
	}
	return t.load(path, Parse(current.data))
}

// load adds the keys of a file in the same way as load_dotenv, and returns these keys.
func (t *Tree) load(path string, f *File) (keys []string) {
	if slices.Contains([]string{"1", "true", "t", "yes", "y"}, strings.ToLower(t.origins[disableVariable].Value)) {
		return nil
	}
	above := newScope()
	for _, b := range f.bindings {
		above.define(b, func(name string) (string, bool) { o, ok := t.origins[name]; return o.Value, ok })
	}
	for key, value := range above.values { // resolved with the environment as it was before this file
		if _, ok := t.origins[key]; !ok && value != nil {
			t.origins[key] = Origin{path, f.Line(key), *value}
		}
	}
	return f.Keys()
}

// Lookup returns the value that the proxy sees for a key, with its origin.
func (t *Tree) Lookup(key string) (Origin, bool) {
	o, ok := t.origins[key]
	return o, ok
}

// Keys lists all keys: first the keys of the main file in file order, then all other keys by name.
func (t *Tree) Keys() []string { return slices.Clone(t.keys) }

// Format prints the number of keys for every verb, without the values.
func (t *Tree) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "%d keys", len(t.keys)) }
