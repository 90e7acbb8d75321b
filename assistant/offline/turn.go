package offline

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
)

// maxRounds is how often one turn may call tools.
const maxRounds = 4

// turn works out one response. Nothing is kept between requests: the steps of
// the user's text are run from the beginning each time, and a call that the
// request already holds a result for gives that result instead of being made
// again. What is left over is this response's calls; with none left, the turn
// is done and the report is the answer.
type turn struct {
	req       *chatRequest
	w         window
	prompt    string      // system text without the context
	past      []*exchange // before this turn
	now       *exchange
	steps     []step
	pastSteps []pastStep // of the chat history

	batch    []pending
	said     []string // report paragraphs, from results
	intent   []string // what the calls of this response are for
	missing  []string // tools that are not offered
	stopped  bool     // locked or out of rounds: no more calls
	wrote    bool     // a write succeeded in this turn
	saved    bool     // a save succeeded after it
	offers   []value
	actions  bool // the answer changed rules: offer buttons about that
	proposal json.RawMessage
	scope    string // a provider that an earlier step switched to
}

// pending is a call of this response.
type pending struct {
	id   string
	name string
	args json.RawMessage
}

// value is one suggested next message.
type value struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// newTurn reads a request.
func newTurn(req *chatRequest) *turn {
	system, all := req.conversation()
	t := &turn{req: req, now: &exchange{}}
	t.w, t.prompt = findWindow(system)
	if len(all) > 0 {
		t.now, t.past = all[len(all)-1], all[:len(all)-1]
	}
	t.rewind()
	return t
}

// rewind takes this turn's own rule changes out of the context: some programs
// send a fresh context with each response, and a step must decide the same
// way in every round.
func (t *turn) rewind() {
	for i := len(t.now.calls) - 1; i >= 0; i-- {
		c := t.now.calls[i]
		p := c.text("pattern")
		if c.res == nil || !c.res.Success || p == "" || c.text("provider") != "" && c.text("provider") != t.w.provider {
			continue
		}
		switch c.name {
		case "add_ignore_rule":
			t.w.ignore = withoutRule(t.w.ignore, p)
		case "add_whitelist_rule":
			t.w.allow = withoutRule(t.w.allow, p)
		case "remove_ignore_rule":
			t.w.ignore = withRule(t.w.ignore, p)
		case "remove_whitelist_rule":
			t.w.allow = withRule(t.w.allow, p)
		}
	}
}

func withoutRule(rs []rule, p string) []rule {
	out := make([]rule, 0, len(rs))
	for _, r := range rs {
		if r.pattern != p {
			out = append(out, r)
		}
	}
	return out
}

func withRule(rs []rule, p string) []rule {
	if hasRule(rs, p) {
		return rs
	}
	return append(rs, rule{pattern: p})
}

// args are the arguments of a call.
type args map[string]any

// do makes a call, or gives its result when it was made in an earlier round:
// nil means that it is made now. A call refused for its arguments is made once
// more as the refusal says.
func (t *turn) do(name string, a args) *result {
	tool, offered := t.req.tool(name)
	if a["provider"] == "" || offered && !tool.takes("provider") {
		delete(a, "provider")
	}
	c := t.take(name, a, true)
	if c == nil {
		c = t.take(name, a, false)
	}
	switch {
	case c == nil && !offered:
		t.missing = append(t.missing, name)
		return &result{missing: true, Message: "the tool " + name + " is not offered here"}
	case c == nil:
		return t.make(name, a)
	}
	if c.res == nil {
		return &result{Message: "no result came back"}
	}
	if !c.res.Success && (c.res.Code == "invalid_arguments" || strings.HasPrefix(c.res.Error, "Invalid parameter")) {
		if b, ok := corrected(tool, a, c.res); ok {
			if d := t.take(name, b, true); d != nil && d.res != nil {
				return d.res
			}
			return t.make(name, b)
		}
	}
	if c.res.Code == "locked" {
		t.stopped = true
	}
	return c.res
}

// make adds a call to this response.
func (t *turn) make(name string, a args) *result {
	if t.stopped || t.now.rounds >= maxRounds {
		t.stopped = true
		return &result{Message: "not done: this turn has ended"}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return &result{Message: err.Error()}
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s %s %d", len(t.past), t.now.rounds, name, text, len(t.batch))
	t.batch = append(t.batch, pending{fmt.Sprintf("call_%016x", h.Sum64()), name, text})
	return nil
}

// take finds this turn's earlier call: the same one, or else (not exact) the
// first of the tool that no step has claimed, for a context that changed
// between the rounds.
func (t *turn) take(name string, a args, exact bool) *call {
	for _, c := range t.now.calls {
		if c.consumed || c.name != name || exact && !same(c.args, a) {
			continue
		}
		c.consumed = true
		return c
	}
	return nil
}

func same(have map[string]any, want args) bool {
	if len(have) == 0 && len(want) == 0 {
		return true
	}
	text, _ := json.Marshal(want)
	var norm map[string]any
	_ = json.Unmarshal(text, &norm)
	return reflect.DeepEqual(have, norm)
}

// corrected rewrites arguments after a refusal: the name it proposes, else
// without what the schema does not have, else under the one required name.
func corrected(tool chatTool, a args, r *result) (args, bool) {
	b := args{}
	for k, v := range a {
		b[k] = v
	}
	words := quotedWords(r.Message + " " + r.Error + " " + r.Hint)
	for k := range a {
		for i, bad := range words {
			if bad == k && i+1 < len(words) && tool.takes(words[i+1]) {
				delete(b, k)
				b[words[i+1]] = a[k]
				return b, true
			}
		}
	}
	for k := range a {
		if !tool.takes(k) {
			delete(b, k)
		}
	}
	if req := tool.Function.Parameters.Required; len(req) == 1 && b[req[0]] == nil {
		for _, k := range []string{"pattern", "model", "provider"} {
			if a[k] != nil {
				b[req[0]] = a[k]
			}
		}
	}
	return b, !reflect.DeepEqual(a, b)
}

// quotedWords returns the words that stand between single or double quotes.
func quotedWords(s string) []string {
	var out []string
	for {
		i := strings.IndexAny(s, `'"`)
		if i < 0 {
			return out
		}
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 {
			return out
		}
		out = append(out, s[i+1:i+1+end])
		s = s[i+end+2:]
	}
}

// waiting reports that calls of this response must come back first.
func (t *turn) waiting() bool { return len(t.batch) > 0 }

// say adds a paragraph to the report.
func (t *turn) say(format string, a ...any) { t.said = append(t.said, fmt.Sprintf(format, a...)) }

// plan adds a sentence about the calls of this response.
func (t *turn) plan(format string, a ...any) {
	t.intent = append(t.intent, fmt.Sprintf(format, a...))
}

// offer suggests a next message.
func (t *turn) offer(label, text string) {
	for _, o := range t.offers {
		if o.Value == text {
			return
		}
	}
	t.offers = append(t.offers, value{clean(label), clean(text)})
}

// provider is the provider argument for a goal: "" for the current one.
func (t *turn) provider(g goal) string {
	if g.provider == "" {
		return t.scope
	}
	return g.provider
}

// on names the provider in a sentence when it is not the current one.
func on(provider string) string {
	if provider == "" {
		return ""
	}
	return " on " + clean(provider)
}
