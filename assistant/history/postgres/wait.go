package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// answerWait bounds how long an operation waits for an answer of the server: a
	// machine that has vanished says nothing, not even that it is gone.
	answerWait = 7 * time.Second
	// downWait bounds it for the next operations, until the server has answered again.
	downWait = time.Second
	// slowAfter is when the user is told of an operation that waits.
	slowAfter = time.Second
)

// errNoAnswer ends an operation to which the server has not answered in time.
var errNoAnswer = errors.New("the server does not answer")

// wait is an operation that waits for answers of the server.
type wait struct {
	s      *store
	cancel context.CancelCauseFunc
	quiet  bool // OnWait is not called

	mu      sync.Mutex
	timeout *time.Timer
	slow    *time.Timer
	told    bool // OnWait was called
	ended   bool
}

type quietKey struct{}

// quietly returns a context for operations that nobody waits for.
func quietly(ctx context.Context) context.Context { return context.WithValue(ctx, quietKey{}, true) }

// await begins an operation. The context ends, with the cause errNoAnswer, when the
// server has not answered for too long.
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

// answered notes an answer of the server.
func (w *wait) answered() {
	w.s.silent.Store(false)
	w.mu.Lock()
	w.timeout.Reset(answerWait)
	w.slow.Reset(slowAfter)
	w.mu.Unlock()
	w.tell(false)
}

// end ends the operation.
func (w *wait) end() {
	w.tell(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timeout.Stop()
	w.slow.Stop()
	w.cancel(nil)
}

// tell calls OnWait when the operation begins or ceases to be slow.
func (w *wait) tell(slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quiet || w.ended || w.told == slow {
		return
	}
	w.told = slow
	w.s.options.OnWait(slow)
}
