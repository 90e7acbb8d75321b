package budget

// The error codes of a send that the budget stops.
const (
	CodePromptTooLarge = "user_prompt_too_large"
	CodeExhausted      = "context_overflow_after_trimming"
)

// Stage is the state of an attempt, or how it ended.
type Stage string

// The stages.
const (
	StageSent       Stage = "sent"               // waiting for the provider
	StageInitial    Stage = "overflow_initial"   // the first request of a response was too long
	StageRetry      Stage = "overflow_retry"     // a later, shorter request was too long
	StageExhausted  Stage = "overflow_exhausted" // the request was too long and no more pairs may be dropped
	StageComplete   Stage = "complete"
	StageError      Stage = "error"            // the request failed for another reason
	StagePromptSize Stage = "prompt_too_large" // the message alone was too long, so nothing was sent
)

// Attempt is the state of one send: which pairs are sent, and how many were dropped. Only
// the provider decides that a request is too long; Overflow then drops exactly one pair.
// Later responses of the same turn continue the Attempt. It must be used by one goroutine.
type Attempt struct {
	params     Params
	boundary   Boundary
	sys        int
	aut        int
	turnTokens int   // tokens added by the running turn after the user's text
	pairs      []int // indices of the visible pairs that were included at first
	costs      []int // of pairs
	history    int   // size of pairs[dropped:]
	dropped    int   // T
	retries    int   // pairs dropped in this response
	stage      Stage
	last       Record // the attempt that ended last
}

// NewAttempt starts a send with the visible pairs that b includes, plus a message of aut
// tokens and a system prompt of sys tokens. It copies what it needs.
func NewAttempt(b Boundary, visible []Cost, aut, sys int, p Params) *Attempt {
	a := &Attempt{params: p, boundary: b, sys: sys, aut: aut, stage: StageSent}
	for i := b.First; i < len(visible); i++ {
		if visible[i].Contributes {
			a.pairs = append(a.pairs, i)
			a.costs = append(a.costs, visible[i].tokens())
			a.history += visible[i].tokens()
		}
	}
	if a.TooLarge() {
		a.end(StagePromptSize)
	}
	return a
}

// TooLarge reports whether message and system prompt alone exceed the model's limit. If so,
// the caller must send nothing; the error code is CodePromptTooLarge.
func (a *Attempt) TooLarge() bool { return a.aut+a.sys > a.boundary.ML }

// Overflow ends the attempt as too long and starts the next one without the oldest pair. It
// returns false if no pair is left or NTA pairs have been dropped for this response. The
// caller must then send nothing more; the error code is CodeExhausted.
func (a *Attempt) Overflow() (next bool) {
	if a.stage != StageSent {
		return false
	}
	stage := StageInitial
	if a.retries > 0 {
		stage = StageRetry
	}
	if a.retries == a.params.NTA() || a.dropped == len(a.pairs) {
		a.end(StageExhausted)
		return false
	}
	a.end(stage)
	a.stage = StageSent
	a.history -= a.costs[a.dropped]
	a.dropped++
	a.retries++
	return true
}

// Complete ends the attempt with a complete response.
func (a *Attempt) Complete() { a.endSent(StageComplete) }

// Fail ends the attempt with an error that is not an overflow.
func (a *Attempt) Fail() { a.endSent(StageError) }

// endSent ends an attempt that was sent. It does nothing if the attempt has ended.
func (a *Attempt) endSent(s Stage) {
	if a.stage == StageSent {
		a.end(s)
	}
}

func (a *Attempt) end(s Stage) {
	a.stage = s
	a.last = a.Record()
}

// Continue starts the next response of the same turn, after tool calls. turn is the size of
// everything the turn has added after the user's message, none of which is ever dropped.
// Dropped pairs stay dropped; the count towards NTA starts again.
func (a *Attempt) Continue(turn int) { a.turnTokens, a.retries, a.stage = turn, 0, StageSent }

// Included returns the indices of the visible pairs that are sent, oldest first. The caller
// must not change the slice.
func (a *Attempt) Included() []int { return a.pairs[a.dropped:] }

// PredictedCount returns X: how many pairs were included before any was dropped.
func (a *Attempt) PredictedCount() int { return len(a.pairs) }

// DroppedCount returns T: how many pairs have been dropped so far in this turn.
func (a *Attempt) DroppedCount() int { return a.dropped }

// Stage returns the state of the attempt.
func (a *Attempt) Stage() Stage { return a.stage }

// Counter returns the context counter after this send.
func (a *Attempt) Counter() string { return a.boundary.Counter(a.dropped) }

// Record returns the current numbers of the attempt. The caller adds the model, the
// included and removed pairs, the error and, if requested, the messages.
func (a *Attempt) Record() Record {
	total := a.history + a.aut + a.turnTokens
	return Record{
		Budget:                 Budget{MaxContext: a.boundary.ML, MaxUsableRaw: a.boundary.Usable},
		PredictedMessageCount:  len(a.pairs),
		PredictedHistoryTokens: a.boundary.HistoryTokens,
		PredictedTotalTokens:   a.boundary.HistoryTokens + a.boundary.URA,
		AttemptHistoryTokens:   a.history,
		AttemptTotalTokens:     total,
		AUT:                    a.aut,
		TrimmedCount:           a.dropped,
		AttemptsUsed:           a.retries,
		CharsPerToken:          a.params.CPT(),
		RemainingReserve:       a.boundary.Usable - total,
		Stage:                  a.stage,
		OverflowMatched:        a.stage == StageInitial || a.stage == StageRetry || a.stage == StageExhausted,
	}
}

// Ended returns the record of the last attempt that has ended; while a retry is running, that
// is the attempt before it.
func (a *Attempt) Ended() Record { return a.last }
