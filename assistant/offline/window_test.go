package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/glob"
	"winnow/assistant/offline/wire"
)

// filterTools are the tools of the model filter window with their parameters.
var filterTools = map[string]string{
	"add_ignore_rule": "pattern provider", "remove_ignore_rule": "pattern provider",
	"add_whitelist_rule": "pattern provider", "remove_whitelist_rule": "pattern provider",
	"clear_all_ignore_rules": "provider", "clear_all_whitelist_rules": "provider",
	"import_rules":                "ignore whitelist mode provider",
	"get_models_matching_pattern": "pattern provider", "get_model_details": "model", "explain_model_status": "model",
	"switch_provider": "provider", "refresh_models": "provider", "save_changes": "", "discard_changes": "",
	"find_models": "where provider sort limit", "list_rules": "provider", "plan_save": "", "propose_rules": "provider reasoning add_ignore remove_ignore add_whitelist remove_whitelist", "undo": "steps",
}

func toolList(tools map[string]string) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		params := tools[name]
		props := map[string]any{}
		for p := range strings.FieldsSeq(params) {
			props[p] = map[string]any{"type": "string"}
		}
		required := []string{}
		if first, _, _ := strings.Cut(params, " "); first == "pattern" {
			required = append(required, first)
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": name, "parameters": map[string]any{"type": "object", "properties": props, "required": required},
		}})
	}
	return out
}

// openaiModels are the listed models of the test window, with their state.
var openaiModels = []struct{ id, status, rule string }{
	{"openai/gpt-5.6-sol", "normal", ""},
	{"openai/gpt-5.6-luna", "normal", ""},
	{"openai/gpt-5.5", "normal", ""},
	{"openai/gpt-5-mini", "normal", ""},
	{"openai/gpt-5-nano", "normal", ""},
	{"openai/gpt-4o", "whitelisted", "gpt-4o"},
	{"openai/gpt-4o-mini", "normal", ""},
	{"openai/gpt-4o-2024-08-06", "normal", ""},
	{"openai/gpt-4o-audio-preview", "ignored", "*-preview"},
	{"openai/gpt-4-turbo-preview", "ignored", "*-preview"},
	{"openai/gpt-4-turbo", "normal", ""},
	{"openai/gpt-4", "normal", ""},
	{"openai/gpt-3.5-turbo", "ignored", "gpt-3.5*"},
	{"openai/gpt-3.5-turbo-16k", "ignored", "gpt-3.5*"},
	{"openai/o3", "normal", ""},
	{"openai/o3-mini", "normal", ""},
	{"openai/text-embedding-3-large", "normal", ""},
	{"openai/whisper-1", "normal", ""},
	{"openai/dall-e-3", "normal", ""},
	{"openai/gpt-image-1", "normal", ""},
	{"openai/chatgpt-4o-latest", "normal", ""},
}

// contextJSON is the test window's context; edit changes it before it is encoded.
func contextJSON(edit func(map[string]any)) string {
	decided, free := map[string][]string{}, []string{}
	for _, m := range openaiModels {
		if name := strings.TrimPrefix(m.id, "openai/"); m.rule != "" {
			decided[m.rule] = append(decided[m.rule], name)
		} else {
			free = append(free, name)
		}
	}
	rule := func(pattern string) any {
		return map[string]any{"pattern": pattern, "affected_count": len(decided[pattern]), "affected_models": decided[pattern]}
	}
	providers := []any{}
	for _, p := range []string{"openai", "anthropic", "gemini", "xai"} {
		providers = append(providers, map[string]any{"provider": p})
	}
	c := map[string]any{
		"window_type": "model_filter", "current_provider": "openai",
		"models":                     map[string]any{"total_count": len(openaiModels), "available_count": len(openaiModels) - 4, "without_rule": free},
		"rules":                      map[string]any{"ignore": []any{rule("*-preview"), rule("gpt-3.5*")}, "whitelist": []any{rule("gpt-4o")}},
		"ui_state":                   map[string]any{"has_unsaved_changes": true},
		"providers":                  providers,
		"changes_since_last_message": []any{},
	}
	if edit != nil {
		edit(c)
	}
	b, _ := json.Marshal(c)
	return string(b)
}

const markersPrompt = "\n\n== STRUCTURED RESPONSES ==\nSUGGESTED_VALUES - offer.\n\nSUGGESTED_VALUES: {\"values\": []}\n\n" +
	"RULE_PROPOSAL - propose.\n\nRULE_PROPOSAL: {\"add_ignore\": [\"x\"], \"reasoning\": \"why\"}\n\n" +
	"SUGGESTED_ACTIONS - offer buttons for actions listed under CLIENT ACTIONS:\n\nSUGGESTED_ACTIONS: {\"actions\": []}\n\n" +
	"== TOOLS ==\n\n- get_models_matching_pattern: find models\n\n" +
	"== CLIENT ACTIONS ==\n\n- open_checkpoints: the checkpoints\n- show_models: the models\n- show_diff: with data (data: id)\n"

func system(context string) map[string]any {
	return map[string]any{"role": "system", "content": "You help.\n\n## Current Context\n\n```json\n" + context + "\n```" + markersPrompt}
}

func user(text string) map[string]any { return map[string]any{"role": "user", "content": text} }

// body is the body of a request.
func body(tb testing.TB, messages []any, tools map[string]string) []byte {
	tb.Helper()
	b, err := json.Marshal(map[string]any{"model": "rules", "messages": messages, "tools": toolList(tools)})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func request(tb testing.TB, messages []any, tools map[string]string) *wire.Request {
	tb.Helper()
	req, bad := server(0).Read(body(tb, messages, tools))
	if bad != nil {
		tb.Fatal(bad)
	}
	return req
}

// fakeWindow carries out tool calls as the model filter does, in memory.
type fakeWindow struct {
	provider      string
	order         []string
	models        map[string][]string // per provider, whole ids
	ignore, allow map[string][]string
	unsaved       bool
	cut           int // how many models the context and a query list; 0: all
	changes       []any
	refuse        func(name string, a map[string]any) map[string]any
	log           []string                 // the calls of the last message that change something
	looked        int                      // and how many others
	cards         string                   // the proposals of the last message, as the user sees them
	before        [2]map[string][]string   // the rules before the turn
	steps         [][2]map[string][]string // and before each turn that can be taken back
}

func newFakeWindow() *fakeWindow {
	w := &fakeWindow{
		provider: "openai",
		order:    []string{"openai", "anthropic", "gemini", "xai"},
		models: map[string][]string{
			"anthropic": {
				"anthropic/claude-opus-4-8", "anthropic/claude-sonnet-5", "anthropic/claude-sonnet-4-5-20250929",
				"anthropic/claude-haiku-4-5-20251001", "anthropic/claude-fable-5-preview",
			},
			"gemini": {
				"gemini/gemini-3.6-flash", "gemini/gemini-2.5-flash", "gemini/gemini-2.5-flash-lite", "gemini/gemini-3.1-pro-preview",
				"gemini/gemini-2.5-pro", "gemini/gemini-nano-1",
			},
			"xai": {"xai/grok-4", "xai/grok-4-fast", "xai/grok-3-mini"},
		},
		ignore: map[string][]string{"openai": {"*-preview", "gpt-3.5*"}},
		allow:  map[string][]string{"openai": {"gpt-4o"}},
	}
	for _, m := range openaiModels {
		w.models["openai"] = append(w.models["openai"], m.id)
	}
	return w
}

// status is a model's status and the rule that decides it.
func (w *fakeWindow) status(p, id string) (string, string) {
	for _, r := range w.allow[p] {
		if glob.Compile(r).MatchID(id) {
			return "whitelisted", r
		}
	}
	for _, r := range w.ignore[p] {
		if glob.Compile(r).MatchID(id) {
			return "ignored", r
		}
	}
	return "normal", ""
}

// hidden are the names of a provider's hidden models.
func (w *fakeWindow) hidden(p string) []string {
	var out []string
	for _, id := range w.models[p] {
		if s, _ := w.status(p, id); s == "ignored" {
			out = append(out, newModel(id, p).name)
		}
	}
	return out
}

func (w *fakeWindow) rules() string { return fmt.Sprint(w.ignore, w.allow) }

func (w *fakeWindow) context() string {
	decided, free := map[string][]string{}, []string{}
	for i, id := range w.models[w.provider] {
		name := newModel(id, w.provider).name
		switch _, r := w.status(w.provider, id); {
		case w.cut > 0 && i >= w.cut:
		case r != "":
			decided[r] = append(decided[r], name)
		default:
			free = append(free, name)
		}
	}
	rs := func(ps []string) []any {
		out := []any{}
		for _, p := range ps {
			out = append(out, map[string]any{"pattern": p, "affected_count": len(decided[p]), "affected_models": decided[p]})
		}
		return out
	}
	providers := []any{}
	for _, p := range w.order {
		total, hidden := len(w.models[p]), len(w.hidden(p))
		providers = append(providers, map[string]any{"provider": p, "total": total, "shown": total - hidden, "ignore_rules": len(w.ignore[p]), "whitelist_rules": len(w.allow[p])})
	}
	return contextJSON(func(c map[string]any) {
		c["current_provider"] = w.provider
		c["models"] = map[string]any{"total_count": len(w.models[w.provider]), "available_count": len(w.models[w.provider]) - len(w.hidden(w.provider)), "without_rule": free}
		c["rules"] = map[string]any{"ignore": rs(w.ignore[w.provider]), "whitelist": rs(w.allow[w.provider])}
		c["ui_state"] = map[string]any{"has_unsaved_changes": w.unsaved}
		c["truncated"] = w.cut > 0
		c["providers"] = providers
		c["changes_since_last_message"] = append([]any{}, w.changes...)
	})
}

func ok(msg string, data map[string]any) map[string]any {
	return map[string]any{"success": true, "message": msg, "data": data}
}

func refused(code, msg string) map[string]any {
	return map[string]any{"success": false, "message": msg, "error_code": code}
}

// call runs one tool.
func (w *fakeWindow) call(name string, a map[string]any) map[string]any {
	if w.refuse != nil {
		if r := w.refuse(name, a); r != nil {
			return r
		}
	}
	p, _ := a["provider"].(string)
	if p == "" {
		p = w.provider
	}
	switch name {
	case "get_models_matching_pattern":
		if p == "*" {
			return w.queryAll(a["pattern"].(string))
		}
		return w.query(p, a["pattern"].(string))
	case "switch_provider":
		w.provider = p
		return ok("The current provider is now "+w.provider+".", map[string]any{"provider": p})
	case "refresh_models":
		return ok(p+" has its models.", nil)
	case "save_changes":
		w.unsaved = false
		return ok("Saved 1 rule to .env.", nil)
	case "discard_changes":
		w.unsaved = false
		return ok("Discarded 1 rule.", nil)
	case "explain_model_status":
		return w.explain(a["model"].(string))
	case "find_models":
		return w.find(a)
	case "list_rules":
		return w.listRules(w.text(a["provider"]))
	case "propose_rules":
		b, _ := json.Marshal(a)
		w.cards += "\n\nRULE_PROPOSAL: " + string(b)
		return ok("Proposed.", map[string]any{"effects": []string{"hides 1 model; it was used 2 h ago, 7 requests in all"}})
	case "plan_save":
		return ok("Saving would write 1 line:\n+IGNORE_MODELS_OPENAI=x\nopenai: 1 more model will be hidden.", nil)
	case "undo":
		return w.undo(int(a["steps"].(float64)))
	}
	return w.edit(name, p, a)
}

// begin notes the rules before a turn.
func (w *fakeWindow) begin() {
	w.before = [2]map[string][]string{maps.Clone(w.ignore), maps.Clone(w.allow)}
}

// end makes a turn that changed rules a step that can be taken back.
func (w *fakeWindow) end() {
	changed := fmt.Sprint(w.before[0], w.before[1]) != w.rules()
	if undone := strings.Contains(strings.Join(w.log, " "), "undo("); changed && !undone {
		w.steps = append(w.steps, w.before)
	}
	if slices.Contains(w.log, "discard()") {
		w.steps = nil
	}
}

func (w *fakeWindow) undo(n int) map[string]any {
	if len(w.steps) == 0 {
		return refused("failed", "Nothing was undone: there is no change of yours to take back.")
	}
	n = min(n, len(w.steps))
	to := w.steps[len(w.steps)-n]
	w.ignore, w.allow, w.steps, w.unsaved = to[0], to[1], w.steps[:len(w.steps)-n], true
	return ok(fmt.Sprintf("Took back %d steps.", n), nil)
}

func (w *fakeWindow) listRules(only string) map[string]any {
	providers := []any{}
	for _, p := range w.order {
		if only != "" && only != p || only == "" && len(w.ignore[p])+len(w.allow[p]) == 0 {
			continue
		}
		data := map[string]any{"provider": p}
		for list, rules := range map[string][]string{"ignore": w.ignore[p], "whitelist": w.allow[p]} {
			listed := []any{}
			for _, r := range rules {
				decides, matches := 0, 0
				for _, id := range w.models[p] {
					if _, by := w.status(p, id); by == r {
						decides++
					}
					if glob.Compile(r).MatchID(id) {
						matches++
					}
				}
				listed = append(listed, map[string]any{"pattern": r, "decides": decides, "matches": matches})
			}
			data[list+"_rules"] = listed
		}
		providers = append(providers, data)
	}
	return ok("listed", map[string]any{"providers": providers})
}

func (w *fakeWindow) query(p, pattern string) map[string]any {
	models := []any{}
	n, hidden := 0, 0
	for _, id := range w.models[p] {
		if !glob.Compile(pattern).MatchID(id) {
			continue
		}
		s, r := w.status(p, id)
		if n++; s == "ignored" {
			hidden++
		}
		if w.cut == 0 || len(models) < w.cut {
			models = append(models, map[string]any{"id": id, "status": s, "rule": r})
		}
	}
	return ok("found", map[string]any{
		"provider": p, "count": n, "hidden_count": hidden, "models": models,
		"ignore_rules": append([]string{}, w.ignore[p]...), "whitelist_rules": append([]string{}, w.allow[p]...),
	})
}

// queryAll counts on all providers.
func (w *fakeWindow) queryAll(pattern string) map[string]any {
	var counts []any
	for _, p := range w.order {
		data := w.query(p, pattern)["data"].(map[string]any)
		counts = append(counts, map[string]any{
			"provider": p, "count": data["count"], "hidden_count": data["hidden_count"],
			"ignore_rule_count": len(w.ignore[p]), "whitelist_rule_count": len(w.allow[p]),
		})
	}
	return ok("counted", map[string]any{"providers": counts})
}

func (w *fakeWindow) explain(id string) map[string]any {
	p, _, _ := strings.Cut(id, "/")
	s, r := w.status(p, id)
	data := map[string]any{"status": s, "id": id}
	if r != "" {
		data["affecting_rule"] = map[string]any{"pattern": r, "type": map[string]string{"ignored": "ignore", "whitelisted": "whitelist"}[s]}
	}
	return ok(id+" is "+s, data)
}

// edit runs a tool that changes rules.
func (w *fakeWindow) edit(name, p string, a map[string]any) map[string]any {
	lists := map[string]map[string][]string{"ignore": w.ignore, "whitelist": w.allow}
	list := "ignore"
	if strings.Contains(name, "whitelist") {
		list = "whitelist"
	}
	pattern, _ := a["pattern"].(string)
	before := w.hidden(p)
	kept := func() []string {
		var out []string
		for _, id := range w.models[p] {
			if glob.Compile(pattern).MatchID(id) {
				out = append(out, newModel(id, p).name)
			}
		}
		return out
	}
	data := map[string]any{"provider": p, "pattern": pattern}
	i := slices.Index(lists[list][p], pattern)
	switch {
	case strings.HasPrefix(name, "add_"):
		if i >= 0 || slices.Contains(lists[list][p], "*") {
			return refused("covered", `Pattern "`+pattern+`" is already covered by a rule.`)
		}
		lists[list][p] = append(lists[list][p], pattern)
	case strings.HasPrefix(name, "remove_"):
		if i < 0 {
			return refused("failed", `There is no rule "`+pattern+`".`)
		}
		lists[list][p] = slices.Delete(slices.Clone(lists[list][p]), i, i+1)
	default:
		data["removed_rules"] = lists[list][p]
		delete(lists[list], p)
	}
	w.unsaved = true
	changed := kept()
	if list == "ignore" {
		after := w.hidden(p)
		changed = slices.DeleteFunc(slices.Concat(before, after), func(n string) bool { return slices.Contains(before, n) == slices.Contains(after, n) })
	}
	total := len(w.models[p])
	shown := total - len(w.hidden(p))
	data["affected_models"], data["affected_count"], data["available_count"], data["total_count"] = changed, len(changed), shown, total
	return ok(fmt.Sprintf("%d models changed: %sed %s rule %q for %s. %d of %d shown. Not saved yet.", len(changed), strings.TrimSuffix(strings.SplitN(name, "_", 2)[0], "e"), list, pattern, p, shown, total), data)
}

// short writes a call: "openai+ignore(*mini*)".
func short(name string, a map[string]any) string {
	p, _ := a["provider"].(string)
	pattern, _ := a["pattern"].(string)
	names := map[string]string{
		"add_ignore_rule": "+ignore(", "remove_ignore_rule": "-ignore(", "add_whitelist_rule": "+allow(", "remove_whitelist_rule": "-allow(",
		"clear_all_ignore_rules": "-ignore(all", "clear_all_whitelist_rules": "-allow(all",
	}
	if n := names[name]; n != "" {
		return p + n + pattern + ")"
	}
	if name == "undo" {
		return fmt.Sprintf("undo(%v)", a["steps"])
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_changes"), "_provider"), "_models") + "(" + p + ")"
}

// chat keeps a conversation with the window.
type chat struct {
	tb       testing.TB
	w        *fakeWindow
	messages []any
	tools    map[string]string
	rounds   int
	last     wire.Reply
}

func newChat(tb testing.TB, w *fakeWindow) *chat {
	tb.Helper()
	return &chat{tb: tb, w: w, tools: filterTools}
}

// say sends a message, runs the calls of every round, and returns the answer.
func (c *chat) say(text string) string {
	c.tb.Helper()
	c.w.log, c.w.looked, c.w.cards = nil, 0, ""
	c.w.begin()
	defer c.w.end()
	c.messages = append(c.messages, user(text))
	ctx := c.w.context()
	c.w.changes = nil
	for c.rounds = 0; ; c.rounds++ {
		if c.rounds > maxRounds {
			c.tb.Fatalf("%q: more than %d rounds: %v", text, maxRounds, c.w.log)
		}
		r := respond(request(c.tb, append([]any{system(ctx)}, c.messages...), c.tools))
		c.last = r
		c.messages = append(c.messages, c.assistant(r))
		if len(r.Calls) == 0 {
			return r.Text + c.w.cards
		}
		for _, p := range r.Calls {
			var a map[string]any
			if err := json.Unmarshal([]byte(p.Args), &a); err != nil {
				c.tb.Fatal(err)
			}
			if writeTools[p.Name] {
				c.w.log = append(c.w.log, short(p.Name, a))
			} else {
				c.w.looked++
			}
			b, _ := json.Marshal(c.w.call(p.Name, a))
			c.messages = append(c.messages, map[string]any{"role": "tool", "tool_call_id": p.ID, "content": string(b)})
		}
	}
}

// did is what the last message changed.
func (c *chat) did() string { return strings.Join(c.w.log, " ") }

func (c *chat) assistant(r wire.Reply) map[string]any {
	text, _, _ := strings.Cut(r.Text, "\n\nRULE_PROPOSAL") // the session takes payloads out
	text, _, _ = strings.Cut(text, "\n\nSUGGESTED_")
	m := map[string]any{"role": "assistant", "content": text}
	var calls []any
	for _, p := range r.Calls {
		calls = append(calls, map[string]any{"id": p.ID, "type": "function", "function": map[string]any{"name": p.Name, "arguments": p.Args}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// wants fails unless the answer holds each of the phrases.
func wants(t *testing.T, answer string, phrases ...string) {
	t.Helper()
	for _, p := range phrases {
		if !strings.Contains(answer, p) {
			t.Errorf("the answer lacks %q:\n%s", p, answer)
		}
	}
}
