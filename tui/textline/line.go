package textline

// Line is an Editor with a history of earlier lines. The zero value is empty.
type Line struct {
	Editor
	History []string // lines that were applied, oldest first
	cleared string   // the newest line that was cleared since
	place   int      // index in past; len(past) is the line being written
	written string   // the line being written, while an earlier one is shown
}

// Begin starts a new line with text, at the end of the history.
func (l *Line) Begin(text string) {
	l.Set(text)
	l.place = len(l.past())
}

// Walk shows an earlier or a later line; it reports whether there is one.
func (l *Line) Walk(step int) bool {
	to, past := l.place+step, l.past()
	if to < 0 || to > len(past) {
		return false
	}
	if l.place == len(past) {
		l.written = l.Text()
	}
	l.place = to
	l.Set(append(past[:len(past):len(past)], l.written)[to])
	return true
}

// past are the lines that Walk steps through, the newest last.
func (l *Line) past() []string {
	if n := len(l.History); l.cleared != "" && (n == 0 || l.History[n-1] != l.cleared) {
		return append(l.History[:n:n], l.cleared)
	}
	return l.History
}

// Remember adds a line that was applied to the history.
func (l *Line) Remember(line string) {
	if n := len(l.History); line != "" && (n == 0 || l.History[n-1] != line) {
		l.History = append(l.History, line)
	}
	l.cleared = ""
}

// Clear empties the line; Walk brings back what was typed.
func (l *Line) Clear() {
	l.cleared = l.Text()
	l.Begin("")
}
