package llm

import "time"

// Quota is what remains of a model's quotas: the endpoint's last report, minus what has been
// sent since.
type Quota struct {
	RateLimits
	Model string    // "provider/name"
	At    time.Time // when the endpoint reported the quotas
	// Wait is what remains of the delay that the endpoint asked for when it rejected a
	// request; 0 if there was none.
	Wait time.Duration
}

// WouldReject reports whether the endpoint would probably reject a request of this many tokens
// now. Unknown quotas reject nothing.
func (q Quota) WouldReject(tokens int) bool {
	return q.Wait > 0 || q.RequestsLeft == 0 || (q.TokensLeft >= 0 && tokens > q.TokensLeft)
}

// LastQuota is a Quota with the time it was computed for.
type LastQuota struct {
	Quota
	AsOf time.Time
}

// LeftAt returns the quota at a later time.
func (q LastQuota) LeftAt(now time.Time) Quota { return q.aged(now).Quota }

// quotaWindow is the assumed time until a quota resets, if the endpoint reports none: quotas
// are per minute.
const quotaWindow = time.Minute

// aged returns the quota at a later time. The remaining quota does not grow before the
// reset: not all endpoints refill it gradually, and an underestimate is safe.
func (q LastQuota) aged(now time.Time) LastQuota {
	age := func(limit int, left *int, reset *time.Duration) {
		*reset = max(*reset-now.Sub(q.AsOf), 0)
		switch {
		case *left < 0:
			*reset = 0
		case *reset == 0 && limit == 0:
			*left = -1
		case *reset == 0:
			*left = limit
		}
	}
	age(q.RequestsPerMinute, &q.RequestsLeft, &q.RequestsReset)
	age(q.TokensPerMinute, &q.TokensLeft, &q.TokensReset)
	q.Wait = max(q.Wait-now.Sub(q.AsOf), 0)
	q.AsOf = now
	return q
}

// consume subtracts n from what is left, and sets a reset if none is set.
func consume(n int, left *int, reset *time.Duration) {
	if *left < 0 {
		return
	}
	*left = max(*left-n, 0)
	if *reset == 0 {
		*reset = quotaWindow
	}
}

// SetQuota stores what an endpoint reported about the quotas of a model, "provider/name".
// The reported tokens per minute limit requests to the model from now on. l is nil if
// nothing was reported; wait is the delay requested by a rejection, or 0.
func (r *Registry) SetQuota(id string, l *RateLimits, wait time.Duration, now time.Time) {
	if l == nil && wait <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn() // creates the maps
	q, known := r.quotas[id]
	q = q.aged(now)
	if !known {
		q.RateLimits = UnknownLimits()
	}
	q.Model, q.At = id, now
	if l != nil {
		q.RateLimits, q.Wait = *l, 0
		consume(0, &q.RequestsLeft, &q.RequestsReset)
		consume(0, &q.TokensLeft, &q.TokensReset)
	}
	if wait > 0 {
		q.Wait = wait
	}
	r.quotas[id] = q
}

// Spend subtracts a request of this many tokens, until the endpoint reports what is left.
func (r *Registry) Spend(id string, tokens int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q, known := r.quotas[id]; known {
		q = q.aged(now)
		consume(1, &q.RequestsLeft, &q.RequestsReset)
		consume(tokens, &q.TokensLeft, &q.TokensReset)
		r.quotas[id] = q
	}
}

// LastQuota returns a model's quota at its last change; ok is false if the endpoint never
// reported any.
func (r *Registry) LastQuota(id string) (q LastQuota, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	q, ok = r.quotas[id]
	return q, ok
}

// Quota returns what is left of a model's quotas now; ok is false if the endpoint never
// reported any.
func (r *Registry) Quota(id string, now time.Time) (q Quota, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	have, ok := r.quotas[id]
	if !ok {
		return Quota{}, false
	}
	return have.aged(now).Quota, true
}
