package textline

// Line is an Editor with a history of earlier lines. The zero value is empty.
type Line struct {
	Editor
	History []string // applied lines, oldest first
	cleared string   // the line cleared most recently, if later than History
	index   int      // in entries; len(entries) is the line being written
	draft   string   // the line being written, while an earlier one is shown
}

// Begin starts a new line with text, at the end of the history.
func (l *Line) Begin(text string) {
	l.Set(text)
	l.index = len(l.entries())
}

// Walk shows an earlier or a later line. It reports whether there is one.
func (l *Line) Walk(step int) bool {
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

// entries returns the lines that Walk steps through, the newest last.
func (l *Line) entries() []string {
	if n := len(l.History); l.cleared != "" && (n == 0 || l.History[n-1] != l.cleared) {
		return append(l.History[:n:n], l.cleared)
	}
	return l.History
}

// Remember adds an applied line to the history.
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
