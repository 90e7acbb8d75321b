package offline

import (
	"fmt"
	"slices"
	"strings"
)

// pastWindow is the window_type of the chat history.
const pastWindow = "history"

// pastVerb is what a request about the history wants.
type pastVerb string

const (
	pastFind      pastVerb = "find"
	pastRead      pastVerb = "read"
	pastStar      pastVerb = "star"
	pastFlag      pastVerb = "flag"
	pastUnflag    pastVerb = "unflag"
	pastTopic     pastVerb = "give a topic to"
	pastRename    pastVerb = "rename the topic"
	pastMove      pastVerb = "move the topic"
	pastDrop      pastVerb = "delete the topic"
	pastSummarise pastVerb = "summarise"
	pastTopics    pastVerb = "list the topics"
	pastSessions  pastVerb = "list the sessions"
	pastSave      pastVerb = "save the filter"
	pastForget    pastVerb = "forget the filter"
	pastUndo      pastVerb = "take the last change back"
	pastOther     pastVerb = "" // what the rules for every window answer, if any
)

// pastStep is one request about the history.
type pastStep struct {
	verb  pastVerb
	which pairsMeant
	stars int
	topic string // a path; of a new name: the topic as it is
	to    string // what it becomes, or where it goes
	name  string // of a filter
}

// pairsMeant are pairs, said in words.
type pairsMeant struct {
	ids   []int    // numbers
	terms []string // of a filter line, all of which hold
	words []string // that stand in the texts
	them  bool     // those of the result before
	line  string   // as it was typed
}

func (p pairsMeant) empty() bool {
	return len(p.ids) == 0 && len(p.terms) == 0 && len(p.words) == 0 && !p.them && p.line == ""
}

// describe says it in a thought.
func (s pastStep) describe() string {
	if s.verb == pastOther {
		return "words I have no rule for"
	}
	out := string(s.verb)
	for _, w := range []string{s.which.describe(), s.topic, s.to, s.name} {
		if w != "" {
			out += " " + clean(w)
		}
	}
	return out
}

func (p pairsMeant) describe() string {
	switch {
	case p.them:
		return "those before"
	case len(p.ids) > 0:
		return strings.Trim(fmt.Sprint(p.ids), "[]")
	}
	return p.filterLine()
}

// filterLine is the line of the filter language that selects them. Words are
// looked for outside of this session, whose own requests repeat them.
func (p pairsMeant) filterLine() string {
	if p.line != "" {
		return p.line
	}
	terms := slices.Clone(p.terms)
	for _, w := range p.words {
		terms = append(terms, inText(w))
	}
	if len(p.words) > 0 && !slices.Contains(terms, "x") {
		terms = append(terms, "!x")
	}
	return strings.Join(terms, " ")
}

// inText is the term for a word in the texts of a pair.
func inText(w string) string { return "c'" + literal(w) + "'" }

// literal keeps text inside quotes of the filter language from meaning anything.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`, `*`, `\*`).Replace(s)
}

// readPast reads a message about the history.
func readPast(text string) []pastStep {
	var out []pastStep
	for _, clause := range pastClauses(lex(text)) {
		out = append(out, readPastClause(clause, text))
	}
	if len(out) == 0 {
		out = []pastStep{{}}
	}
	return out
}

// pastStarts are the words that begin a request.
var pastStarts = set("find search look show list read open star unstar give rate flag unflag put move file tag set rename delete remove " +
	"drop summarise summarize recap undo revert save forget take which what where help")

// pastClauses splits a message where a request ends: at ; and . and ?, and at
// a comma, a line break, "and" or "then" before a word that begins another.
func pastClauses(tokens []token) [][]token {
	var out [][]token
	var at []token
	end := func() {
		for len(at) > 0 && (at[len(at)-1].lexeme == comma || slices.Contains([]string{"and", "then"}, at[len(at)-1].lower)) {
			at = at[:len(at)-1]
		}
		if len(at) > 0 {
			out = append(out, at)
		}
		at = nil
	}
	for i, t := range tokens {
		begins := i > 0 && t.lexeme == word && pastStarts[t.lower] && separates(tokens[i-1]) && !raw(at)
		switch {
		case t.lexeme == stop && !raw(at):
			end()
			continue
		case begins:
			end()
		}
		at = append(at, t)
	}
	end()
	return out
}

func separates(t token) bool {
	return t.lexeme == comma || t.lexeme == word && (t.lower == "and" || t.lower == "then")
}

// raw says that a clause holds a filter line, which goes on to the end.
func raw(clause []token) bool {
	return slices.ContainsFunc(clause, func(t token) bool { return t.lexeme == word && t.lower == "line" })
}

// polite words say nothing.
var pastPolite = set("please can could would you kindly now also then just me i we want to let us lets let's")

// readPastClause reads one request. text is the whole message, for a filter
// line in it.
func readPastClause(clause []token, text string) pastStep {
	for len(clause) > 0 && (clause[0].lexeme == comma || pastPolite[clause[0].lower]) {
		clause = clause[1:]
	}
	if len(clause) == 0 {
		return pastStep{}
	}
	first, rest := clause[0].lower, clause[1:]
	if clause[0].lexeme == quoted {
		return pastStep{}
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(t token) bool { return t.lexeme == word && slices.Contains(words, t.lower) })
	}
	next := func(w ...string) bool { return len(rest) > 0 && slices.Contains(w, rest[0].lower) }
	line := lineOf(clause, text)
	pairs := func(tokens []token) pairsMeant { return readPairs(tokens, line) }
	switch {
	case first == "undo", first == "revert", first == "take" && has("back") && !has("star", "stars", "flag"):
		return pastStep{verb: pastUndo}
	case slices.Contains([]string{"list", "show", "what", "which"}, first) && has("topics") && !has("about"):
		return pastStep{verb: pastTopics}
	case slices.Contains([]string{"list", "show", "what", "which"}, first) && has("sessions") && !has("about"):
		return pastStep{verb: pastSessions}
	case first == "rename":
		return pathStep(pastRename, rest, text, "to", "as", "into")
	case first == "move" && next("topic", "the") && has("topic") && (next("topic") || len(rest) > 1 && rest[1].lower == "topic"):
		return pathStep(pastMove, rest, text, "under", "below", "into", "to")
	case slices.Contains([]string{"delete", "remove", "drop"}, first) && has("topic") && !has("from", "of"):
		return pastStep{verb: pastDrop, topic: pathOf(rest, text)}
	case first == "save":
		return saveStep(rest, line)
	case first == "forget":
		return pastStep{verb: pastForget, name: strings.TrimPrefix(lastText(rest), "@")}
	case first == "unstar", (first == "remove" || first == "take") && has("star", "stars"):
		return pastStep{verb: pastStar, which: pairs(leaving(rest, "star", "stars", "away", "off", "from", "of"))}
	case first == "star", has("star", "stars") && slices.Contains([]string{"give", "rate", "mark", "set"}, first):
		return starStep(rest, pairs)
	case first == "unflag", (first == "remove" || first == "take") && has("flag", "flags"):
		return pastStep{verb: pastUnflag, which: pairs(leaving(rest, "flag", "flags", "away", "off", "from", "of"))}
	case first == "flag":
		return pastStep{verb: pastFlag, which: pairs(rest)}
	case slices.Contains([]string{"put", "move", "file", "tag", "set", "take", "remove"}, first):
		return topicStep(rest, text, pairs)
	case first == "summarise", first == "summarize", first == "recap", first == "sum" && next("up"):
		return pastStep{verb: pastSummarise, which: pairs(leaving(rest, "up"))}
	case first == "read", first == "open":
		return pastStep{verb: pastRead, which: pairs(rest)}
	case slices.Contains([]string{"find", "search", "look", "show", "list", "where", "which", "what"}, first):
		p := pairs(leaving(rest, "up"))
		if first == "show" && len(p.ids) == 1 {
			return pastStep{verb: pastRead, which: p}
		}
		if !p.empty() {
			return pastStep{verb: pastFind, which: p}
		}
	}
	return pastStep{}
}

// lineOf is what stands behind the word "line": a filter line as it was typed,
// to the end of its line; "" when there is none.
func lineOf(clause []token, text string) string {
	if !raw(clause) {
		return ""
	}
	at := strings.Index(strings.ToLower(text), "line ")
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[at+len("line "):], "\n")
	return strings.Trim(strings.TrimSpace(line), "`")
}

func leaving(tokens []token, words ...string) []token {
	return slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.lexeme == word && slices.Contains(words, t.lower) })
}

func lastText(tokens []token) string {
	if len(tokens) == 0 {
		return ""
	}
	return tokens[len(tokens)-1].text
}
