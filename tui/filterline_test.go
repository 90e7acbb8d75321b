package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/tuitest"
)

// line waits for a filter line and what stands behind it.
func (d *fixture) line(text, hint string) {
	d.t.Helper()
	d.Until(func(frame string) bool {
		foot := footerOf(frame) + " "
		return strings.HasPrefix(foot, " COMMAND  : "+text+" ") && strings.HasSuffix(strings.TrimSpace(foot), hint)
	})
}

func TestErrorLeavesTheLineItsRoom(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("COMMAND")
	long := "c'apples and pears' | d2026-13-01"
	d.Type(tuitest.Key("ctrl+u"), long)
	d.line(long, long)
	d.Wait("column 24: found 2026-13-01, want a valid date")
	d.Until(func(frame string) bool {
		lines := strings.Split(frame, "\n") // it stands over the footer
		return strings.HasPrefix(lines[len(lines)-2], " column 24: ")
	})
	if x, y, shown := d.Cursor(); x != len(" COMMAND  : "+long) || y != 23 || !shown {
		t.Errorf("the cursor is at %d,%d", x, y)
	}
	if got := underlined(d.Styled()); got != "2" {
		t.Errorf("underlined is %q, want the 2 that stands at the column", got)
	}
	// Longer than the screen: the end with the cursor stays.
	d.Type(strings.Repeat(" | c'and so on'", 6))
	d.Until(func(frame string) bool { return strings.HasSuffix(footerOf(frame), "c'and so on'") })
}

// underlined is the text of a styled frame that is underlined.
func underlined(styled string) string {
	var out strings.Builder
	for i, part := range strings.Split(styled, "\x1b[") {
		codes, text, ok := strings.Cut(part, "m")
		if i == 0 || !ok {
			continue
		}
		for _, c := range strings.Split(codes, ";") {
			if c == "4" {
				out.WriteString(text)
			}
		}
	}
	return out.String()
}

func TestLineTellsItsCountAlsoWhenEmpty(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("COMMAND")
	d.line("x", "3 messages")
	d.Type("&s2")
	d.line("x &s2", "1 message")
	d.Type(tuitest.Esc)
	d.line("", "3 messages")
	d.Type("s3")
	d.line("s3", "no messages")
}

// The filter line opens with x and says above itself what its letters match.
func TestTheLineSaysWhatItsLettersMatch(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		d := three(t, setup{w: size[0], h: size[1]})
		above := func(want, escape string) {
			t.Helper()
			d.Until(func(frame string) bool {
				lines := strings.Split(frame, "\n")
				last := strings.TrimSpace(lines[len(lines)-2])
				if strings.TrimSpace(lines[len(lines)-3]) == escape { // on a line of its own
					last += " · " + escape
				}
				return last == strings.TrimPrefix(want+" · "+escape, " · ")
			})
		}
		d.goTo("COMMAND")
		d.line("x", "3 messages")
		above("this session · empty: all sessions", "esc clears")
		d.Type("&!b")
		above("messages in this session, not flagged", "esc clears")
		d.Type(tuitest.Key("ctrl+u"), "mini & time")
		above("messages with the words mini, time", "esc clears")
		d.Type(tuitest.Key("ctrl+u"), "s2 | c'x'")
		above("messages with 2 stars or with “x”", "esc clears")
		d.Type(tuitest.Key("ctrl+u"))
		above("all messages", "esc leaves")
		d.Type("x :star 2")
		above(":star 0|1|2|3: set the stars", "esc clears")
	}
}

func TestTabGoesThroughAListWithASign(t *testing.T) {
	d := three(t, setup{history: func(h history.Store) error {
		for _, path := range []string{"AI > Agents", "AI > Art"} {
			if err := h.CreateTopic(t.Context(), path); err != nil {
				return err
			}
		}
		return nil
	}})
	d.goTo("COMMAND")
	d.Type(tuitest.Key("ctrl+u"), "s0 t'a", tuitest.Tab)
	d.line("s0 t'AI'", "no messages")
	d.Wait("› AI ")
	d.Wait("AI > Art")
	d.Type(tuitest.Tab)
	d.line("s0 t'AI > Agents'", "no messages")
	d.Wait("› AI > Agents")
	d.Type(tuitest.Down)
	d.Wait("› AI > Art")
	d.Type(tuitest.ShiftTab, tuitest.Up)
	d.line("s0 t'AI'", "no messages")
	d.Type(tuitest.Up) // round to the last
	d.line("s0 t'AI > Art'", "no messages")
	d.Type(tuitest.Esc) // what was typed is back
	d.Wait(": s0 t'a")
	d.WaitGone("› AI")
	d.Type(tuitest.Tab, " s1") // typing goes on behind it
	d.line("s0 t'AI' s1", "no messages")
	d.WaitGone("› AI")
}

func TestAuthorsAreCompleted(t *testing.T) {
	d := three(t, setup{history: func(h history.Store) error {
		return h.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{{Session: "elsewhere", Author: "anna", State: assistant.PairComplete}}})
	}})
	d.goTo("COMMAND")
	d.Type(tuitest.Key("ctrl+u"), "u'", tuitest.Tab)
	d.line("u'anna'", "1 message")
}

func TestHistoryOfLines(t *testing.T) {
	d := three(t, setup{})
	d.goTo("VIEW")
	d.command("s2")
	d.Wait("1/1")
	d.command("c'")
	d.Wait("column")
	d.Type(tuitest.Esc, tuitest.Key("ctrl+p"))
	d.Wait("column 2") // what was cleared comes back
	d.Type(tuitest.Key("ctrl+p"))
	d.line("s2", "1 message")
	d.Type(tuitest.Key("ctrl+n"), tuitest.Key("ctrl+n"))
	d.line("", "3 messages")
	d.Type("s1", tuitest.Enter)
	d.Type("f", tuitest.Key("ctrl+u"), tuitest.Key("ctrl+p"), tuitest.Key("ctrl+p"))
	d.line("s2", "1 message") // the one that did not work is not remembered
}

func TestFilterThatLeavesNothingSaysSo(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("VIEW")
	d.command("c'bananas'")
	d.Wait("no message matches c'bananas'")
	d.Wait("f changes the filter · an empty filter shows all messages")
	d.says("no messages") // the view may be shown before the filter has answered
	if strings.Contains(d.Frame(), "What would you like to change?") {
		t.Errorf("it welcomes as if there were no history:\n%s", d.Frame())
	}
	d.Type(tuitest.Alt(1)) // an example that is not on the screen
	d.says("there is no suggestion 1")
	d.Type("i")
	d.Wait("esc then f changes the filter")
	d.Type(tuitest.Esc)
	d.command("")
	d.Wait("about plums")
}

// Whoever has opened the line without wanting to sees how to get out of it.
func TestTheLineSaysWhatEscapeDoes(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("COMMAND")
	d.Wait(" this session · empty: all sessions · esc clears")
	d.Type(" hide every mini")
	d.Wait("with the words hide, every, mini")
	d.Type(tuitest.Key("ctrl+u"), "x z y mini")
	d.Wait("want a word of three letters or more, or a term: t s r b g")
	d.Wait(" m u d c e i x o @NAME ! or ( · esc clears")
	d.Type(tuitest.Esc)
	d.Wait(" all messages · esc leaves")
	d.Type(tuitest.Tab)
	d.Wait("esc closes")
	d.Type(tuitest.Esc, tuitest.Esc)
	d.in("VIEW")
}

// A word that is typed where the line opens with x is searched for by itself.
func TestAWordIsTypedBesideTheLineOfTheView(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("COMMAND")
	d.Type("question")
	d.Until(func(frame string) bool { return strings.Contains(frame, "with the word question") })
}
