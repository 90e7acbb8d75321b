package offline

import (
	"slices"
	"strings"
	"testing"
)

// TestAnswersOfTheWelcome holds a conversation with a window: what the welcome
// suggests, and what people say instead, must be answered and not half of it.
func TestAnswersOfTheWelcome(t *testing.T) {
	nothing := func(w *fakeWindow) { w.ignore, w.allow = map[string][]string{}, map[string][]string{} }
	hundreds := func(w *fakeWindow) {
		nothing(w)
		w.models["openai"] = nil
		for _, family := range []string{"alpha", "beta", "gamma", "delta"} {
			for i := range 100 {
				w.models["openai"] = append(w.models["openai"], "openai/"+family+"-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
			}
		}
		w.ignore["openai"] = []string{"alpha*", "*a"}
		w.cut = 150
	}
	for _, test := range []struct {
		said   string
		window func(*fakeWindow)
		want   []string // in the answer
		never  string
	}{
		{"which models are hidden, and why?", nothing, []string{"No model of openai is hidden.", "no ignore rules"}, "do not know"},
		{"which models are hidden, and why?", nil, []string{"by the first ignore rule", "- `*-preview` hides", "- `gpt-3.5*` hides"}, "do not know"},
		{"which models are hidden, and why?", hundreds, []string{"- `alpha*` hides 100 models: ", "- `*a` hides ", "The list I was given is cut"}, "do not know"},
		{"what's hidden and why", nil, []string{"- `*-preview` hides"}, "do not know"},
		{"why are models hidden?", nil, []string{"- `*-preview` hides"}, "context window"},
		{"Is anything hidden, and by which rule?", nil, []string{"- `*-preview` hides"}, "context window"},
		{"show me which models are blocked and by which rule", nil, []string{"- `*-preview` hides"}, ""},
		{"explain all hidden models", nil, []string{"- `*-preview` hides"}, ""},
		{"why?", nil, []string{"- `*-preview` hides"}, "do not know"},
		{"which models are available, and why?", nil, []string{"are available", "1 model is kept by an allow rule"}, "do not know"},
		{"which models are available, and why?", nothing, []string{"are available", "there are no ignore rules"}, ""},
		{"which rules hide nothing?", func(w *fakeWindow) { w.ignore["openai"] = []string{"nothing-like-it*"} }, []string{"decides no model", "`nothing-like-it*`"}, ""},
		{"are there any unused rules?", nothing, []string{"no rules of openai"}, ""},
		{"which rule hides gpt-3.5-turbo?", nil, []string{"gpt-3.5*"}, "Which rule shall"},
		{"hide every preview model", nothing, []string{"Added ignore rule `*preview*`. It hides 2 models"}, ""},
		{"block gpt-3.5 and everything older", nil, []string{"Nothing was changed", "`hide gpt-3.5`"}, "Done"},
		{"block prview models", nil, []string{"Did you mean `hide preview models`", "Nothing was changed"}, "Added"},
		{"hide expensive models", nil, []string{"nothing was changed", "`hide \"*expensive*\"`"}, "Added"},
		{"what is the cheapest model?", nil, []string{"not what they cost"}, ""},
		{"which model should I use?", nil, []string{"not what they cost"}, ""},
		{"unhide everything", nothing, []string{"nothing to clear"}, "Nothing is saved"},
		{"remove all rules", nothing, []string{"no ignore rules", "no allow rules"}, "Nothing is saved"},
		{"bring back the turbo vision models", nothing, []string{"nothing to bring back"}, "Added"},
		{"delete the rule *zz*", nothing, []string{"There is no rule `*zz*`"}, "could not"},
		{"oops, undo that", nil, []string{"no change of mine"}, "did not understand"},
		{"remove the first rule", nil, []string{"Removed ignore rule `*-preview`"}, "Which"},
		{"remove the last ignore rule", nil, []string{"Removed ignore rule `gpt-3.5*`"}, "Which"},
		{"I only want to see o3 models", nil, []string{"added allow rule `o3*`"}, ""},
		{"Could we just have the latest GPT?", nil, []string{"added ignore rule `*`"}, "did not understand"},
		{"make sure o3 stays available", nil, []string{"Added allow rule `o3`"}, ""},
		{"save and hide nano models", func(w *fakeWindow) { w.unsaved = true }, []string{"Saved.", "Added ignore rule `*nano*`"}, "None of these"},
		{"what would happen if I hide gpt-4?", nil, []string{"Nothing"}, "did not understand"},
	} {
		t.Run(test.said, func(t *testing.T) {
			w := newFakeWindow()
			if test.window != nil {
				test.window(w)
			}
			text := newChat(t, w).say(test.said)
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is answered without %q:\n%s", test.said, want, text)
				}
			}
			if test.never != "" && strings.Contains(text, test.never) {
				t.Errorf("%q is answered with %q:\n%s", test.said, test.never, text)
			}
		})
	}
}

// TestWordsOfOtherProviders: words that hide nothing of the shown provider are
// looked for in the others, and the rule is offered there.
func TestWordsOfOtherProviders(t *testing.T) {
	w := newFakeWindow()
	w.ignore, w.allow = map[string][]string{}, map[string][]string{}
	w.models["openai"] = slices.DeleteFunc(w.models["openai"], func(id string) bool { return strings.Contains(id, "preview") })
	text := newChat(t, w).say("hide every preview model")
	for _, want := range []string{"Added ignore rule `*preview*`", "1 model on anthropic and 1 model on gemini"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := newChat(t, w).say("hide preview models on gemini"); !strings.Contains(text, "on gemini") || !slices.Contains(w.ignore["gemini"], "*preview*") {
		t.Errorf("the offer gives %v\n%s", w.ignore, text)
	}
}

// TestWhyAfterAList: "why?" in a turn of its own takes up the turn before.
func TestWhyAfterAList(t *testing.T) {
	c := newChat(t, newFakeWindow())
	c.say("which models are hidden?")
	if text := c.say("and why?"); !strings.Contains(text, "- `*-preview` hides") {
		t.Errorf("after a list: %s", text)
	}
	c.say("hide o3")
	if text := c.say("why?"); !strings.Contains(text, "openai/o3 is ignored by o3") {
		t.Errorf("after a change: %s", text)
	}
}

func TestARuleThatIsThereAlready(t *testing.T) {
	w := newFakeWindow()
	w.refuse = func(string, map[string]any) map[string]any {
		return map[string]any{"success": false, "message": `Pattern "o3" is already in the ignore list.`, "error_code": "covered"}
	}
	if text := newChat(t, w).say("hide o3"); !strings.Contains(text, "already in the ignore list") || strings.Contains(text, "broader") {
		t.Errorf("answered with %s", text)
	}
}
