package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"winnow/assistant/llm"
)

// Stream sends req and yields the answer as it arrives; see llm.Model. An attempt that
// fails before its first content is repeated up to three times if a repetition may succeed;
// a Retry announces each repetition. If ctx ends, the stream ends with ctx.Err().
func (c *Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if _, err := c.completionParams(req); err != nil {
			yield(nil, c.newError(llm.KindUnknown, err, "the request cannot be encoded: %v", err))
			return
		}
		s := &stream{Client: c, ctx: ctx, req: req, yield: yield}
		if err := s.run(); err != nil && !errors.Is(err, errBrokenOff) {
			yield(nil, err)
		}
	}
}

// errBrokenOff ends a stream whose consumer has left the range loop: yield must not be
// called again.
var errBrokenOff = errors.New("the consumer has stopped")

// stream is one call to Stream.
type stream struct {
	*Client
	ctx      context.Context
	req      llm.Request
	yield    func(llm.Part, error) bool
	content  bool            // content was yielded: no more retries
	received strings.Builder // text and reasoning, for the log
}

// run makes attempts until one succeeds or no retry is allowed.
func (s *stream) run() error {
	for retry := 1; ; retry++ {
		err := s.attempt()
		switch {
		case errors.Is(err, errBrokenOff):
			return err
		case err == nil || s.ctx.Err() != nil:
			return s.ctx.Err()
		case s.content:
			return err
		}
		after, again := s.planRetry(err, retry)
		if !again {
			return err
		}
		reason := err.Error()
		if re := new(llm.RequestError); errors.As(err, &re) {
			reason = re.Sentence()
		}
		s.opts.Log.Warn("request will be sent again", "provider", s.opts.Name, "attempt", retry, "reason", reason, "after", after)
		if !s.yield(llm.Retry{Attempt: retry, Reason: reason, After: after}, nil) {
			return errBrokenOff
		}
		if err := s.opts.Wait(s.ctx, after); err != nil {
			return err
		}
	}
}

// attempt sends the request once and yields what is received.
func (s *stream) attempt() error {
	ctx, cancel := context.WithCancel(s.ctx)
	x := s.send(ctx, s.req)
	a := &answer{Client: s.Client}
	err := s.receive(x, a)
	if err != nil || !a.done {
		cancel()
		return err
	}
	x.stopPacing()
	go func() { // reads the rest of the body, so that the connection can be reused
		defer time.AfterFunc(drainTime, cancel).Stop()
		defer cancel()
		for range x.events {
		}
	}()
	return nil
}

// receive handles the events of x until the answer is complete or has failed.
func (s *stream) receive(x *exchange, a *answer) error {
	w := newProgressTimer(s.opts.Timeouts)
	defer w.stop()
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case e, open := <-x.events:
			if !open {
				return s.ctx.Err()
			}
			if over, err := s.handle(x, a, w, e); over || err != nil {
				return err
			}
		case <-w.notice.C:
			w.notices++
			if !w.limitPassed() && !s.yield(llm.Wait{For: time.Duration(w.notices) * noticeEvery}, nil) {
				return errBrokenOff
			}
		case <-w.limit.C:
			if w.phase == finishing {
				return s.finish(a, nil)
			}
			return s.timeout(w)
		}
	}
}

// handle processes one event; over means that the answer is complete.
func (s *stream) handle(x *exchange, a *answer, w *progressTimer, e event) (over bool, err error) {
	switch {
	case e.ended:
		if a.understood || a.frames.framing != unknownFraming || e.err == nil {
			return true, s.finish(a, e.err)
		}
		return false, s.netError(e.err)
	case e.header != nil:
		w.enter(silent)
		a.limits = rateLimits(e.header, s.opts.Now())
		return false, s.checkContentType(e.header.Get("Content-Type"))
	case e.body == nil:
		w.enter(unanswered)
		return false, nil
	}
	parts, useful, err := a.write(e.body)
	if stop := s.deliver(a, parts); stop != nil {
		return false, stop
	}
	if useful && a.finished {
		w.restart(finishing)
		x.stopPacing()
	} else if useful {
		if w.phase < streaming {
			x.startPacing(s.opts.ReadPause)
		}
		w.restart(streaming)
	}
	if err == nil && a.done {
		return true, s.finish(a, nil)
	}
	return false, err
}

// finish yields the rest of an answer that has ended.
func (s *stream) finish(a *answer, cause error) error {
	parts, err := a.end(cause)
	if stop := s.deliver(a, parts); stop != nil {
		return stop
	}
	return err
}

// deliver yields parts. A complete answer is logged at DEBUG level.
func (s *stream) deliver(a *answer, parts []llm.Part) error {
	s.content = s.content || a.content
	for _, part := range parts {
		switch p := part.(type) {
		case llm.Text:
			s.received.WriteString(string(p.Text))
		case llm.Reasoning:
			s.received.WriteString(string(p.Text))
		case llm.Unreadable:
			s.opts.Log.Warn("part of an answer left out", "provider", s.opts.Name, "reason", p.Reason)
		case llm.End:
			if s.opts.Log.Enabled(s.ctx, slog.LevelDebug) {
				s.opts.Log.Debug("response", "provider", s.opts.Name, "finish", p.Finish, "damaged", p.Damaged,
					"text", s.secrets.Redact(s.received.String()), "calls", s.secrets.Redact(fmt.Sprint(p.Calls)))
			}
		case llm.Wait, llm.Retry:
		}
		if !s.yield(part, nil) {
			return errBrokenOff
		}
	}
	return nil
}

// phase is the progress of an exchange.
type phase uint8

const (
	connecting phase = iota
	unanswered       // connected, but no headers yet
	silent           // the headers were received, but no content yet
	streaming
	finishing // the finish_reason was received
)

const (
	// noticeEvery is the time without useful data before each Wait.
	noticeEvery = 20 * time.Second
	// afterFinish is how long the usage report and [DONE] may take after the finish_reason.
	// Some endpoints never send them and leave the connection open.
	afterFinish = 2 * time.Second
	// drainTime is how long the rest of a body may take after a complete answer.
	drainTime = time.Second
)

// progressTimer measures how long an exchange has sent nothing useful.
type progressTimer struct {
	timeouts Timeouts
	phase    phase
	limit    *time.Timer  // fires when the phase has taken too long
	notice   *time.Ticker // fires when a Wait is due
	notices  int          // number of Waits since the last useful event
}

func newProgressTimer(t Timeouts) *progressTimer {
	return &progressTimer{timeouts: t, limit: time.NewTimer(t.Connect), notice: time.NewTicker(noticeEvery)}
}

func (w *progressTimer) stop() {
	w.limit.Stop()
	w.notice.Stop()
}

func (w *progressTimer) duration() time.Duration {
	t := w.timeouts
	return [...]time.Duration{t.Connect, t.FirstByte, t.FirstByte, t.Idle, afterFinish}[w.phase]
}

// enter starts a phase before the first content. The limit starts when the connection is
// made; the headers do not restart it.
func (w *progressTimer) enter(p phase) {
	connected := w.phase == connecting
	w.phase = max(w.phase, p)
	if connected {
		w.limit.Reset(w.duration())
	}
}

// restart starts the phase p after useful data has arrived.
func (w *progressTimer) restart(p phase) {
	w.phase, w.notices = p, 0
	w.limit.Reset(w.duration())
	w.notice.Reset(noticeEvery)
}

// limitPassed reports whether the limit fired together with the notice.
func (w *progressTimer) limitPassed() bool {
	select {
	case <-w.limit.C:
		w.limit.Reset(0) // receive handles the expired limit next
		return true
	default:
		return false
	}
}

// timeout returns the error of a phase that took too long.
func (c *Client) timeout(w *progressTimer) error {
	kind, cause, format := llm.KindNet, errTimeout, ""
	switch w.phase {
	case connecting:
		cause, format = nil, "no connection to %s within %v"
	case unanswered:
		format = "%s accepted the request but has not answered for %v"
	case silent:
		format = "%s began to answer but has sent no content for %v"
	case streaming, finishing:
		kind, format = llm.KindInterrupted, "%s stopped in the middle of the answer and has sent nothing for %v"
	}
	return c.newError(kind, cause, format, c.host, w.duration())
}
