package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// How much is remembered of each user between runs.
const (
	storedSent        = 500 // texts of sent messages
	storedFilterLines = 100 // lines of the filter that worked
	titleRunes        = 200 // of a message: more than a screen is wide
)

func (s *store) Touch(ctx context.Context, v history.Session) error {
	return s.change(ctx, func(c *change) {
		if v.Started.IsZero() {
			v.Started = c.now
		}
		c.run(`UPDATE session SET used = $1, touched = $2,
			folder = coalesce(nullif($3, ''), folder), "window" = coalesce(nullif($4, ''), "window"),
			model = coalesce(nullif($5, ''), model), page = coalesce(nullif($6, ''), page)
			WHERE n = $7`, c.now.UnixMilli(), c.rev, v.Folder, v.Window, v.Model, v.Page, c.session(v.ID, v.Started))
	})
}

// sessions reads sessions; counts are the columns for Pairs, First and Title.
func (s *store) sessions(ctx context.Context, counts, where string, args ...any) (all []history.Session, err error) {
	query := `SELECT id, folder, "window", model, page, started, used, ` + counts + " FROM session s " + where
	err = s.read(ctx, func(t *tx) {
		all = nil
		t.each(query, args, func(scan scanner) {
			var v history.Session
			var started, used int64
			scan(&v.ID, &v.Folder, &v.Window, &v.Model, &v.Page, &started, &used, &v.Pairs, &v.First, &v.Title)
			v.Started, v.Used = time.UnixMilli(started), time.UnixMilli(used)
			all = append(all, v)
		})
	})
	return all, err
}

func (s *store) Sessions(ctx context.Context) ([]history.Session, error) {
	return s.sessions(ctx, "coalesce(g.pairs, 0), coalesce(g.first, 0), coalesce((SELECT substr(user_text, 1, $1) FROM body WHERE seq = g.first), '')",
		`LEFT JOIN (SELECT session, count(*) AS pairs, min(seq) AS first FROM pair WHERE cut IS NULL GROUP BY session) g ON g.session = s.n
			ORDER BY touched DESC, n DESC`, titleRunes)
}

func (s *store) LastSession(ctx context.Context, folder string) (v history.Session, found bool, err error) {
	return first(s.sessions(ctx, "0, 0, ''", "WHERE folder = $1 AND author = $2 ORDER BY touched DESC, n DESC LIMIT 1", folder, s.user))
}

func (s *store) Session(ctx context.Context, id string) (v history.Session, found bool, err error) {
	return first(s.sessions(ctx, "0, 0, ''", "WHERE id = $1", id))
}

// first returns the first of a list; found is false when it is empty.
func first[T any](all []T, err error) (v T, found bool, _ error) {
	if len(all) == 0 {
		return v, false, err
	}
	return all[0], true, err
}

func (s *store) SaveQueued(ctx context.Context, session string, p assistant.Prompt) error {
	p.Text = s.Redact(p.Text)
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("history: queued message: %w", err)
	}
	return s.setSessionColumn(ctx, session, "queued", string(raw))
}

func (s *store) Queued(ctx context.Context, session string) (p assistant.Prompt, found bool, err error) {
	raw, err := s.text(ctx, "SELECT queued FROM session WHERE id = $1", session)
	if err != nil || raw == "" {
		return p, false, err
	}
	if err := json.Unmarshal([]byte(raw), &p); err != nil {
		return p, false, fmt.Errorf("history: queued message of session %s: %w", session, err)
	}
	return p, true, nil
}

func (s *store) ClearQueued(ctx context.Context, session string) error {
	return s.exec(ctx, "UPDATE session SET queued = '' WHERE id = $1 AND queued <> ''", session)
}

func (s *store) SetSessionState(ctx context.Context, session string, state json.RawMessage) error {
	if len(state) > 0 && !json.Valid(state) {
		return fmt.Errorf("history: state of session %s: not JSON", session)
	}
	return s.setSessionColumn(ctx, session, "state", s.Redact(string(state)))
}

func (s *store) SessionState(ctx context.Context, session string) (json.RawMessage, error) {
	raw, err := s.text(ctx, "SELECT state FROM session WHERE id = $1", session)
	if raw == "" {
		return nil, err
	}
	return json.RawMessage(raw), err
}

// setSessionColumn sets a column of a session, which is created when it is unknown.
func (s *store) setSessionColumn(ctx context.Context, session, column, value string) error {
	return s.change(ctx, func(c *change) {
		c.run("UPDATE session SET "+column+" = $1 WHERE n = $2", storable(value), c.session(session, c.now))
	})
}

// text reads one text, "" when there is none.
func (s *store) text(ctx context.Context, query string, args ...any) (string, error) {
	texts, err := s.texts(ctx, query, args...)
	text, _, err := first(texts, err)
	return text, err
}

func (s *store) texts(ctx context.Context, query string, args ...any) (texts []string, err error) {
	err = s.read(ctx, func(t *tx) { texts = list[string](t, query, args...) })
	return texts, err
}

func (s *store) SaveDraft(ctx context.Context, key string, d history.Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return s.exec(ctx, "DELETE FROM draft WHERE author = $1 AND key = $2", s.user, key)
	}
	stash, err := json.Marshal(d.Stash)
	if err != nil {
		return err
	}
	return s.exec(ctx, "INSERT INTO draft VALUES ($1, $2, $3, $4) ON CONFLICT (author, key) DO UPDATE SET text = excluded.text, stash = excluded.stash",
		s.user, key, storable(s.Redact(d.Text)), s.Redact(string(stash)))
}

func (s *store) Draft(ctx context.Context, key string) (d history.Draft, err error) {
	err = s.read(ctx, func(t *tx) {
		t.each("SELECT text, stash FROM draft WHERE author = $1 AND key = $2", []any{s.user, key}, func(scan scanner) {
			var stash string
			scan(&d.Text, &stash)
			t.fail(json.Unmarshal([]byte(stash), &d.Stash))
		})
	})
	return d, err
}

func (s *store) AddSent(ctx context.Context, text string) error {
	return s.addLine(ctx, "sent", text, storedSent)
}

func (s *store) Sent(ctx context.Context, n int) ([]string, error) { return s.lines(ctx, "sent", n) }

func (s *store) AddFilterLine(ctx context.Context, line string) error {
	return s.addLine(ctx, "filter_line", line, storedFilterLines)
}

func (s *store) FilterLines(ctx context.Context) ([]string, error) {
	return s.lines(ctx, "filter_line", storedFilterLines)
}

func (s *store) addLine(ctx context.Context, table, text string, most int) error {
	text = storable(s.Redact(text))
	return s.write(ctx, func(t *tx) {
		t.run("DELETE FROM "+table+" WHERE author = $1 AND text = $2", s.user, text)
		t.run("INSERT INTO "+table+" (author, text) VALUES ($1, $2)", s.user, text)
		t.run("DELETE FROM "+table+" WHERE n IN (SELECT n FROM "+table+" WHERE author = $1 ORDER BY n DESC OFFSET $2)", s.user, most)
	})
}

func (s *store) lines(ctx context.Context, table string, n int) ([]string, error) {
	return s.texts(ctx, "SELECT text FROM "+table+" WHERE author = $1 ORDER BY n DESC LIMIT $2", s.user, n)
}

func (s *store) Set(ctx context.Context, key, value string) error {
	if value == "" {
		return s.exec(ctx, "DELETE FROM setting WHERE author = $1 AND key = $2", s.user, key)
	}
	return s.exec(ctx, "INSERT INTO setting VALUES ($1, $2, $3) ON CONFLICT (author, key) DO UPDATE SET value = excluded.value",
		s.user, key, storable(s.Redact(value)))
}

func (s *store) Get(ctx context.Context, key string) (string, error) {
	return s.text(ctx, "SELECT value FROM setting WHERE author = $1 AND key = $2", s.user, key)
}

func (t *tx) savedFilters() map[string]string {
	return keyed[string, string](t, "SELECT name, line FROM saved_filter")
}

func (s *store) SavedFilters(ctx context.Context) (saved map[string]string, err error) {
	err = s.read(ctx, func(t *tx) { saved = t.savedFilters() })
	return saved, err
}

func (s *store) SaveFilter(ctx context.Context, name, line string) error {
	return s.change(ctx, func(c *change) {
		saved := c.savedFilters()
		if saved[name] = line; line != "" {
			c.fail(history.CheckFilter(saved, line))
		}
		c.putFilter(name, line)
	})
}

// putFilter stores a line under a name; "" removes it.
func (c *change) putFilter(name, line string) {
	if line == "" {
		c.run("DELETE FROM saved_filter WHERE name = $1", name)
	} else {
		c.run("INSERT INTO saved_filter VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET line = excluded.line", name, storable(c.s.Redact(line)))
	}
}
