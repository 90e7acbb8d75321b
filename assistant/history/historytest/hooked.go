package historytest

import (
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// Hooked is a Store that calls Before, with the name of the method, before each call that
// may read or write. If Before returns an error, the method returns that error.
type Hooked struct {
	history.Store
	Before func(ctx context.Context, method string) error
}

// Counting records the calls to a Store that come from certain functions of the program,
// such as Update or View. The zero value records nothing; set Below first.
type Counting struct {
	Below []string // suffixes of function names

	mu    sync.Mutex
	calls []string
}

// Before is the function for Hooked.Before.
func (c *Counting) Before(_ context.Context, method string) error {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if slices.ContainsFunc(c.Below, func(suffix string) bool { return strings.HasSuffix(frame.Function, suffix) }) {
			c.mu.Lock()
			c.calls = append(c.calls, method+" below "+frame.Function)
			c.mu.Unlock()
		}
	}
	return nil
}

// Calls returns the calls recorded since the previous call of Calls.
func (c *Counting) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

// Hanging blocks calls to a Store. After Hang, each call blocks until its context ends or
// Release is called. The zero value does not block.
type Hanging struct {
	mu       sync.Mutex
	released chan struct{} // nil if calls do not block
}

// Hang makes calls block.
func (h *Hanging) Hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released == nil {
		h.released = make(chan struct{})
	}
}

// Release lets all calls continue.
func (h *Hanging) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released != nil {
		close(h.released)
		h.released = nil
	}
}

// Before is the function for Hooked.Before.
func (h *Hanging) Before(ctx context.Context, _ string) error {
	h.mu.Lock()
	released := h.released
	h.mu.Unlock()
	if released == nil {
		return nil
	}
	select {
	case <-released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Slow delays calls to a Store after Set has been called. The first call waits for the
// whole delay, the next three for less each time, and then the cycle repeats, so that a
// later call may end before an earlier one.
type Slow struct {
	pause, calls atomic.Int64
}

// Set sets the maximum delay of all further calls.
func (s *Slow) Set(pause time.Duration) { s.pause.Store(int64(pause)) }

// Before is the function for Hooked.Before.
func (s *Slow) Before(ctx context.Context, _ string) error {
	const steps = 4
	pause := time.Duration(s.pause.Load()) * time.Duration(steps-(s.calls.Add(1)-1)%steps) / steps
	if pause == 0 {
		return nil
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *Hooked) call(ctx context.Context, method string, do func() error) error {
	if err := h.Before(ctx, method); err != nil {
		return err
	}
	return do()
}

// Stream implements history.Store.
func (h *Hooked) Stream(ctx context.Context, q *filter.Query, env history.Env) iter.Seq2[[]assistant.Ref, error] {
	return func(yield func([]assistant.Ref, error) bool) {
		if err := h.Before(ctx, "Stream"); err != nil {
			yield(nil, err)
			return
		}
		h.Store.Stream(ctx, q, env)(yield)
	}
}

// AddFilterLine implements history.Store.
func (h *Hooked) AddFilterLine(ctx context.Context, name string) error {
	return h.call(ctx, "AddFilterLine", func() error { return h.Store.AddFilterLine(ctx, name) })
}

// AddSent implements history.Store.
func (h *Hooked) AddSent(ctx context.Context, name string) error {
	return h.call(ctx, "AddSent", func() error { return h.Store.AddSent(ctx, name) })
}

// Append implements history.Store.
func (h *Hooked) Append(ctx context.Context, pairs []*assistant.Pair) (out int, err error) {
	err = h.call(ctx, "Append", func() (err error) { out, err = h.Store.Append(ctx, pairs); return err })
	return out, err
}

// Authors implements history.Store.
func (h *Hooked) Authors(ctx context.Context) (out []string, err error) {
	err = h.call(ctx, "Authors", func() (err error) { out, err = h.Store.Authors(ctx); return err })
	return out, err
}

// Check implements history.Store.
func (h *Hooked) Check(ctx context.Context) (out history.CheckReport, err error) {
	err = h.call(ctx, "Check", func() (err error) { out, err = h.Store.Check(ctx); return err })
	return out, err
}

// ClearQueued implements history.Store.
func (h *Hooked) ClearQueued(ctx context.Context, name string) error {
	return h.call(ctx, "ClearQueued", func() error { return h.Store.ClearQueued(ctx, name) })
}

// Commit implements history.Store.
func (h *Hooked) Commit(ctx context.Context, b *assistant.Batch) error {
	return h.call(ctx, "Commit", func() error { return h.Store.Commit(ctx, b) })
}

// Count implements history.Store.
func (h *Hooked) Count(ctx context.Context, q *filter.Query, env history.Env) (out int, err error) {
	err = h.call(ctx, "Count", func() (err error) { out, err = h.Store.Count(ctx, q, env); return err })
	return out, err
}

// CreateTopic implements history.Store.
func (h *Hooked) CreateTopic(ctx context.Context, name string) error {
	return h.call(ctx, "CreateTopic", func() error { return h.Store.CreateTopic(ctx, name) })
}

// DeleteTopic implements history.Store.
func (h *Hooked) DeleteTopic(ctx context.Context, name string) error {
	return h.call(ctx, "DeleteTopic", func() error { return h.Store.DeleteTopic(ctx, name) })
}

// Draft implements history.Store.
func (h *Hooked) Draft(ctx context.Context, name string) (out history.Draft, err error) {
	err = h.call(ctx, "Draft", func() (err error) { out, err = h.Store.Draft(ctx, name); return err })
	return out, err
}

// Filter implements history.Store.
func (h *Hooked) Filter(ctx context.Context, q *filter.Query, env history.Env) (out history.Result, err error) {
	err = h.call(ctx, "Filter", func() (err error) { out, err = h.Store.Filter(ctx, q, env); return err })
	return out, err
}

// FilterLines implements history.Store.
func (h *Hooked) FilterLines(ctx context.Context) (out []string, err error) {
	err = h.call(ctx, "FilterLines", func() (err error) { out, err = h.Store.FilterLines(ctx); return err })
	return out, err
}

// Get implements history.Store.
func (h *Hooked) Get(ctx context.Context, name string) (out string, err error) {
	err = h.call(ctx, "Get", func() (err error) { out, err = h.Store.Get(ctx, name); return err })
	return out, err
}

// LastSession implements history.Store.
func (h *Hooked) LastSession(ctx context.Context, name string) (out history.Session, found bool, err error) {
	err = h.call(ctx, "LastSession", func() (err error) { out, found, err = h.Store.LastSession(ctx, name); return err })
	return out, found, err
}

// Load implements history.Store.
func (h *Hooked) Load(ctx context.Context, seqs []int64) (out []assistant.Pair, err error) {
	err = h.call(ctx, "Load", func() (err error) { out, err = h.Store.Load(ctx, seqs); return err })
	return out, err
}

// Mark implements history.Store.
func (h *Hooked) Mark(ctx context.Context, seqs []int64, m history.Mark) (out history.Snapshot, err error) {
	err = h.call(ctx, "Mark", func() (err error) { out, err = h.Store.Mark(ctx, seqs, m); return err })
	return out, err
}

// MarkGroups implements history.Store.
func (h *Hooked) MarkGroups(ctx context.Context) (out []history.MarkGroup, err error) {
	err = h.call(ctx, "MarkGroups", func() (err error) { out, err = h.Store.MarkGroups(ctx); return err })
	return out, err
}

// Models implements history.Store.
func (h *Hooked) Models(ctx context.Context) (out []history.ModelCount, err error) {
	err = h.call(ctx, "Models", func() (err error) { out, err = h.Store.Models(ctx); return err })
	return out, err
}

// MoveTopic implements history.Store.
func (h *Hooked) MoveTopic(ctx context.Context, name string, value string) error {
	return h.call(ctx, "MoveTopic", func() error { return h.Store.MoveTopic(ctx, name, value) })
}

// Payloads implements history.Store.
func (h *Hooked) Payloads(ctx context.Context, seqs []int64) (out []assistant.Pair, err error) {
	err = h.call(ctx, "Payloads", func() (err error) { out, err = h.Store.Payloads(ctx, seqs); return err })
	return out, err
}

// Picture implements history.Store.
func (h *Hooked) Picture(ctx context.Context, name string) (out []byte, err error) {
	err = h.call(ctx, "Picture", func() (err error) { out, err = h.Store.Picture(ctx, name); return err })
	return out, err
}

// Queued implements history.Store.
func (h *Hooked) Queued(ctx context.Context, name string) (out assistant.Prompt, found bool, err error) {
	err = h.call(ctx, "Queued", func() (err error) { out, found, err = h.Store.Queued(ctx, name); return err })
	return out, found, err
}

// Refresh implements history.Store.
func (h *Hooked) Refresh(ctx context.Context) (out bool, err error) {
	err = h.call(ctx, "Refresh", func() (err error) { out, err = h.Store.Refresh(ctx); return err })
	return out, err
}

// Refs implements history.Store.
func (h *Hooked) Refs(ctx context.Context, name string, charsPerToken float64) (out []assistant.Ref, err error) {
	err = h.call(ctx, "Refs", func() (err error) { out, err = h.Store.Refs(ctx, name, charsPerToken); return err })
	return out, err
}

// Requests implements history.Store.
func (h *Hooked) Requests(ctx context.Context, pair int64) (out []assistant.SentRequest, err error) {
	err = h.call(ctx, "Requests", func() (err error) { out, err = h.Store.Requests(ctx, pair); return err })
	return out, err
}

// Restore implements history.Store.
func (h *Hooked) Restore(ctx context.Context, to history.Snapshot) error {
	return h.call(ctx, "Restore", func() error { return h.Store.Restore(ctx, to) })
}

// SaveDraft implements history.Store.
func (h *Hooked) SaveDraft(ctx context.Context, name string, d history.Draft) error {
	return h.call(ctx, "SaveDraft", func() error { return h.Store.SaveDraft(ctx, name, d) })
}

// SaveFilter implements history.Store.
func (h *Hooked) SaveFilter(ctx context.Context, name string, value string) error {
	return h.call(ctx, "SaveFilter", func() error { return h.Store.SaveFilter(ctx, name, value) })
}

// SaveQueued implements history.Store.
func (h *Hooked) SaveQueued(ctx context.Context, name string, p assistant.Prompt) error {
	return h.call(ctx, "SaveQueued", func() error { return h.Store.SaveQueued(ctx, name, p) })
}

// SavedFilters implements history.Store.
func (h *Hooked) SavedFilters(ctx context.Context) (out map[string]string, err error) {
	err = h.call(ctx, "SavedFilters", func() (err error) { out, err = h.Store.SavedFilters(ctx); return err })
	return out, err
}

// Sent implements history.Store.
func (h *Hooked) Sent(ctx context.Context, n int) (out []string, err error) {
	err = h.call(ctx, "Sent", func() (err error) { out, err = h.Store.Sent(ctx, n); return err })
	return out, err
}

// Session implements history.Store.
func (h *Hooked) Session(ctx context.Context, name string) (out history.Session, found bool, err error) {
	err = h.call(ctx, "Session", func() (err error) { out, found, err = h.Store.Session(ctx, name); return err })
	return out, found, err
}

// SessionState implements history.Store.
func (h *Hooked) SessionState(ctx context.Context, name string) (out json.RawMessage, err error) {
	err = h.call(ctx, "SessionState", func() (err error) { out, err = h.Store.SessionState(ctx, name); return err })
	return out, err
}

// Sessions implements history.Store.
func (h *Hooked) Sessions(ctx context.Context) (out []history.Session, err error) {
	err = h.call(ctx, "Sessions", func() (err error) { out, err = h.Store.Sessions(ctx); return err })
	return out, err
}

// Set implements history.Store.
func (h *Hooked) Set(ctx context.Context, name string, value string) error {
	return h.call(ctx, "Set", func() error { return h.Store.Set(ctx, name, value) })
}

// SetSessionState implements history.Store.
func (h *Hooked) SetSessionState(ctx context.Context, name string, state json.RawMessage) error {
	return h.call(ctx, "SetSessionState", func() error { return h.Store.SetSessionState(ctx, name, state) })
}

// TopicPaths implements history.Store.
func (h *Hooked) TopicPaths(ctx context.Context) (out []string, err error) {
	err = h.call(ctx, "TopicPaths", func() (err error) { out, err = h.Store.TopicPaths(ctx); return err })
	return out, err
}

// Topics implements history.Store.
func (h *Hooked) Topics(ctx context.Context) (out []history.Topic, err error) {
	err = h.call(ctx, "Topics", func() (err error) { out, err = h.Store.Topics(ctx); return err })
	return out, err
}

// Touch implements history.Store.
func (h *Hooked) Touch(ctx context.Context, v history.Session) error {
	return h.call(ctx, "Touch", func() error { return h.Store.Touch(ctx, v) })
}

// Cancelled implements history.Store.
func (h *Hooked) Cancelled(ctx context.Context, session string) (out int64, err error) {
	err = h.call(ctx, "Cancelled", func() (err error) { out, err = h.Store.Cancelled(ctx, session); return err })
	return out, err
}

// Branch implements history.Store.
func (h *Hooked) Branch(ctx context.Context, session string, from assistant.Branch) error {
	return h.call(ctx, "Branch", func() error { return h.Store.Branch(ctx, session, from) })
}

// SetTitle implements history.Store.
func (h *Hooked) SetTitle(ctx context.Context, id, title string) error {
	return h.call(ctx, "SetTitle", func() error { return h.Store.SetTitle(ctx, id, title) })
}
