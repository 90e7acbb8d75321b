package dotenv

import (
	"fmt"
	"slices"
)

// ChangedError says that a file is no longer what was loaded: nothing was
// saved. It holds all three texts; its own text holds none of them.
type ChangedError struct {
	Path    string
	Base    []byte // as it was loaded
	Theirs  []byte // as it is now; may be cut short when Busy
	Ours    []byte // as it was to be saved
	Missing bool   // the file is gone
	Busy    bool   // somebody has it open for writing
	Kept    string // a file beside it with one more change that lost its place; mostly ""
	Err     error  // why Theirs could not be read; mostly nil
}

func (e *ChangedError) Error() string {
	what := "was changed by somebody else since it was read"
	switch {
	case e.Err != nil:
		what += ": " + e.Err.Error()
	case e.Missing:
		what = "was removed by somebody else since it was read"
	case e.Busy:
		what = "is just being changed by somebody else"
	}
	if e.Kept != "" {
		what += "; another change was put aside in " + printable(e.Kept)
	}
	return fmt.Sprintf("dotenv: %s %s; nothing was saved", printable(e.Path), what)
}

func (e *ChangedError) Unwrap() error { return e.Err }

// GoString is Error: %#v must not print values.
func (e *ChangedError) GoString() string { return e.Error() }

// changed makes the error for what was found at the target.
func (w *writer) changed(found state) *ChangedError {
	return &ChangedError{
		Path: w.Path, Base: w.File.Bytes(), Theirs: found.data, Ours: w.data,
		Missing: w.Exists && !found.exists(),
	}
}

// ChangeKind tells how a key reads differently.
type ChangeKind string

// The kinds of changes.
const (
	KeyAdded   ChangeKind = "added"
	KeyChanged ChangeKind = "changed"
	KeyRemoved ChangeKind = "removed"
)

// Change is a key that two files read differently. It holds no value.
type Change struct {
	Key  string     `json:"key"`
	Kind ChangeKind `json:"kind"`
}

// String is the kind and the key.
func (c Change) String() string { return string(c.Kind) + " " + printable(c.Key) }

// Changes lists the keys that before and after read differently, sorted.
// Values are compared before their variables are resolved. A bare key counts as none.
func Changes(before, after *File) []Change {
	keys := slices.Compact(slices.Sorted(slices.Values(append(before.Keys(), after.Keys()...))))
	var all []Change
	for _, key := range keys {
		was, had := before.Raw(key)
		is, has := after.Raw(key)
		switch {
		case has && !had:
			all = append(all, Change{key, KeyAdded})
		case had && !has:
			all = append(all, Change{key, KeyRemoved})
		case was != is:
			all = append(all, Change{key, KeyChanged})
		}
	}
	return all
}

// Conflict is a key that both sides changed, to different values. A nil value
// stands for no such key.
type Conflict struct {
	Key                string
	Base, Theirs, Ours *string
}

// String names the key and none of the values.
func (c Conflict) String() string { return "both changed " + printable(c.Key) }

// Merge applies edits that were made for base to theirs. The result holds our
// value for every edited key; conflicts lists those to which theirs gave
// another one, in the order of the edits. The error is a [*RefusedError].
func Merge(base, theirs *File, edits []Edit) (result *File, conflicts []Conflict, err error) {
	for _, e := range merged(nil, edits) {
		c := Conflict{Key: e.Key, Base: rawOrNil(base, e.Key), Theirs: rawOrNil(theirs, e.Key)}
		if !e.Unset {
			c.Ours = &e.Value
		}
		if !alike(c.Base, c.Theirs) && !alike(c.Theirs, c.Ours) {
			conflicts = append(conflicts, c)
		}
	}
	result, err = theirs.With(edits...)
	return result, conflicts, err
}

func rawOrNil(f *File, key string) *string {
	if value, ok := f.Raw(key); ok {
		return &value
	}
	return nil
}

func alike(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
