package overlay

import (
	"cmp"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"

	"winnow/tui/style"
)

// Widths in cells. Border, mark, date and number of messages take besideTitle cells of a
// session's line; the title gets the others, but at least minTitle. maxTitle is the maximum.
const (
	minTitle    = 16
	besideTitle = 42
	maxTitle    = 500
)

// SessionEntries returns an entry for each session, grouped by folder, for a screen of w
// cells. It sorts all in place. current is the id of the open session.
func SessionEntries(all []history.Session, current string, w int, icons style.Icons) (entries []Entry) {
	var folders []string
	for _, session := range all {
		if !slices.Contains(folders, session.Folder) {
			folders = append(folders, session.Folder)
		}
	}
	slices.SortStableFunc(all, func(a, b history.Session) int {
		return slices.Index(folders, a.Folder) - slices.Index(folders, b.Folder)
	})
	room := max(minTitle, w*9/10-besideTitle)
	for _, session := range all {
		branch := ""
		if session.Branch.Parent != "" {
			branch = " (branch)"
		}
		e := Entry{
			Value: session.ID, Group: cmp.Or(session.Folder, "no folder"),
			Text:  style.Truncate(string(cmp.Or(safetext.Line(session.Title, maxTitle), "(no text)")), room-len(branch), icons.Ellipsis) + branch,
			Extra: session.Used.Local().Format("2006-01-02 15:04") + " · " + assistant.Counted(session.Pairs, "message"),
			Short: session.Used.Local().Format(time.DateOnly),
		}
		if session.ID == current {
			e.Mark = icons.Marked
		}
		entries = append(entries, e)
	}
	return entries
}
