package assistant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
)

// SavePlan describes what a save or a discard would do. The window writes the
// sentences; names, paths and values are exact, and Lines makes their hidden
// characters visible. Front ends show Lines unchanged, because the user confirms
// them.
type SavePlan struct {
	// Digest identifies the plan by what it would write: files, changes and new
	// values. Plans with the same digest result in the same file contents.
	Digest   string     `json:"digest"`
	Changes  []Change   `json:"changes"`
	Effects  []Effect   `json:"effects"`
	Files    []FileDiff `json:"files"`    // files to be written; a file without Lines does not change
	Conflict *Conflict  `json:"conflict"` // nil if the changes can be merged into the files
}

// Digest returns the digest of a plan that writes these changes and values to path. It does
// not depend on the authors of the changes.
func Digest(path string, changes []Change, values ...string) string {
	const size = 8 // in bytes; short, because users type the digest on a command line
	h := sha256.New()
	for _, c := range changes {
		fmt.Fprintf(h, "%q %q %q\n", c.Title, c.Before, c.After)
	}
	for _, v := range append([]string{path}, values...) {
		fmt.Fprintf(h, "%q\n", v)
	}
	return hex.EncodeToString(h.Sum(nil)[:size])
}

// Change is a difference between a window and its saved state. Before and After
// describe the values; "" means no value.
type Change struct {
	Title    string        `json:"title"` // what changed, such as "brightness"
	Before   string        `json:"before"`
	After    string        `json:"after"`
	Sentence safetext.Text `json:"sentence,omitempty"` // what was done, such as "dimmed the lamp"
	By       Author        `json:"by,omitzero"`
}

// Line returns the change as one line: its Sentence or, without one, "+ list
// item" if only After is set, "- list item" if only Before is, else "brightness:
// 40 % → 80 %". If Before and After are the same, because the values are masked,
// it is "brightness changed".
func (c Change) Line() safetext.Text {
	switch {
	case c.Sentence != "":
		return c.Sentence
	case c.Before == c.After:
		return safetext.Sprintf("%s changed", c.Title)
	case c.Before == "":
		return safetext.Sprintf("+ %s %s", c.Title, c.After)
	case c.After == "":
		return safetext.Sprintf("- %s %s", c.Title, c.Before)
	}
	return safetext.Sprintf("%s: %s → %s", c.Title, c.Before, c.After)
}

// EffectKind says what happens to the items of an effect.
type EffectKind string

// The kinds of effects.
const (
	EffectNone    EffectKind = ""  // nothing; there are no items
	EffectAdds    EffectKind = "+" // they appear
	EffectRemoves EffectKind = "-" // they disappear
	EffectAsks    EffectKind = "!" // the user has to do something afterwards
)

// Effect is a consequence of a save or discard, in addition to the changes
// themselves.
type Effect struct {
	Kind     EffectKind    `json:"kind"`
	Sentence safetext.Text `json:"sentence"`
	Items    []string      `json:"items,omitempty"`  // all of them, the marked ones first
	Marked   int           `json:"marked,omitempty"` // how many of Items are marked as important
}

// maxItems is how many items of an effect are shown.
const maxItems = 100

// Prefixes of the lines of an effect's items.
const (
	ItemIndent   = "  "
	MarkedIndent = "* " // an important item
)

// Lines returns the sentence, prefixed with "!" if the user has to do
// something, and the first items, prefixed with ItemIndent or MarkedIndent.
func (e Effect) Lines() []safetext.Text {
	lines := []safetext.Text{e.Sentence}
	if e.Kind == EffectAsks {
		lines[0] = "! " + lines[0]
	}
	for i, item := range e.Items[:min(len(e.Items), maxItems)] {
		var indent safetext.Text = ItemIndent
		if i < e.Marked {
			indent = MarkedIndent
		}
		lines = append(lines, indent+safetext.Visible(item))
	}
	if more := len(e.Items) - maxItems; more > 0 {
		lines = append(lines, safetext.Sprintf(ItemIndent+"and %d more", more))
	}
	return lines
}

// FileDiff is a file with the lines that a save changes.
type FileDiff struct {
	Path    string     `json:"path"`
	Creates bool       `json:"creates"` // the file does not exist yet
	Lines   []FileLine `json:"lines"`   // with secrets masked
}

// FileLine is a changed line of a file.
type FileLine struct {
	Kind string        `json:"kind"` // "-" removed, "+" added
	Line int           `json:"line"` // from 1; in the old file if removed, in the new one if added
	Text safetext.Text `json:"text"` // from safetext.Visible, with secrets masked
}

// Empty reports whether the plan changes nothing.
func (p SavePlan) Empty() bool { return len(p.Changes) == 0 && !p.writes() }

// writes reports whether the plan changes lines of files.
func (p SavePlan) writes() bool {
	return slices.ContainsFunc(p.Files, func(f FileDiff) bool { return len(f.Lines) > 0 })
}

// Lines returns the plan as lines: that there is a conflict, the changes (only
// if no file changes), the effects, the changes by users other than user, the
// changed lines of the files, and what the user has to do. Items of effects are
// indented. A line that starts with + or - is an addition or a removal; one that
// starts with ! says what the user has to do. Other lines are headings and
// sentences.
func (p SavePlan) Lines(user string) []safetext.Text {
	if p.Empty() {
		return []safetext.Text{"nothing would change"}
	}
	var blocks [][]safetext.Text
	if p.Conflict != nil {
		blocks = append(blocks, []safetext.Text{"Merge with the file or load it first: another program changed the same values."})
	}
	if !p.writes() {
		var changes []safetext.Text
		for _, c := range p.Changes {
			changes = append(changes, c.Line())
		}
		blocks = append(blocks, changes)
	}
	var todo [][]safetext.Text
	for _, e := range p.Effects {
		if e.Kind == EffectAsks {
			todo = append(todo, e.Lines())
		} else {
			blocks = append(blocks, e.Lines())
		}
	}
	if others := OthersLines(p.Changes, user); len(others) > 0 {
		blocks = append(blocks, others[1:])
	}
	for _, f := range p.Files {
		blocks = append(blocks, f.lines())
	}
	var lines []safetext.Text
	for _, block := range append(blocks, todo...) {
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (f FileDiff) lines() []safetext.Text {
	heading := safetext.Visible(f.Path)
	if f.Creates {
		heading += " (new file)"
	}
	lines := []safetext.Text{heading}
	for _, l := range f.Lines {
		lines = append(lines, safetext.Sprintf("%s %s", l.Kind, l.Text))
	}
	return lines
}

// DiscardLines returns the lines that ask whether to discard the changes.
func (p SavePlan) DiscardLines(user string) []safetext.Text {
	return append([]safetext.Text{"These unsaved changes would be lost:"}, p.Lines(user)...)
}

// OthersLines lists the changes made by users other than user, as a separate
// block; nil if there are none.
func OthersLines(changes []Change, user string) (lines []safetext.Text) {
	for _, name := range Authors(changes, user) {
		if user == "" && name == UnknownUser {
			continue
		}
		lines = append(lines, "", "changed by "+safetext.Visible(name)+":")
		for _, c := range changes {
			if c.By.Name() == name {
				lines = append(lines, c.Line())
			}
		}
	}
	return lines
}

// Author says who made an unsaved change. The zero value means unknown.
type Author struct {
	User      string `json:"user,omitempty"`
	Assistant bool   `json:"assistant,omitempty"` // made by the user's assistant
}

// UnknownUser is the Name of an unknown author.
const UnknownUser = "an unknown user"

// Name returns "anna", "anna's assistant" or UnknownUser; see
// windowlock.AssistantOf.
func (a Author) Name() string {
	switch {
	case a.User == "":
		return UnknownUser
	case a.Assistant:
		return windowlock.AssistantOf(a.User)
	}
	return a.User
}

// Authors names the authors of the changes, each once, in the order of the
// changes, except one user and that user's assistant. If except is "", all
// authors are named.
func Authors(changes []Change, except string) []string {
	var names []string
	for _, c := range changes {
		if (except == "" || c.By.User != except) && !slices.Contains(names, c.By.Name()) {
			names = append(names, c.By.Name())
		}
	}
	return names
}
