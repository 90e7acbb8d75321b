package plain

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// harmless lists the commands that delete and replace nothing: they show, choose, or add something next to what is
// there. A regenerated answer stays, as a variant; /answer chooses one.
const harmless = ` help model connect session new rules status messages message cost why answer branch keep again `

// audited is how line mode protects what a command deletes or replaces: it asks first, or names the command that
// undoes it.
var audited = map[string]struct {
	lines []string // typed after a turn that added a word, which is not saved
	says  string
}{
	"save":     {[]string{"/save"}, "Type yes to save: "},
	"discard":  {[]string{"/discard"}, "Type yes to discard these changes: "},
	"quit":     {[]string{"/quit"}, "Type save, keep, discard or stay: "},
	"undo":     {[]string{"/undo"}, "Type yes to undo it and remove 1 message"},
	"rollback": {[]string{"/rollback 2"}, "/undo rollback undoes the rollback"},
	"hide":     {[]string{"/hide dog"}, "/undo undoes it."},
	"allow":    {[]string{"/allow dog"}, "/undo undoes it."},
	"filter":   {[]string{"/filter x :delete"}, "Type yes to "},
	"retry":    {[]string{"/retry"}, "Type yes for a new answer: "}, // the last one changed the window
	"title":    {[]string{"/title Other"}, "; it was called go."},
}

// addWord is an act of the test's window.
type addWord struct{ word string }

func (a addWord) Step() string { return "Add " + a.word }

// actingWords is a window whose commands add a word.
type actingWords struct{ savedWords }

func (w actingWords) Act(ctx context.Context, act assistant.Act, _ int64) (safetext.Text, error) {
	add, _ := act.(addWord)
	for _, tool := range w.Tools() {
		if tool.Name == "add_word" {
			tool.Run(ctx, json.RawMessage(`{"word":"`+add.word+`"}`))
		}
	}
	return safetext.Sprintf("added %s", add.word), nil
}

// Every command of line mode is classified: what deletes or replaces something asks, or names the command that undoes
// it.
func TestWhatDeletesAsksOrCanBeUndone(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(commands())) {
		if _, driven := audited[name]; driven == slices.Contains(strings.Fields(harmless), name) {
			t.Errorf("the command /%s is in both or no class: does it delete or replace something?", name)
		}
	}
	for name, row := range audited {
		t.Run(name, func(t *testing.T) {
			script := at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}, at.Answer{at.Say("Again.")})
			var window savedWords
			r := start(t, script, func(o *testOptions) {
				o.History = store(t)
				o.Act = func(_ keymap.Action, argument string) (assistant.Act, int64) { return addWord{argument}, 0 }
			}, func(o *assistant.Options) {
				window, _ = o.Window.(savedWords)
				o.Window = actingWords{window}
			})
			r.say("go")
			r.wait("Well.")
			for _, line := range row.lines {
				r.say(line)
			}
			r.wait(row.says)
		})
	}
}

// The commands about rules name what they want, and are there only in a window that has rules.
func TestRuleCommands(t *testing.T) {
	var got []string
	r := start(t, at.NewScript(), func(o *testOptions) {
		o.Act = func(action keymap.Action, argument string) (assistant.Act, int64) {
			got = append(got, string(action)+" "+argument)
			return addWord{"dog"}, 7
		}
	}, func(o *assistant.Options) {
		window, _ := o.Window.(savedWords)
		o.Window = actingWords{window}
	})
	r.say("/hide")
	r.wait("Usage: /hide PATTERN")
	r.say("/hide *a dog*")
	r.answer("Type yes to add the rule: ", "no")
	r.wait("Nothing was done.")
	r.say("/allow  *dog* ")
	r.wait("Added dog. /undo undoes it.")
	r.wait("There are unsaved changes")
	r.say("/undo")
	r.wait("Rolled back to before “Add dog”")
	r.say("/quit")
	if r.end(); !slices.Equal(got, []string{"add-allow *dog*"}) {
		t.Errorf("the acts are %q", got)
	}

	r = start(t, at.NewScript(), nil)
	r.say("/why cat")
	r.wait("This window has no rules.")
	if i := slices.IndexFunc(keymap.CommandTable(), func(c keymap.SlashCommand) bool { return c.Name == "why" }); keymap.CommandTable()[i].Console == "" {
		t.Error("/help does not list /why")
	}
}
