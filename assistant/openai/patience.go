package openai

import (
	"fmt"
	"time"

	"winnow/assistant"
)

// afterFinish is how long the usage report and [DONE] may take after the
// finish_reason. Some endpoints never send them and keep the connection open.
const afterFinish = 2 * time.Second

// phase is how far an exchange has come.
type phase uint8

const (
	connecting phase = iota
	unanswered       // connected, no header yet
	silent           // the header came, no content yet
	streaming
	finishing // the finish_reason came
)

// patience keeps the time of one exchange: when to say that it is slow, and
// when to give it up.
type patience struct {
	limits  Timeouts
	host    string
	phase   phase
	began   time.Time // of the limit that runs now
	useful  time.Time // the last useful event, or the start
	noticed int       // how many notices there were since
}

func newPatience(limits Timeouts, host string, now time.Time) *patience {
	return &patience{limits: limits, host: host, began: now, useful: now}
}

// connected begins the wait for the first content.
func (p *patience) connected(now time.Time) {
	if p.phase == connecting {
		p.phase, p.began = unanswered, now
	}
}

// answered notes that the header came; the wait goes on.
func (p *patience) answered(now time.Time) {
	p.connected(now)
	if p.phase == unanswered {
		p.phase = silent
	}
}

// progressed notes something useful.
func (p *patience) progressed(now time.Time, finished bool) {
	p.phase, p.began, p.useful, p.noticed = streaming, now, now, 0
	if finished {
		p.phase = finishing
	}
}

func (p *patience) limit() time.Duration {
	switch p.phase {
	case connecting:
		return p.limits.Connect
	case unanswered, silent:
		return p.limits.FirstByte
	case streaming:
		return p.limits.Idle
	default:
	}
	return afterFinish
}

// next returns how long to wait until something is due.
func (p *patience) next(now time.Time) time.Duration {
	end := p.began.Add(p.limit())
	if notice := p.notice(); p.phase != finishing && notice.Before(end) {
		end = notice
	}
	return max(end.Sub(now), 0)
}

func (p *patience) notice() time.Time {
	return p.useful.Add(time.Duration(p.noticed+1) * p.limits.Notice)
}

// due returns the error when the limit is over, else the notice that is due,
// else nothing. The end of finishing is an error that nobody will see.
func (p *patience) due(now time.Time) (*assistant.Wait, error) {
	if limit := p.limit(); !now.Before(p.began.Add(limit)) {
		return nil, p.over(limit)
	}
	if p.phase == finishing || now.Before(p.notice()) {
		return nil, nil
	}
	p.noticed++
	return &assistant.Wait{For: time.Duration(p.noticed) * p.limits.Notice}, nil
}

// over says which wait was too long.
func (p *patience) over(limit time.Duration) error {
	kind, words, advice := assistant.KindNet, "", "try again, or choose another model"
	switch p.phase {
	case connecting:
		words, advice = "no connection to %s within %s", "is its address right, and are you online?"
	case unanswered:
		words = "%s took the request and has not answered for %s"
	case silent:
		words = "%s began to answer and has sent no content for %s"
	default:
		kind, words = assistant.KindInterrupted, "%s has sent nothing more of the answer for %s"
	}
	cause := errTimeout
	if p.phase == connecting {
		cause = errNoConnection
	}
	return broken(kind, fmt.Sprintf(words, p.host, span(limit)), advice, cause)
}
