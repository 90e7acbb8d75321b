package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// pieces are an answer that streams word by word, with all kinds of Markdown.
// The fence names no language: the clock of the highlighter is one for all
// bubbles, and does not end with this one.
func pieces(words int) at.Answer {
	text := "# Title\n\nSome **bold** words, 漢字 and 👨‍👩‍👧‍👦.\n\n```\nx := 1 // " + strings.Repeat("long ", 40) + "\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n"
	var a at.Answer
	for i := range words {
		if i%200 == 0 {
			for _, w := range strings.SplitAfter(text, " ") {
				a = append(a, at.Say(w))
			}
		}
		a = append(a, at.Say(fmt.Sprintf("word%d ", i)))
	}
	return a
}

func TestResizeStormWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plan{width: 80, height: 24, contexts: map[string]int{"small": 100_000}, pairs: nil}.start(t)
		gates := make([]*at.Gate, 60)
		var answer at.Answer
		words := pieces(600)
		for i := range gates {
			gates[i] = at.NewGate()
			from, to := i*len(words)/len(gates), (i+1)*len(words)/len(gates)
			answer = append(append(answer, words[from:to]...), at.Stop{At: gates[i]})
		}
		s.script.Then(append(at.Answer{at.Think("hm 漢字")}, answer...), say("fine"))
		s.ask("first") // takes the answer that the script begins with
		s.keys("go on", "send")
		r := rand.New(rand.NewPCG(1, 2))
		for _, g := range gates {
			w, h := 1+r.IntN(220), 1+r.IntN(60)
			s.start(s.resize(w, h))
			tuitest.Exact(t, s.View().Content, w, h) // before anything that was asked for has come
			s.settle()
			tuitest.Exact(t, s.View().Content, w, h)
			g.Open()
			time.Sleep(50 * time.Millisecond) // in the bubble: the next frame of the stream
			s.settle()
			tuitest.Exact(t, s.View().Content, w, h)
			if t.Failed() {
				break
			}
		}
		for _, g := range gates {
			g.Open()
		}
		s.finish()
		s.start(s.resize(80, 24))
		s.settle()
		s.setMode(keymap.View)
		s.conv.chat.Bottom()
		if !strings.Contains(s.text(), "word599") {
			t.Errorf("the end of the answer is not on the screen:\n%s", s.text())
		}
		s.rest()
	})
}

func TestALongTurnLeavesTheEyesAlone(t *testing.T) {
	const tokens, each = 50_000, 500
	synctest.Test(t, func(t *testing.T) {
		s := plan{width: 80, height: 24, contexts: map[string]int{"small": 0}, pairs: talk()}.start(t)
		answer := pieces(400)
		var gates []*at.Gate
		for i := range tokens {
			if i%each == 0 {
				gates = append(gates, at.NewGate())
				answer = append(answer, at.Say("\n\n"), at.Stop{At: gates[len(gates)-1]})
			}
			answer = append(answer, at.Say(fmt.Sprintf("tok%d ", i)))
		}
		s.script.Then(answer, say("fine"))
		s.ask("first") // takes the answer that the script begins with
		s.keys("the long one", "send")
		time.Sleep(time.Second) // in the bubble
		s.settle()
		s.goTo(keymap.View)
		s.keys("ctrl+u", "ctrl+u", "ctrl+u")
		eyes := chatRows(s.text())
		for i, g := range gates {
			g.Open()
			time.Sleep(usecase.TextFrame)
			s.settle()
			if now := chatRows(s.text()); now != eyes {
				t.Fatalf("after %d tokens the lines under the eyes are\n%s\nand were\n%s", (i+1)*each, now, eyes)
			}
		}
		s.finish()
		if now := chatRows(s.text()); now != eyes {
			t.Errorf("the end of the turn moves the lines under the eyes:\n%s\nand were\n%s", now, eyes)
		}
		if !strings.Contains(s.text(), "new lines · G") {
			t.Errorf("nothing tells of what is new:\n%s", s.text())
		}
		if s.keys("G"); !strings.Contains(s.text(), fmt.Sprintf("tok%d", tokens-1)) {
			t.Errorf("G does not lead to the end:\n%s", s.text())
		}
		s.rest()
	})
}

// chatRows are the lines of the conversation but the last two, where the hint
// of what is new and the status stand.
func chatRows(frame string) string {
	lines := strings.Split(frame, "\n")[2:15]
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "┃ ") // without the scroll bar
	}
	return strings.Join(lines, "\n")
}

func TestNoKeyIsLostWhileAnAnswerStreams(t *testing.T) {
	const typed = "the quick brown fox jumps over the lazy dog and then some more of it"
	gate := at.NewGate()
	var answer at.Answer
	for i := range 1000 {
		answer = append(answer, at.Say(fmt.Sprintf("chunk%d ", i)))
		if i == 10 {
			answer = append(answer, at.Stop{At: gate})
		}
	}
	r := start(t, 100, 30, append(answer, at.Say("\n\nthe end")), say("second"))
	r.Type("go", tuitest.Send)
	gate.Wait(t)
	gate.Open()
	r.Type(typed)
	r.answered(1)
	r.Wait(" " + typed)
}

func TestAPairIsWholeAlthoughTheNextOneRuns(t *testing.T) {
	first, second := at.NewGate(), at.NewGate()
	r := start(t, 90, 24, at.Answer{at.Say("first answer"), at.Stop{At: first}}, at.Answer{at.Say("second answer"), at.Stop{At: second}})
	r.Type("first", tuitest.Send)
	first.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	first.Open()
	second.Wait(t)
	r.Wait("second answer")
	r.Until(func(frame string) bool { return strings.Count(frame, "… 14:32") == 1 })
}
