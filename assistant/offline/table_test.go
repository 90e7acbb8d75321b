package offline

import (
	"strings"
	"testing"
)

// sentences is the documented set: what is said, and the calls of the first
// response. An empty right side means an answer without a call.
var sentences = map[string]string{
	// hide
	"Add gpt-4* to the ignore list":              "+ignore(gpt-4*)",
	"hide gpt-4":                                 "+ignore(gpt-4)",
	"hide openai/gpt-4":                          "+ignore(openai/gpt-4)",
	"Hide GPT-4 models":                          "+ignore(gpt-4*)",
	"hide GPT 4 models":                          "+ignore(gpt-4*)",
	"hide gpt-5*":                                "+ignore(gpt-5*)",
	"block *preview*":                            "+ignore(*preview*)",
	"Block all preview models":                   "+ignore(*preview*)",
	"please block the previews!":                 "+ignore(*preview*)",
	"Could you disable every mini model?":        "+ignore(*mini*)",
	"hide every model with mini in its name":     "+ignore(*mini*)",
	"ignore anything containing audio":           "+ignore(*audio*)",
	"exclude anything containing audio or image": "+ignore(*audio*) +ignore(*image*)",
	"remove the embedding models":                "+ignore(*embedding*)",
	"get rid of embeddings":                      "+ignore(*embedding*)",
	"no previews":                                "+ignore(*preview*)",
	"I don't want preview models":                "+ignore(*preview*)",
	"hide models starting with o3":               "+ignore(o3*)",
	"hide models ending in -mini":                "+ignore(*-mini)",
	"hide \"gpt-4?\"":                            "+ignore(gpt-4?)",
	"hide `gpt-4o`":                              "-allow(gpt-4o) +ignore(gpt-4o)",
	"hide mini and nano models":                  "+ignore(*mini*) +ignore(*nano*)",
	"hide gpt-4 and gpt-4-turbo":                 "+ignore(gpt-4) +ignore(gpt-4-turbo)",
	"ignore gpt-4, gpt-4-turbo and o3":           "import(ignore=[gpt-4 gpt-4-turbo o3] merge)",
	"hide:\n- gpt-4\n- gpt-4-turbo\n- o3":        "import(ignore=[gpt-4 gpt-4-turbo o3] merge)",
	"Block all Claude and GPT-3 models":          "+ignore(claude* @anthropic) +ignore(gpt-3*)",
	"hide gpt preview models":                    "+ignore(gpt*preview*)",
	"hide preview gpt models":                    "+ignore(gpt*preview*)",
	"hide haiku on anthropic":                    "+ignore(*haiku* @anthropic)",
	"hide all anthropic models":                  "+ignore(* @anthropic)",
	"hide gpt-5 models except the mini ones":     "+allow(gpt-5*mini*) +ignore(gpt-5*)",
	"hide mini models; nano":                     "+ignore(*mini*) +ignore(*nano*)",
	"hide mini models. Also nano models":         "+ignore(*mini*) +ignore(*nano*)",
	"mini models should be hidden":               "+ignore(*mini*)",
	"make the mini models hidden":                "+ignore(*mini*)",
	"hide everything":                            "+ignore(*)",
	"hide *":                                     "+ignore(*)",
	"hide all models":                            "+ignore(*)",
	"hide models":                                "",
	"hide openai models":                         "",
	"add an ignore rule for *turbo*":             "+ignore(*turbo*)",
	"hide the newest o3 models":                  "+ignore(o3) +ignore(o3-mini)",
	"hide old gpt-5 models":                      "+ignore(gpt-5.5) +ignore(gpt-5-mini) +ignore(gpt-5-nano)",
	"remove *-preview":                           "-ignore(*-preview)",
	"hide openai's mini models":                  "+ignore(*mini*)",
	"block anything with \"preview\" in it":      "+ignore(*preview*)",
	"hide gpt-3.5 and gpt-4 but not gpt-4o":      "+ignore(gpt-3.5*) +ignore(gpt-4)",
	"hide all openai models":                     "+ignore(*)",
	"hide claude sonnet 4.5":                     "+ignore(claude*sonnet-4-5* @anthropic)",
	"hide everything on gemini":                  "+ignore(* @gemini)",
	"hide models on nowhere":                     "",
	"drop everything older than gpt-5":           "",
	"hide it":                                    "",
	// allow
	"make sure gpt-4o is always available": "+allow(gpt-4o)",
	"allow gpt-4-turbo":                    "+allow(gpt-4-turbo)",
	"whitelist o3*":                        "+allow(o3*)",
	"always show gpt-5.5":                  "+allow(gpt-5.5)",
	"keep mini models":                     "+allow(*mini*)",
	"add o3 to the whitelist":              "+allow(o3)",
	"allow o3 models except mini":          "+allow(o3)",
	"keep everything but mini models":      "+ignore(*mini*)",
	"allow everything":                     "clear-ignore()",
	// only
	"Only allow GPT-4o":                                    "+ignore(*)",
	"only gpt-5.5":                                         "clear-allow() +allow(gpt-5.5) +ignore(*)",
	"nothing but o3 models":                                "clear-allow() +allow(o3*) +ignore(*)",
	"hide everything but o3 models":                        "clear-allow() +allow(o3*) +ignore(*)",
	"hide all except gpt-5.5 and o3":                       "clear-allow() +allow(gpt-5.5) +allow(o3) +ignore(*)",
	"show only the mini models":                            "clear-allow() +allow(*mini*) +ignore(*)",
	"everything but o3":                                    "",
	"only keep the newest GPT models, block every preview": "clear-allow() +allow(gpt-5.6-sol) +allow(gpt-5.6-luna) +ignore(*)",
	"only keep the newest Claude and GPT models, block every preview":                    "query(claude* @anthropic)",
	"only allow the newest of each major provider":                                       "query(* @anthropic) query(* @gemini)",
	"Set up the filter so only the latest models from each major provider are available": "query(* @anthropic) query(* @gemini)",
	"only the newest 2 gpt models":                                                       "clear-allow() +allow(gpt-5.6-sol) +allow(gpt-5.6-luna) +ignore(*)",
	"hide non-gpt models":                                                                "clear-allow() +allow(gpt*) +ignore(*)",
	"I only want gpt-5 models":                                                           "clear-allow() +allow(gpt-5*) +ignore(*)",
	"only anthropic models":                                                              "",
	"only foobar models":                                                                 "",
	// unhide, unallow, rules
	"unhide gpt-3.5-turbo":                  "+allow(gpt-3.5-turbo)",
	"unblock gpt-3.5 models":                "-ignore(gpt-3.5*)",
	"stop hiding previews":                  "-ignore(*-preview)",
	"show gpt-3.5-turbo again":              "+allow(gpt-3.5-turbo)",
	"unhide everything":                     "clear-ignore()",
	"unhide o3":                             "",
	"remove the rule gpt-3.5*":              "-ignore(gpt-3.5*)",
	"delete the preview rule":               "-ignore(*-preview)",
	"remove gpt-4o from the whitelist":      "-allow(gpt-4o)",
	"unallow gpt-4o":                        "-allow(gpt-4o)",
	"clear all ignore rules":                "clear-ignore()",
	"remove all allow rules":                "clear-allow()",
	"clear all rules":                       "clear-ignore() clear-allow()",
	"clear":                                 "",
	"import ignore gpt-4, *turbo*":          "import(ignore=[gpt-4 *turbo*] merge)",
	"replace the rules with *mini*, *nano*": "import(ignore=[*mini* *nano*] replace)",
	"remove rule":                           "",
	// questions
	"is anything hidden?":                  "",
	"does gpt-4o work?":                    "explain(openai/gpt-4o)",
	"list rules for anthropic":             "",
	"what models does gemini have?":        "query(* @gemini)",
	"why is gpt-3.5-turbo hidden?":         "explain(openai/gpt-3.5-turbo)",
	"is gpt-4o available?":                 "explain(openai/gpt-4o)",
	"explain o3":                           "explain(openai/o3)",
	"Why can't I see gpt-4-turbo-preview?": "explain(openai/gpt-4-turbo-preview)",
	"what is hidden?":                      "",
	"which models are available":           "",
	"show the rules":                       "",
	"which mini models are hidden":         "",
	"list providers":                       "",
	"what changed?":                        "",
	"find mini":                            "query(*mini*)",
	"Show me what matches 'preview'":       "query(preview)",
	"which models match *turbo*":           "query(*turbo*)",
	"search for embedding":                 "query(*embedding*)",
	"list mini models":                     "query(*mini*)",
	"details of o3":                        "details(openai/o3)",
	"tell me about gpt-4o":                 "details(openai/gpt-4o)",
	// state
	"save":                           "save()",
	"write the changes":              "save()",
	"discard changes":                "discard()",
	"revert":                         "discard()",
	"switch to anthropic":            "switch(anthropic)",
	"use gemini":                     "switch(gemini)",
	"use provider google":            "switch(gemini)",
	"switch to nowhere":              "",
	"switch to openai":               "",
	"refresh models":                 "refresh()",
	"undo":                           "",
	"hide mini models and save":      "+ignore(*mini*)",
	"switch to anthropic, hide opus": "switch(anthropic)",
	"hide mini models, keep gpt-5-mini; then why is o3 hidden?": "+ignore(*mini*) +allow(gpt-5-mini) explain(openai/o3)",
	// talk
	"hello":                             "",
	"hi, hide gpt-4":                    "+ignore(gpt-4)",
	"help":                              "",
	"what can you do?":                  "",
	"make me a sandwich":                "",
	"propose rules for hiding previews": "",
	"":                                  "",
}

func TestSentences(t *testing.T) {
	for said, want := range sentences {
		t.Run(said, func(t *testing.T) {
			r := answerTo(request(t, []any{system(contextJSON(nil)), user(said)}, filterTools))
			if got := shown(r.calls); got != want {
				t.Errorf("%q calls %s, want %s\n%s", said, got, want, r.text)
			}
			if r.text == "" {
				t.Errorf("%q is answered by no text", said)
			}
			if n := strings.Count(r.thought, "\n") + 1; n < 2 || n > 5 {
				t.Errorf("%q is thought about in %d lines", said, n)
			}
		})
	}
}
