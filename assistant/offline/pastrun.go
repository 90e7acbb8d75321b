package offline

import (
	"fmt"
	"slices"
	"strings"
)

// runPast answers in the window of the chat history.
func (t *turn) runPast() {
	t.pastSteps = t.readPastMessage(t.now.user, 0)
	for i, s := range t.pastSteps {
		if t.waiting() && (s.which.them || s.verb == pastUndo || i > 0 && writesPast(t.pastSteps[i-1].verb)) {
			break // it is about what the calls before it bring
		}
		t.pastStep(s)
	}
	t.leftovers()
}

// readPastMessage parses a message; "yes" stands for the request that the last
// answer asked for.
func (t *turn) readPastMessage(text string, depth int) []pastStep {
	if plain := parse(text); len(plain) == 1 && plain[0].kind == yes && len(t.past) > 0 && depth < maxReread {
		if asked := askedFor(t.past[len(t.past)-1].answer); asked != "" {
			return t.readPastMessage(asked, depth+1)
		}
	}
	return readPast(text)
}

func writesPast(v pastVerb) bool {
	switch v {
	case pastStar, pastFlag, pastUnflag, pastTopic, pastRename, pastMove, pastDrop, pastSave, pastForget, pastUndo:
		return true
	case pastFind, pastRead, pastSummarise, pastTopics, pastSessions, pastOther:
	}
	return false
}

func (t *turn) pastStep(s pastStep) {
	switch s.verb {
	case pastFind:
		t.findPairs(s)
	case pastRead:
		t.readPair(s)
	case pastStar:
		t.markPairs("star_pairs", s, args{"stars": s.stars})
	case pastFlag, pastUnflag:
		t.markPairs("flag_pairs", s, args{"flag": s.verb == pastFlag})
	case pastTopic:
		a := args{"topic": s.topic}
		if s.topic != "" {
			a["create"] = true
		}
		t.markPairs("set_topic", s, a)
	case pastRename:
		t.changePast("rename_topic", args{"topic": s.topic, "name": s.to}, s.topic != "" && s.to != "", "rename the topic Work to Jobs")
	case pastMove:
		t.changePast("move_topic", args{"topic": s.topic, "under": s.to}, s.topic != "" && s.to != "", "move the topic Agents under AI")
	case pastDrop:
		t.changePast("delete_topic", args{"topic": s.topic}, s.topic != "", "delete the topic Work")
	case pastSummarise:
		t.summarise(s)
	case pastTopics:
		t.listTopics()
	case pastSessions:
		t.listSessions()
	case pastSave:
		t.changePast("save_filter", args{"name": s.name, "line": s.which.line}, s.name != "" && s.which.line != "", "save line s>1 as best")
	case pastForget:
		t.changePast("forget_filter", args{"name": s.name}, s.name != "", "forget the filter best")
	case pastUndo:
		t.undoPast()
	case pastOther:
		t.otherPast()
	}
}

// which are the arguments that name pairs; ok is false when the words name none.
func (t *turn) which(s pastStep) (args, bool) {
	p := s.which
	if p.them {
		a := t.pairsBefore()
		if a == nil {
			t.say("I do not know which pairs you mean. Name them, for example `find invoice`, or by their numbers.")
		}
		return a, a != nil
	}
	if p.empty() {
		t.say("Say which pairs: by words, by numbers, or `the last 5`. For example %s.", code(string(s.verb)+" what is about invoices"))
		return nil, false
	}
	if len(p.ids) > 0 {
		return args{"ids": p.ids}, true
	}
	return args{"line": p.filterLine()}, true
}

// pairsBefore are the pairs of the last call that was about some, in this
// message or an earlier one; nil is none.
func (t *turn) pairsBefore() args {
	for _, x := range append([]*exchange{t.now}, reversed(t.past)...) {
		for i := len(x.calls) - 1; i >= 0; i-- {
			c := x.calls[i]
			if c.res == nil || !c.res.Success {
				continue
			}
			if ids := numbersOf(c.res.Data["ids"]); c.name == searchTool && len(ids) > 0 {
				return args{"ids": ids[:min(len(ids), maxPairNumbers)]}
			}
			if ids := numbersOf(c.args["ids"]); len(ids) > 0 {
				return args{"ids": ids}
			}
			if line := c.text("line"); line != "" && c.name != "save_filter" {
				return args{"line": line}
			}
			if id, ok := c.args["id"].(float64); ok {
				return args{"ids": []int{int(id)}}
			}
		}
	}
	return nil
}

func reversed(all []*exchange) []*exchange {
	out := slices.Clone(all)
	slices.Reverse(out)
	return out
}

// numbersOf reads a list of numbers.
func numbersOf(v any) []int {
	list, _ := v.([]any)
	var out []int
	for _, x := range list {
		if n, ok := x.(float64); ok {
			out = append(out, int(n))
		}
	}
	return out
}

// markPairs calls a tool that marks pairs.
func (t *turn) markPairs(tool string, s pastStep, a args) {
	which, ok := t.which(s)
	if !ok {
		return
	}
	for k, v := range which {
		a[k] = v
	}
	t.told(t.do(tool, a), s.describe())
}

// changePast calls a tool that changes topics or filters; whole says that the
// words named all it needs, example how they can.
func (t *turn) changePast(tool string, a args, whole bool, example string) {
	if !whole {
		t.say("I need both names for that, for example `%s`.", example)
		return
	}
	t.told(t.do(tool, a), strings.ReplaceAll(tool, "_", " "))
}

// told passes on what came of a change.
func (t *turn) told(r *result, doing string) {
	switch {
	case r == nil:
		t.plan("I'll %s.", clean(doing))
	case r.Success:
		t.say("%s", sentence(sentenceCase(r.Message)))
		t.offer("Undo", "undo that")
	case r.Code == "declined":
		t.say("You declined it: nothing was changed.")
	case !r.missing:
		t.say("That did not work: %s.", lowerFirst(r.why()))
	}
}

// foundShown is how many pairs an answer names.
const foundShown = 10

// findPairs searches.
func (t *turn) findPairs(s pastStep) {
	a := args{}
	switch p := s.which; {
	case p.them:
		which, ok := t.which(s)
		if !ok {
			return
		}
		if which["line"] == nil {
			t.say("Say `summarise them` or mark them: they are the ones listed above.")
			return
		}
		a = which
	case len(p.ids) > 0:
		t.readPair(s)
		return
	case len(p.terms) == 0 && p.line == "":
		words := make([]string, len(p.words))
		for i, w := range p.words {
			words[i] = w
			if strings.Contains(w, " ") {
				words[i] = `"` + w + `"`
			}
		}
		a["query"] = strings.Join(words, " ")
	default:
		a["line"] = p.filterLine()
	}
	r := t.do(searchTool, a)
	switch {
	case r == nil:
		t.plan("I search for %s.", code(fmt.Sprint(first(a["query"], a["line"]))))
	case r.Success:
		t.listPairs(r)
	case !r.missing:
		t.say("The search failed: %s.", lowerFirst(r.why()))
	}
}

// first is the first value that is there.
func first(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return ""
}

// listPairs tells what a search found.
func (t *turn) listPairs(r *result) {
	list, _ := r.Data["pairs"].([]any)
	n, known := r.number("count")
	if !known || len(list) == 0 {
		t.say("%s", sentence(sentenceCase(r.Message)))
		return
	}
	verb := "match"
	if n == 1 {
		verb = "matches"
	}
	lines := []string{fmt.Sprintf("%s %s, the newest first:", sentenceCase(count(n, "pair")), verb), ""}
	for _, v := range list[:min(len(list), foundShown)] {
		p, _ := v.(map[string]any)
		lines = append(lines, "- "+pairInWords(p))
	}
	if n > foundShown {
		lines = append(lines, fmt.Sprintf("- and %d more", n-foundShown))
	}
	t.say("%s", strings.Join(lines, "\n"))
	t.offer("Star them", "star them")
	t.offer("Summarise them", "summarise them")
}

// pairInWords is a pair of a result on one line.
func pairInWords(p map[string]any) string {
	id, _ := p["id"].(float64)
	text := func(key string) string { s, _ := p[key].(string); return foreign(s) }
	out := fmt.Sprintf("**%.0f** %s", id, text("user"))
	var notes []string
	for _, key := range []string{"at", "topic", "state"} {
		if s := text(key); s != "" {
			notes = append(notes, s)
		}
	}
	if n, _ := p["stars"].(float64); n > 0 {
		notes = append(notes, count(int(n), "star"))
	}
	if len(notes) > 0 {
		out += " (" + strings.Join(notes, ", ") + ")"
	}
	if s := text("found"); s != "" {
		out += ": …" + s + "…"
	}
	return out
}
