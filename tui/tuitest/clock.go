package tuitest

import (
	"sync"
	"time"
)

// KeyGap is the time between two keys of Type on a Clock: a quick typist's, and
// more than any paste leaves between its bytes.
const KeyGap = 50 * time.Millisecond

// clockStart is where a Clock begins: fixed, so that frames with times are the
// same in each run.
var clockStart = time.Date(2026, 3, 4, 14, 32, 0, 0, time.UTC)

// Clock is a clock that moves only when it is told to. NewClock makes it; it is
// safe from any goroutine.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a Clock that stands at 2026-03-04 14:32 UTC.
func NewClock() *Clock { return &Clock{now: clockStart} }

// Now is the time on the clock. A model is given this method for time.Now.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
