package offline

import (
	"fmt"
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
			if c.res == nil || !c.res.Success {
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
	provider, _ := c.res.Data["provider"].(string)
	if provider == "" {
		provider = c.text("provider")
	}
	record := func(e edit) {
		d.edits = append(d.edits, e)
		d.results = append(d.results, outcome{e, c.res})
	}
	for _, list := range []string{ignoreList, allowList} {
		switch c.name {
		case ruleTool[list][true], ruleTool[list][false]:
			record(edit{provider: provider, list: list, add: c.name == ruleTool[list][true], pattern: c.text("pattern")})
		case clearTool[list]:
			removed := c.res.list("removed_rules")
			const cut = 100 // a result lists no more rules
			if n, _ := c.res.number("affected_count"); len(removed) >= cut || len(removed) == 0 && n > 0 {
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
		if c.res == nil || !c.res.Success {
			continue
		}
		if d.add(c); writeTools[c.name] && !strings.HasSuffix(c.name, "_rule") {
			others = append(others, sentence(c.res.Message))
		}
	}
	var lines []string
	for _, o := range d.results {
		if strings.HasSuffix(o.res.Message, ".") || o.res.Message != "" {
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

// notUnderstood says what of a request was understood and what was not, with
// suggestions. The turn changes nothing then.
func (t *turn) notUnderstood(s step, left []string) {
	if s.kind == unknown || s.kind == followUp {
		t.say("I did not understand %s. %s", code(s.text), nothingChanged)
	} else {
		t.say("I understood %s, but not %s. %s", code(s.describe()), codes(unique(left)), nothingChanged)
	}
	before := len(t.offers)
	for _, w := range left {
		if near := t.nearWord(strings.ToLower(w)); near != "" {
			better := strings.Replace(s.text, w, near, 1)
			if i := strings.Index(strings.ToLower(s.text), strings.ToLower(w)); i >= 0 {
				better = s.text[:i] + near + s.text[i+len(w):]
			}
			t.offer(upperFirst(better), better)
			t.say("Did you mean %s?", code(better))
		}
	}
	if s.kind == hide || s.kind == allow {
		for _, w := range left[:min(len(left), 1)] {
			quoted := fmt.Sprintf("%s \"*%s*\"", s.verb(), strings.Trim(w, `"*`))
			t.say("I know models by their names only. For a rule about names that come later, say %s.", code(quoted))
			t.offer(upperFirst(quoted), quoted)
		}
	}
	if len(t.offers) == before {
		for _, e := range []string{"which models are hidden, and why?", "help"} {
			t.offer(upperFirst(e), e)
		}
		t.say("Say `help` for what I understand.")
	}
}

// kinds are words that people say of models, for suggestions.
var kinds = set("preview beta experimental latest mini nano micro lite flash turbo haiku opus sonnet coder codex instruct thinking reasoning vision audio " +
	"realtime transcribe image embedding moderation search guard legacy hide block ignore allow unhide only undo save explain find")

// nearWord is the word of the forms, of a kind of models or of a name that a
// word is a slip of; "" when none is near.
func (t *turn) nearWord(w string) string {
	const shortest = 4 // shorter words are all near to each other
	if len([]rune(w)) < shortest || len(w) > maxEcho {
		return ""
	}
	var near []string
	consider := func(have string) {
		if len(have) >= shortest && isSlip(w, have) {
			near = append(near, have)
		}
	}
	for have := range kinds {
		consider(have)
	}
	for _, p := range t.w.providers {
		consider(strings.ToLower(p))
	}
	for _, m := range t.w.shown.models {
		for part := range strings.FieldsFuncSeq(asciiLower(m.name), func(r rune) bool { return r < 'a' || r > 'z' }) {
			consider(part)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return slices.Min(near)
}

// isSlip reports two words one insertion, deletion, change or swap apart.
func isSlip(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if len(x) < len(y) {
		return slices.Equal(x[i:], y[i+1:])
	}
	return slices.Equal(x[i+1:], y[i+1:]) ||
		i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}
