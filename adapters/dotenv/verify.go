package dotenv

import "strings"

// verify compares f with what one edit made of it. The edited key must read as
// asked, and every other statement as before. What ${…} means in keys not in
// own, the keys of the whole step, must be the same as in origin. The error is
// a [*RefusedError].
func (f *File) verify(after, origin *File, e Edit, own map[string]bool) error {
	b, ok := after.deciding(e.Key)
	switch {
	case e.Unset && ok:
		return &RefusedError{e.Key, b.Line, "without its line the key appears here"}
	case !e.Unset && (!ok || !b.HasValue || b.Value != e.Value):
		return after.unreadable(e.Key)
	}
	was, is := f.others(e.Key), after.others(e.Key)
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return &RefusedError{e.Key, was[i].Line, was[i].describe() + " would no longer be read"}
		case i >= len(was):
			return &RefusedError{e.Key, is[i].Line, is[i].describe() + " would appear"}
		case !was[i].sameAs(is[i]):
			return &RefusedError{e.Key, was[i].Line, was[i].describe() + " would be read differently"}
		}
	}
	before, now := origin.references(own), after.references(own)
	for i, r := range before { // the statements outside own are the same, so the lists are as long
		if i < len(now) && now[i].meaning != r.meaning {
			return &RefusedError{
				e.Key, r.at.Line,
				r.at.describe() + " refers to ${" + printable(r.name) + "} and would be read differently",
			}
		}
	}
	return nil
}

// reference is a ${name} in a key that is not edited, where name is one that is.
type reference struct {
	at      Binding
	name    string
	meaning string // identifies the value that the keys above give name
}

// references lists what keys outside own refer to in own, in order.
func (f *File) references(own map[string]bool) []reference {
	var all []reference
	above := map[string]string{}
	for _, b := range f.bindings {
		switch {
		case own[b.Key] && b.HasValue:
			above[b.Key] = "=" + b.Value
		case own[b.Key]:
			above[b.Key] = "bare"
		case b.Key != "":
			for _, name := range references(b.Value) {
				if own[name] {
					all = append(all, reference{b, name, above[name]})
				}
			}
		}
	}
	return all
}

// others lists the statements that an edit of key must leave as they are.
func (f *File) others(key string) []Binding {
	var all []Binding
	for _, b := range f.bindings {
		if b.Key != key && b.Key != "" || b.Error {
			all = append(all, b)
		}
	}
	return all
}

// sameAs reports whether two statements read the same.
func (b Binding) sameAs(other Binding) bool {
	if b.Error || other.Error {
		return b.Error == other.Error && b.statement() == other.statement()
	}
	return b.Key == other.Key && b.Value == other.Value && b.HasValue == other.HasValue
}

// statement is the text of a binding without the lines before it and its line end.
func (b Binding) statement() string {
	return strings.TrimRight(b.Original[b.lineStart-b.start:], "\r\n")
}

// noQuoting is why a value cannot be written.
const noQuoting = "no way of quoting the value reads back the same (does it end with a backslash?)"

// unreadable is the error for a key that cannot be read after its edit.
func (f *File) unreadable(key string) *RefusedError {
	for _, b := range f.bindings {
		if b.Error {
			return &RefusedError{key, b.Line, "cannot be read and would swallow the key: is a quote unbalanced?"}
		}
	}
	return &RefusedError{Key: key, Line: f.Line(key), Reason: noQuoting}
}

// describe names a binding without its value.
func (b Binding) describe() string {
	if b.Error {
		return "a line that cannot be read"
	}
	return printable(b.Key)
}
