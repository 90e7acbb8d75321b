package pane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// maxLines is how many lines of a list a question shows.
const maxLines = 20

// SavePlanLines draws what saving would do, for a user: the effects with their items in
// columns, what others have staged, then the changed lines of the files.
func SavePlanLines(plan assistant.SavePlan, user string, st *style.Styles) []string {
	if plan.Empty() {
		return []string{st.Diff.Same.Render("nothing would change")}
	}
	return DiffLines(plan.Lines(user), st)
}

// DiffLines draws the lines of a plan. A line that starts with + is added, one with - is
// removed, and one with ! says what the user has to do. Items start with
// assistant.ItemIndent or MarkedIndent, and are drawn in columns. Any other line is a heading.
func DiffLines(lines []safetext.Text, st *style.Styles) []string {
	out := make([]string, 0, len(lines))
	var items []string
	for _, text := range lines {
		l := string(text)
		if item, ok := strings.CutPrefix(l, assistant.ItemIndent); ok {
			items = append(items, "  "+st.Overlay.Text.Render(item))
			continue
		}
		if item, ok := strings.CutPrefix(l, assistant.MarkedIndent); ok {
			items = append(items, st.Rules.Warn.Render(st.Icons.Warn+" "+item))
			continue
		}
		if items != nil {
			out, items = append(out, style.Columns(items...)), nil
		}
		out = append(out, diffLine(l, st))
	}
	if items != nil {
		out = append(out, style.Columns(items...))
	}
	return out
}

func diffLine(l string, st *style.Styles) string {
	switch {
	case strings.HasPrefix(l, "+"):
		return st.Diff.Add.Render(st.Icons.Add + " " + strings.TrimPrefix(l[1:], " "))
	case strings.HasPrefix(l, "-"):
		return st.Diff.Remove.Render(st.Icons.Remove + " " + strings.TrimPrefix(l[1:], " "))
	case strings.HasPrefix(l, "!"):
		return st.Rules.Warn.Render(st.Icons.Warn + " " + strings.TrimPrefix(l[1:], " "))
	case l == "":
		return ""
	}
	return st.Diff.Hunk.Render(l)
}

// ConflictLines returns lines that show what another program changed in a file, and then the
// unsaved changes, see UnsavedLines.
func ConflictLines(c *assistant.Conflict, mine []assistant.Change, user string, icons *style.Icons) []string {
	head := "theirs:"
	switch {
	case c.Missing:
		head = "theirs: the file is gone"
	case c.Busy:
		head = "theirs (may be incomplete):"
	}
	lines := append([]string{head}, changeLines(c.Theirs, icons)...)
	return append(append(lines, "", "yours:"), UnsavedLines(mine, user, icons)...)
}

// UnsavedLines returns lines that show unsaved changes, and then those that other users than
// user have made.
func UnsavedLines(changes []assistant.Change, user string, icons *style.Icons) []string {
	return append(changeLines(changes, icons), safetext.Strings(assistant.OthersLines(changes, user))...)
}

// changeLines returns a line for each of the first maxLines changes, and one that counts the
// others.
func changeLines(changes []assistant.Change, icons *style.Icons) []string {
	var lines []string
	for _, c := range changes {
		line := string(c.Line())
		if rest, ok := strings.CutPrefix(line, "+"); ok {
			line = icons.Add + rest
		} else if rest, ok := strings.CutPrefix(line, "-"); ok {
			line = icons.Remove + rest
		}
		lines = append(lines, line)
	}
	return firstLines(lines)
}

// firstLines returns the first maxLines lines, and a line that counts the others; without
// lines, it returns a line that says so.
func firstLines(lines []string) []string {
	switch n := len(lines) - maxLines; {
	case len(lines) == 0:
		return []string{"no change"}
	case n > 0:
		return append(slices.Clone(lines[:maxLines]), fmt.Sprintf("and %d more", n))
	}
	return lines
}

// ConflictTitle returns the title of the question about a file that another program has
// changed.
func ConflictTitle(c *assistant.Conflict) safetext.Text {
	return safetext.Sprintf("%s was changed by another program", filepath.Base(c.Path))
}
