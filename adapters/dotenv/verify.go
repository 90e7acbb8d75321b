package dotenv

import "slices"

// verify compares f with what one edit made of it. The edited key must read as
// asked, and every other statement as before. What ${…} means in keys not
// in own, the keys of the whole step, must be the same as in origin. The error
// is a [*RefusedError].
func (f *File) verify(after, origin *File, e Edit, own map[string]bool) error {
	b, ok := after.deciding(e.Key)
	switch {
	case e.Unset && ok:
		return &RefusedError{e.Key, b.Line, "without its line the key appears here"}
	case !e.Unset && (!ok || !b.HasValue || b.Value != e.Value):
		return after.swallowed(e.Key)
	}
	was, is := f.foreign(e.Key), after.foreign(e.Key)
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return &RefusedError{e.Key, was[i].Line, describe(was[i]) + " would no longer be read"}
		case i >= len(was):
			return &RefusedError{e.Key, is[i].Line, describe(is[i]) + " would appear"}
		case !same(was[i], is[i]):
			return &RefusedError{e.Key, was[i].Line, describe(was[i]) + " would be read differently"}
		}
	}
	return verifyReferences(origin, after, e, own)
}

// verifyReferences refuses an edit that changes what ${…} in another key means.
// The statements outside own are known to be the same, before and after.
func verifyReferences(before, after *File, e Edit, own map[string]bool) error {
	was, is := walk{rest: before.bindings, own: own}, walk{rest: after.bindings, own: own}
	for was.next() && is.next() {
		for _, name := range references(was.at.Value) {
			if own[name] && was.meaning(name) != is.meaning(name) {
				return &RefusedError{
					e.Key, was.at.Line,
					describe(was.at) + " refers to ${" + printable(name) + "} and would be read differently",
				}
			}
		}
	}
	return nil
}

// walk goes over the foreign keys of a file and knows what the own keys above say.
type walk struct {
	rest []Binding
	own  map[string]bool
	at   Binding

	above map[string]Binding
}

// next goes to the next foreign key.
func (w *walk) next() bool {
	if w.above == nil {
		w.above = map[string]Binding{}
	}
	for len(w.rest) > 0 {
		w.at, w.rest = w.rest[0], w.rest[1:]
		if w.own[w.at.Key] {
			w.above[w.at.Key] = w.at
		} else if w.at.Key != "" {
			return true
		}
	}
	return false
}

// meaning is what an own key above says: whether it stands there, whether it
// has a value, and which.
func (w *walk) meaning(name string) (m struct {
	set, hasValue bool
	value         string
},
) {
	b, ok := w.above[name]
	m.set, m.hasValue, m.value = ok, b.HasValue, b.Value
	return m
}

// foreign lists the statements that an edit of key must leave as they are.
func (f *File) foreign(key string) []Binding {
	return slices.DeleteFunc(f.Bindings(), func(b Binding) bool {
		return b.Key == key || b.Key == "" && !b.Error
	})
}

// same tells whether two statements read the same.
func same(a, b Binding) bool {
	if a.Error || b.Error {
		return a.Error == b.Error && statementOf(a) == statementOf(b)
	}
	return a.Key == b.Key && a.Value == b.Value && a.HasValue == b.HasValue
}

// statementOf is the text of a binding without blank lines around it.
func statementOf(b Binding) string {
	s := b.Original[b.lineStart-b.start:]
	for s != "" && !notNewline(rune(s[len(s)-1])) {
		s = s[:len(s)-1]
	}
	return s
}

// swallowed is the error for a key that cannot be read after its edit.
func (f *File) swallowed(key string) *RefusedError {
	for _, b := range f.bindings {
		if b.Error {
			return &RefusedError{key, b.Line, "cannot be read and would swallow the key: is a quote unbalanced?"}
		}
	}
	return &RefusedError{Key: key, Line: f.Line(key), Reason: "the value would not read back as it is"}
}

// describe names a binding without its value.
func describe(b Binding) string {
	if b.Error {
		return "a line that cannot be read"
	}
	return printable(b.Key)
}
