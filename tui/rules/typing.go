package rules

import (
	"errors"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/glob"
	"winnow/tui/pane"
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
	// maxPattern is how many characters a line for a pattern or a search takes;
	// the window takes no more either.
	maxPattern = 500
	// maxImportText is how many a line for an import takes: a thousand patterns of
	// ordinary length.
	maxImportText = 100_000
)

// line is the text line of the pane.
type line struct {
	editor
	what lineKind
	list modelfilter.List // of a pattern

	preview preview
	glob    *glob.Pattern // of the preview; nil until a model is drawn
	batch   batch
	lines   []string          // of the batch, when it is offered
	last    [lineKinds]string // what was typed before, for up
}

// preview is what adding the pattern would do, and why it would be refused.
type preview struct {
	pattern string
	change  engine.Change
	verdict engine.Verdict
	refusal error
	unsure  bool // not all rules were compared
}

// openPattern opens the line for a pattern of a list and offers one.
func (p *Pane) openPattern(list modelfilter.List, text string) {
	p.line.what, p.line.list = linePattern, list
	p.line.offer(text)
	p.typed()
}

// openSeveral opens the line and offers several patterns of a list together.
func (p *Pane) openSeveral(list modelfilter.List, patterns []string) {
	p.line.what, p.line.list = lineImport, list
	p.line.offer(strings.Join(patterns, ", "))
	p.typed()
	p.line.batch = batch{} // not as it would be read: a pattern may hold a space
	p.line.batch.lists[list] = patterns
	p.line.lines = p.batchLines(p.line.batch)
}

// openSearch opens the line with what is searched for, to be typed over.
func (p *Pane) openSearch() {
	if p.tab == tabChanges {
		p.setTab(tabModels)
	}
	p.line.what = lineSearch
	p.line.offer(p.query)
	p.rebuild()
}

func (p *Pane) startImport() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	p.line.what = lineImport
	p.line.Set("")
	p.typed()
	return pane.Nothing{}
}

// Escape implements pane.Pane. What was typed is not lost: up brings it back.
func (p *Pane) Escape() {
	switch {
	case !p.line.Empty():
		p.keepTyped()
		p.declineSeveral()
		p.line.Set("")
		p.typed()
	default:
		p.closeLine()
	}
}

// keepTyped keeps the text of the line for up. What was only offered was not
// typed.
func (p *Pane) keepTyped() {
	if !p.line.Empty() && !p.line.offered {
		p.line.last[p.line.what] = p.line.Text()
	}
}

// declineSeveral makes the line that offers several patterns one for a pattern
// of their list: that is what the user had asked for.
func (p *Pane) declineSeveral() {
	if p.line.what == lineImport && p.line.offered {
		p.line.what = linePattern
	}
}

func (p *Pane) closeLine() {
	p.keepTyped()
	searched := p.line.what == lineSearch
	p.line.what = lineNone
	p.version++
	if searched {
		p.tellSearch() // once for what was looked for, not at each key
		p.rebuild()    // where nothing was found the rows say how to go on
	}
}

// Key implements pane.Pane.
func (p *Pane) Key(name, text string) pane.Action {
	defer func() { p.version++ }()
	v := &p.views[p.tab]
	switch name {
	case "enter":
		return p.enterLine()
	case "up":
		if p.line.Empty() && p.line.last[p.line.what] != "" {
			p.line.Set(p.line.last[p.line.what])
			p.typed()
			return pane.Nothing{}
		}
		v.move(-1)
	case "down":
		v.move(1)
	case "pgup":
		v.move(-max(1, v.height-1))
	case "pgdown":
		v.move(max(1, v.height-1))
	case "esc":
		p.Escape()
	default:
		most := maxPattern
		if p.line.what == lineImport {
			most = maxImportText
		}
		if len(printed(text)) > 0 {
			p.declineSeveral()
		}
		several := p.line.what == lineImport && p.line.offered
		changed := p.line.key(name, text, most)
		if several && !p.line.offered { // edited by hand: from now on the text says of which list it is
			p.line.Prepend(p.line.list.String() + ": ")
			changed = true
		}
		if changed {
			p.typed()
		}
	}
	return pane.Nothing{}
}

// typed follows the text of the line.
func (p *Pane) typed() {
	p.version++
	switch p.line.what {
	case linePattern:
		p.line.preview = p.previewOf(p.line.list, p.line.Text())
	case lineImport:
		p.line.batch = readBatch(p.line.Text())
	case lineSearch:
		p.query = p.line.Text()
		p.rebuild()
	default:
	}
}

// enterLine does what the line says. A line that is refused stays.
func (p *Pane) enterLine() pane.Action {
	switch p.line.what {
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

func (p *Pane) addPattern() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	list, text := p.line.list, p.line.Text()
	if strings.TrimSpace(text) == "" {
		p.closeLine()
		return pane.Nothing{}
	}
	scope, err := p.window.On(p.data.provider)
	if err != nil {
		return refuse(err)
	}
	v, err := scope.Check(list, text)
	if err != nil {
		return pane.Notify{Text: refusalWords(err), Bad: true}
	}
	p.want = ruleKey(list, v.Pattern)
	p.closeLine()
	name := ruleWords(list, v.Pattern)
	return p.edit(scope, "Add "+name, "added "+name, func() error {
		_, err := scope.Add(list, text)
		return err
	})
}

// previewOf says what adding a pattern would do.
func (p *Pane) previewOf(list modelfilter.List, text string) preview {
	v := preview{pattern: strings.TrimSpace(text)}
	if v.pattern == "" {
		return v
	}
	v.change = p.window.Preview(list, v.pattern)
	v.verdict, v.unsure, v.refusal = p.checker.check(&p.data, list, v.pattern, v.change.Matches, liveCompared)
	return v
}

// refusalWords says why a pattern is refused, safe to show.
func refusalWords(err error) string {
	var r *engine.Refusal
	if !errors.As(err, &r) {
		return shown(err.Error())
	}
	switch r.Reason {
	case engine.Empty:
		return "the pattern is empty"
	case engine.Duplicate:
		return "it is an " + r.List.String() + " rule already"
	case engine.Covered:
		return "rule " + quote(r.By) + " covers it already"
	default:
	}
	return "it cannot be saved: " + shown(r.Detail)
}
