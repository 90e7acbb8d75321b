package assistanttest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// patience is how long a helper waits for what must come: only a broken test
// gets there.
const patience = 10 * time.Second

// Gate is a place where something stands still until the test opens it. Make
// it with NewGate.
type Gate struct {
	reach, open   sync.Once
	reached, free chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), free: make(chan struct{})}
}

// Open lets everything through, from now on. It may be called again.
func (g *Gate) Open() { g.open.Do(func() { close(g.free) }) }

// Reached is closed once something has arrived at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Wait fails the test when nothing arrives at the gate.
func (g *Gate) Wait(t testing.TB) {
	t.Helper()
	await(t, g.reached, "nothing reached the gate")
}

// Pass stands still until the gate is open; it returns the error of ctx when that ends before.
func (g *Gate) Pass(ctx context.Context) error {
	g.reach.Do(func() { close(g.reached) })
	select {
	case <-g.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits for c, within bounds.
func await[T any](t testing.TB, c <-chan T, otherwise string) (v T) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v = <-c:
		return v
	case <-timer.C:
		t.Fatal(otherwise)
	}
	return v
}
