package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"winnow/assistant"
)

// Stream sends req and yields the answer as it comes; see assistant.Model. An
// attempt that fails before its first content is repeated up to three times
// when that may help, each announced as a Retry. When ctx ends, so does the
// stream, with the error of ctx.
func (c *Client) Stream(ctx context.Context, req assistant.Request) iter.Seq2[assistant.Part, error] {
	return func(yield func(assistant.Part, error) bool) {
		if _, err := c.completionParams(req); err != nil {
			yield(nil, &assistant.RequestError{Kind: assistant.KindUnknown, Message: "the request cannot be written: " + c.words(err.Error()), Err: err})
			return
		}
		s := &stream{client: c, ctx: ctx, req: req, yield: yield}
		if err := s.run(); err != nil && !errors.Is(err, errUnwanted) {
			yield(nil, err)
		}
	}
}

// errUnwanted ends a stream whose reader has broken off.
var errUnwanted = errors.New("nobody reads on")

// stream is one call of Stream.
type stream struct {
	client *Client
	ctx    context.Context
	req    assistant.Request
	yield  func(assistant.Part, error) bool
	said   bool            // content has been yielded: no attempt may follow
	heard  strings.Builder // text and reasoning, for the log at level DEBUG
}

// run makes attempts until one succeeds or none may follow.
func (s *stream) run() error {
	for retry := 1; ; retry++ {
		err := s.attempt()
		switch {
		case errors.Is(err, errUnwanted): // whatever else is so: nothing may be yielded any more
			return err
		case err == nil || s.ctx.Err() != nil:
			return s.ctx.Err()
		case s.said:
			return err
		}
		after, again := s.client.again(err, retry)
		if !again {
			return err
		}
		reason := s.client.reason(err)
		s.client.log.Warn("request is sent again", "provider", s.client.name, "attempt", retry, "reason", reason, "after", after)
		if !s.yield(assistant.Retry{Attempt: retry, Reason: reason, After: after}, nil) {
			return errUnwanted
		}
		if err := s.client.wait(s.ctx, after); err != nil {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			return err
		}
	}
}

// attempt sends the request once and yields what comes of it.
func (s *stream) attempt() error {
	ctx, cancel := context.WithCancel(s.ctx)
	x := s.client.start(ctx, s.req)
	a := &answer{fail: s.client.failed, host: s.client.host}
	err := s.follow(x, a)
	if err == nil && a.done {
		// The connection is worth keeping for the next turn: let its end come.
		go func() {
			defer cancel()
			x.drain(ctx)
		}()
		return nil
	}
	cancel()
	return err
}

// follow takes the news of x until the answer is whole or broken.
func (s *stream) follow(x *exchange, a *answer) error {
	host := s.client.base.Host
	p := newPatience(s.client.timeouts, host, time.Now())
	timer := time.NewTimer(p.next(time.Now()))
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case e := <-x.news:
			if over, err := s.take(x, a, p, e); over || err != nil {
				return err
			}
		case now := <-timer.C:
			wait, err := p.due(now)
			switch {
			case err != nil && p.phase == finishing:
				return s.finish(a, nil)
			case err != nil:
				return err
			case wait != nil && !s.yield(*wait, nil):
				return errUnwanted
			}
		}
		timer.Reset(p.next(time.Now()))
	}
}

// take handles one event. over means that the answer is whole.
func (s *stream) take(x *exchange, a *answer, p *patience, e event) (over bool, err error) {
	switch e.kind {
	case gotConnection:
		p.connected(time.Now())
	case gotHeader:
		p.answered(time.Now())
		a.limits = rateLimits(e.header, s.client.now())
		return false, s.client.checkType(e.header.Get("Content-Type"))
	case gotBody:
		parts, useful, err := a.write(e.body)
		x.free <- e.body[:cap(e.body)]
		if err := s.give(a, parts); err != nil {
			return false, err
		}
		if err != nil {
			return false, err
		}
		if useful {
			p.progressed(time.Now(), a.finished)
		}
		if a.done {
			return true, s.finish(a, nil)
		}
	case gotEnd:
		if a.understood || a.frames.framing != unknownFraming || e.err == nil {
			return true, s.finish(a, e.err)
		}
		return false, s.client.netError(e.err)
	}
	return false, nil
}

// finish yields what is left of an answer that has ended.
func (s *stream) finish(a *answer, cause error) error {
	parts, err := a.end(cause)
	if gone := s.give(a, parts); gone != nil {
		return gone
	}
	return err
}

// give yields parts.
func (s *stream) give(a *answer, parts []assistant.Part) error {
	s.said = s.said || a.said
	for _, part := range parts {
		s.note(part)
		if !s.yield(part, nil) {
			return errUnwanted
		}
	}
	return nil
}

// note logs what is to be logged of a part.
func (s *stream) note(part assistant.Part) {
	c := s.client
	if u, ok := part.(assistant.Unreadable); ok {
		c.log.Warn("part of an answer left out", "provider", c.name, "reason", u.Reason)
	}
	if !c.log.Enabled(s.ctx, slog.LevelDebug) {
		return
	}
	switch p := part.(type) {
	case assistant.Text:
		s.heard.WriteString(p.Text)
	case assistant.Reasoning:
		s.heard.WriteString(p.Text)
	case assistant.End:
		c.log.Debug("response", "provider", c.name, "finish", p.Finish, "damaged", p.Damaged,
			"text", c.secrets.Redact(s.heard.String()), "calls", c.secrets.Redact(fmt.Sprint(p.Calls)))
	default: // not what the model said
	}
}
