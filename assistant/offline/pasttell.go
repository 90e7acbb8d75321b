package offline

import (
	"fmt"
	"strings"
)

// readPair shows one pair, or a few.
func (t *turn) readPair(s pastStep) {
	a, ok := t.which(s)
	if !ok {
		return
	}
	ids, _ := a["ids"].([]int)
	if len(ids) == 0 {
		t.say("Name the pair by its number, for example `read 3`; `find` and a word shows the numbers.")
		return
	}
	for _, id := range ids[:min(len(ids), maxExplained)] {
		r := t.do("get_pair", args{"id": id})
		switch {
		case r == nil:
			t.plan("I'll read pair %d.", id)
		case r.Success:
			user, _ := r.Data["user_text"].(string)
			answer, _ := r.Data["assistant_text"].(string)
			at, _ := r.Data["at"].(string)
			t.say("Pair %d of %s:\n\n> %s\n\n%s", id, foreign(at), cleanTo(user, readRunes), cleanTo(answer, readRunes))
		case !r.missing:
			t.say("I could not read pair %d: %s.", id, lowerFirst(r.why()))
		}
	}
	if more := len(ids) - maxExplained; more > 0 && !t.waiting() {
		t.say("%d more are named; ask for them by their numbers.", more)
	}
}

// readRunes is how much of each text of a pair is shown: the pair itself is on
// the screen in full.
const readRunes = 2000

// summarise tells of each pair what was asked and how the answer began. That is
// no summary as a language model writes one, and it says so.
func (t *turn) summarise(s pastStep) {
	a, ok := t.which(s)
	if !ok {
		return
	}
	r := t.do("summarise_pairs", a)
	switch {
	case r == nil:
		t.plan("I'll read %s in short form.", clean(s.which.describe()))
		return
	case !r.Success:
		if !r.missing {
			t.say("I could not read them: %s.", lowerFirst(r.why()))
		}
		return
	}
	list, _ := r.Data["pairs"].([]any)
	lines := []string{sentence(sentenceCase(r.Message)) + " I am no language model: this is what was asked and how each answer begins.", ""}
	const most = 30
	for i, v := range list {
		if i == most {
			lines = append(lines, fmt.Sprintf("- and %d more", len(list)-most))
			break
		}
		p, _ := v.(map[string]any)
		id, _ := p["id"].(float64)
		user, _ := p["user"].(string)
		answer, _ := p["assistant"].(string)
		lines = append(lines, fmt.Sprintf("- **%.0f** %s — %s", id, cleanTo(user, echoRunes), orNone(firstSentence(answer))))
	}
	t.say("%s", strings.Join(lines, "\n"))
}

// firstSentence is how a text begins.
func firstSentence(text string) string {
	text = cleanTo(text, echoRunes)
	for i, r := range text {
		if strings.ContainsRune(".!?", r) && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i+1]
		}
	}
	return text
}

func (t *turn) listTopics() {
	t.listAll("topics", func(p map[string]any) string {
		own, _ := p["pairs"].(float64)
		all, _ := p["with_subtopics"].(float64)
		name, _ := p["topic"].(string)
		out := foreign(name) + ": " + count(int(own), "pair")
		if all != own {
			out += fmt.Sprintf(", %.0f with what is below it", all)
		}
		return out
	})
}

func (t *turn) listSessions() {
	t.listAll("sessions", func(p map[string]any) string {
		n, _ := p["pairs"].(float64)
		used, _ := p["last_used"].(string)
		began, _ := p["began_with"].(string)
		return fmt.Sprintf("%s, %s: %s", foreign(used), count(int(n), "pair"), foreign(began))
	})
}

// listAll lists what the tool list_WHAT gives under WHAT, a line each.
func (t *turn) listAll(what string, line func(map[string]any) string) {
	r := t.do("list_"+what, args{})
	switch {
	case r == nil:
		t.plan("I'll list the %s.", what)
	case !r.Success:
		if !r.missing {
			t.say("I could not list them: %s.", lowerFirst(r.why()))
		}
	default:
		t.bullets(r, what, line)
	}
}

// bullets says a result and lists the objects under a key of it.
func (t *turn) bullets(r *result, key string, line func(map[string]any) string) {
	list, _ := r.Data[key].([]any)
	lines := []string{sentence(sentenceCase(r.Message)), ""}
	const most = 30
	for i, v := range list {
		if i == most {
			lines = append(lines, fmt.Sprintf("- and %d more", len(list)-most))
			break
		}
		p, _ := v.(map[string]any)
		lines = append(lines, "- "+line(p))
	}
	t.say("%s", strings.TrimSpace(strings.Join(lines, "\n")))
}

// otherPast answers what is no request about pairs.
func (t *turn) otherPast() {
	s := parse(t.now.user)[0]
	switch s.kind {
	case thanks, no, yes:
		t.say("%s", map[kind]string{thanks: "You're welcome.", no: "All right, nothing was changed.", yes: "I have no open question. Tell me what to do."}[s.kind])
	case greet, help:
		t.say("Hello. %s", self)
		t.pastAbilities()
	default:
		t.say("I have no rules for that in this window. %s", self)
		t.pastAbilities()
	}
}

// pastAbilities are requests that work over the history.
func (t *turn) pastAbilities() {
	lines := []string{"These work here, and several in one message too:", ""}
	for i, e := range []string{
		"find invoice", "give 3 stars to what is about kubernetes", "summarise the last 5 pairs", "unflag 3, 5 and 7",
		"put what is about agents under \"AI > Agents\"", "list the topics", "star line s0 d<7d c'retry'", "undo",
	} {
		lines = append(lines, "- "+code(e))
		if i < 3 {
			t.offer(sentenceCase(e), e)
		}
	}
	t.say("%s", strings.Join(lines, "\n"))
	t.say("For anything freer choose another model with `ctrl+l`.")
}
