package offline

import (
	"cmp"
	"slices"
	"strings"
)

// done is what one message of the conversation changed.
type done struct {
	edits   []edit // newest last
	partial string // the tool whose change cannot be taken back edit by edit
	results []outcome
}

// changesDone lists, oldest first, the messages whose changes still stand: an
// undo takes its own and those that it took back off the list, a discard all.
func (t *turn) changesDone() []done {
	var out []done
	for _, x := range t.past {
		d := done{}
		for _, c := range x.calls {
			if !c.ok() {
				continue
			}
			if c.name == "discard_changes" {
				out, d = nil, done{}
				continue
			}
			d.add(c)
		}
		switch s := t.parser.parse(x.user); {
		case len(d.edits) == 0 && d.partial == "":
		case len(s) == 1 && s[0].kind == undo:
			n := s[0].n
			if n == undoAll || n > len(out) {
				n = len(out)
			}
			out = out[:len(out)-max(n, min(1, len(out)))]
		default:
			out = append(out, d)
		}
	}
	return out
}

// add reads a call that changed rules.
func (d *done) add(c *call) {
	provider := cmp.Or(c.res.Data.Get("provider").String(), c.args.Get("provider").String())
	record := func(e edit) {
		d.edits = append(d.edits, e)
		d.results = append(d.results, outcome{e, c.res})
	}
	for _, list := range []string{ignoreList, allowList} {
		switch c.name {
		case ruleTool[list][true], ruleTool[list][false]:
			record(edit{provider: provider, list: list, add: c.name == ruleTool[list][true], pattern: c.args.Get("pattern").String()})
		case clearTool[list]:
			removed := stringsOf(c.res.Data.Get("removed_rules"))
			const cut = 100 // a result lists no more rules
			if len(removed) >= cut || len(removed) == 0 && c.res.Data.Get("affected_count").Int() > 0 {
				d.partial = c.name
			}
			for _, p := range removed {
				record(edit{provider: provider, list: list, pattern: p})
			}
		}
	}
	if c.name == "import_rules" {
		d.partial = c.name
	}
}

// undo takes the changes of the last messages back, newest first. It takes as
// many back as it was asked to, or none.
func (t *turn) undo(s step) {
	all := t.changesDone()
	n := max(s.n, 1)
	if s.n == undoAll {
		n = len(all)
	}
	const other = "The checkpoints of the window go back further."
	switch {
	case len(all) == 0:
		t.say("I see no change of mine in this conversation that I can take back. %s", other)
		t.changed = true
		return
	case n > len(all):
		t.say("I can take back the changes of %s, not of %d. %s %s", count(len(all), "message"), n, nothingChanged, other)
		t.offer("Undo all", "undo everything")
		return
	}
	undone := all[len(all)-n:]
	for _, d := range undone {
		if d.partial != "" {
			t.say("I cannot take %s back rule by rule. %s %s", code(d.partial), nothingChanged, other)
			t.changed = true
			return
		}
	}
	p := &plan{step: s}
	for _, d := range slices.Backward(undone) {
		for _, e := range slices.Backward(d.edits) {
			e.add = !e.add
			p.edits = append(p.edits, e)
		}
	}
	t.change(p)
	if !t.waiting() && n > 1 {
		t.say("The changes of your last %d messages are taken back.", n)
	}
}

// whatDone says what the last message of the conversation changed.
func (t *turn) whatDone() {
	if len(t.past) == 0 {
		t.say("Nothing yet: this is your first message.")
		return
	}
	var d done
	var others []string
	for _, c := range t.past[len(t.past)-1].calls {
		if !c.ok() {
			continue
		}
		if d.add(c); writeTools[c.name] && !strings.HasSuffix(c.name, "_rule") {
			others = append(others, sentence(c.res.Message))
		}
	}
	var lines []string
	for _, o := range d.results {
		if o.res.Message != "" {
			lines = append(lines, o.sentence())
		}
	}
	if lines = append(lines, others...); len(lines) == 0 {
		t.say("For your last message I changed nothing.")
		return
	}
	t.say("%s", bullets("For your last message:", unique(lines), 30))
	t.offer("Undo", "undo that")
}
