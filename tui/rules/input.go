package rules

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"

	"winnow/tui/overlay"
	"winnow/tui/style"
)

// inputKind is the kind of text being typed.
type inputKind uint8

const (
	inputNone inputKind = iota
	inputPattern
	inputSearch
	inputImport
	inputKindCount
)

const (
	// maxPattern is the maximum length of a pattern or a search in characters. The window has
	// the same limit.
	maxPattern = 500
	// maxImport is the maximum length of an import in characters: a thousand patterns of
	// ordinary length.
	maxImport = 100_000
)

// textInput is the text line of the pane.
type textInput struct {
	overlay.Editor
	kind      inputKind
	list      modelfilter.List       // the list to which the pattern will be added
	chosen    bool                   // an import of patterns that were computed for selected models
	suggested bool                   // the user has not typed the text: the first typed character replaces it
	last      [inputKindCount]string // the last text that the user typed, by kind
	preview   preview
	glob      *glob.Pattern // the pattern of preview, compiled; nil until a model is drawn
	rules     importedRules // the rules of an import
}

// suggest sets a text that the user can accept, edit, or replace by typing.
func (l *textInput) suggest(text string) {
	l.Set(text)
	l.suggested = text != ""
}

// openPattern opens the line for a pattern of a list; text is the suggested pattern.
func (p *Pane) openPattern(list modelfilter.List, text string) {
	p.input.kind, p.input.list = inputPattern, list
	p.input.suggest(text)
	p.textChanged()
}

// openSuggested opens the line with the suggested patterns of a list. If there are several
// patterns, the line is for an import.
func (p *Pane) openSuggested(list modelfilter.List, patterns []string) {
	if len(patterns) == 1 {
		p.openPattern(list, patterns[0])
		return
	}
	p.input.kind, p.input.list, p.input.chosen, p.input.suggested = inputImport, list, true, false
	p.input.Set(list.String() + ": " + strings.ReplaceAll(strings.Join(patterns, ","), " ", "?")) // a space would end a pattern
	p.textChanged()
}

// openSearch opens the line with the text of the current search; typing replaces this text.
func (p *Pane) openSearch() {
	if p.tabs.Open == tabChanges {
		p.openTab(tabModels)
	}
	p.input.kind = inputSearch
	p.input.suggest(p.query)
	p.rebuild()
}

func (p *Pane) openImport() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	p.input.kind, p.input.chosen = inputImport, false
	p.input.suggest("")
	p.textChanged()
	return pane.Nothing{}
}

// Escape implements pane.Pane. The up key restores a cleared text.
func (p *Pane) Escape() bool {
	switch {
	case !p.Typing() && p.query == "":
		return false
	case !p.Typing():
		p.query, p.searched = "", ""
		p.version++
		p.rebuild()
	case p.input.Empty():
		p.closeInput()
	default:
		p.rememberText()
		p.input.suggest("")
		p.textChanged()
	}
	return true
}

// rememberText stores the typed text for the up key.
func (p *Pane) rememberText() {
	if !p.input.Empty() && !p.input.suggested {
		p.input.last[p.input.kind] = p.input.Text()
	}
}

func (p *Pane) closeInput() {
	p.rememberText()
	searched := p.input.kind == inputSearch
	p.input.kind = inputNone
	p.version++
	if searched {
		p.searched = p.query
		p.rebuild() // the hints of an empty result now name another key
	}
}

// Key implements pane.Pane.
func (p *Pane) Key(a keymap.Action, text string) pane.Action {
	p.version++
	l := p.tabs.List()
	switch a {
	case keymap.LineAccept:
		return p.submitInput()
	case keymap.LineUp:
		if last := p.input.last[p.input.kind]; p.input.Empty() && last != "" {
			p.input.Set(last)
			p.input.suggested = false
			p.textChanged()
		} else {
			l.Move(-1)
		}
	case keymap.LineDown:
		l.Move(1)
	case keymap.LinePageUp:
		l.Page(-1)
	case keymap.LinePageDown:
		l.Page(1)
	case keymap.LineClose:
		p.Escape()
	default:
		p.editInput(a, text)
	}
	return pane.Nothing{}
}

// editInput edits the text line with an action, or inserts typed or pasted text.
func (p *Pane) editInput(a keymap.Action, text string) {
	l := &p.input
	before := l.Text()
	typed := printable(text)
	switch {
	case l.Do(a):
		l.suggested = false
	case typed != "":
		if l.suggested {
			l.suggest("")
		}
		limit := maxPattern
		if l.kind == inputImport {
			limit = maxImport
		}
		runes := []rune(typed)
		l.Insert(string(runes[:min(len(runes), max(0, limit-l.Len()))]))
	}
	if l.Text() != before {
		p.textChanged()
	}
}

// printable returns the part of a key or a paste that the text line accepts: line ends
// become spaces, and control characters are dropped. Other invisible characters stay and
// are made visible when the line is drawn.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text))
}

// textChanged updates everything that depends on the text of the line.
func (p *Pane) textChanged() {
	p.version++
	switch p.input.kind {
	case inputPattern:
		p.input.preview = p.previewOf(p.input.list, p.input.Text())
	case inputImport:
		p.input.rules = parseImport(p.input.Text())
	case inputSearch:
		p.query = p.input.Text()
		p.rebuild()
	default:
	}
}

// submitInput carries out the line. If the text is rejected, the line stays open.
func (p *Pane) submitInput() pane.Action {
	switch p.input.kind {
	case inputPattern:
		return p.addPattern()
	case inputImport:
		return p.importRules()
	case inputSearch:
		if p.tabs.Open != tabRules && p.filter.problem != "" {
			return pane.Notify{Text: safetext.Visible(p.filter.problem), IsError: true}
		}
		p.closeInput()
	default:
	}
	return pane.Nothing{}
}

// draw draws the line in w cells, scrolled so that the cursor is visible. The cursor is a
// reversed cell.
func (l *textInput) draw(w int, st *styles) string {
	if w <= 0 {
		return ""
	}
	before, after := l.Split()
	atCursor, rest := " ", ""
	if after != "" {
		first, _ := ansi.FirstGraphemeCluster(after, ansi.GraphemeWidth)
		atCursor, rest = pane.Visible(first), pane.Visible(after[len(first):])
	}
	if style.Width(atCursor) > w {
		atCursor = " "
	}
	room := w - style.Width(atCursor)
	left := pane.Visible(before)
	if over := style.Width(left) - room; over > 0 {
		left = style.Fit(style.TruncateLeft(left, over, ""), room, "")
	}
	rest = style.Fit(rest, room-style.Width(left), "")
	text := st.Text
	if l.suggested {
		text = st.Selected
	}
	return text.Render(left) + st.Cursor.Render(atCursor) + st.Text.Render(rest)
}

// preview is the effect of adding the pattern in the text line.
type preview struct {
	pattern  string
	change   engine.Effect
	verdict  engine.Verdict
	refusal  error // why the pattern would be rejected
	compared bool  // the pattern was compared with the rules of its list
}

// previewOf returns the effect of adding a pattern.
func (p *Pane) previewOf(list modelfilter.List, text string) preview {
	v := preview{pattern: strings.TrimSpace(text)}
	if v.pattern != "" {
		v.change = p.data.Preview(list, v.pattern)
		if v.compared = p.data.hasFewRules(); v.compared {
			v.verdict, v.refusal = p.data.Check(list, v.pattern)
		}
	}
	return v
}

// previewLabel says what the typed pattern would do to a model; "" if it would do nothing.
func (p *Pane) previewLabel(m modelfilter.ModelView) string {
	l := &p.input
	if l.kind != inputPattern || l.preview.pattern == "" || m.Unfiltered {
		return ""
	}
	label, affected := "would hide", engine.Normal
	if l.list == modelfilter.Allow {
		label, affected = "would show", engine.Ignored
	}
	if m.Status != affected {
		return ""
	}
	if l.glob == nil || l.glob.String() != l.preview.pattern {
		l.glob = glob.Compile(l.preview.pattern)
	}
	if !l.glob.MatchID(m.ID) {
		return ""
	}
	return label
}
