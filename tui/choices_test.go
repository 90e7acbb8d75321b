package tui

import (
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// The chips under an answer are walked along, and enter takes the one that is
// pointed at.
func TestEnterTakesTheChoiceThatIsPointedAt(t *testing.T) {
	offer := at.Say(`What now? SUGGESTED_VALUES: {"values":[{"label":"One","value":"do one"},{"label":"Two","value":"do two"},{"label":"Three","value":"do three"}]}`)
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{{offer}, say("two it is")}})
	d.ask("hello", "[1 One] [2 Two] [3 Three]")
	d.goTo("VIEW")
	d.Type(tuitest.Key("right"))
	d.says("j moves towards them")
	for range 6 {
		if strings.Contains(d.Frame(), "❯1 One]") {
			break
		}
		d.Type("j")
	}
	d.Wait("❯1 One] [2 Two] [3 Three]")
	d.Type("l", "l", "l") // not beyond the last
	d.Wait("[1 One] [2 Two] ❯3 Three]")
	d.Type("h")
	d.Wait("[1 One] ❯2 Two] [3 Three]")
	d.Type("k")
	d.Wait("[1 One] [2 Two] [3 Three]")
	d.Type("j", tuitest.Enter)
	d.Wait("two it is")
	if !strings.Contains(d.texts(), "do two") {
		t.Errorf("sent was %s", d.texts())
	}
}
