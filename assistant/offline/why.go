package offline

import (
	"fmt"
	"strings"
)

// maxReasons is how many rules an answer explains with the models they hide.
const maxReasons = 12

// tellHidden says which models are hidden and by which rule, rule by rule.
func (t *turn) tellHidden(n int) {
	if n == 0 {
		t.say("No model of %s is hidden.", providerName(t.w.provider))
		t.sayNothingHidden()
		return
	}
	by := map[string][]string{}
	for _, m := range t.w.hidden() {
		by[m.rule] = append(by[m.rule], m.name)
	}
	var lines []string
	idle := 0
	for _, r := range t.w.ignore {
		ms := by[r.pattern]
		switch hides := max(r.count, len(ms)); {
		case hides == 0:
			idle++
		case len(ms) == 0:
			lines = append(lines, fmt.Sprintf("- %s hides %s", code(r.pattern), count(hides, "model")))
		default:
			lines = append(lines, fmt.Sprintf("- %s hides %s: %s", code(r.pattern), count(hides, "model"), listed(ms, hides)))
		}
	}
	if ms := by[""]; len(ms) > 0 {
		lines = append(lines, "- the window does not say which rule hides "+someCodes(ms))
	}
	t.say("%s of %s %s hidden, each by the first ignore rule that matches it:", sentenceCase(count(n, "model")), providerName(t.w.provider), are(n))
	if more := len(lines) - maxReasons; more > 0 {
		lines = append(lines[:maxReasons], fmt.Sprintf("- and %d more rules", more))
	}
	t.said[len(t.said)-1] += "\n\n" + strings.Join(lines, "\n")
	if idle > 0 {
		t.say("%s hide%s nothing now.", sentenceCase(count(idle, "ignore rule")), third(idle))
	}
	t.cut()
	t.offer("Show them again", "unhide everything")
	t.offer("Unused rules?", "which rules hide nothing")
}

// sayNothingHidden says why nothing is hidden, and what could be.
func (t *turn) sayNothingHidden() {
	others := ""
	if len(t.w.providers) > 1 {
		others = " I see one provider at a time; `switch to " + otherProvider(t.w) + "` shows another."
	}
	if len(t.w.ignore) == 0 {
		t.say("It has no ignore rules.%s", others)
	} else {
		t.say("Its %s match no model that an allow rule does not keep.%s", count(len(t.w.ignore), "ignore rule"), others)
	}
	if w := t.commonWord(); w != "" {
		t.offer("Hide "+w+" models", "hide "+w+" models")
	}
}

func otherProvider(w window) string {
	for _, p := range w.providers {
		if p != w.provider && plainPattern(p) {
			return p
		}
	}
	return "openai"
}

// tellAvailable says why models are available.
func (t *turn) tellAvailable() {
	n := 0
	for _, m := range t.w.models {
		if m.status == "whitelisted" {
			n++
		}
	}
	switch {
	case len(t.w.ignore) == 0 && n == 0:
		t.say("All are, because there are no ignore rules.")
	case n == 0:
		t.say("No ignore rule matches them.")
	default:
		t.say("%s %s kept by an allow rule, which wins; the others match no ignore rule.", sentenceCase(count(n, "model")), are(n))
		t.listRules(topicAllow)
	}
}
