package composer

import "winnow/tui/overlay"

// Completions is what can complete a text. The zero value offers nothing.
type Completions struct {
	Entries []overlay.Entry // best first; the Value of each replaces the text
	At      int             // the selected one; -1 before one is selected

	text     string // what the list is for; "" is nothing
	stem     string // the part of the text that all entries begin with, such as a folder
	read     bool   // Entries are those of text, not of an earlier one
	closed   bool   // by the user, for all texts with this stem
	accepted bool   // the first entry is to be accepted as soon as it is read
}

// Typed opens the list for a text, or closes it for "". It reports whether entries are
// needed, from Show; until then those of an earlier text with the same stem stay.
func (l *Completions) Typed(text, stem string) (needed bool) {
	same := l.text != "" && l.stem == stem
	switch {
	case text == "":
		*l = Completions{}
		return false
	case text == l.text:
		return false
	case same && l.closed && len(text) > 1: // one character is a new beginning
		l.text = text
		return false
	case same:
		*l = Completions{Entries: l.Entries, text: text, stem: stem}
	default:
		*l = Completions{text: text, stem: stem}
	}
	return true
}

// Show shows the entries for a text; selected is -1 for none. It reports whether the
// user has asked for the first one already.
func (l *Completions) Show(text string, entries []overlay.Entry, selected int) (accept bool) {
	if l.text != text || l.closed {
		return false
	}
	l.Entries, l.At, l.read = entries, selected, true
	return l.accepted
}

// Open reports whether the list is on the screen; text is what stands before the cursor
// now.
func (l *Completions) Open(text string) bool { return len(l.Entries) > 0 && l.text == text }

// Reading reports whether the entries for the text are being read.
func (l *Completions) Reading(text string) bool {
	return l.text != "" && !l.read && !l.closed && l.text == text
}

// Close closes the list until the text is one with another stem.
func (l *Completions) Close() { l.Entries, l.closed = nil, true }

// Move selects the entry that is so many after the selected one, and stops at the ends.
func (l *Completions) Move(step int) { l.At = min(max(l.At+step, 0), len(l.Entries)-1) }

// AcceptFirst asks for the first entry, which is still being read.
func (l *Completions) AcceptFirst() { l.accepted = true }

// Accept closes the list and returns the text that replaces the one it is for:
// that of the selected entry, else of the first. The list must be open.
func (l *Completions) Accept() string {
	value := l.Entries[max(l.At, 0)].Value
	*l = Completions{}
	return value
}
