package modelfilter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sentences is the documented set of the offline model: what is said, and what it changes in
// the operators' window. "ask" is a question with proposals by propose_rules; "" changes nothing.
var sentences = []struct{ said, want string }{
	// hide
	{"Add gpt-4* to the ignore list", "openai+ignore(gpt-4*)"},
	{"hide gpt-4", "openai+ignore(gpt-4)"},
	{"hide openai/gpt-4", "openai+ignore(gpt-4)"},
	{"Hide GPT-4 models", "openai+ignore(gpt-4*)"},
	{"hide GPT 4 models", "openai+ignore(gpt-4*)"},
	{"hide gpt-5*", "openai+ignore(gpt-5*)"},
	{"Block all preview models", "openai: hidden"},
	{"pls hide mini", "openai+ignore(*mini*)"},
	{"please block the minis!", "openai+ignore(*mini*)"},
	{"Could you disable every mini model", "openai+ignore(*mini*)"},
	{"hide every model with mini in its name", "openai+ignore(*mini*)"},
	{"hide every mini and nano model", "openai+ignore(*mini*) openai+ignore(*nano*)"},
	{"ignore anything containing audio", "openai: hidden"},
	{"exclude anything containing turbo or image", "openai+ignore(*turbo*) openai+ignore(*image*)"},
	{"remove the embedding models", "openai+ignore(*embedding*)"},
	{"get rid of embeddings", "openai+ignore(*embedding*)"},
	{"no minis", "openai+ignore(*mini*)"},
	{"I don't want mini models", "openai+ignore(*mini*)"},
	{"hide \"gpt-4?\"", "openai+ignore(gpt-4?)"},
	{"hide `gpt-4o`", "openai-allow(gpt-4o) openai+ignore(gpt-4o)"},
	{"hide gpt-4 and gpt-4-turbo", "openai+ignore(gpt-4) openai+ignore(gpt-4-turbo)"},
	{"hide:\n- gpt-4\n- gpt-4-turbo\n- o3", "openai+ignore(gpt-4) openai+ignore(gpt-4-turbo) openai+ignore(o3)"},
	{"hide gpt mini models", "openai+ignore(gpt*mini*)"},
	{"hide mini gpt models", "openai+ignore(gpt*mini*)"},
	{"hide haiku on anthropic", "anthropic+ignore(*haiku*)"},
	{"hide opus on anthropic", "anthropic+ignore(*opus*)"},
	{"hide the gpt-5 models except the mini ones", "openai+allow(gpt-5-mini) openai+ignore(gpt-5*)"},
	{"hide mini models; nano too", "openai+ignore(*mini*) openai+ignore(*nano*)"},
	{"mini models should be hidden", "openai+ignore(*mini*)"},
	{"make the mini models hidden", "openai+ignore(*mini*)"},
	{"add an ignore rule for *turbo*", "openai+ignore(*turbo*)"},
	{"hide openai's mini models", "openai+ignore(*mini*)"},
	{"remove *-preview", "openai-ignore(*-preview)"},
	{"hide claude sonnet 4.5", "anthropic+ignore(claude*sonnet-4-5*)"},
	{"hide mini and save", "openai+ignore(*mini*) save()"},
	{"hide mini, thanks", "openai+ignore(*mini*)"},
	{"hi, hide gpt-4", "openai+ignore(gpt-4)"},
	{"well, first hide gpt-4", "openai+ignore(gpt-4)"},
	{"switch to anthropic, hide opus", "switch(anthropic) anthropic+ignore(*opus*)"},
	// issue: exceptions and providers
	{"hide all claude models on anthropic except claude-sonnet-5", "ask"},
	{"hide all flash models on gemini except gemini-3.6-flash", "gemini+allow(gemini-3.6-flash) gemini+ignore(*flash*)"},
	{"hide all preview models on every provider", "ask"},
	{"hide mini on every provider", "ask"},
	{"hide mini everywhere", "ask"},
	{"hide flash on all providers except gemini", ""},
	{"hide gpt-4,o", ""},
	{"hide o", ""},
	{"delete my .env", ""},
	{"delete everything in my home folder", ""},
	{"hide gpt-4 but not gpt-4o", "openai+ignore(gpt-4)"},
	{"hide fast on xai", "xai+ignore(*fast*)"},
	{"hide nano on openai and gemini", "openai+ignore(*nano*) gemini+ignore(*nano*)"},
	// each part has the providers that are named with it
	{"hide mini on openai and flash on gemini", "openai+ignore(*mini*) gemini+ignore(*flash*)"},
	{"hide nano on openai, flash on gemini", "openai+ignore(*nano*) gemini+ignore(*flash*)"},
	{"hide mini and nano on openai and flash on gemini", "openai+ignore(*mini*) openai+ignore(*nano*) gemini+ignore(*flash*)"},
	{"hide mini on openai and gemini flash", ""},
	{"hide mini on openai and on gemini flash", ""},
	{"hide on openai mini and on gemini flash", ""},
	{"hide mini on openai and nano", "openai+ignore(*mini*) openai+ignore(*nano*)"},
	{"hide mini on every provider and nano", "ask"},
	{"hide mini on openai except gpt-5-mini and flash on gemini", ""},
	{"allow mini on openai and flash on gemini", "openai+allow(*mini*) gemini+allow(*flash*)"},
	{"add mini to the ignore list on openai and flash on gemini", "openai+ignore(*mini*) gemini+ignore(*flash*)"},
	{"remove the rule gpt-3.5* on openai and *x* on gemini", ""},
	{"only keep gpt-5 models, hide all sonar models", ""},
	{"only keep claude and gpt models, hide all gemini", "ask"},
	// a question changes nothing
	{"Could you disable every mini model?", "ask"},
	{"hide mini?", "ask"},
	{"hide mini, ok?", "ask"},
	{"would you hide mini", "ask"},
	{"hide nano. Would you hide mini too", "ask"},
	{"hide gpt-4?", "ask"},
	{"clear all rules?", "ask"},
	{"what if we clear all rules", "ask"},
	{"should I hide mini?", "ask"},
	{"would hiding mini help", ""},
	{"save?", ""},
	{"discard?", ""},
	{"undo?", ""},
	{"switch to gemini?", ""},
	{"hide mini and save?", ""},
	// a quoted word is a word, unless it is a model's name
	{"hide \"mini\"", "openai+ignore(*mini*)"},
	{"hide 'Nano' models", "openai+ignore(*nano*)"},
	{"hide \"preview\"", "openai: hidden"},
	{"allow \"nano\"", "openai+allow(*nano*)"},
	{"hide \"GPT-4-turbo\"", "openai+ignore(gpt-4-turbo)"},
	{"hide \"zork\"", ""},
	{"hide \"nothing here\"", ""},
	// more than half asks
	{"hide everything", "ask"},
	{"hide *", "ask"},
	{"hide all models", "ask"},
	{"hide models", "ask"},
	{"hide openai models", "ask"},
	{"hide gemini models", "ask"},
	{"hide everything on gemini", "ask"},
	{"hide all claude and gpt models", "ask"},
	{"hide everything but o3 models", "ask"},
	{"only gpt-5.5", "ask"},
	{"Only allow GPT-4o", "ask"},
	{"I only want gpt-5 models", "ask"},
	{"nothing but o3 models", "ask"},
	{"keep everything but mini models", "openai+ignore(*mini*)"},
	{"propose rules for hiding minis", "ask"},
	{"what if I hide gpt-4", "ask"},
	// not understood: nothing changes
	{"only foobar models", ""},
	{"hide models on nowhere", ""},
	{"drop everything older than gpt-5", ""},
	{"hide models starting with o3", ""},
	{"hide it", ""},
	{"hide expensive models", ""},
	{"block prview models", ""},
	{"hide mini models carefully", ""},
	{"hide gpt-9-ultra", ""},
	{"hide mini and make me a sandwich", ""},
	{"make me a sandwich", ""},
	{"hide only mini", ""},
	// the newest
	{"hide the newest o3 models", "openai+ignore(o3) openai+ignore(o3-mini)"},
	{"only keep the newest Claude and GPT models, block every preview", "ask"},
	{"only keep the newest of each provider", "ask"},
	{"only allow the newest of each major provider", "ask"},
	{"Set up the filter so only the latest models from each major provider are available", "ask"},
	{"hide mini on the major ones", ""},
	{"hide the newest 2 gpt models and all o3 models", "openai+ignore(gpt-5.6-sol) openai+ignore(gpt-5.6-luna) openai+ignore(o3*)"},
	{"hide the newest gpt and o3 models except mini", "openai+ignore(gpt-5.6-sol) openai+ignore(gpt-5.6-luna) openai+ignore(o3)"},
	{"hide the most recent one", "openai+ignore(gpt-5.6-sol)"},
	{"unhide the newest preview on openai", "openai+allow(gpt-4-turbo-preview)"},
	{"hide the newest wolpertinger", ""},
	{"hide the very newest gpt models", ""},
	{"show the newest gpt models", ""},
	{"remove the newest rule", ""},
	{"remove the rules for the newest gpt models", ""},
	// allow, unhide, rules
	{"make sure gpt-5.5 is always available", "openai+allow(gpt-5.5)"},
	{"allow gpt-4-turbo", "openai+allow(gpt-4-turbo)"},
	{"allow gpt-3.5-turbo although it is hidden", "openai+allow(gpt-3.5-turbo)"},
	{"keep gpt-3.5-turbo even though it's hidden", "openai+allow(gpt-3.5-turbo)"},
	{"allow gpt-3.5-turbo although minis are hidden", ""},
	{"I want only gpt-5.5 to be visible", "ask"},
	{"verstecke alle preview modelle", ""},
	{"whitelist o3*", "openai+allow(o3*)"},
	{"keep mini models", "openai+allow(*mini*)"},
	{"add o3 to the whitelist", "openai+allow(o3)"},
	{"allow o3 models except mini", "openai+allow(o3)"},
	{"allow everything", "openai-ignore(*-preview) openai-ignore(gpt-3.5*)"},
	{"unhide gpt-3.5-turbo", "openai+allow(gpt-3.5-turbo)"},
	{"unblock gpt-3.5 models", "openai-ignore(gpt-3.5*)"},
	{"stop hiding previews", "openai-ignore(*-preview)"},
	{"show gpt-3.5-turbo again", "openai+allow(gpt-3.5-turbo)"},
	{"unhide everything", "openai-ignore(*-preview) openai-ignore(gpt-3.5*)"},
	{"unhide o3", ""},
	{"remove the rule gpt-3.5*", "openai-ignore(gpt-3.5*)"},
	{"delete the preview rule", "openai-ignore(*-preview)"},
	{"remove gpt-4o from the whitelist", "openai-allow(gpt-4o)"},
	{"unallow gpt-4o", "openai-allow(gpt-4o)"},
	{"clear all ignore rules", "openai-ignore(all)"},
	{"remove all ignore rules for openai", "openai-ignore(all)"},
	{"remove all ignore rules for gemini", ""},
	{"remove all allow rules", "openai-allow(all)"},
	{"clear all rules", "openai-ignore(all) openai-allow(all)"},
	{"remove rule", ""},
	// the window
	{"save", "save()"},
	{"discard changes", "discard()"},
	{"switch to anthropic", "switch(anthropic)"},
	{"use gemini", "switch(gemini)"},
	{"use provider google", "switch(gemini)"},
	{"switch to nowhere", ""},
	{"switch to openai", "switch(openai)"},
	{"refresh models", "refresh(openai)"},
	{"undo", "undo(1)"},
}

// TestSentences says each of the sentences in a window of its own.
func TestSentences(t *testing.T) {
	const each = 40 // one after the other: they wait for the disk
	for part := range slices.Chunk(sentences, each) {
		t.Run(part[0].said, func(t *testing.T) {
			t.Parallel()
			for _, s := range part {
				o := newOperator(t)
				before := fmt.Sprint(o.Diff())
				did, answer := o.say(s.said)
				if strings.Contains(answer, "\nproposal: ") {
					did = strings.TrimSpace("ask " + did)
				}
				if provider, ok := strings.CutSuffix(s.want, ": hidden"); ok && strings.Contains(answer, "Already hidden on "+provider) {
					s.want = ""
				}
				if did != s.want {
					t.Errorf("%q does %q, want %q\n%s", s.said, did, s.want, answer)
				}
				if (did == "" || did == "ask") && fmt.Sprint(o.Diff()) != before {
					t.Errorf("%q changed the rules to %v", s.said, o.Diff())
				}
			}
		})
	}
}
