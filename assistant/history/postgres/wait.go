package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// answerWait limits how long an operation waits for an answer from the server. The limit is needed because a
	// machine that disappears from the network closes no connections.
	answerWait = 7 * time.Second
	// downWait replaces answerWait after a timeout, until the server has answered again.
	downWait = time.Second
	// slowAfter is the time after which the user is told that an operation is waiting.
	slowAfter = time.Second
)

// errNoAnswer is the cause with which a context is cancelled if the server has not answered in time.
var errNoAnswer = errors.New("the server does not answer")

// wait monitors an operation that waits for answers from the server.
type wait struct {
	s      *store
	cancel context.CancelCauseFunc
	quiet  bool // OnWait is not called

	mu       sync.Mutex
	timeout  *time.Timer
	slow     *time.Timer
	reported bool // OnWait(true) has been called
	ended    bool
}

type quietKey struct{}

// quietly returns a context for background operations, for which OnWait is not called.
func quietly(ctx context.Context) context.Context { return context.WithValue(ctx, quietKey{}, true) }

// await begins an operation. The context is cancelled with the cause errNoAnswer if the server has not answered for
// too long.
func (s *store) await(ctx context.Context) (*wait, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &wait{s: s, cancel: cancel, quiet: s.options.OnWait == nil || ctx.Value(quietKey{}) != nil}
	patience := answerWait
	if s.silent.Load() {
		patience = downWait
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timeout = time.AfterFunc(patience, w.giveUp)
	w.slow = time.AfterFunc(slowAfter, func() { w.tell(true) })
	return w, ctx
}

func (w *wait) giveUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.s.silent.Store(true)
		w.cancel(errNoAnswer)
	}
}

// answered records an answer from the server and restarts the timers.
func (w *wait) answered() {
	w.s.silent.Store(false)
	w.mu.Lock()
	w.timeout.Reset(answerWait)
	w.slow.Reset(slowAfter)
	w.mu.Unlock()
	w.tell(false)
}

// end stops the timers and cancels the context.
func (w *wait) end() {
	w.tell(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timeout.Stop()
	w.slow.Stop()
	w.cancel(nil)
}

// tell calls OnWait if the operation became slow or is no longer slow.
func (w *wait) tell(slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quiet || w.ended || w.reported == slow {
		return
	}
	w.reported = slow
	w.s.options.OnWait(slow)
}
