package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits bound a turn. The zero value is the default.
type Limits struct {
	Iterations int // rounds of tool calls in a turn; 0 is 5
	Invalid    int // invalid rounds in a row that end the turn; 0 is 4
}

func (l Limits) orDefault() Limits {
	if l.Iterations <= 0 {
		l.Iterations = 5
	}
	if l.Invalid <= 0 {
		l.Invalid = 4
	}
	return l
}

// resume continues what the pair holds already: nothing, or the whole responses
// of a turn that is tried again, whose limits go on where they were.
func (t *turn) resume() {
	t.text.WriteString(t.pair.AssistantText)
	t.reasoning.WriteString(t.pair.Reasoning)
	for _, b := range PairThoughts(t.pair) {
		t.thoughts = append(t.thoughts, b.Thought)
	}
	t.invalid = t.pair.InvalidRounds
	invalid := map[int]bool{} // responses
	for _, c := range t.pair.ToolCalls {
		if !c.Silent {
			t.cards++
		}
		t.response = c.Response + 1
		invalid[c.Response] = invalid[c.Response] || c.Silent
	}
	for _, bad := range invalid {
		if !bad {
			t.rounds++
		}
	}
}

// What a turn reports of its end.
const (
	limitNotice = "Stopped after %d rounds of tool calls. Everything done so far is kept."
	emptyNotice = "The model gave an empty answer."
)

// respondAll goes on until the assistant's final response. The error is nil for
// a complete turn, ctx's error for a cancelled one, else a *TurnError.
func (t *turn) respondAll() error {
	defer t.flushTexts()
	for {
		if !t.correcting {
			t.emit(Status{"Thinking…"})
		}
		t.newParagraph = t.text.Len() > 0
		a, err := t.respond()
		if err != nil {
			return t.turnError(err)
		}
		if len(a.calls) == 0 {
			return t.turnError(t.finish(a))
		}
		if a.end.Cut() {
			return &TurnError{Code: CodeInterrupted, Message: "the answer was " + a.end.cutBy() + ", so its tool calls were not run"}
		}
		if err := t.runCalls(a); err != nil {
			return t.turnError(err)
		}
		switch {
		case t.shouldStop():
			return nil
		case t.rounds >= t.limits.Iterations:
			t.offerContinue()
			return nil
		}
	}
}

// shouldStop reports whether the turn ends after the response it is in.
func (t *turn) shouldStop() bool {
	if t.s == nil {
		return t.stopped
	}
	_, waits := t.s.Queued()
	return waits && !t.s.QueuedHeld()
}

// finish stores the final response.
func (t *turn) finish(a answer) error {
	t.flushTexts()
	switch {
	case a.end.Cut():
		t.note("The answer was " + a.end.cutBy() + ".")
	case a.end.Damaged != "":
		t.note("The answer was damaged on its way: " + a.end.Damaged + ".")
	case t.pair.AssistantText == "" && len(t.pair.Payloads) == 0 && t.pair.Suggested == nil:
		t.note(emptyNotice)
	}
	t.addMessage(&TextMessage{a.text, RoleAssistant}, t.list.Len())
	return t.responseDone(true)
}

// addMessage puts a message into the list, at index at, and yields it.
func (t *turn) addMessage(m Message, at int) {
	t.list.messages = slices.Insert(t.list.messages, at, m)
	if t.yield != nil {
		t.stopped = t.stopped || !t.yield(m)
	}
}

// responseDone stores a whole response.
func (t *turn) responseDone(final bool) error {
	t.response++
	if t.s == nil {
		return nil
	}
	t.attempt.Complete()
	t.report(t.attempt.Ended(), "")
	t.remember()
	if final {
		return nil // close commits it
	}
	t.attempt.Continue(t.grown())
	return t.commit()
}

// grown is the size of what the turn has added since the user's message.
func (t *turn) grown() int {
	added := Pair{State: PairComplete, AssistantText: t.pair.AssistantText, ToolCalls: t.pair.ToolCalls}
	return PairCost(&added, t.settings.Budget.CPT())
}

// commit stores the pair as it is now, with the requests that were answered.
func (t *turn) commit() error {
	t.s.mu.Lock()
	unkept := t.unkept
	t.s.mu.Unlock()
	b := &Batch{Put: []*Pair{t.pair}, KeepMarks: true}
	for _, r := range unkept {
		b.Requests = append(b.Requests, PairRequest{t.pair, r})
	}
	if err := t.s.opts.Store.Commit(context.WithoutCancel(t.ctx), b); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unkept = nil
	return nil
}

func (t *turn) offerContinue() {
	t.note(fmt.Sprintf(limitNotice, t.rounds))
	t.suggest(Suggested{Actions: []SuggestedAction{{
		Label: "Continue", Action: ActionContinue, Handler: "server", Style: "primary",
	}}})
}

// ActionContinue is the server action that continues after the limit of rounds.
const ActionContinue = "continue"

// maxNotices bounds the notices of a turn: a hostile answer could cause
// thousands.
const maxNotices = 16

// note adds a notice about the turn that stays when the status line is gone.
func (t *turn) note(text string) {
	if t.notices == maxNotices || strings.Contains(t.pair.Notice, text) {
		return
	}
	t.notices++
	if t.pair.Notice != "" {
		t.pair.Notice += "\n"
	}
	t.pair.Notice += text
}

// turnError turns an error into the one that ends the turn; nil stays nil.
func (t *turn) turnError(err error) error {
	var f *TurnError
	var re *RequestError
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case errors.As(err, &f):
		return f
	case errors.As(err, &re):
		return &TurnError{Code: string(re.Kind), Message: re.Sentence(), Err: re}
	}
	return &TurnError{Code: string(KindUnknown), Message: err.Error(), Err: err}
}

// addText adds to the assistant's text and reports it.
func (t *turn) addText(text string) {
	t.correcting = false
	t.text.WriteString(text)
	t.emit(TextDelta{text})
}

// flushTexts writes the texts into the pair. They grow in builders, so that a
// chunk costs the same at the end of a long answer as at its beginning.
func (t *turn) flushTexts() {
	t.pair.AssistantText = strings.TrimSpace(t.text.String())
	t.pair.Reasoning = strings.TrimSpace(t.reasoning.String())
	t.flushThoughts()
}

// breakParagraph sets what follows apart from the text before it.
func (t *turn) breakParagraph() {
	if s := t.text.String(); s != "" && !strings.HasSuffix(s, "\n\n") && !strings.HasSuffix(s, "]]") {
		t.addText("\n\n")
	}
	t.newParagraph = false
}

// suggest adds to what is offered for the next step.
func (t *turn) suggest(s Suggested) {
	if t.pair.Suggested == nil {
		t.pair.Suggested = &Suggested{}
	}
	t.pair.Suggested.Values = append(t.pair.Suggested.Values, s.Values...)
	t.pair.Suggested.Actions = append(t.pair.Suggested.Actions, s.Actions...)
}
