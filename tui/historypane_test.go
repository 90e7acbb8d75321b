package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

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
	d.Wait("2 messages, 1 topic, 0 saved filters")
	d.command("c'apples' :topic 'AI'")
	d.says("1 message moved to AI · u undoes it")
	d.Type(tuitest.Tab)
	d.in("PANE")
	d.Type("j")
	d.Wait("AI: 2 messages")
	d.Type("]", "[", tuitest.Enter)
	d.in("VIEW")
	d.Wait("only t'AI...'")
	d.Wait("2/2")
	d.Type("u") // the pane follows what is taken back
	d.Wait("AI: 1 message")
	d.Wait("1/1")
	d.command(":save all")
	d.Wait("there is nothing to save")
	d.Type(tuitest.Key("ctrl+u"), "t'AI' :save ai", tuitest.Enter)
	d.Wait("2 messages, 1 topic, 1 saved filter")
}

// The pane reads the history once, not again because it has read it.
func TestTheIdlePaneOfTheHistoryRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newProgram(t, setup{
			pairs:  []assistant.Pair{told("apples?", "about apples")},
			other:  func(h history.Store) assistant.Window { return historywindow.New(h, historywindow.Options{}) },
			change: func(o *Options) { o.Pane = historypane.New() },
		})
		b := &bench{Model: m, msgs: make(chan tea.Msg, 4096)}
		b.start(m.Init())
		b.start(m.resize(120, 32))
		for range 100 {
			synctest.Wait()
			select {
			case msg := <-b.msgs:
				b.take(msg)
				continue
			default:
			}
			if !strings.Contains(frameOf(m), "1 message, 0 topics, 0 saved filters") {
				t.Errorf("the pane has not read the history:\n%s", frameOf(m))
			}
			b.leave()
			return
		}
		t.Error("the program does not come to rest")
	})
}
