package pane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/savetext"
	"winnow/tui/style"
)

// maxLines is how many lines of a list a question shows.
const maxLines = 20

// SavePlanLines is the save dialog for a user: the lines of the file, what others have
// staged of it, then the models of each provider.
func SavePlanLines(plan assistant.SavePlan, user string, st *style.Styles) []string {
	if plan.Empty() {
		return []string{st.Diff.Same.Render("nothing would change")}
	}
	lines := DiffLines(savetext.Lines(plan, user), st)
	if len(plan.Effects) > 0 {
		lines = append(lines, "", RestartLine(st))
	}
	return lines
}

// DiffLines draws the lines of a difference, which are safe to show: + is added, - is
// removed, others are headings.
func DiffLines(lines []string, st *style.Styles) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+"):
			out[i] = st.Diff.Add.Render(st.Icons.Add + " " + strings.TrimPrefix(l[1:], " "))
		case strings.HasPrefix(l, "-"):
			out[i] = st.Diff.Remove.Render(st.Icons.Remove + " " + strings.TrimPrefix(l[1:], " "))
		case l != "":
			out[i] = st.Diff.Hunk.Render(l)
		}
	}
	return out
}

// RestartLine ends the dialog of a save.
func RestartLine(st *style.Styles) string {
	return st.Rules.Warn.Render(st.Icons.Warn + " restart the proxy afterwards: it reads the rules when it starts")
}

// ConflictLines shows what someone else changed in a file, and the unsaved changes.
func ConflictLines(c *assistant.Conflict, mine []assistant.RuleChange, icons *style.Icons) []string {
	head := "theirs:"
	switch {
	case c.Missing:
		head = "theirs: the file is gone"
	case c.Busy:
		head = "theirs (they may not have finished):"
	}
	lines := append([]string{head}, firstLines(theirLines(c, icons))...)
	return append(append(lines, "", "yours:"), firstLines(RuleChangeLines(mine, icons))...)
}

// theirLines are the variables that differ: for a list, the items that differ; for
// another variable, which may be a secret, its name.
func theirLines(c *assistant.Conflict, icons *style.Icons) []string {
	var lines []string
	for _, k := range c.Keys {
		from := len(lines)
		before, after := strings.Split(k.Before, ","), strings.Split(k.After, ",")
		for _, part := range []struct {
			icon       string
			have, lack []string
		}{{icons.Add, after, before}, {icons.Remove, before, after}} {
			for _, item := range part.have {
				if item != "" && !slices.Contains(part.lack, item) {
					lines = append(lines, part.icon+" "+Visible(k.Key)+" "+Visible(item))
				}
			}
		}
		if len(lines) == from {
			lines = append(lines, Visible(k.Key)+" changed")
		}
	}
	if lines == nil && len(c.Theirs) == 0 && !c.Missing {
		lines = []string{"no rule changed"}
	}
	return lines
}

// RuleChangeLines are rule changes, one a line.
func RuleChangeLines(changes []assistant.RuleChange, icons *style.Icons) []string {
	var lines []string
	for _, c := range changes {
		icon, list := icons.Remove, "ignore"
		if c.Added {
			icon = icons.Add
		}
		if c.Type == "whitelisted" {
			list = "allow"
		}
		lines = append(lines, strings.Join([]string{icon, Visible(c.Provider), list, Visible(c.Pattern)}, " "))
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

// ConflictTitle is the title of the question about a file that somebody else has
// changed.
func ConflictTitle(c *assistant.Conflict) string {
	return Visible(filepath.Base(c.Path)) + " was changed by someone else"
}
