package pane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/tui/style"
)

// maxLines is how many lines of a list a question shows.
const maxLines = 20

// SavePlanLines is the save dialog for a user: the lines of the files, what others have
// staged of it, then its effects.
func SavePlanLines(plan assistant.SavePlan, user string, st *style.Styles) []string {
	if plan.Empty() {
		return []string{st.Diff.Same.Render("nothing would change")}
	}
	return DiffLines(plan.Lines(user), st)
}

// DiffLines draws the lines of a plan, which are safe to show: + is added, - is removed, !
// is to be done, others are headings.
func DiffLines(lines []string, st *style.Styles) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+"):
			out[i] = st.Diff.Add.Render(st.Icons.Add + " " + strings.TrimPrefix(l[1:], " "))
		case strings.HasPrefix(l, "-"):
			out[i] = st.Diff.Remove.Render(st.Icons.Remove + " " + strings.TrimPrefix(l[1:], " "))
		case strings.HasPrefix(l, "!"):
			out[i] = st.Rules.Warn.Render(st.Icons.Warn + " " + strings.TrimPrefix(l[1:], " "))
		case l != "":
			out[i] = st.Diff.Hunk.Render(l)
		}
	}
	return out
}

// ConflictLines shows what another program changed in a file, and the unsaved changes.
func ConflictLines(c *assistant.Conflict, mine []assistant.Change, icons *style.Icons) []string {
	head := "theirs:"
	switch {
	case c.Missing:
		head = "theirs: the file is gone"
	case c.Busy:
		head = "theirs (may be incomplete):"
	}
	lines := append([]string{head}, ChangeLines(c.Theirs, icons)...)
	return append(append(lines, "", "yours:"), ChangeLines(mine, icons)...)
}

// ChangeLines are changes, one a line.
func ChangeLines(changes []assistant.Change, icons *style.Icons) []string {
	var lines []string
	for _, c := range changes {
		line := c.Line()
		if rest, ok := strings.CutPrefix(line, "+"); ok {
			line = icons.Add + rest
		} else if rest, ok := strings.CutPrefix(line, "-"); ok {
			line = icons.Remove + rest
		}
		lines = append(lines, line)
	}
	return firstLines(lines)
}

// firstLines are the first maxLines lines, and how many more there are.
func firstLines(lines []string) []string {
	switch n := len(lines) - maxLines; {
	case len(lines) == 0:
		return []string{"no change"}
	case n > 0:
		return append(slices.Clone(lines[:maxLines]), fmt.Sprintf("and %d more", n))
	}
	return lines
}

// ConflictTitle is the title of the question about a file that another program has
// changed.
func ConflictTitle(c *assistant.Conflict) string {
	return Visible(filepath.Base(c.Path)) + " was changed by another program"
}
