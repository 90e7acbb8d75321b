package offline

import (
	"fmt"
	"strings"
)

// searchTool is the one tool of other windows that this model can use.
const searchTool = "search_pairs"

// runGeneric answers in a window whose requests this model has no rules for:
// it searches where it can, and says what the tools here are.
func (t *turn) runGeneric() {
	s := t.steps[0]
	_, searches := t.req.tool(searchTool)
	switch {
	case (s.kind == find || s.kind == list) && searches && len(s.what) > 0:
		t.search(s)
	case s.kind == greet, s.kind == help, s.kind == thanks, s.kind == no:
		if s.kind == greet || s.kind == help {
			t.say("Hello. %s", self)
			t.abilities(searches)
			return
		}
		t.talk(s)
	default:
		t.say("I have no rules for that in this window. %s", self)
		t.abilities(searches)
	}
}

// abilities says what can be done here.
func (t *turn) abilities(searches bool) {
	if searches {
		t.say("Here I can search: say `find` and a word.")
	}
	if len(t.req.Tools) == 0 {
		t.say("The request offers me no tools.")
		return
	}
	const most = 20
	lines := []string{"The tools of this window, which another model (`ctrl+l`) can use freely:", ""}
	for i, tool := range t.req.Tools {
		if i == most {
			lines = append(lines, fmt.Sprintf("- and %d more", len(t.req.Tools)-most))
			break
		}
		lines = append(lines, "- "+code(tool.Function.Name)+": "+sentence(tool.Function.Description))
	}
	t.say("%s", strings.Join(lines, "\n"))
}

// search looks for words; a search tool that takes the filter language gets
// them as its c'…' term.
func (t *turn) search(s step) {
	var ws []string
	for _, sel := range s.what {
		for _, x := range sel.terms {
			ws = append(ws, x.text)
		}
	}
	q := strings.Join(ws, " ")
	tool, _ := t.req.tool(searchTool)
	about := tool.Function.Description + " " + tool.Function.Parameters.Properties["query"].Description
	if strings.Contains(about, "filter language") || strings.Contains(about, "c'") {
		q = "c'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(q) + "'"
	}
	r := t.do(searchTool, args{"query": q})
	switch {
	case r == nil:
		t.plan("I search for %s.", code(strings.Join(ws, " ")))
	case r.Success:
		t.say("%s", sentence(r.Message))
	case !r.missing:
		t.say("The search failed: %s.", lowerFirst(r.why()))
	}
}
