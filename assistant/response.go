package assistant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
)

// The notices of turns that stopped at the limit on rounds or with an empty
// answer.
const (
	limitNotice = "Stopped after %s of tool calls. Everything done so far is kept."
	emptyNotice = "The model returned an empty answer."
)

// ActionContinue is the server action that continues a turn after the limit on
// rounds.
const ActionContinue = "continue"

// respondAll requests responses until the final one. It returns nil for a
// complete turn, ctx.Err() for a cancelled one, and a *TurnError otherwise.
func (t *loop) respondAll() error {
	defer t.flushTexts()
	for {
		if !t.correcting {
			t.host.emit(Status{"Thinking…"})
		}
		t.newParagraph = t.text.Len() > 0
		a, err := t.respond()
		if err == nil && len(a.end.Calls) == 0 {
			return t.turnError(t.finish(a))
		}
		if err == nil && a.end.Cut() {
			err = &TurnError{Code: CodeInterrupted, Message: "the answer was " + a.end.CutReason() + ", so its tool calls were not run"}
		}
		if err == nil {
			err = t.runCalls(a)
		}
		switch {
		case err != nil:
			return t.turnError(err)
		case t.host.shouldStop():
			return nil
		case t.rounds >= t.iterations:
			t.note(fmt.Sprintf(limitNotice, Counted(t.rounds, "round")))
			t.suggest(Suggested{Actions: []SuggestedAction{{
				Label: "Continue", Action: ActionContinue, Handler: "server", Style: "primary",
			}}})
			return nil
		}
	}
}

// shouldStop implements listener: the turn ends if the queued message is to be
// sent next.
func (t *turn) shouldStop() bool {
	_, waits := t.s.Queued()
	return waits && !t.s.QueuePaused() && t.ctx.Err() == nil
}

// turnError converts an error into the one that ends the turn; nil stays nil.
func (t *loop) turnError(err error) error {
	var turnErr *TurnError
	var reqErr *llm.RequestError
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case errors.As(err, &turnErr):
		return turnErr
	case errors.As(err, &reqErr):
		return &TurnError{Code: string(reqErr.Kind), Message: reqErr.Sentence(), Err: reqErr}
	}
	return &TurnError{Code: string(llm.KindUnknown), Message: err.Error(), Err: err}
}

// finish ends the turn with its final response, and notes what is wrong with
// it.
func (t *loop) finish(a reply) error {
	t.flushTexts()
	switch {
	case a.end.Cut():
		t.note("The answer was " + a.end.CutReason() + ".")
	case a.end.Damaged != "":
		t.note("The answer was damaged in transit: " + a.end.Damaged + ".")
	case t.pair.AssistantText == "" && len(t.pair.Payloads) == 0 && t.pair.Suggested == nil:
		t.note(emptyNotice)
	}
	t.addMessage(&message.Text{Text: a.text, Role: llm.RoleAssistant}, len(*t.list))
	return t.responseDone(true)
}

// addMessage inserts a message into the list at the given index.
func (t *loop) addMessage(m message.Message, at int) {
	*t.list = slices.Insert(*t.list, at, m)
	t.host.added(m)
}

// added implements listener. A turn's list is discarded with the turn, so there
// is nothing to do.
func (t *turn) added(message.Message) {}

// responseDone counts a complete response.
func (t *loop) responseDone(final bool) error {
	t.response++
	return t.host.responded(final)
}

// responded implements requester: it stores a complete response, except the
// final one, which is stored at the end of the turn.
func (t *turn) responded(final bool) error {
	t.attempt.Complete()
	t.report(t.attempt.Ended(), "")
	t.remember()
	if final {
		return nil
	}
	t.attempt.Continue(t.addedTokens())
	return t.commit()
}

// reply is one complete response.
type reply struct {
	text string // the text without payloads; what looks like a card marker is not escaped
	end  llm.End
}

// respond gets one response. After each overflow it sends a smaller request.
func (t *loop) respond() (reply, error) {
	for {
		r := &response{t: t, payloads: markup.NewParser(kindsOf(t.payloadTypes))}
		err := r.read(t.host.nextRequest())
		var reqErr *llm.RequestError
		if errors.As(err, &reqErr) {
			wait := time.Duration(0)
			if reqErr.Kind == llm.KindQuota {
				wait = reqErr.After
			}
			t.registry.SetQuota(t.modelID, reqErr.Limits, wait, t.now())
		}
		if reqErr == nil || reqErr.Kind != llm.KindOverflow || r.received {
			return reply{strings.TrimSpace(r.text.String()), r.end}, err
		}
		if reqErr.Limit > 0 { // the model's limit from now on
			t.registry.LearnLimit(t.modelID, reqErr.Limit, t.now())
		}
		if err := t.host.overflow(reqErr); err != nil {
			return reply{}, err
		}
	}
}

// overflow implements requester: it drops the oldest included pair.
func (t *turn) overflow(reqErr *llm.RequestError) error {
	more := t.attempt.Overflow()
	t.report(t.attempt.Ended(), reqErr.Text())
	if !more {
		return &TurnError{Code: CodeOverflowTrimmed, Err: reqErr, Message: fmt.Sprintf(
			"the request is too long for %s%s: %s", t.modelID, leftOutWords(t.attempt.DroppedCount(), t.attempt.PredictedCount()), reqErr.Text())}
	}
	last := t.noteSend(true)
	t.emit(ContextTrimmed{
		Sent: t.attempt.PredictedCount() - t.attempt.DroppedCount(), Trimmed: t.attempt.DroppedCount(),
		Visible: t.boundary.Y, Attempt: t.attempt.DroppedCount() + 1, Tokens: last.Tokens, Pairs: last.LeftOut,
	})
	return nil
}

// leftOutWords returns a clause that says how many of the included pairs the
// last request of an attempt left out.
func leftOutWords(left, included int) string {
	switch {
	case included == 0:
		return ", and there is no earlier message to leave out"
	case left == 0:
		return ", and max_trim_attempts forbids leaving out earlier messages"
	case left == included:
		return ", even without any earlier message"
	}
	return fmt.Sprintf(", even without the oldest %d of %s", left, Counted(included, "earlier message"))
}

// response reads the parts of one response.
type response struct {
	t        *loop
	payloads *markup.Parser
	guard    markup.Guard
	text     strings.Builder
	began    time.Time // start of the reasoning
	received bool      // text or reasoning has arrived
	ended    bool
	end      llm.End
}

func (r *response) read(req llm.Request) (err error) {
	ctx := r.t.ctx
	for part, failed := range r.t.model.Stream(ctx, req) {
		if err = failed; err != nil || ctx.Err() != nil {
			break
		}
		r.add(part)
	}
	r.endThought()
	r.addSegments(r.payloads.Flush())
	r.show(r.guard.Flush())
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case !r.ended:
		return &llm.RequestError{Kind: llm.KindInterrupted, Message: "the answer ended before it was complete"}
	}
	return nil
}

func (r *response) add(part llm.Part) {
	t := r.t
	switch p := part.(type) {
	case llm.Text:
		r.received = true
		r.endThought()
		r.addSegments(r.payloads.Write(p.Text))
	case llm.Reasoning:
		r.received = true
		if r.began.IsZero() {
			r.began = t.now()
			if t.reasoning.Len() > 0 {
				p.Text = "\n\n" + p.Text
			}
			t.beginThought()
		}
		if t.reasoning.Len() == 0 {
			p.Text = p.Text.TrimLeftFunc(unicode.IsSpace)
		}
		t.reasoning.Write(p.Text)
		t.host.emit(ReasoningDelta(p))
	case llm.Retry:
		t.host.emit(Retrying{Attempt: p.Attempt, Reason: p.Reason, AfterMS: p.After.Milliseconds()})
	case llm.Wait:
		t.host.emit(Status{"No answer for " + p.For.Round(time.Second).String()})
	case llm.Unreadable:
		t.warn("Part of the answer could not be read: " + p.Reason)
	case llm.End:
		r.end, r.ended = p, true
		t.addUsage(p.Usage)
		if t.spent != nil && p.Usage != nil {
			t.spent(*p.Usage)
		}
		t.registry.SetQuota(t.modelID, p.Limits, 0, t.now())
	}
}

// addUsage adds the tokens of a response and their price. The total price is
// known only if the price of every response so far is known.
func (t *loop) addUsage(u *llm.Usage) {
	if u == nil {
		return
	}
	_, _, info, _ := t.registry.Open(t.modelID) // the zero value has no price
	usd, known := info.Facts.Cost(*u)
	switch {
	case !known || t.pair.Usage != nil && t.pair.Price == nil:
		t.pair.Price = nil
	case t.pair.Price == nil:
		t.pair.Price = &usd
	default:
		t.pair.Price = new(*t.pair.Price + usd)
	}
	t.pair.Usage = t.pair.Usage.Plus(u)
}

func (r *response) endThought() {
	if !r.began.IsZero() {
		took := r.t.now().Sub(r.began)
		r.t.pair.ReasoningFor += took
		r.t.thoughts[len(r.t.thoughts)-1].Took += took
		r.began = time.Time{}
	}
}

func (r *response) addSegments(all []markup.Segment) {
	for _, p := range all {
		if r.t.ctx.Err() != nil {
			return // a malicious chunk can contain thousands of segments
		}
		switch {
		case p.Kind != "":
			r.t.addPayload(r.t.fillPayload(Payload{Type: p.Kind, Data: p.Data}))
		case p.Notice != "":
			r.t.warn(p.Notice)
		default:
			r.text.WriteString(string(p.Text))
			r.show(r.guard.Write(p.Text))
		}
	}
}

// show adds text to the pair. A response after tools starts a new paragraph.
// White space at the start of the answer or of such a paragraph is removed.
func (r *response) show(text safetext.Text) {
	t := r.t
	if t.newParagraph || t.text.Len() == 0 {
		text = text.TrimLeftFunc(unicode.IsSpace)
	}
	if text == "" {
		return
	}
	if t.newParagraph {
		text = "\n\n" + text
	}
	t.newParagraph, t.correcting = false, false
	t.addText(text)
}

// addText appends to the assistant's text and reports it.
func (t *loop) addText(text safetext.Text) {
	t.text.Write(text)
	t.host.emit(TextDelta{text})
}

// flushTexts writes the texts to the pair. They grow in builders, so that a
// chunk costs the same at the end of a long answer as at its start.
func (t *loop) flushTexts() {
	t.pair.AssistantText = t.text.From(0).TrimSpace()
	t.pair.Reasoning = t.reasoning.From(0).TrimSpace()
	t.flushThoughts()
}

// breakParagraph starts a new paragraph, unless the text ends with a paragraph
// break or a card.
func (t *loop) breakParagraph() {
	if end := t.text.From(max(0, t.text.Len()-len("]]"))); end != "" && end != "\n\n" && end != "]]" {
		t.addText("\n\n")
	}
	t.newParagraph = false
}

// suggest adds values and actions to the pair's suggestions.
func (t *loop) suggest(s Suggested) {
	if t.pair.Suggested == nil {
		t.pair.Suggested = &Suggested{}
	}
	t.pair.Suggested.Values = append(t.pair.Suggested.Values, s.Values...)
	t.pair.Suggested.Actions = append(t.pair.Suggested.Actions, s.Actions...)
}

// addPayload adds a payload to the pair: suggested values and actions go to its
// suggestions, everything else becomes a card.
func (t *loop) addPayload(p Payload) {
	if p.Type == PayloadValues || p.Type == PayloadActions {
		var offered struct {
			Values  []SuggestedValue
			Actions []SuggestedAction
		}
		if json.Unmarshal(p.Data, &offered) == nil {
			t.suggest(Suggested(offered))
		}
		return
	}
	t.pair.Payloads = append(t.pair.Payloads, p)
	t.host.emit(PayloadFound{p})
}

// fillPayload fills in the id and the summary and makes sure that Data is JSON.
func (t *loop) fillPayload(p Payload) Payload {
	if p.ID == "" {
		p.ID = NewID(t.now())[16:] // the random part, short enough for a model to quote
	}
	p.Data = validOrQuoted(string(p.Data))
	if i := slices.IndexFunc(t.payloadTypes, samePayload(p.Type)); i >= 0 && p.Summary == "" {
		p.Summary = t.payloadTypes[i].summary(p.Data)
	}
	p.Summary = cmp.Or(p.Summary, p.Type)
	return p
}
