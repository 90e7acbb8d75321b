package offline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// historyWindow is the window_type of the chat history.
const historyWindow = "history"

// The requests about the chat history.
const (
	findPairs kind = iota + 1000
	starPairs
	flagPairs
	topicPairs
	summarisePairs
	listTopics
)

var historyForms = compile([]form{
	{undo, "", "undo|revert [that|it|this|last] [change|changes]"},
	{undo, "", "take that|it|this back"},
	{listTopics, "", "list|show|what|which [are] topics [are] [there]"},
	{starPairs, "", "star $pairs with $n stars|star"},
	{starPairs, "", "give $n stars|star to $pairs"},
	{starPairs, "", "give $pairs $n stars|star"},
	{starPairs, "1", "star $pairs"},
	{starPairs, "0", "unstar $pairs"},
	{starPairs, "0", "remove|take star|stars from|off $pairs"},
	{flagPairs, "on", "flag $pairs"},
	{flagPairs, "", "unflag $pairs"},
	{flagPairs, "", "remove|take flag|flags from|off $pairs"},
	{topicPairs, "", "put|move|file|tag $pairs under|into|in|to|as $topic"},
	{topicPairs, "", "set topic of|for $pairs to $topic"},
	{topicPairs, "", "take|remove $pairs out of|from its|their topic"},
	{topicPairs, "", "take|remove $pairs out of topic"},
	{summarisePairs, "", "summarise|summarize|recap $pairs"},
	{summarisePairs, "", "sum up $pairs"},
	{findPairs, "", "find|search|show|list|read|open [for] $pairs"},
	{findPairs, "", "look for $pairs"},
	{findPairs, "", "what|where|which did|have|do|does $pairs"},
	{help, "", "help"},
	{help, "", "what can you|i do|say|ask"},
	{help, "", "who|what are you"},
	{greet, "", "hi|hello|hey"},
	{thanks, "", "thanks|thank [you]"},
	{no, "", "no"},
})

var historyStarters = starters(historyForms)

// respondHistory answers in the window of the chat history. A step that is
// about the results of another one waits for them.
func (t *turn) respondHistory() {
	t.parser = &parser{w: &t.w, forms: historyForms, starters: historyStarters}
	t.steps = t.parser.parse(t.now.user)
	for i, s := range t.steps {
		if len(s.rest) > 0 || s.kind == unknown {
			t.say("I did not understand %s. %s", code(s.text), nothingChanged)
			t.examples("These work here:", historyExamples)
			return
		}
		if t.waiting() && (i > 0 && (s.pairs.them || s.kind == undo)) {
			return
		}
		t.historyStep(s)
	}
}

func (t *turn) historyStep(s step) {
	switch s.kind {
	case findPairs:
		t.findPairs(s)
	case starPairs:
		if s.arg != "" {
			s.n, _ = strconv.Atoi(s.arg)
		}
		t.mark("star_pairs", s.n, t.selected(s))
	case flagPairs:
		t.mark("flag_pairs", s.arg == "on", t.selected(s))
	case topicPairs:
		t.mark("set_topic", s.topic, t.selected(s))
	case summarisePairs:
		t.summarisePairs(s)
	case listTopics:
		if r := t.read("list_topics", args{}); r != nil {
			t.list(r, "topics", sentence(r.Message), func(p gjson.Result) string {
				return foreign(p.Get("topic").String()) + ": " + count(int(p.Get("pairs").Int()), "pair")
			})
		}
	case undo:
		t.undoPairs()
	case help, greet:
		t.say("%s Here I can search, star, flag, file under topics and summarise.", self)
		t.examples("These work here:", historyExamples)
	default:
		t.talk(s)
	}
}

var historyExamples = []string{
	"find invoice", "give 3 stars to what is about kubernetes", "summarise the last 5 pairs", "unflag 3, 5 and 7",
	"put what is about agents under AI > Agents", "list the topics", "undo",
}

// selected are the arguments that name pairs; nil when the words name none,
// which is said.
func (t *turn) selected(s step) args {
	switch p := s.pairs; {
	case p.them:
		a := t.pairsBefore()
		if a == nil {
			t.say("I do not know which pairs you mean. Name them, for example `find invoice`, or by their numbers.")
		}
		return a
	case p.empty():
		t.say("Say which pairs: by words, by numbers, or `the last 5`.")
		return nil
	case len(p.ids) > 0:
		return args{"ids": p.ids}
	default:
		return args{"line": p.filterLine()}
	}
}

// pairsBefore are the pairs of the last call that was about some; nil is none.
func (t *turn) pairsBefore() args {
	for _, x := range slices.Backward(append(slices.Clone(t.past), t.now)) {
		for _, c := range slices.Backward(x.calls) {
			if !c.ok() {
				continue
			}
			ids, _ := c.args.Get("ids").Value().([]any)
			if c.name == "search_pairs" {
				ids, _ = c.res.Data.Get("ids").Value().([]any)
			}
			if len(ids) > 0 {
				return args{"ids": ids[:min(len(ids), maxPairNumbers)]}
			}
			if line := c.args.Get("line").String(); line != "" {
				return args{"line": line}
			}
		}
	}
	return nil
}

// markNames are the arguments of the tools that mark pairs.
var markNames = map[string]string{"star_pairs": "stars", "flag_pairs": "flag", "set_topic": "topic"}

// mark gives pairs a mark; with no pairs it does nothing.
func (t *turn) mark(tool string, value any, pairs args) {
	if pairs == nil {
		return
	}
	a := maps.Clone(pairs)
	a[markNames[tool]] = value
	if tool == "set_topic" && value != "" {
		a["create"] = true
	}
	if t.simple(tool, a, "I'll call "+code(tool)+".", "That did not work") {
		t.offer("Undo", "undo that")
	}
}

// maxPairsNamed is how many pairs an answer lists.
const maxPairsNamed = 30

// findPairs searches; pairs named by number are shown in short form.
func (t *turn) findPairs(s step) {
	p := s.pairs
	if p.them || len(p.ids) > 0 {
		t.summarisePairs(s)
		return
	}
	a := args{"line": p.filterLine()}
	if len(p.terms) == 0 {
		ws := slices.Clone(p.words)
		for i, w := range ws {
			if strings.Contains(w, " ") {
				ws[i] = `"` + w + `"`
			}
		}
		a = args{"query": strings.Join(ws, " ")}
	}
	r := t.read("search_pairs", a)
	if r == nil {
		return
	}
	n := int(r.Data.Get("count").Int())
	head := fmt.Sprintf("%s %s, the newest first:", upperFirst(count(n, "pair")), verbFor(n, "matches", "match"))
	if n == 0 {
		head = sentence(r.Message)
	}
	t.list(r, "pairs", head, func(p gjson.Result) string {
		out := pairLine(p, "user", "at", "topic", "state")
		if found := p.Get("found").String(); found != "" {
			out += ": …" + foreign(found) + "…"
		}
		return out
	})
	t.offer("Star them", "star them")
	t.offer("Summarise them", "summarise them")
}

// read calls a tool that changes nothing; nil while it runs, or when it failed,
// which is said.
func (t *turn) read(tool string, a args) *result {
	r := t.call(tool, a)
	if r == nil {
		t.plan("I look it up with %s.", code(tool))
	} else if !r.Success {
		t.failed("I could not look it up", r)
		return nil
	}
	return r
}

// list says a head and the objects under a key of a result, a line each.
func (t *turn) list(r *result, key, head string, line func(gjson.Result) string) {
	var lines []string
	for _, p := range r.Data.Get(key).Array() {
		lines = append(lines, line(p))
	}
	t.say("%s", bullets(head, lines, maxPairsNamed))
}

// pairLine is a pair of a result on one line: its number, a text and notes.
func pairLine(p gjson.Result, text string, notes ...string) string {
	out := fmt.Sprintf("**%d** %s", p.Get("id").Int(), foreign(p.Get(text).String()))
	var found []string
	for _, key := range notes {
		found = append(found, foreign(p.Get(key).String()))
	}
	if n := int(p.Get("stars").Int()); n > 0 {
		found = append(found, count(n, "star"))
	}
	if found = unique(found); len(found) > 0 {
		out += " (" + strings.Join(found, ", ") + ")"
	}
	return out
}

// summarisePairs says of each pair what was asked and how the answer began.
func (t *turn) summarisePairs(s step) {
	a := t.selected(s)
	if a == nil {
		return
	}
	if r := t.read("summarise_pairs", a); r != nil {
		t.list(r, "pairs", sentence(r.Message)+" This is what was asked and how each answer begins:", func(p gjson.Result) string {
			first, _, _ := strings.Cut(clean(p.Get("assistant").String()), ". ")
			return pairLine(p, "user") + " — " + foreign(first)
		})
	}
}

// undoPairs gives the pairs that the last message marked their marks back.
func (t *turn) undoPairs() {
	calls := t.lastMarks()
	if len(calls) == 0 {
		t.say("I see no change of mine in this conversation that I can take back. %s", rollBack)
	}
	for _, c := range slices.Backward(calls) {
		before := c.res.Data.Get("before").Map()
		for _, old := range slices.Sorted(maps.Keys(before)) {
			ids := idsOfRuns(before[old].String())
			if len(ids) == 0 {
				t.say("I cannot take %s back pair by pair. %s", code(c.name), rollBack)
				return
			}
			var value any = old
			switch c.name {
			case "star_pairs":
				value, _ = strconv.Atoi(old)
			case "flag_pairs":
				value = old == "blue"
			}
			t.mark(c.name, value, args{"ids": ids})
		}
	}
}

// lastMarks finds the newest message whose marks no later "undo" has taken back.
func (t *turn) lastMarks() []*call {
	undone := 0
	for _, x := range slices.Backward(t.past) {
		calls := slices.DeleteFunc(slices.Clone(x.calls), func(c *call) bool { return !c.ok() || markNames[c.name] == "" })
		switch s := t.parser.parse(x.user); {
		case len(calls) == 0:
		case len(s) == 1 && s[0].kind == undo:
			undone++
		case undone > 0:
			undone--
		default:
			return calls
		}
	}
	return nil
}
