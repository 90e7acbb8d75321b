package history

import (
	"context"
	"encoding/json"
	"fmt"

	"winnow/assistant"
)

// SaveQueued stores the message that waits to be sent in a session, in the
// place of the one before. It is durable when SaveQueued returns nil. An unknown
// session is created.
func (s *Store) SaveQueued(ctx context.Context, session string, p assistant.Prompt) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("history: queued message: %w", err)
	}
	return s.setOfSession(ctx, session, "queued", string(raw))
}

// Queued returns the message that waits to be sent in a session; found is false
// when there is none.
func (s *Store) Queued(ctx context.Context, session string) (p assistant.Prompt, found bool, err error) {
	raw, err := s.ofSession(ctx, session, "queued")
	if err != nil || raw == "" {
		return p, false, err
	}
	if err := json.Unmarshal([]byte(raw), &p); err != nil {
		return p, false, fmt.Errorf("history: queued message of session %s: %w", session, err)
	}
	return p, true, nil
}

// ClearQueued removes the message that waits to be sent in a session. Without
// one it does nothing.
func (s *Store) ClearQueued(ctx context.Context, session string) error {
	return s.write(ctx, func(t *tx) error {
		return t.exec("UPDATE session SET queued = '' WHERE id = ? AND queued <> ''", session)
	})
}

// SetSessionState stores a JSON document of the program's with a session, such
// as the place in the window where it was left; nil removes it. An unknown
// session is created.
func (s *Store) SetSessionState(ctx context.Context, session string, state json.RawMessage) error {
	if len(state) > 0 && !json.Valid(state) {
		return fmt.Errorf("history: state of session %s: not JSON", session)
	}
	return s.setOfSession(ctx, session, "state", string(state))
}

// SessionState returns what SetSessionState stored, nil when there is nothing.
func (s *Store) SessionState(ctx context.Context, session string) (json.RawMessage, error) {
	raw, err := s.ofSession(ctx, session, "state")
	if err != nil || raw == "" {
		return nil, err
	}
	return json.RawMessage(raw), nil
}

func (s *Store) setOfSession(ctx context.Context, session, column, value string) error {
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		n, err := c.session(session, c.now)
		if err != nil {
			return err
		}
		return c.exec("UPDATE session SET "+column+" = ? WHERE n = ?", value, n)
	})
}

func (s *Store) ofSession(ctx context.Context, session, column string) (value string, err error) {
	err = s.read(ctx, func(r *reader) error {
		return r.each("SELECT "+column+" FROM session WHERE id = ?", []any{session}, func(scan scanner) error {
			return scan(&value)
		})
	})
	return value, err
}
