package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// Limits restricts the use of a hub by one user.
type Limits struct {
	Sessions int   // maximum number of sessions open at the same time; 0 means DefaultUserSessions
	Bytes    int   // maximum bytes of text in the events that each session stores for its readers; 0 means DefaultSessionBytes
	Turns    int   // maximum number of turns per day that call a language model; 0 means no limit
	Tokens   int64 // maximum number of tokens per day in requests and responses, as reported by endpoints; 0 means no limit
}

// The defaults of Limits.
const (
	DefaultUserSessions = 100
	DefaultSessionBytes = 32 << 20
)

// LimitError means that a user has reached a limit.
type LimitError struct {
	User  string
	What  string // "sessions", "turns" or "tokens"
	Limit int64
	Until time.Time // when the next day begins; zero for sessions
}

// Error implements error.
func (e *LimitError) Error() string {
	if e.What == "sessions" {
		return fmt.Sprintf("%s has reached the limit of %s: close one first", e.User, assistant.Counted(int(e.Limit), "open session"))
	}
	return fmt.Sprintf("%s has reached today's limit of %s; the next day begins at %s",
		e.User, assistant.Counted(int(e.Limit), strings.TrimSuffix(e.What, "s")), e.Until.Format("15:04 MST"))
}

// usage contains what a user has used on one day, as stored in the history.
type usage struct {
	Day    string `json:"day"`
	Turns  int    `json:"turns"`
	Tokens int64  `json:"tokens"`
}

// usageKey begins the key under which the history stores the usage of each user of a window.
const usageKey = "used today:"

// quota counts the usage of one user. All sessions of the user share it.
type quota struct {
	hub  *Hub
	user string

	mu   sync.Mutex
	used *usage // nil until it has been read
}

// quotaOf returns the quota of a user, or nil if there are no limits.
func (h *Hub) quotaOf(user string) *quota {
	if h.opts.Limits.Turns == 0 && h.opts.Limits.Tokens == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.quotas == nil {
		h.quotas = map[string]*quota{}
	}
	if h.quotas[user] == nil {
		h.quotas[user] = &quota{hub: h, user: user}
	}
	return h.quotas[user]
}

// Admit counts a turn, or returns a *LimitError if the user has reached a limit.
func (q *quota) Admit(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u, err := q.today(ctx)
	if err != nil {
		return err
	}
	now, limits := q.hub.now(), q.hub.opts.Limits
	refuse := func(what string, limit int64) error {
		return q.hub.limited(&LimitError{q.user, what, limit, time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())})
	}
	switch {
	case limits.Turns > 0 && u.Turns >= limits.Turns:
		return refuse("turns", int64(limits.Turns))
	case limits.Tokens > 0 && u.Tokens >= limits.Tokens:
		return refuse("tokens", limits.Tokens)
	}
	u.Turns++
	if err := q.store(ctx); err != nil {
		u.Turns-- // the turn does not begin
		return err
	}
	return nil
}

// Spent counts the tokens of a response.
func (q *quota) Spent(used llm.Usage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), usageTime)
	defer cancel()
	u, err := q.today(ctx)
	if err == nil {
		u.Tokens += int64(used.Prompt) + int64(used.Completion)
		err = q.store(ctx)
	}
	if err != nil && q.hub.opts.Session.Log != nil {
		q.hub.opts.Session.Log.Warn("the tokens of a response could not be counted", "user", q.user, "error", err)
	}
}

// usageTime limits how long Spent may take.
const usageTime = 5 * time.Second

// today returns the usage of the current day. The caller has locked q.mu.
func (q *quota) today(ctx context.Context) (*usage, error) {
	if q.used == nil {
		q.used = &usage{}
		text, err := q.hub.opts.History.Get(ctx, q.key())
		if err == nil && text != "" {
			err = json.Unmarshal([]byte(text), q.used)
		}
		if err != nil {
			q.used = nil
			return nil, fmt.Errorf("%s's usage could not be read: %w", q.user, err)
		}
	}
	if day := q.hub.now().Format(time.DateOnly); q.used.Day != day {
		q.used = &usage{Day: day}
	}
	return q.used, nil
}

func (q *quota) key() string { return usageKey + q.hub.opts.Window + "\x00" + q.user }

func (q *quota) store(ctx context.Context) error {
	raw, err := json.Marshal(q.used)
	if err != nil {
		return err
	}
	return q.hub.opts.History.Set(ctx, q.key(), string(raw))
}

// checkSessions returns a *LimitError if a user may not open another session. The caller has locked h.mu.
func (h *Hub) checkSessions(user string) error {
	open, limit := 0, cmp.Or(h.opts.Limits.Sessions, DefaultUserSessions)
	for _, s := range h.sessions {
		if s.user == user {
			open++
		}
	}
	if open < limit {
		return nil
	}
	return h.limited(&LimitError{User: user, What: "sessions", Limit: int64(limit)})
}

// limited logs and counts a refusal for e, and returns e.
func (h *Hub) limited(e *LimitError) error {
	h.opts.Metrics.Refused(ServerHub, e.What)
	if h.opts.Session.Log != nil {
		h.opts.Session.Log.Warn("a session or turn was refused because of a limit", "user", e.User, "what", e.What, "limit", e.Limit)
	}
	return e
}
