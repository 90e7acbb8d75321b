package main

import (
	"strings"

	"winnow/assistant"
)

// The texts of the screen that acknowledge what these acts do.
const (
	cancelledCard = "Cancelled after 4 words" // half of say q1x1.
	branchedSays  = "continues from here"
)

// The keys that choose from the card of a cancelled answer.
const keepKey = "\x1b1"

// carded follows the card: it stays until the next message is sent, or until what came is kept.
func (v *victim) carded(a act) {
	if a.asks || a.ends {
		v.card = a.card
	}
}

// stopped cancels the answer to a message that stalls, and waits until that is acknowledged.
func (v *victim) stopped(text string) {
	v.screen.wait("half of " + text)
	v.screen.press(escape)
}

func cancelled(frame string) bool { return strings.Contains(frame, cancelledCard) }

// cancel cancels an answer: the message disappears from the conversation and returns to the box, and a card offers
// what came.
func (v *victim) cancel() act {
	text := v.text("stall")
	return act{
		name:  "cancel " + text,
		begin: func() { v.sends(text)(); v.stopped(text) },
		acked: cancelled, ends: true, card: cancelledCard,
		done: func(l *ledger) { l.drop(text) },
		half: []func(*ledger){interruptedPair(text)},
	}
}

// keep cancels an answer and keeps what came of it.
func (v *victim) keep() act {
	text := v.text("stall")
	a := v.cancel()
	a.name = "keep " + text
	a.begin = func() {
		v.sends(text)()
		v.stopped(text)
		v.screen.until("the card", cancelled)
		v.screen.press(keepKey)
	}
	a.acked = func(frame string) bool { return strings.Contains(footer(frame), "kept") }
	a.card = ""
	a.done = func(l *ledger) {
		l.put(entry{text: text, state: string(assistant.PairPartial), answer: "half of " + text, flag: true})
	}
	a.half = nil
	return a
}

// cancelRegenerated cancels another answer to a message: the old one stays chosen.
func (v *victim) cancelRegenerated() act {
	p, _ := v.must.last()
	v.end.stall(p.text)
	return act{
		name: "cancel another answer to " + p.text,
		begin: func() {
			v.again()
			v.stopped(p.text)
		},
		acked: cancelled, ends: true, card: cancelledCard,
		done: func(*ledger) {},
	}
}

// keepRegenerated keeps what came of it, which is another answer to the message; the old one stays chosen.
func (v *victim) keepRegenerated() act {
	p, _ := v.must.last()
	a := v.cancelRegenerated()
	a.name = "keep another answer to " + p.text
	a.begin = func() {
		v.again()
		v.stopped(p.text)
		v.screen.until("the card", cancelled)
		v.screen.press(keepKey)
	}
	a.acked = func(frame string) bool { return strings.Contains(footer(frame), "kept as answer") }
	a.card = ""
	a.done = func(l *ledger) {
		l.set(p.text, func(e *entry) { e.older = withOlder(e.older, "half of "+p.text) })
	}
	return a
}

// again presses the key that asks for another answer to the last message.
func (v *victim) again() {
	v.screen.to("VIEW")
	v.screen.press("G")
	v.screen.press("r")
}

// branch branches a session off at the last message. Nothing is copied, so no message is there twice.
func (v *victim) branch() act {
	p, _ := v.must.last()
	a := v.notices("branch at "+p.text, branchedSays, func() { v.screen.press("B") }, func(l *ledger) {
		l.branches++
		v.newest = ""
	})
	a.ends = true // the card belongs to the old session
	return a
}
