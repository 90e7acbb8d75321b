package rules

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
	"winnow/tui/pane"
	"winnow/tui/textline"
	"winnow/tui/textwidth"
)

// lineKind says what is typed.
type lineKind uint8

const (
	lineNone lineKind = iota
	linePattern
	lineSearch
	lineImport
	lineKinds
)

const (
	// maxPattern bounds a pattern or a search, in characters; the window has the
	// same bound.
	maxPattern = 500
	// maxImport bounds an import, in characters: a thousand patterns of ordinary
	// length.
	maxImport = 100_000
)

// line is the text line of the pane.
type line struct {
	textline.Editor
	kind      lineKind
	list      modelfilter.List // of a pattern
	suggested bool             // the text was not typed: the first typed character replaces it
	last      [lineKinds]string
	preview   preview
	glob      *glob.Pattern // of the preview; nil until a model is drawn
	rules     ruleSet       // of an import
}

// suggest sets a text that can be accepted, edited or typed over.
func (l *line) suggest(text string) {
	l.Set(text)
	l.suggested = text != ""
}

// openPattern opens the line for a pattern of a list and suggests one.
func (p *Pane) openPattern(list modelfilter.List, text string) {
	p.line.kind, p.line.list = linePattern, list
	p.line.suggest(text)
	p.textChanged()
}

// openSuggested opens the line with suggested patterns of a list: several are an
// import.
func (p *Pane) openSuggested(list modelfilter.List, patterns []string) {
	if len(patterns) == 1 {
		p.openPattern(list, patterns[0])
		return
	}
	p.line.kind, p.line.suggested = lineImport, false
	p.line.Set(list.String() + ": " + strings.ReplaceAll(strings.Join(patterns, ","), " ", "?")) // a space ends a pattern
	p.textChanged()
}

// openSearch opens the line with the search, to be typed over.
func (p *Pane) openSearch() {
	if p.tabs.Open == tabChanges {
		p.openTab(tabModels)
	}
	p.line.kind = lineSearch
	p.line.suggest(p.query)
	p.rebuild()
}

func (p *Pane) openImport() pane.Action {
	if no := p.refuseLocked(); no != nil {
		return no
	}
	p.line.kind = lineImport
	p.line.suggest("")
	p.textChanged()
	return pane.Nothing{}
}

// Escape implements pane.Pane. Up brings back what was typed.
func (p *Pane) Escape() {
	if p.line.Empty() {
		p.closeLine()
		return
	}
	p.rememberText()
	p.line.suggest("")
	p.textChanged()
}

// rememberText stores what was typed for the up key.
func (p *Pane) rememberText() {
	if !p.line.Empty() && !p.line.suggested {
		p.line.last[p.line.kind] = p.line.Text()
	}
}

func (p *Pane) closeLine() {
	p.rememberText()
	searched := p.line.kind == lineSearch
	p.line.kind = lineNone
	p.version++
	if searched {
		p.syncSearch() // once per search, not at each key
		p.rebuild()    // the explanation of an empty result is another one now
	}
}

// Key implements pane.Pane.
func (p *Pane) Key(name, text string) pane.Action {
	p.version++
	l := p.tabs.List()
	switch name {
	case "enter":
		return p.submitLine()
	case "up":
		if last := p.line.last[p.line.kind]; p.line.Empty() && last != "" {
			p.line.Set(last)
			p.line.suggested = false
			p.textChanged()
		} else {
			l.Move(-1)
		}
	case "down":
		l.Move(1)
	case "pgup":
		l.Page(-1)
	case "pgdown":
		l.Page(1)
	case "esc":
		p.Escape()
	default:
		p.editLine(name, text)
	}
	return pane.Nothing{}
}

// editLine gives the text line a key or a paste.
func (p *Pane) editLine(name, text string) {
	l := &p.line
	before := l.Text()
	typed := printable(text)
	switch {
	case l.Editor.Key(name):
		l.suggested = false
	case typed != "":
		if l.suggested {
			l.suggest("")
		}
		most := maxPattern
		if l.kind == lineImport {
			most = maxImport
		}
		runes := []rune(typed)
		l.Insert(string(runes[:min(len(runes), max(0, most-l.Len()))]))
	}
	if l.Text() != before {
		p.textChanged()
	}
}

// printable is what a line accepts of a key or a paste: line ends become spaces,
// control characters are dropped. Other invisible characters are drawn as such.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text))
}

// textChanged updates what depends on the text of the line.
func (p *Pane) textChanged() {
	p.version++
	switch p.line.kind {
	case linePattern:
		p.line.preview = p.previewOf(p.line.list, p.line.Text())
	case lineImport:
		p.line.rules = parseRules(p.line.Text())
	case lineSearch:
		p.query = p.line.Text()
		p.rebuild()
	default:
	}
}

// submitLine does what the line says. A line that is refused stays open.
func (p *Pane) submitLine() pane.Action {
	switch p.line.kind {
	case linePattern:
		return p.addPattern()
	case lineImport:
		return p.importRules()
	case lineSearch:
		p.closeLine()
	default:
	}
	return pane.Nothing{}
}

// draw draws the line in w cells with the cursor as a reversed cell, scrolled so
// that the cursor is visible.
func (l *line) draw(w int, in *inks) string {
	if w <= 0 {
		return ""
	}
	before, after := l.Split()
	under, rest := " ", ""
	if after != "" {
		first, _ := ansi.FirstGraphemeCluster(after, ansi.GraphemeWidth)
		under, rest = pane.Visible(first), pane.Visible(after[len(first):])
	}
	if ansi.StringWidth(under) > w {
		under = " "
	}
	room := w - ansi.StringWidth(under)
	left := pane.Visible(before)
	if over := ansi.StringWidth(left) - room; over > 0 {
		left = textwidth.Fit(textwidth.TruncateLeft(left, over, ""), room, "")
	}
	rest = textwidth.Fit(rest, room-ansi.StringWidth(left), "")
	text := in.Text
	if l.suggested {
		text = in.Selected
	}
	return text.Render(left) + in.Cursor.Render(under) + in.Text.Render(rest)
}

// preview is what adding the pattern of the line would do.
type preview struct {
	pattern  string
	change   engine.Change
	verdict  engine.Verdict
	refusal  error // why it would be refused
	compared bool  // with the rules of its list
}

// previewOf previews adding a pattern.
func (p *Pane) previewOf(list modelfilter.List, text string) preview {
	v := preview{pattern: strings.TrimSpace(text)}
	if v.pattern != "" {
		v.change = p.window.Preview(list, v.pattern)
		if v.compared = p.data.hasFewRules(); v.compared {
			v.verdict, v.refusal = p.window.Check(list, v.pattern)
		}
	}
	return v
}

// wouldBecome says what the typed pattern would do to a model; "" is nothing.
func (p *Pane) wouldBecome(m modelfilter.ModelView) string {
	l := &p.line
	if l.kind != linePattern || l.preview.pattern == "" || m.Unfiltered {
		return ""
	}
	would, changes := "would hide", engine.Normal
	if l.list == modelfilter.Allow {
		would, changes = "would show", engine.Ignored
	}
	if m.Status != changes {
		return ""
	}
	if l.glob == nil || l.glob.String() != l.preview.pattern {
		l.glob = glob.Compile(l.preview.pattern)
	}
	if !l.glob.MatchID(m.ID) {
		return ""
	}
	return would
}
