package tui

import (
	"testing"

	historywindow "winnow/adapters/history"
	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/historypane"
	"winnow/tui/tuitest"
)

// The pane of the history follows the conversation, and the conversation shows
// what is chosen there.
func TestThePaneOfTheHistory(t *testing.T) {
	inAI := told("robots?", "about robots")
	inAI.Topic = "AI"
	d := startProgram(t, setup{
		pairs:  []assistant.Pair{told("apples?", "about apples"), inAI},
		other:  func(h history.Store) assistant.Window { return historywindow.New(h, historywindow.Options{}) },
		change: func(o *Options) { o.Pane = historypane.New() },
	})
	d.Wait("2/2")
	d.goTo("VIEW")
	d.Wait("2 pairs, 1 topic, 0 filters")
	d.command("c'apples' :topic 'AI'")
	d.says("1 pair moved to AI · u undoes it")
	d.Type(tuitest.Tab)
	d.in("PANE")
	d.Type("j")
	d.Wait("AI: 2 pairs")
	d.Type("]", "[", tuitest.Enter)
	d.in("VIEW")
	d.Wait("chat · t'AI...'")
	d.Wait("2/2")
	d.Type("u") // the pane follows what is taken back
	d.Wait("AI: 1 pair")
	d.Wait("1/1")
	d.command(":save all")
	d.Wait("there is nothing to save")
	d.Type(tuitest.Key("ctrl+u"), "t'AI' :save ai", tuitest.Enter)
	d.Wait("2 pairs, 1 topic, 1 filter")
}
