package assistant

import "time"

// Quota is what an endpoint said last of how much more it may be asked for a
// model, less what was sent to it since.
type Quota struct {
	Model string    // "provider/name"
	Said  time.Time // when the endpoint said so

	RequestsPerMinute, TokensPerMinute int // 0 is unknown
	RequestsLeft, TokensLeft           int // -1 is unknown
	// From now until nothing of the quota is used any more; 0 is now, or unknown.
	RequestsReset, TokensReset time.Duration
	// Wait is how much longer the endpoint, which refused a request, asked to
	// wait before the next; 0 is not at all.
	Wait time.Duration
}

// Refuses reports whether the endpoint would likely refuse a request of so many
// tokens now. What is unknown refuses nothing.
func (q Quota) Refuses(tokens int) bool {
	return q.Wait > 0 || q.RequestsLeft == 0 || (q.TokensLeft >= 0 && tokens > q.TokensLeft)
}

// quota is what is remembered of one model.
type quota struct {
	said             time.Time
	requests, tokens allowance
	wait             time.Time // the endpoint wants no request before it
}

// allowance is one of the two things that an endpoint counts.
type allowance struct {
	limit int       // a minute; 0 is unknown
	left  int       // -1 is unknown
	full  time.Time // from when on all of limit is left
}

// quotaMinute is the window of a quota that does not say how long it is: they
// are named by the minute.
const quotaMinute = time.Minute

// allowanceOf reads what a header said.
func allowanceOf(limit, left int, reset time.Duration, now time.Time) allowance {
	if left < 0 {
		return allowance{limit: limit, left: -1}
	}
	if reset == 0 {
		reset = quotaMinute
	}
	return allowance{limit, left, now.Add(reset)}
}

// at is the allowance as it is now. It stays where the endpoint put it until
// it is full: not all give back bit by bit, and too little is the safe side.
func (a allowance) at(now time.Time) allowance {
	if a.left >= 0 && !now.Before(a.full) {
		if a.left = a.limit; a.limit == 0 {
			a.left = -1
		}
	}
	return a
}

// less is the allowance after n more were used.
func (a allowance) less(n int, now time.Time) allowance {
	a = a.at(now)
	if a.left < 0 {
		return a
	}
	if !now.Before(a.full) {
		a.full = now.Add(quotaMinute)
	}
	a.left = max(a.left-n, 0)
	return a
}

// reset is the time from now until it is full.
func (a allowance) reset(now time.Time) time.Duration {
	if a.left < 0 {
		return 0
	}
	return max(a.full.Sub(now), 0)
}

// Heard remembers what an endpoint said of the quotas of a model, "provider/name",
// at this moment. Its tokens a minute bound what the model takes from now on.
// A refusal that asked to wait says for how long; 0 is no refusal. nil limits
// were not given.
func (r *Registry) Heard(id string, l *RateLimits, wait time.Duration, now time.Time) {
	if l == nil && wait <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q, known := r.quotas[id]
	if !known {
		q.requests.left, q.tokens.left = -1, -1
	}
	q.said = now
	if l != nil {
		q.requests = allowanceOf(l.RequestsPerMinute, l.RequestsLeft, l.RequestsReset, now)
		q.tokens = allowanceOf(l.TokensPerMinute, l.TokensLeft, l.TokensReset, now)
		q.wait = time.Time{}
	}
	if wait > 0 {
		q.wait = now.Add(wait)
	}
	if r.quotas == nil {
		r.quotas = map[string]quota{}
	}
	r.quotas[id] = q
}

// spend takes a request of so many tokens off, until the endpoint says what is left.
func (r *Registry) spend(id string, tokens int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q, known := r.quotas[id]; known {
		q.requests, q.tokens = q.requests.less(1, now), q.tokens.less(tokens, now)
		r.quotas[id] = q
	}
}

// Quota is what is left of a model's quotas at this moment; ok is false when
// its endpoint never spoke of them.
func (r *Registry) Quota(id string, now time.Time) (q Quota, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	have, ok := r.quotas[id]
	if !ok {
		return Quota{}, false
	}
	requests, tokens := have.requests.at(now), have.tokens.at(now)
	return Quota{
		Model: id, Said: have.said,
		RequestsPerMinute: requests.limit, RequestsLeft: requests.left, RequestsReset: requests.reset(now),
		TokensPerMinute: tokens.limit, TokensLeft: tokens.left, TokensReset: tokens.reset(now),
		Wait: max(have.wait.Sub(now), 0),
	}, true
}

// Quota is what the endpoint of the selected model still allows now; ok is
// false when it never spoke of quotas.
func (s *Session) Quota() (q Quota, ok bool) {
	return s.registry.Quota(s.Model(), s.now())
}
