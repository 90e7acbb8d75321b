package assistant_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// hangingStore is a store whose commits do not answer from the nth on.
type hangingStore struct {
	assistant.MemoryStore
	commits int
	hangs   chan struct{} // receives one for each commit that hangs
}

func (s *hangingStore) Commit(ctx context.Context, b *assistant.Batch) error {
	if s.commits--; s.commits >= 0 {
		return s.MemoryStore.Commit(ctx, b)
	}
	s.hangs <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// Esc ends a turn whose store does not answer: at once while its message is stored, and
// within the grace of its end when tools have run.
func TestCancelEndsATurnWhoseStoreHangs(t *testing.T) {
	for name, c := range map[string]struct {
		commits int
		most    time.Duration
	}{
		"the message":            {0, 0},
		"the result of its tool": {1, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &hangingStore{commits: c.commits, hangs: make(chan struct{}, 10)}
				r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Say("done")}), func(o *assistant.Options) { o.Store = store })
				events := r.begin(assistant.Prompt{Text: "add"})
				<-store.hangs
				began := time.Now()
				r.session.Cancel()
				at.Events(t, events)
				if took := time.Since(began); took > c.most {
					t.Errorf("the turn ended %v after it was cancelled", took)
				}
				if r.session.Busy() || r.window.Locked() {
					t.Error("the session is busy after the end of its turn")
				}
			})
		})
	}
}
