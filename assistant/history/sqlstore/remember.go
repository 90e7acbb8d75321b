package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// Touch implements history.Store.
func (s *Store) Touch(ctx context.Context, v history.Session) error {
	return s.change(ctx, func(c *Change) {
		started, used := v.Started, v.Used
		if started.IsZero() {
			started = c.now
		}
		if used.IsZero() {
			used = c.now
		}
		title := ""
		if v.Named {
			title = s.text(history.TitleLine(v.Title))
		}
		c.Run(`UPDATE session SET used = ?, touched = ?,
			folder = coalesce(nullif(?, ''), folder), "window" = coalesce(nullif(?, ''), "window"),
			model = coalesce(nullif(?, ''), model), page = coalesce(nullif(?, ''), page), title = coalesce(nullif(?, ''), title)
			WHERE n = ?`, used.UnixMilli(), c.Rev, v.Folder, v.Window, v.Model, v.Page, title, c.session(v.ID, started))
		if v.Branch.Parent != "" {
			c.Run("UPDATE session SET parent = ?, upto = ? WHERE id = ? AND parent = ''", v.Branch.Parent, v.Branch.UpTo, v.ID)
		}
	})
}

// SetTitle implements history.Store.
func (s *Store) SetTitle(ctx context.Context, id, title string) error {
	return s.change(ctx, func(c *Change) {
		if c.Run("UPDATE session SET title = ? WHERE id = ?", s.text(history.TitleLine(title)), id) == 0 {
			c.Fail(fmt.Errorf("session %s: %w", id, history.ErrNoSession))
		}
	})
}

// Branch implements assistant.BranchStore.
func (s *Store) Branch(ctx context.Context, session string, from assistant.Branch) error {
	return s.change(ctx, func(c *Change) {
		parent, found := c.Number("SELECT n FROM session WHERE id = ?", from.Parent)
		if !found {
			c.Fail(fmt.Errorf("session %s: %w", from.Parent, history.ErrNoSession))
		}
		if _, exists := c.Number("SELECT n FROM session WHERE id = ?", session); exists {
			c.Fail(assistant.ErrSessionExists)
		}
		n := c.session(session, c.now)
		c.Run("UPDATE session SET parent = ?, upto = ? WHERE n = ?", from.Parent, from.UpTo, n)
		for _, column := range []string{"folder", `"window"`, "model", "page"} {
			c.Run("UPDATE session SET "+column+" = (SELECT p."+column+" FROM session p WHERE p.n = ?) WHERE n = ?", parent, n)
		}
	})
}

// sessions reads sessions; counts contains the SQL expressions for Pairs, First and the first message.
func (s *Store) sessions(t *Tx, counts, where string, args ...any) (all []history.Session) {
	query := `SELECT id, folder, "window", model, page, started, used, title, parent, upto, ` + counts + " FROM session s " + where
	t.Each(query, args, func(scan Scanner) {
		var v history.Session
		var started, used int64
		var first string
		scan(&v.ID, &v.Folder, &v.Window, &v.Model, &v.Page, &started, &used, &v.Title, &v.Branch.Parent, &v.Branch.UpTo, &v.Pairs, &v.First, &first)
		v.Started, v.Used, v.Named = time.UnixMilli(started), time.UnixMilli(used), v.Title != ""
		v.Title = cmp.Or(v.Title, first)
		all = append(all, v)
	})
	return all
}

// Sessions implements history.Store.
func (s *Store) Sessions(ctx context.Context) (all []history.Session, err error) {
	err = s.Read(ctx, func(t *Tx) {
		all = s.sessions(t, "coalesce(g.pairs, 0), coalesce(g.first, 0), coalesce((SELECT substr("+s.UserText+", 1, ?) FROM body b WHERE b.seq = g.first), '')",
			`LEFT JOIN (SELECT session, count(*) AS pairs, min(seq) AS first FROM pair WHERE cut IS NULL GROUP BY session) g ON g.session = s.n
			ORDER BY used DESC, touched DESC, n DESC`, history.MaxTitle)
		s.completeBranches(t, all)
	})
	return all, err
}

// completeBranches includes inherited pairs in Pairs and First of the sessions that branch from others, and sets a
// missing title to the title of the parent.
func (s *Store) completeBranches(t *Tx, all []history.Session) {
	from, titles := map[string]assistant.Branch{}, map[string]string{}
	for _, v := range all {
		titles[v.ID] = v.Title
		if v.Branch.Parent != "" {
			from[v.ID] = v.Branch
		}
	}
	for i := range all {
		v := &all[i]
		for _, b := range assistant.Lineage(v.ID, from)[1:] {
			t.Each("SELECT count(*), coalesce(min(seq), 0) FROM pair WHERE cut IS NULL AND session = (SELECT n FROM session WHERE id = ?) AND seq <= ?",
				[]any{b.Parent, b.UpTo}, func(scan Scanner) {
					var pairs int
					var first int64
					scan(&pairs, &first)
					v.Pairs += pairs
					if first != 0 && (v.First == 0 || first < v.First) {
						v.First = first
					}
				})
			v.Title = cmp.Or(v.Title, titles[b.Parent])
		}
	}
}

// LastSession implements history.Store.
func (s *Store) LastSession(ctx context.Context, folder string) (v history.Session, found bool, err error) {
	own, args := s.own()
	return s.oneSession(ctx, "WHERE "+own+" AND folder = ? ORDER BY touched DESC, n DESC LIMIT 1", append(args, folder)...)
}

// Session implements history.Store.
func (s *Store) Session(ctx context.Context, id string) (v history.Session, found bool, err error) {
	return s.oneSession(ctx, "WHERE id = ?", id)
}

func (s *Store) oneSession(ctx context.Context, where string, args ...any) (v history.Session, found bool, err error) {
	var all []history.Session
	err = s.Read(ctx, func(t *Tx) { all = s.sessions(t, "0, 0, ''", where, args...) })
	return first(all, err)
}

// first returns the first element of a list, and err unchanged; found is false if the list is empty.
func first[T any](all []T, err error) (v T, found bool, _ error) {
	if len(all) == 0 {
		return v, false, err
	}
	return all[0], true, err
}

// SaveQueued implements assistant.SessionStore.
func (s *Store) SaveQueued(ctx context.Context, session string, p assistant.Prompt) error {
	p.Text = s.Redact(p.Text)
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("history: queued message: %w", err)
	}
	return s.setSessionColumn(ctx, session, "queued", string(raw))
}

// Queued implements assistant.SessionStore.
func (s *Store) Queued(ctx context.Context, session string) (p assistant.Prompt, found bool, err error) {
	raw, err := s.readText(ctx, "SELECT queued FROM session WHERE id = ?", session)
	if err != nil || raw == "" {
		return p, false, err
	}
	if err := json.Unmarshal([]byte(raw), &p); err != nil {
		return p, false, fmt.Errorf("history: queued message of session %s: %w", session, err)
	}
	return p, true, nil
}

// ClearQueued implements assistant.SessionStore.
func (s *Store) ClearQueued(ctx context.Context, session string) error {
	return s.exec(ctx, clearQueued, session)
}

const clearQueued = "UPDATE session SET queued = '' WHERE id = ? AND queued <> ''"

// SetSessionState implements assistant.SessionStore.
func (s *Store) SetSessionState(ctx context.Context, session string, state json.RawMessage) error {
	if len(state) > 0 && !json.Valid(state) {
		return fmt.Errorf("history: the state of session %s is not valid JSON", session)
	}
	return s.setSessionColumn(ctx, session, "state", s.text(string(state)))
}

// SessionState implements assistant.SessionStore.
func (s *Store) SessionState(ctx context.Context, session string) (json.RawMessage, error) {
	raw, err := s.readText(ctx, "SELECT state FROM session WHERE id = ?", session)
	if raw == "" {
		return nil, err
	}
	return json.RawMessage(raw), err
}

// setSessionColumn sets a column of a session, creating the session if necessary.
func (s *Store) setSessionColumn(ctx context.Context, session, column, value string) error {
	return s.change(ctx, func(c *Change) {
		c.Run("UPDATE session SET "+column+" = ? WHERE n = ?", value, c.session(session, c.now))
	})
}

// readText reads one text, or "" if there is none.
func (s *Store) readText(ctx context.Context, query string, args ...any) (string, error) {
	texts, err := s.readTexts(ctx, query, args...)
	text, _, err := first(texts, err)
	return text, err
}

func (s *Store) readTexts(ctx context.Context, query string, args ...any) (texts []string, err error) {
	err = s.Read(ctx, func(t *Tx) { texts = List[string](t, query, args...) })
	return texts, err
}

// removeOwn removes the row with this key from this user's rows in a table.
func (s *Store) removeOwn(t *Tx, table, column, key string) {
	own, args := s.own()
	t.Run("DELETE FROM "+table+" WHERE "+own+" AND "+column+" = ?", append(args, key)...)
}

// addOwn inserts a row for this user.
func (s *Store) addOwn(t *Tx, table, columns string, values ...any) {
	insert, args := s.insertOwn(table, columns, values...)
	t.Run(insert, args...)
}

// SaveDraft implements history.Store.
func (s *Store) SaveDraft(ctx context.Context, key string, d history.Draft) error {
	stash, err := json.Marshal(d.Stash)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *Tx) {
		s.removeOwn(t, "draft", "key", key)
		if d.Text != "" || len(d.Stash) > 0 {
			s.addOwn(t, "draft", "key, text, stash", key, s.text(d.Text), s.Redact(string(stash)))
		}
	})
}

// Draft implements history.Store.
func (s *Store) Draft(ctx context.Context, key string) (d history.Draft, err error) {
	own, args := s.own()
	err = s.Read(ctx, func(t *Tx) {
		d = history.Draft{}
		t.Each("SELECT text, stash FROM draft WHERE "+own+" AND key = ?", append(args, key), func(scan Scanner) {
			var stash string
			if scan(&d.Text, &stash); t.err == nil {
				t.Fail(json.Unmarshal([]byte(stash), &d.Stash))
			}
		})
	})
	return d, err
}

// AddSent implements history.Store.
func (s *Store) AddSent(ctx context.Context, text string) error {
	return s.addLine(ctx, "sent", text, history.MaxSent)
}

// Sent implements history.Store.
func (s *Store) Sent(ctx context.Context, n int) ([]string, error) { return s.lines(ctx, "sent", n) }

// AddFilterLine implements history.Store.
func (s *Store) AddFilterLine(ctx context.Context, line string) error {
	return s.addLine(ctx, "filter_line", line, history.MaxFilterLines)
}

// FilterLines implements history.Store.
func (s *Store) FilterLines(ctx context.Context) ([]string, error) {
	return s.lines(ctx, "filter_line", history.MaxFilterLines)
}

func (s *Store) addLine(ctx context.Context, table, text string, most int) error {
	text = s.text(text)
	own, args := s.own()
	return s.Write(ctx, func(t *Tx) {
		s.removeOwn(t, table, "text", text)
		s.addOwn(t, table, "text", text)
		t.Run(fmt.Sprintf("DELETE FROM %[1]s WHERE %[2]s AND n NOT IN (SELECT n FROM %[1]s WHERE %[2]s ORDER BY n DESC LIMIT ?)", table, own),
			slices.Concat(args, args, []any{most})...)
	})
}

func (s *Store) lines(ctx context.Context, table string, n int) ([]string, error) {
	own, args := s.own()
	return s.readTexts(ctx, "SELECT text FROM "+table+" WHERE "+own+" ORDER BY n DESC LIMIT ?", append(args, n)...)
}

// Set implements history.Store.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.Write(ctx, func(t *Tx) {
		s.removeOwn(t, "setting", "key", key)
		if value != "" {
			s.addOwn(t, "setting", "key, value", key, s.text(value))
		}
	})
}

// Get implements history.Store.
func (s *Store) Get(ctx context.Context, key string) (string, error) {
	own, args := s.own()
	return s.readText(ctx, "SELECT value FROM setting WHERE "+own+" AND key = ?", append(args, key)...)
}

func savedFilters(t *Tx) map[string]string {
	return Keyed[string, string](t, "SELECT name, line FROM saved_filter")
}

// SavedFilters implements history.Store.
func (s *Store) SavedFilters(ctx context.Context) (saved map[string]string, err error) {
	err = s.Read(ctx, func(t *Tx) { saved = savedFilters(t) })
	return saved, err
}

// SaveFilter implements history.Store.
func (s *Store) SaveFilter(ctx context.Context, name, line string) error {
	return s.change(ctx, func(c *Change) {
		saved := savedFilters(c.Tx)
		if saved[name] = line; line != "" {
			c.Fail(history.CheckFilter(saved, line))
		}
		c.putFilter(name, line)
	})
}

// putFilter stores a line under a name; an empty line removes the name.
func (c *Change) putFilter(name, line string) {
	if line == "" {
		c.Run("DELETE FROM saved_filter WHERE name = ?", name)
	} else {
		c.Run("INSERT INTO saved_filter (name, line) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET line = excluded.line", name, c.s.text(line))
	}
}
