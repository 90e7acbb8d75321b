package tui

import (
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

const emptyBox = "Type a message…"

// TestEveryCommandOfThePaletteCanBeTyped: the palette, and what can be typed, are one
// list.
func TestEveryCommandOfThePaletteCanBeTyped(t *testing.T) {
	m, _ := newProgram(t, setup{})
	for _, e := range m.keys.Palette(false) {
		c, err := keymap.FindCommand(m.slashCommands(), string(e.Action), "")
		if collides := e.Action == "topic"; err != nil || c.Action != e.Action && !collides {
			t.Errorf("/%s is %q, %v", e.Action, c.Action, err)
		}
		if !slices.ContainsFunc(m.slashCommands(), func(c keymap.SlashCommand) bool { return c.Action == e.Action }) {
			t.Errorf("nothing that can be typed does %s", e.Action)
		}
	}
	for _, c := range keymap.Commands(false) {
		run, err := m.typedAction(c.Name, "")
		if err != nil || run == nil || m.keys.Named(c.Action) == nil {
			t.Errorf("/%s does nothing: %v", c.Name, err)
		}
	}
	for _, name := range []string{"help", "model", "save", "new", "filter", "undo", "topic", "quit"} {
		if _, err := keymap.FindCommand(m.slashCommands(), name, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestACommandIsCompletedAndRun(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		d := startProgram(t, setup{w: size[0], h: size[1]})
		d.Type("/")
		d.Wait("› /help [TOPIC]")
		d.Type(tuitest.Down)
		d.Wait("› /model [NAME]")
		d.Type(tuitest.Up)
		d.Wait("› /help [TOPIC]")
		d.Type("mod")
		d.Wait("› /model [NAME]")
		d.Type(tuitest.Tab)
		d.Wait("test/other")
		d.Type(tuitest.Esc) // closes the list alone
		d.WaitGone("test/other")
		d.box("/model")
		d.Type("oth")
		d.box("/model oth")
		d.Type(tuitest.Enter)
		d.says("test/other is now in use")
		d.box(emptyBox)
		d.in("INPUT")
		d.Type(tuitest.Up) // like a message
		d.box("/model oth")
	}
}

// Enter and the key that sends both take the entry that is selected, and then run the
// command.
func TestEnterTakesAnEntryThenRuns(t *testing.T) {
	for _, key := range []tuitest.Key{tuitest.Enter, tuitest.Send} {
		d := startProgram(t, setup{w: 80, h: 24})
		d.Type("/model sc")
		d.Wait("› test/script")
		d.Type(key)
		d.box("/model test/script")
		d.says("ctrl+j run")
		d.Type(key)
		d.says("test/script is now in use")
		d.Type("/hud")
		d.Type(key)
		d.Wait("─ Context ─")
		d.Type(tuitest.Esc)
		d.Type("/model", key)
		d.Wait("─ Model ─")
	}
}

// A name that is typed whole runs at once, also where longer names are offered.
func TestAWholeNameRunsAtOnce(t *testing.T) {
	for typed, says := range map[string]string{
		"/why gpt-4o": "openai/gpt-4o: shown", "/why GPT-4O": "openai/gpt-4o: shown", "/why openai/gpt-4o": "openai/gpt-4o: shown",
		"/why gpt-4o ": "openai/gpt-4o: shown", "/why nothing-like-it": "no provider lists nothing-like-it", "/model test/script": "is now in use",
	} {
		d := startProgram(t, setup{w: 160, h: 24})
		d.Type(typed, tuitest.Enter)
		d.says(says)
		d.Wait("› Type a message…")
	}
}

func TestWhatIsNoCommandStaysInTheBox(t *testing.T) {
	d := startProgram(t, setup{w: 100, h: 24, answers: []assistanttest.Answer{say("one"), say("two"), say("three"), say("four")}})
	for text, says := range map[string]string{
		"/sav":              "", // the list is open: the key takes the entry
		"/saev":             "there is no command /saev · did you mean /save? · to send it as a message, begin it with //",
		"/usr is full":      "there is no command /usr",
		"/new plans for it": "/new takes no argument",
		"/model nothing":    "there is no model nothing",
		"/help nothing":     "the help has no topic nothing",
	} {
		d.Type(text, tuitest.Send)
		if says == "" {
			text = "/save"
			d.box(text)
			d.Type(tuitest.Esc) // closes the list again
		} else {
			d.says(says[:min(len(says), 60)])
		}
		d.box(text)
		d.Type(tuitest.Key("ctrl+c"))
		d.box(emptyBox)
	}
	if n := len(d.script.Requests()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	for _, text := range []string{"/etc/hosts is empty", "/^a+$/ matches", "//usr is full", " /help"} {
		d.Type(text, tuitest.Send)
		d.rest()
		d.box(emptyBox)
		want := strings.TrimSpace(strings.Replace(text, "//", "/", 1))
		if got := strings.TrimSpace(lastUser(d.script)); got != want {
			t.Errorf("%q was sent as %q", text, got)
		}
	}
}

// A text of several lines is a message, whatever it begins with; enter breaks the line
// of what is no command.
func TestALineThatIsNoCommandIsBroken(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, answers: []assistanttest.Answer{say("one"), say("two")}})
	d.Type("/usr is full", tuitest.Enter, "is it not?", tuitest.Send)
	d.rest()
	if got := lastUser(d.script); got != "/usr is full\nis it not?" {
		t.Errorf("%q was sent", got)
	}
	d.ask("//usr is full", "two")
	d.Type(tuitest.Up)
	d.box("//usr is full") // as it was typed
}

func TestAFilterIsTypedAsACommand(t *testing.T) {
	d := three(t, setup{w: 100, h: 24})
	d.Type("/filter ")
	d.Wait("topic") // the terms
	d.Type("s2", tuitest.Enter)
	d.says("1 message")
	d.Wait("only s2")
	d.in("INPUT")
	d.Type("/filter c'plums' s9", tuitest.Enter)
	d.says("column 11")
	d.box("/filter c'plums' s9")
	d.Type("x") // at the place of the mistake
	d.box("/filter c'plums' sx9")
	d.Type(tuitest.Key("ctrl+c"), "/filter @non", tuitest.Send)
	d.says("non")
	d.Type("/all", tuitest.Enter)
	d.says("3 messages · all sessions")
	d.Type("/filter c'plums' :star 2", tuitest.Enter)
	d.says("1 message now has 2 stars")
}

func TestCommandsWhileATurnRuns(t *testing.T) {
	gate := assistanttest.NewGate()
	d := startProgram(t, setup{w: 80, h: 24, answers: []assistanttest.Answer{{assistanttest.Say("half"), assistanttest.Stop{At: gate}}}})
	d.Type("go on", tuitest.Send)
	gate.Wait(t)
	d.Type("/model test/other", tuitest.Enter)
	d.says("test/other is now in use")
	d.Type("/undo", tuitest.Enter)
	d.says("the assistant is working")
	if _, queued := d.session.Queued(); queued {
		t.Error("the command is queued as a message")
	}
	gate.Open()
	d.WaitGone("the assistant is working")
	d.rest()
}

func TestTopicsAreTypedAsACommand(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, change: func(o *Options) {
		o.Help = []keymap.HelpTopic{{Name: "keys", Short: "the keys", Lines: func() []string { return []string{"all of them"} }}}
	}})
	d.Type("/topic AI > Agents", tuitest.Enter)
	d.says("new messages go to AI > Agents")
	d.Type("/topic none", tuitest.Enter)
	d.says("new messages get no topic")
	d.Type("/help ")
	d.Wait("the keys")
	d.Type("k", tuitest.Tab, tuitest.Enter)
	d.Wait("─ Help: keys ─")
	d.Wait("all of them")
	d.Type(tuitest.Esc)
	d.Type("/models oth", tuitest.Enter)
	d.Wait("─ Model ─")
	d.Wait("/ oth")
	d.Type(tuitest.Enter)
	d.says("test/other is now in use")
}

// A command that is typed before the session is open runs once it is.
func TestACommandBeforeTheSessionIsOpen(t *testing.T) {
	b := bootFixture(t, setup{w: 80, h: 24}, nil)
	b.Type("/model test/other", tuitest.Enter, "and on")
	b.gate.Open()
	b.says("test/other is now in use")
	b.box("and on")
}

// The list of commands on a small and a large screen, and without colours.
func TestTheListOfCommandsOnEveryScreen(t *testing.T) {
	for name, c := range map[string]struct {
		style style.Options
		w, h  int
	}{
		"commands-40x12":  {style.Options{Dark: true, Unicode: true}, 40, 12},
		"commands-200x50": {style.Options{Unicode: true}, 200, 50},
		"commands-ascii":  {style.Options{Profile: style.NoColor}, 80, 24},
	} {
		s := newStill(t, c.style, c.w, c.h)
		s.input.draft.Paste("/s")
		s.do(s.carryOut(s.input.offer()))
		tuitest.Golden(t, name, s.frame())
	}
}

// /hide and /allow add a rule to the provider that is shown.
func TestRulesAreTyped(t *testing.T) {
	d := startProgram(t, setup{w: 160, h: 40})
	for _, step := range [][2]string{
		{"/hide *mini*", "undoes it"},
		{"/allow o4-mini", "undoes it"},
	} {
		d.Type(step[0])
		d.box(step[0])
		d.Type(tuitest.Send)
		d.says(step[1])
	}
	if rules := d.window.Rules(modelfilter.Allow); len(rules) != 1 || rules[0].Pattern != "o4-mini" {
		t.Errorf("allow rules %v", rules)
	}
}

// The palette opens with a dozen commands, the ones chosen last first; what is typed
// searches all.
func TestThePaletteOpensWithADozen(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 120, 40)
	all := actionEntries(s.Model.keys.Palette(false))
	first := s.firstCommands(all)
	if len(first) != maxFirst || len(all) < 60 {
		t.Errorf("%d of %d", len(first), len(all))
	}
	s.recent = []string{"flag", "settings", "save", "undo", "copy-code"}
	first = s.firstCommands(all)
	for i, want := range []string{"flag", "settings", "save", "undo"} {
		if first[i].Value != want || first[i].Group != "Recent" {
			t.Errorf("entry %d is %+v, want %s", i, first[i], want)
		}
	}
	for _, e := range all {
		if e.Group == "" {
			t.Errorf("%s has no group", e.Value)
		}
	}
	s.keys("ctrl+p")
	if frame := plainFrame(s.View().Content); !strings.Contains(frame, "type to search all") || !strings.Contains(frame, "Recent") || strings.Contains(frame, "Copy a code block") {
		t.Errorf("it opens with\n%s", frame)
	}
}
