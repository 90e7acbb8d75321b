package offline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// said is one message of a conversation: what it changes, and phrases of its
// answer.
type said struct {
	text string
	did  string
	want []string
}

// TestConversations holds conversations; each message is understood in the
// light of those before it.
func TestConversations(t *testing.T) {
	for name, messages := range map[string][]said{
		"yes does what was asked": {
			{"hide openai models", "", []string{"more than half", "16 of the 17 models it shows", "say `yes`", `"add_ignore":["*"]`}},
			{"yes", "openai+ignore(*)", []string{"Not saved yet"}},
			{"yes", "", []string{"no open question"}},
		},
		"only here and everything there": {
			{"only keep o3 on openai, hide all gemini", "", []string{"openai: 16 of the 17", "gemini: 6 of the 6"}},
			{"yes", "openai-allow(gpt-4o) openai+allow(o3) openai+ignore(*) gemini+ignore(*)", nil},
		},
		"no rules at all": {{"show the rules on gemini", "", []string{"No rules on gemini."}}},
		"only twice": {
			{"only o3 on openai and sonnet on anthropic", "", []string{"openai: 16 of the 17", "anthropic: 3 of the 5"}},
			{"no", "", nil},
		},
		"a question is done on yes": {
			{"should we hide mini? hide mini?", "", nil},
			{"hide mini?", "", []string{"I propose: hide `*mini*` on openai"}},
			{"yes", "openai+ignore(*mini*)", nil},
		},
		"a question names what to say": {{"save?", "", []string{"That is a question", "Say `save` to do it", `"value":"save"`}}},
		"a proposal is made on yes":    {{"propose rules for hiding minis", "", []string{"I propose: hide `*mini*` on openai"}}, {"yes", "openai+ignore(*mini*)", nil}},
		"no leaves it":                 {{"hide everything", "", nil}, {"no", "", []string{"Nothing was changed"}}, {"yes", "", []string{"no open question"}}},
		"every provider asks with counts": {
			{"hide all preview models on every provider", "", []string{"ask first", "anthropic: 1 of the 5 models", "gemini: 1 of the 6", `"provider":"anthropic"`, `"provider":"gemini"`}},
			{"yes", "anthropic+ignore(*preview*) gemini+ignore(*preview*)", nil},
		},
		"mini is no part of gemini": {
			{"hide mini on every provider", "", []string{"openai: 3 of", "xai: 1 of"}},
			{"do it", "openai+ignore(*mini*) xai+ignore(*mini*)", nil},
		},
		"a provider can be excepted": {
			{"hide all flash and fast models on every provider except gemini", "", []string{"matches `flash`"}},
			{"hide all preview models on every provider except gemini", "", []string{"anthropic: 1 of"}},
			{"yes", "anthropic+ignore(*preview*)", nil},
		},
		"an exception is kept": {
			{"hide all claude models on anthropic except claude-sonnet-5", "", []string{"anthropic: 4 of the 5"}},
			{"yes", "anthropic+allow(claude-sonnet-5) anthropic+ignore(claude*)", nil},
		},
		"families of two providers": {
			{"only show o3 and claude models, block every preview", "", []string{"openai: 16 of the 17", "anthropic: 1 of the 5"}},
			{"ok", "openai-allow(gpt-4o) openai+allow(o3) openai+ignore(*) anthropic+allow(claude-opus-4-8) anthropic+allow(claude-sonnet-5) anthropic+allow(claude-sonnet-4-5-20250929) anthropic+allow(claude-haiku-4-5-20251001) anthropic+ignore(*)", nil},
		},
		"follow-ups": {
			{"hide mini", "openai+ignore(*mini*)", []string{"for openai. The models are `gpt-", " of 21 shown. Not saved yet."}},
			{"and nano too", "openai+ignore(*nano*)", nil},
			{"also on gemini", "gemini+ignore(*nano*)", nil},
			{"and flash-lite too", "gemini+ignore(*flash-lite*)", nil},
		},
		"a switch holds": {
			{"switch to gemini", "switch(gemini)", nil}, {"hide flash-lite", "gemini+ignore(*flash-lite*)", nil},
		},
		"pronouns": {
			{"why is gpt-3.5-turbo hidden?", "", []string{"hidden by the ignore rule `gpt-3.5*`"}},
			{"unhide it", "openai+allow(gpt-3.5-turbo)", nil},
			{"hide it again", "openai-allow(gpt-3.5-turbo) openai+ignore(gpt-3.5-turbo)", nil},
		},
		"pronoun without a noun": {{"hide them", "", []string{"which models you mean"}}},
		"undo": {
			{"hide mini", "openai+ignore(*mini*)", nil},
			{"hide nano, allow o3", "openai+ignore(*nano*) openai+allow(o3)", nil},
			{"clear all ignore rules", "", []string{"no", "`*-preview`"}},
		},
		"undo as many as asked": {
			{"hide mini", "openai+ignore(*mini*)", nil},
			{"hide nano, allow o3", "openai+ignore(*nano*) openai+allow(o3)", nil},
			{"hide gpt-4", "openai+ignore(gpt-4)", nil},
			{"undo the last two changes", "undo(2)", []string{"Took back 2 steps"}},
			{"which models are hidden on openai", "", []string{"`gpt-5-mini`, `gpt-4o-mini` and `o3-mini` are hidden by the ignore rule `*mini*`"}},
			{"undo everything", "undo(100)", []string{"Took back 1 step"}},
			{"undo", "undo(1)", []string{"Nothing was undone"}},
		},
		"undo of a clear": {
			{"clear all ignore rules", "openai-ignore(all)", nil},
			{"undo that", "undo(1)", nil},
			{"show the rules", "", []string{"`*-preview` (2 models)", "`gpt-3.5*` (2 models)"}},
		},
		"questions over all providers": {
			{"hide nano on gemini", "gemini+ignore(*nano*)", nil},
			{"which models are hidden and why", "", []string{
				"| provider | hidden | why | models |\n|---|---|---|---|\n| openai | 4 of 21 | hidden by the ignore rule ",
				"| openai | 4 of 21 | hidden by the ignore rule `gpt-3.5*` | `gpt-3.5-turbo` and `gpt-3.5-turbo-16k` |",
				"| gemini | 1 of 6 | hidden by the ignore rule `*nano*` | `gemini-nano-1` |\n\nNone on `anthropic` and `xai`.",
			}},
			{"which are hidden, and why?", "", []string{"| gemini | 1 of 6 | hidden by the ignore rule `*nano*` | `gemini-nano-1` |"}},
			{"which models are allowed on every provider", "", []string{"| provider | allowed | why | models |", "| openai | 1 of 21 | shown by the allow rule `gpt-4o` | `gpt-4o` |"}},
			{"which gemini models are hidden", "", []string{"gemini: 1 of 6"}},
			{"why is gemini-2.5-pro shown", "", []string{"gemini: `gemini-2.5-pro` is shown: no rule matches"}},
			{"how many on anthropic", "", []string{"anthropic: 5 models, 5 shown and 0 hidden"}},
			{"users can't see gpt-3.5-turbo", "", []string{"hidden by the ignore rule `gpt-3.5*`"}},
			{"remove all ignore rules for gemini", "gemini-ignore(all)", nil},
		},
		"why after a change": {{"hide o3", "openai+ignore(o3)", nil}, {"why?", "", []string{"openai: `o3` is hidden by the ignore rule `o3`"}}},
		"a kind that is elsewhere is offered there": {
			{"switch to anthropic", "switch(anthropic)", nil},
			{"hide every mini and nano model", "", []string{"Nothing here matches `mini` and `nano`. Nothing was changed.", "- `hide every mini and nano model on openai`: hides 4 models on openai", `"value":"hide every mini and nano model on openai"`}},
			{"hide every mini and nano model on openai", "openai+ignore(*mini*) openai+ignore(*nano*)", nil},
			{"hide every mini and nano model", "", []string{"Nothing here matches", "These work:"}},
			{"hide claude and nano models", "", []string{"Nothing here matches `nano`", "- `hide claude models`: hides 5 models on anthropic"}},
			{"hide embeddings and every wolpertinger", "", []string{"`wolpertinger`"}},
			{"hide nano; hide models on every provider except anthropic and gemini and openai and xai", "", []string{"Nothing here matches `nano`", "Nothing was changed"}},
			{"hide every snapshot", "", []string{"Nothing here matches `snapshot`", "Nothing was changed"}},
		},
		"elsewhere is offered": {
			{"hide flash models", "", []string{"Nothing here matches `flash`", "- `hide flash models on gemini`: hides 3 models on gemini", `"value":"hide flash models on gemini"`, "Nothing was changed"}},
			{"hide flash on gemini", "gemini+ignore(*flash*)", nil},
			{"hide flash models", "", []string{"Nothing here matches `flash`", "Nothing was changed"}},
		},
		"words left over": {
			{"hide mini models carefully", "", []string{"Nothing here matches `carefully`. Nothing was changed.", "- `hide mini models`: hides 3 models on openai"}},
			{"hide flash models on anthropic", "", []string{"matches `flash`"}},
			{"hide claud models on anthropic", "", []string{"Nothing on anthropic matches `claud`", "- `hide claude models on anthropic`: hides 5 models on anthropic", `"value":"hide claude models on anthropic"`}},
			{"hide onnet models on anthropic", "", []string{"matches `onnet`"}},
			{"hide turb models", "", []string{"- `hide turbo models`: hides 1 model on openai", "- `hide \"*turb*\" models`"}},
			{"hide sper models", "", []string{"- `hide \"*sper*\" models`: hides 1 model on openai"}},
		},
		"each named provider has an answer": {
			{"hide all preview models of openai and gemini", "gemini+ignore(*preview*)", []string{"hidden already on openai"}},
			{"hide all nano models of anthropic and gemini", "gemini+ignore(*nano*)", []string{"No model of anthropic matches `nano`."}},
			{"hide mini on openai", "openai+ignore(*mini*)", nil},
			{"hide mini on openai and gemini", "", []string{"hidden already on openai", "No model of gemini matches `mini`."}},
			{"hide xai's previews", "", []string{"Nothing here matches `previews`. Nothing was changed."}},
			{"hide previews on xai", "", []string{"Nothing on xai matches `previews`. Nothing was changed."}},
			{"hide betas on every provider", "", []string{"Nothing here matches `betas`."}},
			{"show nano models on anthropic and gemini", "", []string{"No model of anthropic matches `nano`.", "gemini: "}},
		},
		"a misspelt word": {
			{"hied gpt-4 and save", "", []string{"- `hide gpt-4 and save`: hides 1 model on openai", `"value":"hide gpt-4 and save"`, "Nothing was changed"}},
			{"Please blcok the preveiw models", "", []string{"I did not understand", "Nothing was changed"}},
			{"Please block the preveiw models", "", []string{"matches `preveiw`", "Nothing was changed"}},
			{"hide claud models", "", []string{"- `hide claude models`: hides 5 models on anthropic"}},
			{"hide flash on gemni", "", []string{"- `hide flash on gemini`: hides 3 models on gemini"}},
			{"hide imagen models", "", []string{"matches `imagen`"}},
			{"hello wolpertinger", "", []string{"I did not understand"}},
		},
		"small talk": {
			{"what can you do", "", []string{"I understand short requests", "These work:"}},
			{"What can I ask?", "", []string{"These work:"}},
			{"how are you?", "", []string{"a set of rules in this program"}},
			{"verstecke alle preview modelle", "", []string{"short requests in English only", "Nothing was changed"}},
		},
		"patterns are code": {{"why is gpt-4-turbo-preview hidden", "", []string{"`*-preview`"}}, {"show the rules", "", []string{"`*-preview` (2 models)", "`gpt-3.5*` (2 models)"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeWindow()
			c := newChat(t, w)
			for _, m := range messages {
				text := c.say(m.text)
				if got := c.did(); got != m.did && name != "undo" {
					t.Errorf("%q does %q, want %q\n%s", m.text, got, m.did, text)
				}
				if name != "undo" {
					wants(t, text, m.want...)
				}
				if strings.Count(text, `"label"`) > 5 || strings.Contains(text, "“") {
					t.Errorf("%q is answered %s", m.text, text)
				}
			}
		})
	}
}

// TestManyProvidersAreAskedAtOnce: one call counts on all of them, and only those on
// which there is something to see are looked at.
func TestManyProvidersAreAskedAtOnce(t *testing.T) {
	w := newFakeWindow()
	for i := range 30 {
		p := fmt.Sprintf("maker%d", i)
		w.order, w.models[p] = append(w.order, p), []string{p + "/alpha", p + "/beta"}
	}
	w.models["maker7"] = append(w.models["maker7"], "maker7/flash-9")
	w.ignore["maker7"], w.ignore["maker8"], w.allow["maker9"] = []string{"beta"}, []string{"none*"}, []string{"alpha"}
	c := newChat(t, w)
	for _, m := range []struct {
		text   string
		looked int
		want   []string
	}{
		{"which models are hidden", 2, []string{"| openai | 4 of 21 |", "| maker7 | 1 of 3 | hidden by the ignore rule `beta` | `beta` |", "None on `anthropic`, `gemini`, `xai`, `maker0`, `maker1`, `maker2` and 26 more."}},
		{"which models are allowed on every provider", 1, []string{"| openai | 1 of 21 |", "| maker9 | 1 of 2 | shown by the allow rule `alpha` | `alpha` |"}},
		{"show the rules on every provider", 1, []string{"maker7: 1 ignore rule: `beta` (1 model)", "maker8: 1 ignore rule: `none*`", "maker9: No ignore rules. 1 allow rule: `alpha`"}},
		{"hide wolpertinger models", 1, []string{"`wolpertinger`", "Nothing was changed"}},
		{"why is flash-9 shown", 2, []string{"maker7: `flash-9` is shown"}},
		{"hide flash on every provider", 5, []string{"ask first", "maker7: 1 of the 2 models", "it was used 2 h ago, 7 requests in all"}},
		{"yes", 3, []string{"`flash-9`"}},
		{"unhide everything", 0, nil},
		{"remove the allow rules on every provider", 6, []string{"ask first"}},
	} {
		text := c.say(m.text)
		if wants(t, text, m.want...); w.looked != m.looked {
			t.Errorf("%q looks %d times, want %d:\n%s", m.text, w.looked, m.looked, text)
		}
	}
	w.cut = 1 // beta, which is hidden, is not listed
	if text := c.say("which models are hidden on openai, anthropic, maker0 and maker7"); strings.Contains(text, "`maker7`") || strings.Contains(text, "No model") {
		t.Errorf("a provider that lists only a part has none:\n%s", text)
	}
	w.ignore = map[string][]string{}
	wants(t, c.say("which models are hidden"), "No model is hidden on any provider.")
}

// TestRedundantRules: rules that decide no model are named, with a request that
// removes just these, and no model changes by it.
func TestRedundantRules(t *testing.T) {
	w := newFakeWindow()
	w.ignore["openai"] = append(w.ignore["openai"], "gpt-3.5-turbo*", "none*")
	c := newChat(t, w)
	for _, said := range []string{"which rules are redundant?", "are there any unused rules", "show the useless ignore rules on openai", "clean up the rules"} {
		text := c.say(said)
		wants(t, text, "- `gpt-3.5-turbo*` (ignore on openai) hides no models: other rules come before it", "- `none*` (ignore on openai) hides no models: it matches none",
			"Did you mean this?\n\n- `remove the rules \"gpt-3.5-turbo*\", \"none*\" on openai`")
		if c.did() != "" {
			t.Errorf("%q does %q:\n%s", said, c.did(), text)
		}
	}
	before := fmt.Sprint(w.hidden("openai"))
	c.say(`remove the rules "gpt-3.5-turbo*", "none*" on openai`)
	if got := c.did(); got != "openai-ignore(gpt-3.5-turbo*) openai-ignore(none*)" || fmt.Sprint(w.hidden("openai")) != before {
		t.Errorf("it does %q, and %s are hidden, before %s", got, w.hidden("openai"), before)
	}
	if text := c.say("which rules are redundant?"); strings.Contains(text, "Did you mean") {
		t.Errorf("each rule decides a model, but it says\n%s", text)
	}
	w.cut = 4
	wants(t, newChat(t, w).say("which rules are redundant?"), "- `*-preview` (ignore on openai) hides 2 models") // counted by the window
}

// TestOnlyUsefulRulesAreOffered: a word that is in no model's name is not made a pattern.
func TestOnlyUsefulRulesAreOffered(t *testing.T) {
	for _, said := range []string{"hide nothing", "hide expensive models", "hide everything that costs more than $10", "hide how much it costs", "hide prview and zqxv"} {
		if text := newChat(t, newFakeWindow()).say(said); strings.Contains(text, `hide "*`) || strings.Contains(text, `hide \"*`) {
			t.Errorf("%q offers a rule:\n%s", said, text)
		}
	}
}

// TestItSaysWhatItIsWhenAsked: rules, not a language model, and how to connect one. A change
// is answered with what it changed.
func TestItSaysWhatItIsWhenAsked(t *testing.T) {
	c := newChat(t, newFakeWindow())
	if text := c.say("hide mini"); strings.Contains(text, "language model") || strings.Contains(text, "I'll") {
		t.Errorf("a change is answered with\n%s", text)
	}
	wants(t, c.say("are you an llm?"), "not a language model", "`winnow config connect`", "Connect a model")
	wants(t, c.say("hello"), "not a language model")
}

// TestPatternsAreQuotedOnce: what a tool's message names is a code span, also
// where it is one already.
func TestPatternsAreQuotedOnce(t *testing.T) {
	const said = "1 model hidden: added ignore rule `*mini*`, \"a b\" and *x*."
	if got, want := withCode(said), "1 model hidden: added ignore rule `*mini*`, `a b` and `*x*`."; got != want {
		t.Errorf("foreign = %s, want %s", got, want)
	}
}

// TestCutListsAreAskedFor: a list that the context and a query cut is looked up
// by the words, and what is not listed counts as shown.
func TestCutListsAreAskedFor(t *testing.T) {
	w := newFakeWindow()
	w.cut = 4
	c := newChat(t, w)
	c.say("hide mini")
	if got := c.did(); got != "openai+ignore(*mini*)" {
		t.Errorf("it does %s", got)
	}
	wants(t, c.say("hide gpt*"), "more than half")
}

func TestSaveNeedsAChange(t *testing.T) {
	c := newChat(t, newFakeWindow())
	wants(t, c.say("save"), "nothing to save")
	c.w.refuse = func(name string, _ map[string]any) map[string]any {
		if name == "add_ignore_rule" {
			return refused("covered", `Pattern "*mini*" is already covered by the ignore rule "*m*".`)
		}
		return nil
	}
	wants(t, c.say("hide mini and save"), "already covered by the ignore rule `*m*`", "nothing to save")
	c.w.refuse = func(name string, _ map[string]any) map[string]any {
		if name == "save_changes" {
			return refused("declined", "declined")
		}
		return nil
	}
	wants(t, c.say("hide nano and save"), "`*nano*`", "It was not confirmed, so it was not done")
}

func TestMissingAndLockedTools(t *testing.T) {
	c := newChat(t, newFakeWindow())
	c.tools = map[string]string{"add_ignore_rule": "pattern provider"}
	wants(t, c.say("unhide *-preview"), "`remove_ignore_rule`", "does not offer")
	c = newChat(t, newFakeWindow())
	c.w.refuse = func(string, map[string]any) map[string]any { return refused("locked", "locked") }
	wants(t, c.say("hide mini"), "locked", "Nothing was changed")
}

// TestUnknownWordsChangeNothing makes requests of words of the grammar and one
// that means nothing: no rule changes, and no card is shown.
func TestUnknownWordsChangeNothing(t *testing.T) {
	verbs := []string{"hide", "block", "only allow", "allow", "unhide", "remove", "keep", "stop hiding", "get rid of", "please hide", "clear", "save and hide", "propose hiding"}
	words := []string{
		"mini", "nano", "gpt", "claude", "all", "the", "models", "every", "newest", "old", "and", "or", ",", "gpt-4o", "*turbo*", `"o3"`, "preview",
		"on gemini", "on every provider", "except", "opus", "but not", "too", "everything", "starting with", "anthropic",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var said []string
		for range 1 + rnd.IntN(6) {
			said = append(said, words[rnd.IntN(len(words))])
		}
		odd := []string{"zqxv", "carefully", "foobarish", "wolpertinger", "q", "qq-7"}[rnd.IntN(6)]
		said = slices.Insert(said, rnd.IntN(len(said)+1), odd)
		text := verbs[rnd.IntN(len(verbs))] + " " + strings.Join(said, " ")
		w := newFakeWindow()
		before := w.rules()
		c := newChat(t, w)
		answer := c.say(text)
		if w.rules() != before || strings.Contains(answer, "RULE_PROPOSAL: {") || len(w.log) > 0 {
			t.Fatalf("%q does %s\n%s", text, c.did(), answer)
		}
	}
}

// TestExceptedModelsStayShown makes requests with an exception, and says yes: a
// model that the exception names and that was shown is shown afterwards.
func TestExceptedModelsStayShown(t *testing.T) {
	sets := []string{"all gpt models", "everything", "mini models", "gpt-5*", "all claude models", "all models", "the newest gpt models", "old gpt-5 models", "flash", "preview models", "gpt-4 models and o3"}
	at := []string{"", " on openai", " on every provider", " on gemini", " on anthropic", " on openai and gemini"}
	excepted := []string{"gpt-4o", "gpt-5-mini", "claude-sonnet-5", "gemini-3.6-flash", "grok-4", "o3"}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		e := excepted[rnd.IntN(len(excepted))]
		text := "hide " + sets[rnd.IntN(len(sets))] + at[rnd.IntN(len(at))] + " except " + e
		w := newFakeWindow()
		c := newChat(t, w)
		answer := c.say(text)
		if asks := strings.Contains(answer, "RULE_PROPOSAL: {"); asks {
			answer = c.say("yes")
		}
		for _, p := range w.order {
			if hidden := w.hidden(p); slices.Contains(hidden, e) {
				t.Fatalf("%q hides %s on %s: %s\n%s", text, e, p, fmt.Sprint(w.log), answer)
			}
		}
	}
}

// TestHidingMoreThanHalfAsks: no single message hides more than half of what a
// provider shows.
func TestHidingMoreThanHalfAsks(t *testing.T) {
	words := []string{"gpt", "claude", "mini", "opus", "sonnet", "gemini", "grok", "grok-4", "*o*", "*", "everything", "all models", "openai models", "*-*", `"g*"`, "flash", "the newest gpt", "fast", "o3", "gpt-4", "haiku"}
	verbs := []string{"hide", "only allow", "block", "remove", "unallow"}
	places := []string{"", " on gemini", " on xai", " on anthropic", " on openai and xai"}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		text := verbs[rnd.IntN(len(verbs))] + " " + words[rnd.IntN(len(words))]
		if rnd.IntN(2) == 0 {
			text += " and " + words[rnd.IntN(len(words))]
		}
		text += places[rnd.IntN(len(places))]
		w := newFakeWindow()
		shown := map[string]int{}
		for _, p := range w.order {
			shown[p] = len(w.models[p]) - len(w.hidden(p))
		}
		answer := newChat(t, w).say(text)
		for _, p := range w.order {
			if now := len(w.models[p]) - len(w.hidden(p)); 2*now < shown[p] {
				t.Fatalf("%q leaves %d of %d shown on %s without asking: %v\n%s", text, now, shown[p], p, w.log, answer)
			}
		}
	}
}
