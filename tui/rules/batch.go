package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/pane"
)

// batch is the text of an import, taken apart.
type batch struct {
	lists [2][]string
}

// listWords begin the patterns of a list in an import; a line of the file will
// do as well.
var listWords = map[string]modelfilter.List{
	"ignore:": modelfilter.Ignore, "hide:": modelfilter.Ignore, "allow:": modelfilter.Allow, "whitelist:": modelfilter.Allow,
}

// readBatch takes an import apart: patterns with commas or white space between
// them. They are ignore rules until "allow:" comes, or a variable of the file.
func readBatch(text string) batch {
	var b batch
	list := modelfilter.Ignore
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \n\t\r", r) }) {
		if key, value, ok := strings.Cut(word, "="); ok {
			if to, ok := listOfVariable(key); ok {
				list, word = to, value
			}
		}
		if to, ok := listWords[strings.ToLower(word)]; ok {
			list = to
			continue
		}
		if word = strings.Trim(word, `"'`); word != "" && word != "export" {
			b.lists[list] = append(b.lists[list], word)
		}
	}
	return b
}

// listOfVariable is the list that a variable of the file holds.
func listOfVariable(key string) (modelfilter.List, bool) {
	switch {
	case strings.HasPrefix(key, "IGNORE_MODELS_"):
		return modelfilter.Ignore, true
	case strings.HasPrefix(key, "WHITELIST_MODELS_"):
		return modelfilter.Allow, true
	}
	return 0, false
}

func (b batch) size() int { return len(b.lists[0]) + len(b.lists[1]) }

// words says how many rules of which list there are.
func (b batch) words() string {
	var parts []string
	for _, list := range lists {
		if n := len(b.lists[list]); n > 0 {
			parts = append(parts, assistant.Counted(n, list.String()+" rule"))
		}
	}
	return strings.Join(parts, " and ")
}

// importRules takes what the line holds: what was offered at once, since the
// pane shows all of it; what was typed or pasted after a question that shows
// what it brings, and what of it is refused.
func (p *Pane) importRules() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	b := p.line.batch
	if b.size() == 0 {
		p.closeLine()
		return pane.Nothing{}
	}
	for _, list := range lists {
		if fixed, ok := p.fixed(list); ok && len(b.lists[list]) > 0 {
			return fixed
		}
	}
	scope, err := p.window.On(p.data.provider)
	if err != nil {
		return refuse(err)
	}
	if p.line.offered {
		p.closeLine()
		return p.importEdit(scope, b, "Add ", "added ")
	}
	return pane.Confirm{
		Title: "Import into " + shown(p.data.provider) + "?", Lines: p.batchLines(b), Yes: "import them",
		Then: func() pane.Action {
			p.closeLine()
			return p.importEdit(scope, b, "Import ", "imported ")
		},
	}
}

// importEdit stages all rules of a batch in one step; its words begin with do
// and did.
func (p *Pane) importEdit(scope modelfilter.Scope, b batch, do, did string) pane.Edit {
	var out []modelfilter.Imported
	e := p.edit(scope, do+b.words(), "", func() (err error) {
		out, err = scope.Import(modelfilter.Import{Lists: b.lists})
		if err == nil {
			err = allRefused(out)
		}
		return err
	})
	came := e.Done
	e.Done = func() string {
		taken, refused := sorted(out)
		said := did + taken.words() + came()
		if refused > 0 {
			said += fmt.Sprintf(" · %d refused", refused)
		}
		return said
	}
	return e
}

// sorted are the rules of an import that were taken, and how many were not.
func sorted(out []modelfilter.Imported) (taken batch, refused int) {
	for _, r := range out {
		if r.Err != nil {
			refused++
			continue
		}
		taken.lists[r.List] = append(taken.lists[r.List], r.Pattern)
	}
	return taken, refused
}

// allRefused is the reason when nothing of an import was taken.
func allRefused(out []modelfilter.Imported) error {
	for _, r := range out {
		if r.Err == nil {
			return nil
		}
	}
	return fmt.Errorf("none of the rules was taken: %s", refusalWords(out[0].Err))
}

// batchLines are the rules of an import with the reason where one is refused.
// Each is held against the rules that are there, not against the others of the
// import; the window does that too when they are added.
func (p *Pane) batchLines(b batch) []string {
	lines := []string{b.words()}
	for _, list := range lists {
		for i, pattern := range b.lists[list] {
			if len(lines) > maxAsked {
				return append(lines, fmt.Sprintf("and %d more", b.size()-maxAsked))
			}
			text := fmt.Sprintf("%s %s %s", p.st.Icons.Add, list, shown(b.lists[list][i]))
			c := p.window.Preview(list, pattern)
			if _, _, err := p.checker.check(&p.data, list, pattern, c.Matches, liveCompared); err != nil {
				text = fmt.Sprintf("%s %s %s: %s", p.st.Icons.ToolBad, list, shown(pattern), refusalWords(err))
			} else if len(c.Hidden)+len(c.Shown) > 0 {
				text += fmt.Sprintf("  %s", effectWords(list, len(c.Hidden)+len(c.Shown)))
			}
			lines = append(lines, text)
		}
	}
	return lines
}

// effectWords says what a rule of a list does to n models.
func effectWords(list modelfilter.List, n int) string {
	if list == modelfilter.Allow {
		return "shows " + assistant.Counted(n, "more model")
	}
	return "hides " + assistant.Counted(n, "more model")
}
