package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// structured is the heading under which a prompt tells of payload markers.
const structured = "STRUCTURED RESPONSES"

// maxOffers is how many next messages an answer suggests.
const maxOffers = 4

// marks reports whether the prompt teaches a marker.
func (t *turn) marks(name string) bool {
	_, after, ok := strings.Cut(t.prompt, structured)
	return ok && strings.Contains(after, name)
}

// markers writes the payloads of the answer, each on its own line.
func (t *turn) markers() string {
	out := ""
	if t.proposal != nil {
		out += "\n\nRULE_PROPOSAL: " + string(t.proposal)
	}
	if len(t.offers) > 0 && t.marks("SUGGESTED_VALUES") {
		out += marker("SUGGESTED_VALUES", map[string]any{"values": t.offers[:min(len(t.offers), maxOffers)]})
	}
	if as := t.buttons(); len(as) > 0 && t.marks("SUGGESTED_ACTIONS") {
		out += marker("SUGGESTED_ACTIONS", map[string]any{"actions": as})
	}
	return out
}

func marker(name string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return "\n\n" + name + ": " + string(b)
}

// button is one suggested action.
type button struct {
	Label   string `json:"label"`
	Action  string `json:"action"`
	Handler string `json:"handler"`
	Style   string `json:"style"`
}

// maxButtons is how many actions an answer suggests.
const maxButtons = 2

// buttons suggests client actions of the prompt that fit an answer which
// changed rules: to see the models, to see the difference, to go back.
func (t *turn) buttons() []button {
	if !t.actions {
		return nil
	}
	var out []button
	inside := false
	for line := range strings.SplitSeq(t.prompt, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "==") {
			inside = strings.Trim(line, "#= ") == "CLIENT ACTIONS"
			continue
		}
		if !inside || !strings.HasPrefix(line, "-") || strings.Contains(line, "(data:") { // data is not ours to invent
			continue
		}
		name := identifier(line[1:])
		if label := actionLabel(name); label != "" && !slices.ContainsFunc(out, func(b button) bool { return b.Label == label }) && len(out) < maxButtons {
			out = append(out, button{label, name, "client", "secondary"})
		}
	}
	return out
}

// identifier is the first name on a line: "- `show_models`(…): …".
func identifier(s string) string {
	s = strings.TrimLeft(s, " `*\"")
	end := strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

// actionLabel names the actions that make sense after a change.
func actionLabel(name string) string {
	switch {
	case strings.Contains(name, "checkpoint"):
		return "Checkpoints"
	case strings.Contains(name, "diff"), strings.Contains(name, "preview"), strings.Contains(name, "changes"):
		return "Show changes"
	case strings.Contains(name, "models"):
		return "Show models"
	}
	return ""
}

// propose answers with a rule proposal instead of changing anything.
func (t *turn) propose(s step) {
	inner := s
	inner.kind = s.inner
	if len(s.what) == 0 {
		w := t.commonWord()
		if w == "" {
			t.say("Say what the rules are for, for example `propose rules for hiding preview models`.")
			return
		}
		inner.kind, inner.what = hide, []selector{{terms: []term{{w, asWord}}}}
	}
	p, why, ok := t.draft(inner)
	if !ok {
		return
	}
	if !t.marks("RULE_PROPOSAL") {
		t.say("I would propose: %s. Nothing was changed; say `%s` to do it.", why, clean(asRequest(inner)))
		return
	}
	t.say("I propose: %s. Nothing is changed until you accept it.", why)
	t.proposal = t.shape(p, sentenceCase(why)+".")
}

// asRequest is the sentence that does what a proposal would.
func asRequest(s step) string {
	v := map[kind]string{only: "only allow ", allow: "allow ", unhide: "unhide "}[s.kind]
	if v == "" {
		v = "hide "
	}
	var ws []string
	for _, x := range s.what {
		ws = append(ws, x.text())
	}
	return v + strings.Join(ws, ", ")
}

// draftRules are the rules of a proposal.
type draftRules struct{ addIgnore, removeIgnore, addAllow, removeAllow []string }

// draft works out the rules that a step would make, without the tools.
func (t *turn) draft(s step) (draftRules, string, bool) {
	var d draftRules
	gs, ok := t.resolve(s)
	if !ok {
		return d, "", false
	}
	n := 0
	for _, g := range gs {
		ps, ok := t.targets(s, g)
		if !ok {
			return d, "", false
		}
		for _, m := range t.w.models {
			if g.provider == "" && fitsAny(m, ps) {
				n++
			}
		}
		switch s.kind {
		case hide:
			if g.sel.newest || g.sel.old || len(s.except) > 0 {
				d.addIgnore = append(d.addIgnore, ps...)
			} else {
				d.addIgnore = append(d.addIgnore, g.pattern)
			}
		case unhide:
			if hasRule(t.w.ignore, g.pattern) {
				d.removeIgnore = append(d.removeIgnore, g.pattern)
			} else {
				d.addAllow = append(d.addAllow, ps...)
			}
		case only:
			d.addIgnore = append(d.addIgnore, "*")
			d.addAllow = append(d.addAllow, ps...)
		default:
			d.addAllow = append(d.addAllow, ps...)
		}
	}
	if s.kind == only {
		for _, r := range t.w.allow {
			if !slices.Contains(d.addAllow, r.pattern) {
				d.removeAllow = append(d.removeAllow, r.pattern)
			}
		}
	}
	d.addIgnore, d.addAllow = unique(d.addIgnore), unique(d.addAllow)
	return d, d.inWords() + fmt.Sprintf(" (%s of the list fit)", count(n, "model")), true
}

func (d draftRules) inWords() string {
	var parts []string
	for _, p := range []struct {
		verb string
		ps   []string
	}{{"hide", d.addIgnore}, {"always allow", d.addAllow}, {"remove the ignore rules", d.removeIgnore}, {"remove the allow rules", d.removeAllow}} {
		if len(p.ps) > 0 {
			parts = append(parts, p.verb+" "+someCodes(p.ps))
		}
	}
	return joinAnd(parts)
}

// shape writes a proposal with the field names of the prompt's own example,
// so that it fits the window's parser.
func (t *turn) shape(d draftRules, reason string) json.RawMessage {
	like := map[string]any{"add_ignore": nil, "add_whitelist": nil, "remove_ignore": nil, "remove_whitelist": nil, "reasoning": nil}
	for rest, ok := t.prompt, true; ok; {
		_, rest, ok = strings.Cut(rest, "RULE_PROPOSAL:")
		if body := strings.TrimSpace(rest); ok && strings.HasPrefix(body, "{") {
			var v map[string]any
			if json.NewDecoder(strings.NewReader(body)).Decode(&v) == nil && len(v) > 0 {
				like = v
				break
			}
		}
	}
	b, err := json.Marshal(d.fields(like, "", reason))
	if err != nil {
		return nil
	}
	return b
}

// fields fills an example's shape: a name with "add" or "remove" and "ignore"
// or "allow" takes those rules, one with "reason" the reason.
func (d draftRules) fields(like map[string]any, path, reason string) map[string]any {
	out := map[string]any{}
	for k, v := range like {
		name := strings.ToLower(path + " " + k)
		if sub, ok := v.(map[string]any); ok {
			out[k] = d.fields(sub, name, reason)
			continue
		}
		add, remove := strings.Contains(name, "add"), strings.Contains(name, "remove")
		ignore := strings.Contains(name, "ignore")
		allow := strings.Contains(name, "allow") || strings.Contains(name, "whitelist")
		switch {
		case strings.Contains(name, "reason"):
			out[k] = reason
		case ignore && remove:
			out[k] = orEmpty(d.removeIgnore)
		case allow && remove:
			out[k] = orEmpty(d.removeAllow)
		case ignore && (add || !remove):
			out[k] = orEmpty(d.addIgnore)
		case allow && (add || !remove):
			out[k] = orEmpty(d.addAllow)
		}
	}
	return out
}

func orEmpty(ss []string) []string {
	if ss == nil {
		return []string{}
	}
	return ss
}
