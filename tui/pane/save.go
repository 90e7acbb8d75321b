package pane

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/tui/style"
)

const (
	maxModels = 30 // models of each kind that the save dialog names for a provider
	maxLines  = 20 // lines of a list in a question
)

// SavePlanLines is the save dialog: the lines of the file, then the models of
// each provider.
func SavePlanLines(plan assistant.SavePlan, st *style.Styles) []string {
	if plan.Empty() {
		return []string{st.Diff.Same.Render("nothing would change")}
	}
	head := Visible(plan.Path)
	if plan.Creates {
		head += " (new file)"
	}
	lines := []string{st.Diff.Hunk.Render(head)}
	for _, l := range plan.Lines {
		lines = append(lines, diffLine(st, l.Kind == "+", l.Text))
	}
	for _, e := range plan.Effects {
		lines = append(lines, "", st.Diff.Hunk.Render(EffectText(e)))
		for _, part := range []struct {
			shown bool
			ids   []string
		}{{true, e.Shown}, {false, e.Hidden}} {
			for _, id := range part.ids[:min(len(part.ids), maxModels)] {
				lines = append(lines, diffLine(st, part.shown, Visible(id)))
			}
			if n := len(part.ids) - maxModels; n > 0 {
				lines = append(lines, diffLine(st, part.shown, fmt.Sprintf("and %d more", n)))
			}
		}
	}
	if len(plan.Effects) == 0 {
		return lines
	}
	return append(lines, "", st.Rules.Warn.Render(st.Icons.Warn+" restart the proxy afterwards: it reads the rules when it starts"))
}

// EffectText says in one line what a save does to the models of a provider.
func EffectText(e assistant.ModelEffect) string {
	var parts []string
	if n := len(e.Shown); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more will be shown", n))
	}
	if n := len(e.Hidden); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more will be hidden", n))
	}
	switch {
	case !e.Known:
		parts = []string{"no models are known"}
	case parts == nil:
		parts = []string{"no model changes"}
	}
	return Visible(e.Provider) + ": " + strings.Join(parts, ", ")
}

func diffLine(st *style.Styles, added bool, text string) string {
	if added {
		return st.Diff.Add.Render(st.Icons.Add + " " + text)
	}
	return st.Diff.Remove.Render(st.Icons.Remove + " " + text)
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
