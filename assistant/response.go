package assistant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// answer is one whole response.
type answer struct {
	text  string // without payloads and with its own markers as the model wrote them
	calls []Call
	end   End
}

// respond gets one response, with a smaller request after each overflow.
func (t *turn) respond() (answer, error) {
	for {
		r := t.newResponse()
		err := r.read(t.nextRequest())
		var re *RequestError
		if errors.As(err, &re) {
			wait := time.Duration(0)
			if re.Kind == KindQuota {
				wait = re.After
			}
			t.registry.Heard(t.modelID, re.Limits, wait, t.now())
		}
		if err == nil || re == nil || re.Kind != KindOverflow || r.any {
			return r.answer(), err
		}
		if err := t.overflow(re); err != nil {
			return answer{}, err
		}
	}
}

// response reads the parts of one response.
type response struct {
	t        *turn
	payloads payloadParser
	guard    markerGuard
	text     strings.Builder
	began    time.Time // of the reasoning
	any      bool      // something of the answer has arrived
	ended    bool
	end      End
}

func (t *turn) newResponse() *response {
	r := &response{t: t}
	for _, p := range t.types {
		if p.Source == FromLLM {
			r.payloads.types = append(r.payloads.types, p)
		}
	}
	return r
}

func (r *response) answer() answer {
	return answer{text: strings.TrimSpace(r.text.String()), calls: r.end.Calls, end: r.end}
}

func (r *response) read(req Request) error {
	ctx := r.t.ctx
	for part, err := range r.t.model.Stream(ctx, req) {
		if err != nil {
			r.flush()
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.add(part)
	}
	r.flush()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !r.ended:
		return &RequestError{Kind: KindInterrupted, Message: "the answer stopped before its end"}
	}
	return nil
}

func (r *response) add(part Part) {
	t := r.t
	switch p := part.(type) {
	case Text:
		r.any = true
		r.endThought()
		r.addPieces(r.payloads.write(p.Text))
	case Reasoning:
		r.any = true
		if r.began.IsZero() {
			r.began = t.now()
			if t.reasoning.Len() > 0 {
				p.Text = "\n\n" + p.Text
			}
			t.beginThought()
		}
		t.reasoning.WriteString(p.Text)
		t.emit(ReasoningDelta(p))
	case Retry:
		t.emit(Retrying{Attempt: p.Attempt, Reason: p.Reason, After: p.After})
	case Wait:
		t.emit(Status{"No answer for " + p.For.Round(time.Second).String()})
	case Unreadable:
		t.warn("A part of the answer could not be read: " + p.Reason)
	case End:
		r.endThought()
		r.end, r.ended = p, true
		t.addUsage(p.Usage)
		t.registry.Heard(t.modelID, p.Limits, 0, t.now())
	}
}

// warn reports what went wrong with a part, now and in the pair.
func (t *turn) warn(text string) {
	t.emit(Status{text})
	t.note(text)
}

func (r *response) endThought() {
	if !r.began.IsZero() {
		took := r.t.now().Sub(r.began)
		r.t.pair.ReasoningFor += took
		r.t.thoughts[len(r.t.thoughts)-1].Took += took
		r.began = time.Time{}
	}
}

func (r *response) flush() {
	r.endThought()
	r.addPieces(r.payloads.flush())
	if rest := r.guard.flush(); rest != "" {
		r.show(rest)
	}
}

func (r *response) addPieces(all []parsed) {
	for _, p := range all {
		if r.t.ctx.Err() != nil {
			return // a hostile chunk can hold thousands
		}
		switch {
		case p.payload != nil:
			r.t.completePayload(p.payload)
			r.t.addPayload(*p.payload)
		case p.notice != "":
			r.t.warn(p.notice)
		default:
			r.text.WriteString(p.text)
			if safe := r.guard.write(p.text); safe != "" {
				r.show(safe)
			}
		}
	}
}

// show adds text to the pair; a response after tools begins a paragraph, and no
// response begins with white space.
func (r *response) show(text string) {
	t := r.t
	if t.newParagraph || t.text.Len() == 0 {
		if text = strings.TrimLeft(text, " \n\t"); text == "" {
			return
		}
		if t.newParagraph {
			text = "\n\n" + text
		}
		t.newParagraph = false
	}
	t.addText(text)
}

// addPayload adds a payload that the model wrote: what it offers becomes chips
// and buttons, everything else a card.
func (t *turn) addPayload(p Payload) {
	var offered struct {
		Values  []SuggestedValue
		Actions []SuggestedAction
	}
	switch p.Type {
	case PayloadValues, PayloadActions:
		if json.Unmarshal(p.Data, &offered) == nil {
			t.suggest(Suggested(offered))
		}
		return
	}
	t.pair.Payloads = append(t.pair.Payloads, p)
	t.emit(PayloadFound{p})
}

// completePayload gives a payload its id and summary, and JSON for data.
func (t *turn) completePayload(p *Payload) {
	if p.ID == "" {
		p.ID = NewID(t.now())[16:] // the random part: short enough to be quoted by a model
	}
	p.Data = validOrQuoted(string(p.Data))
	for _, kind := range t.types {
		if kind.Name == p.Type && p.Summary == "" {
			p.Summary = kind.summary(p.Data)
		}
	}
	if p.Summary == "" {
		p.Summary = p.Type
	}
}

func (t *turn) addUsage(u *Usage) {
	if u == nil {
		return
	}
	if t.pair.Usage == nil {
		t.pair.Usage = &Usage{}
	}
	sum := t.pair.Usage
	sum.Prompt += u.Prompt
	sum.Completion += u.Completion
	sum.Reasoning += u.Reasoning
	sum.Cached += u.Cached
}

// overflow drops the oldest included pair. A limit that the endpoint names is
// what the model takes from now on.
func (t *turn) overflow(re *RequestError) error {
	if re.Limit > 0 {
		t.registry.Learn(ModelInfo{ID: t.modelID, Context: re.Limit, Known: true})
	}
	if t.s == nil {
		return re
	}
	more := t.attempt.Overflow()
	t.report(t.attempt.Ended(), re.words())
	if !more {
		return &TurnError{Code: CodeOverflowTrimmed, Err: re, Message: fmt.Sprintf(
			"the request is too long for %s even without %d of %d pairs: %s",
			t.modelID, t.attempt.T(), t.attempt.X(), re.words())}
	}
	result := t.noteSend()
	t.emit(ContextTrimmed{
		Sent: t.attempt.X() - t.attempt.T(), Trimmed: t.attempt.T(),
		Visible: t.boundary.Y, Attempt: t.attempt.T() + 1, Tokens: result.Tokens, Pairs: result.LeftOut,
	})
	return nil
}
