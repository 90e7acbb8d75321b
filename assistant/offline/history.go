package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/offline/wire"
)

// respondHistory answers in the window of the chat history. A step that is
// about the results of another one waits for them.
func (c *conversation) respondHistory() {
	c.forms = historyForms()
	c.steps = c.parse(c.now.User)
	for _, s := range c.steps { // all of them before one is done
		if s.failed() {
			c.lost = true
			c.reportf("I did not understand %s. %s", code(s.text), nothingChanged)
			return
		}
	}
	if c.answerQuestions() {
		return
	}
	for i, s := range c.steps {
		if c.waiting() && i > 0 && s.pairs.them {
			return
		}
		c.historyStep(s)
	}
}

// pairTools are the tools for the requests about certain pairs.
var pairTools = map[kind]string{
	"find": "summarise_pairs", "summarise": "summarise_pairs", "star": "star_pairs", "unstar": "star_pairs",
	"flag": "flag_pairs", "unflag": "flag_pairs", "topic": "set_topic",
}

func (c *conversation) historyStep(s step) {
	switch {
	case s.kind == "find" && !s.pairs.them && len(s.pairs.ids) == 0:
		c.findPairs(s.pairs)
		return
	case s.kind == "topics":
		c.listTopics()
		return
	case s.kind == undo:
		c.reportf("I cannot take marks back. The checkpoints of the window can.")
		return
	case pairTools[s.kind] == "":
		c.small(s.kind)
		return
	}
	a := c.selected(s.pairs)
	switch s.kind {
	case "star":
		a["stars"] = max(s.n, 1)
	case "unstar":
		a["stars"] = 0
	case "flag", "unflag":
		a["flag"] = s.kind == "flag"
	case "topic":
		if a["topic"] = s.topic; s.topic != "" {
			a["create"] = true
		}
	default: // the pairs are all that the tool needs
	}
	switch {
	case a["ids"] == nil && a["line"] == nil:
		c.reportf("I do not know which messages you mean. Name them by words, by numbers, or say `the last 5`.")
	case pairTools[s.kind] == "summarise_pairs":
		c.listPairs("summarise_pairs", a)
	default:
		c.callAndReport(pairTools[s.kind], a)
	}
}

// selected returns the arguments that name pairs; none when the words name none.
func (c *conversation) selected(p pairSet) wire.Args {
	switch {
	case p.them:
		return c.pairsBefore()
	case len(p.ids) > 0:
		return wire.Args{"ids": p.ids}
	case len(p.terms)+len(p.words) > 0:
		return wire.Args{"line": p.filterLine()}
	}
	return wire.Args{}
}

// pairsBefore are the pairs of the last call that was about some.
func (c *conversation) pairsBefore() wire.Args {
	for _, x := range slices.Backward(append(slices.Clone(c.past), c.now)) {
		for _, k := range slices.Backward(x.Calls) {
			if !k.OK() {
				continue
			}
			found := k.Result.Data.Get("ids")
			if k.Name != "search_pairs" {
				found = k.Args.Get("ids")
			}
			if ids, _ := found.Value().([]any); len(ids) > 0 {
				return wire.Args{"ids": ids[:min(len(ids), maxPairNumbers)]}
			}
			if line := k.Args.Get("line").String(); line != "" {
				return wire.Args{"line": line}
			}
		}
	}
	return wire.Args{}
}

// findPairs searches, by plain words or by a filter line.
func (c *conversation) findPairs(p pairSet) {
	a := wire.Args{"line": p.filterLine()}
	if len(p.terms) == 0 {
		query := slices.Clone(p.words)
		for i, w := range query {
			if strings.Contains(w, " ") {
				query[i] = `"` + w + `"`
			}
		}
		a = wire.Args{"query": strings.Join(query, " ")}
	}
	c.listPairs("search_pairs", a)
	c.offer("Star them", "star them")
	c.offer("Summarise them", "summarise them")
}

// listPairs lists the pairs that a tool returns.
func (c *conversation) listPairs(tool string, a wire.Args) {
	r := c.callOrReport(tool, a)
	if r == nil {
		return
	}
	var lines []string
	for _, p := range r.Data.Get("pairs").Array() {
		line := fmt.Sprintf("**%d** %s", p.Get("id").Int(), withCode(p.Get("user").String()))
		notes := unique([]string{withCode(p.Get("at").String()), withCode(p.Get("topic").String()), withCode(p.Get("state").String())})
		if len(notes) > 0 {
			line += " (" + strings.Join(notes, ", ") + ")"
		}
		answer, _, _ := strings.Cut(clean(p.Get("assistant").String()), ". ")
		if answer = cmp.Or(answer, p.Get("found").String()); answer != "" {
			line += " — " + withCode(answer)
		}
		lines = append(lines, line)
	}
	head := sentence(r.Message)
	if n := int(r.Data.Get("count").Int()); n > 0 && tool == "search_pairs" { // its message repeats the pairs
		head = assistant.UpperFirst(counted(n, "message")) + verbFor(n, " matches", " match") + ", the newest first:"
	}
	c.reportf("%s", bullets(head, lines))
}

func (c *conversation) listTopics() {
	if r := c.callOrReport("list_topics", wire.Args{}); r != nil {
		var lines []string
		for _, topic := range r.Data.Get("topics").Array() {
			lines = append(lines, withCode(topic.Get("topic").String())+": "+counted(int(topic.Get("pairs").Int()), "message"))
		}
		c.reportf("%s", bullets(sentence(r.Message), lines))
	}
}

// pairSet is pairs of the chat history in words.
type pairSet struct {
	ids   []int    // numbers
	terms []string // of a filter line, all of which hold
	words []string // that stand in the texts
	them  bool     // those of the previous result
}

// filterLine is the line of the filter language that selects the pairs. Words
// are looked for in other sessions: this one repeats them.
func (p pairSet) filterLine() string {
	terms := slices.Clone(p.terms)
	for _, w := range p.words {
		terms = append(terms, "c"+quoteText(w))
	}
	if len(p.words) > 0 {
		terms = append(terms, "!x")
	}
	return strings.Join(terms, " ")
}

// quoteText is s as a literal of the filter language.
func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, `*`, `\*`).Replace(s) + "'"
}

var (
	// pairFillers are words that select nothing.
	pairFillers = wordSet("all of any every pair pairs message messages question questions answer answers chat chats conversation conversations what which " +
		"that is was were are did there does have has with i we said says say talked talk asked ask something anything everything where when " +
		"for to and or history number numbers ones in from about containing mentioning")
	// pairTerms are words that are a term of the filter language.
	pairTerms = map[string]string{
		"starred": "s>0", "unstarred": "s0", "flagged": "b", "unflagged": "g", "failed": "e", "today": "d<1d", "yesterday": "d<2d !d<1d",
	}
	// pairUnits are what may follow "the last 3".
	pairUnits = map[string]string{"hours": "h", "days": "d", "weeks": "w", "months": "mo", "hour": "h", "day": "d", "week": "w", "month": "mo"}
)

// maxPairNumbers bounds how many pairs are named one by one, as the tools do.
const maxPairNumbers = 1000

// readPairs reads which pairs tokens mean.
func readPairs(tokens []token) pairSet {
	var out pairSet
	for i := 0; i < len(tokens); i++ {
		t, word := tokens[i], strings.ToLower(tokens[i].Text)
		ids := idsOfRange(strings.TrimPrefix(word, "#"))
		switch {
		case t.Kind == comma || t.Kind == stop:
		case t.Kind == quoted:
			out.words = append(out.words, t.Text)
		case len(ids) > 0 && len(out.ids)+len(ids) <= maxPairNumbers:
			out.ids = append(out.ids, ids...)
		case t.Is("last", "newest"):
			after := append(slices.Clone(tokens[i+1:]), token{}, token{})
			n := number(after[0].Canon)
			if n > 0 {
				after = after[1:]
				i++
			}
			if age := pairUnits[after[0].Canon]; age != "" {
				out.terms = append(out.terms, fmt.Sprintf("d<%d%s", max(n, 1), age))
				i++
			} else {
				out.terms = append(out.terms, fmt.Sprintf("r%d", max(n, 1)+1)) // this pair counts, too
			}
		case t.In(pronouns) && len(tokens) == 1:
			out.them = true
		case t.Is("topic") && i+1 < len(tokens):
			path := quoteText(topicPath(tokens[i+1:]))
			out.terms = append(out.terms, "t"+strings.TrimSuffix(path, "'")+"...'")
			return out
		case pairTerms[word] != "":
			out.terms = append(out.terms, pairTerms[word])
		case pairFillers[word]:
		default:
			out.words = append(out.words, t.Text)
		}
	}
	return out
}

// topicPath is the path that tokens spell.
func topicPath(tokens []token) string {
	var names []string
	for name := range strings.SplitSeq(strings.Join(textsOf(tokens), " "), ">") {
		names = append(names, strings.TrimSpace(name))
	}
	return strings.Join(unique(names), " > ")
}

// idsOfRange reads a number or a range, "3-9"; none when it is something else or
// more than a call takes.
func idsOfRange(text string) (ids []int) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 0 || last-first >= maxPairNumbers {
		return nil
	}
	for n := first; n <= last; n++ {
		ids = append(ids, n)
	}
	return ids
}
