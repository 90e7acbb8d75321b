package offline

import (
	"fmt"
	"slices"
	"strings"
)

// importable reports literal rules for one provider, with the tool at hand.
func (t *turn) importable(gs []goal) bool {
	if _, ok := t.req.tool("import_rules"); !ok {
		return false
	}
	for _, g := range gs {
		if g.provider != gs[0].provider || g.all || g.sel.newest || g.sel.old || !g.sel.exact() && wild(g.pattern) {
			return false
		}
	}
	return true
}

// importList imports one list.
func (t *turn) importList(l string, gs []goal) {
	ps := make([]string, len(gs))
	for i, g := range gs {
		ps[i] = g.pattern
	}
	if l == "ignore" {
		t.importAll(ps, nil, "merge", gs[0])
	} else {
		t.importAll(nil, ps, "merge", gs[0])
	}
}

// imports runs an import step.
func (t *turn) imports(s step) {
	var ignore, allow []string
	for _, r := range s.rules {
		for _, g := range t.w.goals(r.what) {
			switch {
			case g.problem != "":
				t.say("%s.", sentenceCase(g.problem))
			case r.list == "allow":
				allow = append(allow, g.pattern)
			default:
				ignore = append(ignore, g.pattern)
			}
		}
	}
	if len(ignore)+len(allow) == 0 {
		t.say("Name the rules to import, for example `import ignore gpt-3.5*, *preview*`.")
		return
	}
	t.importAll(ignore, allow, s.name, goal{})
}

func (t *turn) importAll(ignore, allow []string, mode string, g goal) {
	a := args{"mode": mode, "provider": t.provider(g)}
	if len(ignore) > 0 {
		a["ignore"] = unique(ignore)
	}
	if len(allow) > 0 {
		a["whitelist"] = unique(allow)
	}
	r := t.do("import_rules", a)
	if r == nil {
		t.plan("I'll import %s in one go (%s): %s.", count(len(ignore)+len(allow), "rule"), mode, someCodes(append(slices.Clone(ignore), allow...)))
		return
	}
	items := importItems(r)
	good := 0
	var lines []string
	for _, it := range items {
		switch {
		case !it.ok:
			lines = append(lines, fmt.Sprintf("- not added %s: %s", code(it.pattern), lowerFirst(strings.TrimRight(foreign(it.message), "."))))
			continue
		case it.known:
			lines = append(lines, fmt.Sprintf("- added %s: %s", code(it.pattern), count(it.n, "model")))
		default:
			lines = append(lines, "- added "+code(it.pattern))
		}
		good++
	}
	if r.Success || good > 0 {
		t.wrote, t.saved, t.actions = true, false, true
	}
	switch {
	case !r.Success && good == 0:
		t.say("I could not import the rules: %s.", lowerFirst(r.why()))
	case len(items) > 0:
		t.say("Imported %d of %s.", good, count(len(items), "rule"))
	default:
		t.say("%s", sentence(r.Message))
	}
	if len(lines) > 0 {
		t.say("%s", strings.Join(lines, "\n"))
	}
}

// importItem is the result of one rule of an import.
type importItem struct {
	pattern, message string
	ok, known        bool
	n                int
}

// importItems reads the results per rule, under any list of objects that have
// a pattern.
func importItems(r *result) []importItem {
	var out []importItem
	keys := make([]string, 0, len(r.Data))
	for k := range r.Data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		l, _ := r.Data[k].([]any)
		for _, v := range l {
			m, _ := v.(map[string]any)
			p, ok := m["pattern"].(string)
			if !ok {
				continue
			}
			it := importItem{pattern: p, ok: true}
			if b, has := m["success"].(bool); has {
				it.ok = b
			}
			it.message, _ = m["message"].(string)
			sub := result{Data: m}
			it.n, _, it.known = sub.affected()
			out = append(out, it)
		}
	}
	return out
}
