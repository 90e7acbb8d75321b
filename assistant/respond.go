package assistant

import (
	"context"
	"encoding/json"
	"errors"
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
func (e *engine) respond(ctx context.Context) (answer, error) {
	for {
		s := e.newStream()
		err := s.read(ctx, e.hooks.request())
		var re *RequestError
		if errors.As(err, &re) {
			e.hearRefusal(re)
		}
		if err == nil || re == nil || re.Kind != KindOverflow || s.any {
			return s.answer(), err
		}
		if err := e.hooks.overflow(re); err != nil {
			return answer{}, err
		}
	}
}

// hearRefusal passes on what a refusal says of quotas.
func (e *engine) hearRefusal(re *RequestError) {
	wait := time.Duration(0)
	if re.Kind == KindQuota {
		wait = re.After
	}
	e.hooks.heard(re.Limits, wait)
}

// stream reads the parts of one response.
type stream struct {
	e       *engine
	payload payloadParser
	guard   markerGuard
	text    strings.Builder
	began   time.Time // of the reasoning
	any     bool      // something of the answer has arrived
	ended   bool
	end     End
}

func (e *engine) newStream() *stream {
	s := &stream{e: e}
	for _, t := range e.types {
		if t.Source == FromLLM {
			s.payload.types = append(s.payload.types, t)
		}
	}
	return s
}

func (s *stream) answer() answer {
	return answer{text: strings.TrimSpace(s.text.String()), calls: s.end.Calls, end: s.end}
}

func (s *stream) read(ctx context.Context, req Request) error {
	for part, err := range s.e.model.Stream(ctx, req) {
		if err != nil {
			s.flush()
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.take(part)
	}
	s.flush()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !s.ended:
		return &RequestError{Kind: KindInterrupted, Message: "the answer stopped before its end"}
	}
	return nil
}

func (s *stream) take(part Part) {
	switch p := part.(type) {
	case Text:
		s.any = true
		s.stopReasoning()
		s.add(s.payload.write(p.Text))
	case Reasoning:
		s.any = true
		if s.began.IsZero() {
			s.began = s.e.now()
			if s.e.reasoning.Len() > 0 {
				p.Text = "\n\n" + p.Text
			}
			s.e.beginThought()
		}
		s.e.reasoning.WriteString(p.Text)
		s.e.hooks.emit(ReasoningDelta(p))
	case Retry:
		s.e.hooks.emit(Retrying(p))
	case Wait:
		s.e.hooks.emit(Status{"No answer for " + p.For.Round(time.Second).String() + " · esc cancels"})
	case Unreadable:
		s.tell("A part of the answer could not be read: " + p.Reason)
	case End:
		s.stopReasoning()
		s.end, s.ended = p, true
		s.e.addUsage(p.Usage)
		s.e.hooks.heard(p.Limits, 0)
	}
}

// tell says what went wrong with a part, now and in the pair.
func (s *stream) tell(text string) {
	s.e.hooks.emit(Status{text})
	s.e.note(text)
}

func (s *stream) stopReasoning() {
	if !s.began.IsZero() {
		took := s.e.now().Sub(s.began)
		s.e.pair.ReasoningFor += took
		s.e.thoughts[len(s.e.thoughts)-1].Took += took
		s.began = time.Time{}
	}
}

func (s *stream) flush() {
	s.stopReasoning()
	s.add(s.payload.flush())
	if rest := s.guard.flush(); rest != "" {
		s.show(rest)
	}
}

func (s *stream) add(all []found) {
	for _, f := range all {
		switch {
		case f.payload != nil:
			s.e.complete(f.payload)
			s.e.keep(*f.payload)
		case f.notice != "":
			s.tell(f.notice)
		default:
			s.text.WriteString(f.text)
			if safe := s.guard.write(f.text); safe != "" {
				s.show(safe)
			}
		}
	}
}

// show adds text to the pair; a response after tools begins a paragraph, and no
// response begins with white space.
func (s *stream) show(text string) {
	if s.e.apart || s.e.text.Len() == 0 {
		if text = strings.TrimLeft(text, " \n\t"); text == "" {
			return
		}
		if s.e.apart {
			text = "\n\n" + text
		}
		s.e.apart = false
	}
	s.e.addText(text)
}

// keep takes a payload that the model wrote: what it offers becomes chips and
// buttons, everything else a card.
func (e *engine) keep(p Payload) {
	switch p.Type {
	case PayloadValues:
		var body struct{ Values []SuggestedValue }
		if json.Unmarshal(p.Data, &body) == nil {
			e.suggest(Suggested{Values: body.Values})
		}
		return
	case PayloadActions:
		var body struct{ Actions []SuggestedAction }
		if json.Unmarshal(p.Data, &body) == nil {
			e.suggest(Suggested{Actions: body.Actions})
		}
		return
	}
	e.pair.Payloads = append(e.pair.Payloads, p)
	e.hooks.emit(PayloadFound{p})
}

func (e *engine) addUsage(u *Usage) {
	if u == nil {
		return
	}
	if e.pair.Usage == nil {
		e.pair.Usage = &Usage{}
	}
	sum := e.pair.Usage
	sum.Prompt += u.Prompt
	sum.Completion += u.Completion
	sum.Reasoning += u.Reasoning
	sum.Cached += u.Cached
}
