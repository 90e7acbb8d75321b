package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/tuitest"
)

// The chips under an answer are walked along, and enter accepts the one that is
// pointed at.
func TestEnterTakesTheChoiceThatIsPointedAt(t *testing.T) {
	offer := at.Say(`What now? SUGGESTED_VALUES: {"values":[{"label":"One","value":"do one"},{"label":"Two","value":"do two"},{"label":"Three","value":"do three"}]}`)
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{{offer}, say("two it is")}})
	d.ask("hello", "[alt+1 One: do one] [alt+2 Two: do two] [alt+3 Three: do three]")
	d.goTo("VIEW")
	d.Type(tuitest.Key("right"))
	d.says("j moves towards them")
	for range 6 {
		if strings.Contains(d.Frame(), "›alt+1 One: do one]") {
			break
		}
		d.Type("j")
	}
	d.Wait("›alt+1 One: do one] [alt+2 Two: do two] [alt+3 Three: do three]")
	if foot := footerOf(d.Frame()); !strings.HasPrefix(foot, " VIEW  enter choose · ") {
		t.Errorf("the footer beside a choice: %q", foot)
	}
	d.Type("l", "l", "l") // not beyond the last
	d.Wait("[alt+1 One: do one] [alt+2 Two: do two] ›alt+3 Three: do three]")
	d.Type("h")
	d.Wait("[alt+1 One: do one] ›alt+2 Two: do two] [alt+3 Three: do three]")
	d.Type("k")
	d.Wait("[alt+1 One: do one] [alt+2 Two: do two] [alt+3 Three: do three]")
	d.Type("j", tuitest.Enter)
	d.Wait("two it is")
	if !strings.Contains(d.texts(), "do two") {
		t.Errorf("sent was %s", d.texts())
	}
}

// A key that the settings change is the one that the chip shows, and it chooses.
func TestChipsShowChangedKeys(t *testing.T) {
	offer := at.Say(`What now? SUGGESTED_VALUES: {"values":[{"label":"One","value":"do one"},{"label":"Two","value":"do two"}]}`)
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{{offer}, say("two it is")}, change: func(o *Options) {
		for _, mode := range []string{"input", "view", "command", "pane", "hud"} {
			o.Rebinds = append(o.Rebinds, keymap.Rebind{Mode: mode, Action: "choose-2", Keys: []string{"f9"}}, keymap.Rebind{Mode: mode, Action: "choose-1"})
		}
	}})
	d.ask("hello", "[One: do one] [f9 Two: do two]")
	d.Type(tuitest.Key("f9"))
	d.Wait("two it is")
}

// While another pair is tried again, the newest answer shows no number that would not work.
func TestNothingIsOfferedDuringATurn(t *testing.T) {
	gate := at.NewGate()
	newest := told("then", "what now?")
	newest.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: "One", Value: "do one"}}}
	d := startProgram(t, setup{pairs: []assistant.Pair{failed("first"), newest}, answers: []at.Answer{{at.Say("again"), at.Stop{At: gate}}, say("one it is")}})
	d.Wait("[alt+1 One: do one]")
	d.goTo("VIEW")
	for range 9 {
		if strings.Contains(focusOf(d.Frame()), "first") {
			break
		}
		d.Type("k")
	}
	d.focused("first")
	d.Type("r")
	gate.Wait(t)
	d.Until(func(frame string) bool { return strings.Contains(frame, "again") && !strings.Contains(frame, "alt+1") })
	d.Type(tuitest.Alt(1))
	d.says("the assistant is working")
	gate.Open()
	d.Wait("[alt+1 One: do one]")
	d.rest()
	d.Type(tuitest.Alt(1))
	d.Wait("one it is")
}
