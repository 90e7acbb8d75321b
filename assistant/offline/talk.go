package offline

import (
	"slices"
	"strings"
)

// self says what answers here.
const self = "I am winnow's offline model: a small set of rules in this program, not a language model."

// talk answers what calls no tool.
func (t *turn) talk(s step) {
	switch s.kind {
	case help:
		t.say("%s I understand short requests about the rules of this window: hide, allow, only, unhide, remove or clear rules, explain, list, find, details, import, switch provider, refresh, undo, save and discard. Several in one message work too. For anything freer choose another model with `ctrl+l`.", self)
		t.examples("For example:")
	case greet:
		t.say("Hello. %s", self)
		t.examples("You can say:")
	case thanks:
		t.say("You're welcome.")
	case yes:
		t.say("I have no open question. Tell me what to do.")
		t.examples("For example:")
	case no:
		t.say("All right, nothing was changed.")
	case clarify:
		t.say("That can mean two things. Which one: %s?", strings.Replace(codes(s.offers), " and ", " or ", 1))
		for _, o := range s.offers {
			t.offer(sentenceCase(clean(o)), o)
		}
	case compare:
		t.say("A rule cannot say \"older than\": I only tell the newest of a family from the old ones. Nothing was changed.")
		for _, o := range s.offers {
			t.offer(sentenceCase(clean(o)), o)
		}
		t.say("These work: %s.", codes(s.offers))
	case beyond:
		t.say("I know the names of the models, their status and the rules: not what they cost or how good they are. Nothing was changed. The models list of the window shows contexts and prices; another model (`ctrl+l`) may know more.")
		t.offer("Newest models", "find the newest models")
	default:
		t.say("I did not understand that. %s", self)
		if near := nearest(s.text); near != "" {
			t.say("Did you mean %s?", code(near))
			t.offer(near, near)
		}
		t.examples("These work here:")
	}
}

// examples lists requests made of this window's own models and rules.
func (t *turn) examples(head string) {
	ex := t.exampleLines()
	lines := []string{head, ""}
	for i, e := range ex {
		lines = append(lines, "- "+code(e))
		if i < 3 {
			t.offer(sentenceCase(clean(e)), e)
		}
	}
	t.say("%s", strings.Join(lines, "\n"))
}

// exampleLines are five requests that do something here.
func (t *turn) exampleLines() []string {
	out := []string{"what is hidden"}
	if w := t.commonWord(); w != "" {
		out = append(out, "hide "+w+" models")
	} else {
		out = append(out, "hide preview models")
	}
	if f := strings.TrimSuffix(mainFamily(t.w.models, t.w.provider), "*"); f != "" && plainWord(f) {
		out = append(out, "only keep the newest "+f+" models")
	} else {
		out = append(out, "only keep the newest models")
	}
	out = append(out, "why is "+t.example()+" hidden")
	switch {
	case len(t.w.ignore) > 0 && plainPattern(t.w.ignore[0].pattern):
		out = append(out, "remove the rule "+t.w.ignore[0].pattern)
	case t.w.unsaved:
		out = append(out, "save the changes")
	default:
		out = append(out, "find mini")
	}
	return out
}

// example is a model to name: a hidden one if there is one.
func (t *turn) example() string {
	for _, m := range append(t.w.hidden(), t.w.models...) {
		if plainPattern(m.name) {
			return m.name
		}
	}
	return "gpt-4o"
}

// commonWord is a word that several but not most models share.
func (t *turn) commonWord() string {
	for _, w := range []string{"preview", "mini", "audio", "embedding", "image", "nano", "turbo", "haiku", "flash"} {
		if n := len(fitting(t.w.models, "*"+w+"*")); n > 0 && 2*n < len(t.w.models) {
			return w
		}
	}
	return ""
}

// plainWord and plainPattern keep hostile ids out of examples.
func plainWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

func plainPattern(s string) bool {
	const longest = 60
	return s != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._/:*?@", r)
	})
}

// nearest proposes the request with its first word spelled right.
func nearest(text string) string {
	ws := strings.Fields(text)
	if len(ws) == 0 || len([]rune(ws[0])) < 3 || len(text) > echoRunes {
		return ""
	}
	first := strings.ToLower(ws[0])
	best := ""
	for w, ps := range dictionary {
		k := ps[len(ps)-1].kind // of the word by itself
		if w == first {
			return ""
		}
		if len(ps[len(ps)-1].words) == 1 && (k.selects() || k == undo || k == save || k == discard || k == refresh || k == verbRemove || k == verbClear) &&
			len(w) > 3 && typo(first, w) && (best == "" || w < best) {
			best = w
		}
	}
	if best == "" {
		return ""
	}
	return strings.Join(append([]string{best}, ws[1:]...), " ")
}

// typo reports two words one insertion, deletion, change or swap apart.
func typo(a, b string) bool {
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
