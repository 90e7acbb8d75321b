package overlay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
	"winnow/tui/style"
)

// Editor is a line of text with a cursor. The zero value is empty.
type Editor struct {
	before, after string // the text on either side of the cursor
}

// Text returns the whole line.
func (e *Editor) Text() string { return e.before + e.after }

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return e.before == "" && e.after == "" }

// Len returns the length of the text in runes.
func (e *Editor) Len() int { return utf8.RuneCountInString(e.before) + utf8.RuneCountInString(e.after) }

// Cursor returns the number of runes before the cursor.
func (e *Editor) Cursor() int { return utf8.RuneCountInString(e.before) }

// Split returns the text before and after the cursor.
func (e *Editor) Split() (before, after string) { return e.before, e.after }

// Set replaces the text and puts the cursor at its end.
func (e *Editor) Set(text string) { e.before, e.after = text, "" }

// Insert inserts text before the cursor.
func (e *Editor) Insert(text string) { e.before += text }

// Replace replaces the runes [from, to) with text and puts the cursor after it.
func (e *Editor) Replace(from, to int, text string) {
	runes := []rune(e.Text())
	e.before, e.after = string(runes[:from])+text, string(runes[to:])
}

// Do moves the cursor or deletes text. It returns false for an action that is not in the
// mode [keymap.Editing].
func (e *Editor) Do(a keymap.Action) bool {
	switch a {
	case keymap.EditLeft:
		e.move(lastCharacter(e.before))
	case keymap.EditRight:
		e.move(len(e.before) + firstCharacter(e.after))
	case keymap.EditWordLeft:
		e.move(wordBefore(e.before))
	case keymap.EditWordRight:
		e.move(len(e.before) + wordAfter(e.after))
	case keymap.EditStart:
		e.move(0)
	case keymap.EditEnd:
		e.Set(e.Text())
	case keymap.EditDeleteBefore:
		e.before = e.before[:lastCharacter(e.before)]
	case keymap.EditDeleteAfter:
		e.after = e.after[firstCharacter(e.after):]
	case keymap.EditDeleteWord:
		e.before = e.before[:wordBefore(e.before)]
	case keymap.EditDeleteToStart:
		e.before = ""
	case keymap.EditDeleteToEnd:
		e.after = ""
	default:
		return false
	}
	return true
}

// move moves the cursor to byte n.
func (e *Editor) move(n int) {
	text := e.Text()
	e.before, e.after = text[:n], text[n:]
}

// Scroll returns how many cells of the line must be scrolled off to the left so that a
// window of w cells shows the cursor, and the cursor's cell in that window. It never splits
// a character.
func (e *Editor) Scroll(w int) (shift, cursor int) {
	shift, _ = e.scroll(w)
	return shift, style.Width(e.before) - shift
}

// View returns the part of the line that is in the window of Scroll.
func (e *Editor) View(w int) string {
	_, from := e.scroll(w)
	return style.Truncate(e.Text()[from:], w, "")
}

// scroll returns the length of the text to the left of the window, in cells and in bytes.
func (e *Editor) scroll(w int) (shift, from int) {
	over := style.Width(e.before) - w + 1
	for shift < over && from < len(e.before) {
		n := firstCharacter(e.before[from:])
		shift += style.Width(e.before[from : from+n])
		from += n
	}
	return shift, from
}

// lastCharacter returns where the last character of s begins.
func lastCharacter(s string) int {
	// Each ASCII rune begins a character, so only the text from the last one on has to be
	// read.
	next := max(0, strings.LastIndexFunc(s, func(r rune) bool { return r < utf8.RuneSelf }))
	last := next
	for next < len(s) {
		last = next
		next += firstCharacter(s[next:])
	}
	return last
}

// firstCharacter returns the length in bytes of the first character of s.
func firstCharacter(s string) int {
	if s == "" {
		return 0
	}
	first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(first))
}

// wordBefore returns where the last word of s begins. IDs have no spaces, so punctuation
// separates words too.
func wordBefore(s string) int {
	return len(strings.TrimRightFunc(strings.TrimRightFunc(s, notInWord), inWord))
}

// wordAfter returns where the first word of s ends.
func wordAfter(s string) int {
	return len(s) - len(strings.TrimLeftFunc(strings.TrimLeftFunc(s, notInWord), inWord))
}

func inWord(r rune) bool    { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
func notInWord(r rune) bool { return !inWord(r) }

// HistoryEditor is an Editor with a history of earlier lines. The zero value is empty.
type HistoryEditor struct {
	Editor
	History []string // applied lines, oldest first
	cleared string   // the most recently cleared line; "" if a line was applied since
	index   int      // index in entries; len(entries) means the line being written
	draft   string   // the line being written, while an earlier one is shown
}

// Begin starts a new line with text; Walk starts again at the end of the history.
func (l *HistoryEditor) Begin(text string) {
	l.Set(text)
	l.index = len(l.entries())
}

// Walk shows the next line of the history if step is 1, the previous one if it is -1. It
// reports whether there is one.
func (l *HistoryEditor) Walk(step int) bool {
	to, entries := l.index+step, l.entries()
	if to < 0 || to > len(entries) {
		return false
	}
	if l.index == len(entries) {
		l.draft = l.Text()
	}
	l.index = to
	l.Set(append(entries[:len(entries):len(entries)], l.draft)[to])
	return true
}

// entries returns the lines that Walk steps through, newest last.
func (l *HistoryEditor) entries() []string {
	if n := len(l.History); l.cleared != "" && (n == 0 || l.History[n-1] != l.cleared) {
		return append(l.History[:n:n], l.cleared)
	}
	return l.History
}

// Remember adds an applied line to the history.
func (l *HistoryEditor) Remember(line string) {
	if n := len(l.History); line != "" && (n == 0 || l.History[n-1] != line) {
		l.History = append(l.History, line)
	}
	l.cleared = ""
}

// Clear empties the line; Walk brings back what was typed.
func (l *HistoryEditor) Clear() {
	l.cleared = l.Text()
	l.Begin("")
}
