package modelfilter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
)

// TestConversations holds conversations with the offline model; each message is understood in
// the light of those before it. After => is what a message changes, after | what its answer says.
func TestConversations(t *testing.T) {
	for name, messages := range map[string][]string{
		"yes does what was asked": {
			"hide openai models => | more than half | openai: would hide 16 of 17 shown models | type `yes` | \"add_ignore\":[\"*\"]",
			"yes => openai+ignore(*) | Not saved yet", "yes => | no open question",
		},
		"only here and everything there": {
			"only keep o3 on openai, hide all gemini => | openai: would hide 16 of | gemini: would hide 6 of",
			"yes => openai-allow(gpt-4o) openai+allow(o3) openai+ignore(*) gemini+ignore(*)",
		},
		"a save in the same message":   {"hide mini and save => openai+ignore(*mini*) save() | are hidden on openai now | !Not saved yet"},
		"no rules at all":              {"show the rules on gemini => | No rules on gemini."},
		"a question is done on yes":    {"hide mini? => | I propose: | ignore `*mini*` for openai: would hide 3 of 17", "yes => openai+ignore(*mini*)"},
		"a proposal is made on yes":    {"propose rules for hiding minis => | I propose: | ignore `*mini*` for openai: would hide 3 of 17", "yes => openai+ignore(*mini*)"},
		"no leaves it":                 {"hide everything => | ask first", "no => | Nothing was changed", "yes => | no open question"},
		"a question names what to say": {"save? => | That is a question | Say `save` to do it | chip: save"},
		"every provider asks with counts": {
			"hide all preview models on every provider => | on 2 providers, so I ask first | anthropic: would hide 1 of | gemini: would hide 1 of",
			"yes => anthropic+ignore(*preview*) gemini+ignore(*preview*)",
		},
		"mini is no part of gemini": {"hide mini on every provider => | openai: would hide 3 of 17 | xai: would hide 1 of 3", "do it => openai+ignore(*mini*) xai+ignore(*mini*)"},
		"a provider can be excepted": {
			"hide all preview models on every provider except gemini => | change rules on anthropic, which was not named, so I ask first | anthropic: would hide 1 of", "yes => anthropic+ignore(*preview*)",
		},
		"an exception is kept": {
			"hide all claude models on anthropic except claude-sonnet-5 => | anthropic: would hide 4 of", "yes => anthropic+allow(claude-sonnet-5) anthropic+ignore(claude*)",
		},
		"families of two providers": {
			"only show o3 and claude models, block every preview => | openai: would hide 16 of | anthropic: would hide 1 of",
			"ok => openai-allow(gpt-4o) openai+allow(o3) openai+ignore(*) anthropic+allow(*4-5*) anthropic+allow(claude-opus-4-8) anthropic+allow(claude-sonnet-5) anthropic+ignore(*)",
		},
		"follow-ups": {"hide mini => openai+ignore(*mini*)", "and nano too => openai+ignore(*nano*)", "also on gemini => gemini+ignore(*nano*)", "and flash-lite too => gemini+ignore(*flash-lite*)"},
		"a switch holds": {
			"switch to gemini => switch(gemini)", "hide flash-lite => gemini+ignore(*flash-lite*)",
		},
		"pronouns": {
			"why is gpt-3.5-turbo hidden? => | hidden by the ignore rule `gpt-3.5*`", "unhide it => openai+allow(gpt-3.5-turbo)",
			"hide it again => openai-allow(gpt-3.5-turbo)",
		},
		"pronoun without a noun": {"hide them => | which models you mean"},
		"undo as many as asked": {
			"hide mini => openai+ignore(*mini*)", "hide nano, allow o3 => openai+ignore(*nano*) openai+allow(o3)", "hide gpt-4 => openai+ignore(gpt-4)",
			"undo the last two changes => undo(2) | Undid 2 steps", "which models are hidden on openai => | `gpt-5-mini`, `gpt-4o-mini` and `o3-mini` are hidden by the ignore rule `*mini*`",
			"undo everything => undo(100) | Undid 1 step", "undo => undo(1) | Nothing was undone: the assistant has made no change", "rollback to the start => undo(100)", "rollback => undo(1)",
		},
		"undo of a clear": {"clear all ignore rules => openai-ignore(all)", "undo that => undo(1)", "show the rules => | `*-preview` (ignore on openai) hides 2 models | `gpt-3.5*` (ignore on openai) hides 2 models"},
		"questions over all providers": {
			"hide nano on gemini => gemini+ignore(*nano*)",
			"which models are hidden and why => | 5 models are hidden: | openai: `gpt-3.5-turbo` and `gpt-3.5-turbo-16k` are hidden by the ignore rule `gpt-3.5*` | gemini: `gemini-nano-1` is hidden by the ignore rule `*nano*`",
			"which models are allowed on every provider => | 1 model is allowed: | `gpt-4o` is shown by the allow rule `gpt-4o`",
			"why is gemini-2.5-pro shown => | gemini: `gemini-2.5-pro` is shown: no rule matches", "how many on anthropic => | 5 models on anthropic: 5 shown, 0 hidden",
			"how many models on xai and anthropic => | 8 models on xai and anthropic: 8 shown, 0 hidden", "how many flash models on every provider except xai => | 3 models match `flash models` except on xai",
			"users can't see gpt-3.5-turbo => | hidden by the ignore rule `gpt-3.5*`", "remove all ignore rules for gemini => gemini-ignore(all)",
		},
		"why after a change": {"hide o3 => openai+ignore(o3)", "why? => | openai: `o3` is hidden by the ignore rule `o3`"},
		"elsewhere is offered": {
			"hide flash models => | No model of openai matches `flash`; gemini has matching models. | label: hide flash models on gemini: would hide 3 models | chip: hide flash models on gemini | Nothing was changed",
			"hide flash on gemini => gemini+ignore(*flash*)",
		},
		"words left over": {
			"hide mini models carefully => | No model matches `carefully`. Nothing was changed. | label: hide mini models: would hide 3 models on openai",
			"hide flash models on anthropic => | matches `flash`", "hide claud models on anthropic => | label: hide claude models on anthropic: would hide 5 models",
			"hide every wolpertinger => | matches `wolpertinger` | chip: hide every mini model of openai | !These work", "hide turb models => | label: hide turbo models: would hide 1 model on openai",
		},
		"each named provider has an answer": {
			"hide all preview models of openai and gemini => gemini+ignore(*preview*) | Already hidden on openai",
			"hide all nano models of anthropic and gemini => gemini+ignore(*nano*) | No model matches `nano`", "hide previews on xai => | No model matches `previews`. Nothing was changed.",
		},
		"a misspelt word": {
			"hied gpt-4 and save => | label: hide gpt-4 and save: would hide 1 model on openai | chip: hide gpt-4 and save", "Please block the preveiw models => | matches `preveiw` | Nothing was changed",
			"hide flash on gemni => | label: hide flash on gemini: would hide 3 models", "hello my dear wolpertinger => | I did not understand `hello my dear wolpertinger`",
		},
		"small talk": {
			"what can you do => | I understand short requests | These work:", "how are you? => | a set of rules in this program", "verstecke alle preview modelle => | short requests in English only | Nothing was changed",
			"are you an llm? => | not a language model | `winnow config connect` | Connect a model",
		},
		"rules that decide nothing": {
			`add *turbo-16k* to the ignore list => openai+ignore(*turbo-16k*)`, "which rules are redundant? => | `*turbo-16k*` (ignore on openai) hides 0 models: other rules take precedence | label: remove the rules \"*turbo-16k*\" on openai",
			`remove the rules "*turbo-16k*" on openai => openai-ignore(*turbo-16k*)`,
		},
		"yes to a suggestion":       {"hide turb models => | Did you mean this?", "yes => openai+ignore(*turbo*) | chip: undo that", "undo => undo(1) | chip: save the changes | !chip: undo that"},
		"a misspelt word elsewhere": {"hide flsh models => | label: hide flash models on gemini: would hide 3 models", "yes => gemini+ignore(*flash*)", "hide zork => | Nothing was changed", "yes => | no open question"},
		"how many we have":          {"how many anthropic models do we have => | 5 models on anthropic: 5 shown", "whats hidden on gemini => | No model is hidden on gemini", "why is claude-9 hidden? => | No model matches `claude-9` | chip: which models are hidden, and why?"},
		"which price":               {"hide models over 40$ on openai => openai+ignore(gpt-4) | dollars per million output tokens; `price_in` is the input price", "what is over $1 input => | No model matches `price_in>1`"},
		"greetings":                 {"hi what can you do here? => | These work", "hello => | Hello."},
		"only shows nothing again": {
			"hide gemini previews => gemini+ignore(*preview*)",
			"only show models with 1m context on gemini => gemini+allow(*flash) gemini+allow(gemini-2.5-pro) gemini+ignore(*)",
			"hide o3-mini => openai+ignore(o3-mini)",
			"only show o3 models and gpt-5 models => | This applies only to openai | Still hidden, because other rules apply: o3-mini. | allow `gpt-5*`, `o3`; ignore `*` for openai",
			"only show o3-mini on openai => | \"add_whitelist\":[\"o3-mini\"]",
		},
		"who uses it": {
			"would hiding mini break anyone? => | 2 models match `mini` and `used:7d`: 2 shown | `gpt-5-mini` (last used 1 min ago, 5,000 requests in all) | `gpt-4o-mini` (last used 24 h ago, 2,000 requests in all)",
			"is anybody using o3 => | No model matches `o3` and `used:7d`.", "who uses grok-4 on xai? => | No model matches `grok-4` and `used:7d` on xai",
			"who uses claude-opus-4-8? => | `claude-opus-4-8` (last used 24 h ago, 77 requests in all)",
			"what if I hide nano? => | I propose", "would that break anyone? => | 1 model that is shown matches `nano` and `used:7d` | `gpt-5-nano` (last",
			"what did nobody use this month? => | `gpt-4` (never used)", "is it safe to hide flash on gemini => | `gemini-3.6-flash` (last", "can I safely hide gpt-4? => | No model matches `gpt-4`",
			"would anyone miss gpt-5.5 => | `gpt-5.5` (last", "is gpt-5.5 used by anyone => | 1,204 requests in all", "would hiding everything break anyone? => | models match `used:7d`",
			"hide gpt-5.5 => openai+ignore(gpt-5.5)", "would this break anyone? => | `gpt-5.5` (last", "who uses zork? => | No model matches `zork`", "does anyone use gpt-4o and o3? => | `gpt-4o` (last",
		},
		"a question is no name of a model": {
			"which providers do I have? => | 4 providers: `openai`, | `openai` is shown now", "what did you just do? => | I did not understand `what did you just do?`. Nothing was changed. | !No model matches | !in English only",
			"hide models of people who pay => | I did not understand | !`users`", "hide pricey models => | No model matches `pricey`. | !`expensive` | chip: hide price>10 models",
		},
		"English that is not understood": {
			"zork the gpt models => | I did not understand | !in English only", "i dont want any mini models => openai+ignore(*mini*)",
			"make it so users can't use nano models => openai+ignore(*nano*)", "zeige übrige => | in English only", "verstecke alles => | in English only",
		},
		"other providers have such models": {
			"hide deprecated models => openai+ignore(gpt-4) openai+ignore(gpt-4-turbo) | This applies only to openai; gemini has such models, too.", "hide gpt-4o-mini => openai+ignore(gpt-4o-mini) | !applies only to",
			"hide o3 on openai and flash on gemini => openai+ignore(o3) gemini+ignore(*flash*)",
			"delete all rules => openai-ignore(all) openai-allow(all) | This applies only to openai; the rules of gemini are unchanged. | shown on openai again",
		},
		"an excepted model is hidden, too": {"hide gpt-3.5-turbo but not gpt-3.5-turbo-16k => | Already hidden on openai: gpt-3.5-turbo. | Also hidden: gpt-3.5-turbo-16k; to show it, allow it."},
		"proposals stay open until they are answered": {
			"hide preview on every provider => | anthropic: would hide 1 of", "which models are shown on gemini => | chip: accept the proposals", "refresh the models => refresh(openai)", "how many on gemini => | !chip: accept", "hide preview on every provider => | gemini: would hide 1 of", "what is shown on xai => | chip: accept the proposals", "ok => | no open question",
			"accept the proposals => anthropic+ignore(*preview*) gemini+ignore(*preview*)", "how many on gemini => | !chip: accept", "accept all => | No proposal is open",
			"hide haiku on every provider => | anthropic: would hide 1 of", "no => | All right", "accept => | No proposal is open",
		},
		"a greeting is short": {"hi => | Hello. | !These work | chip: hide every mini model of openai", "help => | These work: | - `hide every mini model of openai` | !chip"},
		"nothing to save":     {"save => save()", "hide zork and save => | Nothing was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			for _, m := range messages {
				said, want, _ := strings.Cut(m, " =>")
				parts := strings.Split(want, " | ")
				did, answer := o.say(said)
				if did != strings.TrimSpace(parts[0]) {
					t.Errorf("%q does %q, want %q\n%s", said, did, parts[0], answer)
				}
				for _, part := range parts[1:] {
					if absent, not := strings.CutPrefix(part, "!"); strings.Contains(answer, absent) == not {
						t.Errorf("%q: want %q in\n%s", said, part, answer)
					}
				}
			}
		})
	}
}

// TestNewestModelsStay says requests, and yes where they ask: the models that are shown
// afterwards on each provider that changes.
func TestNewestModelsStay(t *testing.T) {
	t.Parallel()
	const claudes, gpts = "claude-fable-5-preview claude-sonnet-5", "gpt-5.6-luna gpt-5.6-sol"
	all := map[string]string{"openai": gpts, "anthropic": claudes, "gemini": "gemini-3.6-flash", "xai": "grok-4 grok-4-fast"}
	for said, want := range map[string]map[string]string{
		"only keep the newest Claude and GPT models, block every preview":                    {"openai": gpts, "anthropic": "claude-sonnet-5"},
		"only keep the newest Claude and GPT models":                                         {"openai": gpts, "anthropic": claudes},
		"show only the latest 2 claude models on anthropic":                                  {"anthropic": claudes},
		"hide everything except the newest on anthropic, not previews":                       {"anthropic": claudes},
		"hide all but the two newest gemini models on gemini":                                {"gemini": "gemini-3.1-pro-preview gemini-3.6-flash"},
		"hide all grok models on xai except the most recent":                                 {"xai": "grok-4 grok-4-fast"},
		"only keep the newest model of every provider":                                       all,
		"only allow the newest of each major provider":                                       all,
		"Set up the filter so only the latest models from each major provider are available": all,
	} {
		o := newOperator(t, map[string]string{"router": "anthropic/claude-sonnet-5 openai/gpt-5.5 x/y-preview"})
		before := map[string]string{}
		for provider := range operatorModels {
			before[provider] = o.shown(provider)
		}
		_, answer := o.say(said)
		if strings.Contains(answer, "\nproposal: ") {
			_, answer = o.say("yes")
		}
		for provider, stay := range before {
			if want[provider] != "" {
				stay = want[provider]
			}
			if got := o.shown(provider); got != stay {
				t.Errorf("after %q %s stay on %s, want %s\n%s", said, got, provider, stay, answer)
			}
		}
		if n := len(strings.Fields(o.shown("router"))); n != 3 && !strings.Contains(said, "every provider") {
			t.Errorf("after %q the router shows %d models", said, n)
		}
	}
}

// TestAFamilyThatIsNowhereIsSaid: of the families to keep, one that no provider has is no reason
// to do nothing; neither is a kind that is excepted. Any other word is.
func TestAFamilyThatIsNowhereIsSaid(t *testing.T) {
	t.Parallel()
	none := map[string]string{"anthropic": "", "gemini": "", "xai": ""}
	o := newOperator(t, none)
	_, answer := o.say("only keep the newest Claude and GPT models")
	o.wants(answer, "No model matches `claude`", "\nproposal: ")
	if o.say("yes"); o.shown("openai") != "gpt-5.6-luna gpt-5.6-sol" {
		t.Errorf("%s stay", o.shown("openai"))
	}
	for _, said := range []string{"only keep claude models", "only keep the newest GPT models, block every prview"} {
		o = newOperator(t, none)
		did, answer := o.say(said)
		if o.wants(answer, "Nothing was changed"); did != "" || strings.Contains(answer, "\nproposal: ") {
			t.Errorf("%q does %q\n%s", said, did, answer)
		}
	}
	o = newOperator(t, map[string]string{"openai": "gpt-4 gpt-5", "anthropic": "claude-3"})
	if did, answer := o.say("only keep the newest Claude and GPT models, block every preview"); !strings.Contains(did, "openai+allow(gpt-5)") {
		t.Errorf("it does %q\n%s", did, answer)
	}
}

// TestUnknownWordsChangeNothing makes requests of words of the grammar and one that means
// nothing: no rule changes, and no card is shown.
func TestUnknownWordsChangeNothing(t *testing.T) {
	t.Parallel()
	verbs := []string{
		"hide", "block", "only allow", "allow", "unhide", "remove", "keep", "stop hiding", "get rid of", "please hide", "clear", "save and hide", "propose hiding",
		"clear all rules", "undo", "save", "discard", "switch to",
	}
	words := []string{
		"mini", "nano", "gpt", "claude", "all", "the", "models", "every", "newest", "old", "and", "or", ",", "gpt-4o", "*turbo*", `"o3"`, "preview",
		"on gemini", "on every provider", "except", "opus", "but not", "too", "everything", "starting with", "anthropic",
	}
	odds := []string{"zqxv", "carefully", "wolpertinger", "q", "qq-7", "because", "whether", "likes"} // the last three are no names of models
	rnd := rand.New(rand.NewPCG(1, 2))
	var o *operator
	for n := range assistanttest.Rounds(60, 2000) {
		if n%10 == 0 {
			o = newOperator(t) // each request reads the whole conversation again
		}
		var said []string
		for range 1 + rnd.IntN(6) {
			said = append(said, words[rnd.IntN(len(words))])
		}
		odd := odds[rnd.IntN(len(odds))]
		said = slices.Insert(said, rnd.IntN(len(said)+1), odd)
		text := "hello. " + verbs[rnd.IntN(len(verbs))] + " " + strings.Join(said, " ")
		before := fmt.Sprint(o.Diff())
		if did, answer := o.say(text); did != "" || strings.Contains(answer, "\nproposal: ") || fmt.Sprint(o.Diff()) != before {
			t.Fatalf("%q does %q\n%s", text, did, answer)
		}
	}
}

// TestExceptedModelsStayShown makes requests with an exception, and says yes: a model that the
// exception names and that was shown is shown afterwards.
func TestExceptedModelsStayShown(t *testing.T) {
	t.Parallel()
	sets := []string{"all gpt models", "everything", "mini models", "gpt-5*", "all claude models", "all models", "the newest gpt models", "old gpt-5 models", "flash", "preview models", "gpt-4 models and o3"}
	at := []string{"", " on openai", " on every provider", " on gemini", " on anthropic", " on openai and gemini"}
	excepted := []string{"gpt-4o", "gpt-5-mini", "claude-sonnet-5", "gemini-3.6-flash", "grok-4", "o3"}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range assistanttest.Rounds(20, 300) {
		e := excepted[rnd.IntN(len(excepted))]
		text := "hide " + sets[rnd.IntN(len(sets))] + at[rnd.IntN(len(at))] + " except " + e
		o := newOperator(t)
		_, answer := o.say(text)
		if strings.Contains(answer, "\nproposal: ") {
			_, answer = o.say("yes")
		}
		if slices.Contains(allHidden(t, o.Window), providerOf(e)+"/"+e) {
			t.Fatalf("%q hides %s:\n%s", text, e, answer)
		}
	}
}

// providerOf is the provider of a model of operatorModels.
func providerOf(name string) string {
	for provider, names := range operatorModels {
		if slices.Contains(strings.Fields(names), name) {
			return provider
		}
	}
	return ""
}

// TestHidingMoreThanHalfAsks: no single message hides more than half of what a provider shows.
func TestHidingMoreThanHalfAsks(t *testing.T) {
	t.Parallel()
	words := []string{"gpt", "claude", "mini", "opus", "sonnet", "gemini", "grok", "grok-4", "*o*", "*", "everything", "all models", "openai models", "*-*", `"g*"`, "flash", "the newest gpt", "fast", "o3", "gpt-4", "haiku"}
	verbs := []string{"hide", "only allow", "block", "remove", "unallow"}
	places := []string{"", " on gemini", " on xai", " on anthropic", " on openai and xai"}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range assistanttest.Rounds(30, 500) {
		text := verbs[rnd.IntN(len(verbs))] + " " + words[rnd.IntN(len(words))]
		if rnd.IntN(2) == 0 {
			text += " and " + words[rnd.IntN(len(words))]
		}
		text += places[rnd.IntN(len(places))]
		o, shown := newOperator(t), map[string]int{}
		for provider := range operatorModels {
			shown[provider] = len(strings.Fields(o.shown(provider)))
		}
		did, answer := o.say(text)
		for provider, before := range shown {
			if now := len(strings.Fields(o.shown(provider))); 2*now < before {
				t.Fatalf("%q leaves %d of %d shown on %s without asking: %s\n%s", text, now, before, provider, did, answer)
			}
		}
	}
}
