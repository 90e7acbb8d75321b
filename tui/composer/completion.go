package composer

import "winnow/tui/overlay"

// Completions is a list of completions for a text. The zero value offers nothing.
type Completions struct {
	Entries []overlay.Entry // best first; the Value of each replaces the text
	At      int             // index of the selected entry; -1 if none is selected

	text     string // the text that the list is for; "" if none
	stem     string // the part of the text that all entries start with, such as a folder
	read     bool   // Entries belong to text and not to an earlier text
	closed   bool   // the user has closed the list, for all texts with this stem
	accepted bool   // the user accepts the first entry as soon as the entries are read
}

// Typed opens the list for a text, or closes it if the text is "". It reports whether
// entries are needed; Show provides them. Until then, the entries of an earlier text with
// the same stem stay.
func (l *Completions) Typed(text, stem string) (needed bool) {
	same := l.text != "" && l.stem == stem
	switch {
	case text == "":
		*l = Completions{}
		return false
	case text == l.text:
		return false
	case same && l.closed && len(text) > 1: // a single character starts a new word
		l.text = text
		return false
	case same:
		*l = Completions{Entries: l.Entries, text: text, stem: stem}
	default:
		*l = Completions{text: text, stem: stem}
	}
	return true
}

// Show sets the entries for a text; selected is -1 if no entry is selected. It does nothing if
// the list is closed or for a different text. It reports whether the user has already accepted
// the first entry, see AcceptFirst.
func (l *Completions) Show(text string, entries []overlay.Entry, selected int) (accept bool) {
	if l.text != text || l.closed {
		return false
	}
	l.Entries, l.At, l.read = entries, selected, true
	return l.accepted
}

// Open reports whether the list is visible; text is the current text before the cursor.
func (l *Completions) Open(text string) bool { return len(l.Entries) > 0 && l.text == text }

// Reading reports whether the entries for the text are still being read.
func (l *Completions) Reading(text string) bool {
	return l.text != "" && !l.read && !l.closed && l.text == text
}

// Close closes the list until the text has another stem.
func (l *Completions) Close() { l.Entries, l.closed = nil, true }

// Move moves the selection by step entries and stops at the ends.
func (l *Completions) Move(step int) { l.At = min(max(l.At+step, 0), len(l.Entries)-1) }

// AcceptFirst records that the user accepts the first entry, while the entries are still
// being read.
func (l *Completions) AcceptFirst() { l.accepted = true }

// Accept closes the list and returns the replacement text of the selected entry or, if no
// entry is selected, of the first. The list must be open.
func (l *Completions) Accept() string {
	value := l.Entries[max(l.At, 0)].Value
	*l = Completions{}
	return value
}
