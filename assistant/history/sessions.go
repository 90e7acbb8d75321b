package history

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"winnow/assistant"
)

// Session is a conversation: the pairs that were sent under one id.
type Session struct {
	ID      string
	Folder  string // where winnow ran
	Window  string // what it worked on, such as the path of a .env file
	Model   string // "provider/name", the last one chosen
	Page    string // the page that was open
	Started time.Time
	Used    time.Time // for people; order is by use, not by clock
	Pairs   int       // uncut; only Sessions counts them
	First   int64     // Seq of its first uncut pair; only Sessions reads it
	Title   string    // the beginning of the message of First; only Sessions reads it
}

// titleRunes is how much of a message a title needs: more than a screen is wide.
const titleRunes = 200

const sessionColumns = "s.id, s.folder, s.window, s.model, s.page, s.started, s.used"

func scanSession(scan scanner, more ...any) (Session, error) {
	var v Session
	var started, used int64
	err := scan(append([]any{&v.ID, &v.Folder, &v.Window, &v.Model, &v.Page, &started, &used}, more...)...)
	v.Started, v.Used = time.UnixMilli(started), time.UnixMilli(used)
	return v, err
}

// Touch stores what is said of a session and makes it the last of its folder.
// Empty fields leave what was there; an unknown ID is a new session.
func (s *SQLite) Touch(ctx context.Context, v Session) error {
	return s.change(ctx, func(c *change) error {
		if v.Started.IsZero() {
			v.Started = c.now
		}
		at, err := c.session(v.ID, v.Started)
		if err != nil {
			return err
		}
		return c.run(`UPDATE session SET used = ?, touched = ?,
			folder = coalesce(nullif(?, ''), folder), window = coalesce(nullif(?, ''), window),
			model = coalesce(nullif(?, ''), model), page = coalesce(nullif(?, ''), page)
			WHERE n = ?`, c.now.UnixMilli(), c.rev, v.Folder, v.Window, v.Model, v.Page, at)
	})
}

// Sessions lists all sessions, the last used first.
func (s *SQLite) Sessions(ctx context.Context) ([]Session, error) {
	var all []Session
	err := s.read(ctx, func(t *tx) error {
		return t.each("SELECT "+sessionColumns+`, g.pairs, g.first, coalesce((SELECT substr(user, 1, ?) FROM body WHERE seq = g.first), '')
			FROM session s JOIN (SELECT n, count(p.seq) AS pairs, coalesce(min(p.seq), 0) AS first
				FROM session LEFT JOIN pair p ON p.session = n AND p.cut IS NULL GROUP BY n) g ON g.n = s.n
			ORDER BY s.touched DESC, s.n DESC`, []any{titleRunes}, func(scan scanner) error {
			var pairs int
			var first int64
			var title string
			v, err := scanSession(scan, &pairs, &first, &title)
			v.Pairs, v.First, v.Title = pairs, first, title
			all = append(all, v)
			return err
		})
	})
	return all, err
}

// LastSession is the session last used in a folder; found is false when there is none.
func (s *SQLite) LastSession(ctx context.Context, folder string) (v Session, found bool, err error) {
	return s.oneSession(ctx, "WHERE s.folder = ? ORDER BY s.touched DESC, s.n DESC LIMIT 1", folder)
}

// Session is the session with this id; found is false when there is none.
func (s *SQLite) Session(ctx context.Context, id string) (v Session, found bool, err error) {
	return s.oneSession(ctx, "WHERE s.id = ?", id)
}

func (s *SQLite) oneSession(ctx context.Context, where, arg string) (v Session, found bool, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.each("SELECT "+sessionColumns+" FROM session s "+where, []any{arg}, func(scan scanner) error {
			found = true
			v, err = scanSession(scan)
			return err
		})
	})
	return v, found, err
}

// SaveQueued stores the message that waits to be sent in a session, in the
// place of the one before. It is durable when SaveQueued returns nil. An unknown
// session is created.
func (s *SQLite) SaveQueued(ctx context.Context, session string, p assistant.Prompt) error {
	p.Text = s.Redact(p.Text)
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("history: queued message: %w", err)
	}
	return s.setSessionColumn(ctx, session, "queued", string(raw))
}

// Queued returns the message that waits to be sent in a session; found is false
// when there is none.
func (s *SQLite) Queued(ctx context.Context, session string) (p assistant.Prompt, found bool, err error) {
	raw, err := s.sessionColumn(ctx, session, "queued")
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
func (s *SQLite) ClearQueued(ctx context.Context, session string) error {
	return s.write(ctx, func(t *tx) error {
		return t.run("UPDATE session SET queued = '' WHERE id = ? AND queued <> ''", session)
	})
}

// SetSessionState stores a JSON document of the program's with a session, such
// as the place in the window where it was left; nil removes it. An unknown
// session is created.
func (s *SQLite) SetSessionState(ctx context.Context, session string, state json.RawMessage) error {
	if len(state) > 0 && !json.Valid(state) {
		return fmt.Errorf("history: state of session %s: not JSON", session)
	}
	return s.setSessionColumn(ctx, session, "state", s.Redact(string(state)))
}

// SessionState returns what SetSessionState stored, nil when there is nothing.
func (s *SQLite) SessionState(ctx context.Context, session string) (json.RawMessage, error) {
	raw, err := s.sessionColumn(ctx, session, "state")
	if err != nil || raw == "" {
		return nil, err
	}
	return json.RawMessage(raw), nil
}

func (s *SQLite) setSessionColumn(ctx context.Context, session, column, value string) error {
	return s.change(ctx, func(c *change) error {
		n, err := c.session(session, c.now)
		if err != nil {
			return err
		}
		return c.run("UPDATE session SET "+column+" = ? WHERE n = ?", value, n)
	})
}

func (s *SQLite) sessionColumn(ctx context.Context, session, column string) (value string, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.each("SELECT "+column+" FROM session WHERE id = ?", []any{session}, func(scan scanner) error {
			return scan(&value)
		})
	})
	return value, err
}

// RenewSession begins a new session in the folder and window of the one before,
// where it is found again.
func RenewSession(ctx context.Context, s Store, session *assistant.Session) error {
	before := session.ID()
	if err := session.Renew(ctx); err != nil {
		return err
	}
	old, found, err := s.Session(ctx, before)
	if err != nil || !found {
		return err
	}
	return s.Touch(ctx, Session{ID: session.ID(), Folder: old.Folder, Window: old.Window, Model: session.Model()})
}

// ResumeSession makes session go on with an earlier one, and makes that the last
// of its folder. An error after which session has that ID is one of the latter only.
func ResumeSession(ctx context.Context, s Store, session *assistant.Session, id string) error {
	if err := session.Resume(ctx, id); err != nil {
		return err
	}
	return s.Touch(ctx, Session{ID: id})
}
