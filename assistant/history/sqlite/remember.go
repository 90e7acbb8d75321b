package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

func (s *store) Touch(ctx context.Context, v history.Session) error {
	return s.change(ctx, func(c *change) {
		if v.Started.IsZero() {
			v.Started = c.now
		}
		at := c.session(v.ID, v.Started)
		c.run(`UPDATE session SET used = ?, touched = ?,
			folder = coalesce(nullif(?, ''), folder), window = coalesce(nullif(?, ''), window),
			model = coalesce(nullif(?, ''), model), page = coalesce(nullif(?, ''), page)
			WHERE n = ?`, c.now.UnixMilli(), c.rev, v.Folder, v.Window, v.Model, v.Page, at)
	})
}

// sessions reads sessions; counts are the columns for Pairs, First and Title.
func (s *store) sessions(ctx context.Context, counts, where string, args ...any) (all []history.Session, err error) {
	query := "SELECT id, folder, window, model, page, started, used, " + counts + " FROM session s " + where
	err = s.read(ctx, func(t *tx) {
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
	return s.sessions(ctx, "coalesce(g.pairs, 0), coalesce(g.first, 0), coalesce((SELECT substr(user, 1, ?) FROM body WHERE seq = g.first), '')",
		`LEFT JOIN (SELECT session, count(*) AS pairs, min(seq) AS first FROM pair WHERE cut IS NULL GROUP BY session) g ON g.session = s.n
			ORDER BY touched DESC, n DESC`, history.MaxTitle)
}

func (s *store) LastSession(ctx context.Context, folder string) (v history.Session, found bool, err error) {
	return first(s.sessions(ctx, "0, 0, ''", "WHERE folder = ? ORDER BY touched DESC, n DESC LIMIT 1", folder))
}

func (s *store) Session(ctx context.Context, id string) (v history.Session, found bool, err error) {
	return first(s.sessions(ctx, "0, 0, ''", "WHERE id = ?", id))
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
	raw, err := s.text(ctx, "SELECT queued FROM session WHERE id = ?", session)
	if err != nil || raw == "" {
		return p, false, err
	}
	if err := json.Unmarshal([]byte(raw), &p); err != nil {
		return p, false, fmt.Errorf("history: queued message of session %s: %w", session, err)
	}
	return p, true, nil
}

func (s *store) ClearQueued(ctx context.Context, session string) error {
	return s.exec(ctx, "UPDATE session SET queued = '' WHERE id = ? AND queued <> ''", session)
}

func (s *store) SetSessionState(ctx context.Context, session string, state json.RawMessage) error {
	if len(state) > 0 && !json.Valid(state) {
		return fmt.Errorf("history: state of session %s: not JSON", session)
	}
	return s.setSessionColumn(ctx, session, "state", s.Redact(string(state)))
}

func (s *store) SessionState(ctx context.Context, session string) (json.RawMessage, error) {
	raw, err := s.text(ctx, "SELECT state FROM session WHERE id = ?", session)
	if raw == "" {
		return nil, err
	}
	return json.RawMessage(raw), err
}

// setSessionColumn sets a column of a session, which is created when it is unknown.
func (s *store) setSessionColumn(ctx context.Context, session, column, value string) error {
	return s.change(ctx, func(c *change) {
		c.run("UPDATE session SET "+column+" = ? WHERE n = ?", value, c.session(session, c.now))
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
		return s.exec(ctx, "DELETE FROM draft WHERE key = ?", key)
	}
	stash, err := json.Marshal(d.Stash)
	if err != nil {
		return err
	}
	return s.exec(ctx, "INSERT OR REPLACE INTO draft VALUES (?, ?, ?)", key, s.Redact(d.Text), s.Redact(string(stash)))
}

func (s *store) Draft(ctx context.Context, key string) (d history.Draft, err error) {
	err = s.read(ctx, func(t *tx) {
		t.each("SELECT text, stash FROM draft WHERE key = ?", []any{key}, func(scan scanner) {
			var stash []byte
			scan(&d.Text, &stash)
			t.fail(json.Unmarshal(stash, &d.Stash))
		})
	})
	return d, err
}

func (s *store) AddSent(ctx context.Context, text string) error {
	return s.addLine(ctx, "sent", text, history.MaxSent)
}

func (s *store) Sent(ctx context.Context, n int) ([]string, error) { return s.lines(ctx, "sent", n) }

func (s *store) AddFilterLine(ctx context.Context, line string) error {
	return s.addLine(ctx, "filter_line", line, history.MaxFilterLines)
}

func (s *store) FilterLines(ctx context.Context) ([]string, error) {
	return s.lines(ctx, "filter_line", history.MaxFilterLines)
}

func (s *store) addLine(ctx context.Context, table, text string, most int) error {
	return s.write(ctx, func(t *tx) {
		t.run("INSERT OR REPLACE INTO "+table+" (text) VALUES (?)", s.Redact(text))
		t.run(fmt.Sprintf("DELETE FROM %[1]s WHERE n NOT IN (SELECT n FROM %[1]s ORDER BY n DESC LIMIT %[2]d)", table, most))
	})
}

func (s *store) lines(ctx context.Context, table string, n int) ([]string, error) {
	return s.texts(ctx, "SELECT text FROM "+table+" ORDER BY n DESC LIMIT ?", n)
}

func (s *store) Set(ctx context.Context, key, value string) error {
	if value == "" {
		return s.exec(ctx, "DELETE FROM setting WHERE key = ?", key)
	}
	return s.exec(ctx, "INSERT OR REPLACE INTO setting VALUES (?, ?)", key, s.Redact(value))
}

func (s *store) Get(ctx context.Context, key string) (string, error) {
	return s.text(ctx, "SELECT value FROM setting WHERE key = ?", key)
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
		c.run("DELETE FROM saved_filter WHERE name = ?", name)
	} else {
		c.run("INSERT OR REPLACE INTO saved_filter VALUES (?, ?)", name, c.s.Redact(line))
	}
}
