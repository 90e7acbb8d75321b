package history

import (
	"context"
	"encoding/json"
	"fmt"
)

// How much is remembered between runs.
const (
	keptSent        = 500 // texts of sent messages
	keptFilterLines = 100 // lines of the filter that worked
)

// Draft is what stands in an input box, and what was put away from it.
type Draft struct {
	Text  string
	Stash []string // newest last
}

// SaveDraft keeps the draft of a session or window under a key of the caller's
// choice. An empty draft is forgotten.
func (s *Store) SaveDraft(ctx context.Context, key string, d Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return s.write(ctx, func(t *tx) error { return t.exec("DELETE FROM draft WHERE key = ?", key) })
	}
	stash, err := json.Marshal(d.Stash)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		return t.exec("INSERT OR REPLACE INTO draft VALUES (?, ?, ?)", key, d.Text, string(stash))
	})
}

// Draft returns the draft under key, the zero Draft when there is none.
func (s *Store) Draft(ctx context.Context, key string) (d Draft, err error) {
	err = s.read(ctx, func(r *reader) error {
		return r.each("SELECT text, stash FROM draft WHERE key = ?", []any{key}, func(scan scanner) error {
			var stash string
			if err := scan(&d.Text, &stash); err != nil {
				return err
			}
			return json.Unmarshal([]byte(stash), &d.Stash)
		})
	})
	return d, err
}

// AddSent remembers a message that was sent, as the newest.
func (s *Store) AddSent(ctx context.Context, text string) error {
	return s.addLine(ctx, "sent", text, keptSent)
}

// Sent returns up to n different messages, the newest first.
func (s *Store) Sent(ctx context.Context, n int) ([]string, error) { return s.lines(ctx, "sent", n) }

// AddFilterLine remembers a line that worked, as the newest.
func (s *Store) AddFilterLine(ctx context.Context, line string) error {
	return s.addLine(ctx, "filter_line", line, keptFilterLines)
}

// FilterLines returns the lines that worked, the newest first.
func (s *Store) FilterLines(ctx context.Context) ([]string, error) {
	return s.lines(ctx, "filter_line", keptFilterLines)
}

func (s *Store) addLine(ctx context.Context, table, text string, keep int) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec("INSERT OR REPLACE INTO "+table+" (text) VALUES (?)", text); err != nil {
			return err
		}
		return t.exec(fmt.Sprintf("DELETE FROM %[1]s WHERE n NOT IN (SELECT n FROM %[1]s ORDER BY n DESC LIMIT %[2]d)", table, keep))
	})
}

func (s *Store) lines(ctx context.Context, table string, n int) ([]string, error) {
	var lines []string
	err := s.read(ctx, func(r *reader) error {
		return r.each("SELECT text FROM "+table+" ORDER BY n DESC LIMIT ?", []any{n}, func(scan scanner) error {
			var line string
			err := scan(&line)
			lines = append(lines, line)
			return err
		})
	})
	return lines, err
}

// Set keeps a value of the program's under a key; "" forgets it.
func (s *Store) Set(ctx context.Context, key, value string) error {
	return s.keep(ctx, key, value)
}

// Get returns the value under key, "" when there is none.
func (s *Store) Get(ctx context.Context, key string) (string, error) {
	values, err := s.kept(ctx, "SELECT key, value FROM setting WHERE key = ?", key)
	return values[key], err
}

// keep writes one row of the settings.
func (s *Store) keep(ctx context.Context, key, value string) error {
	return s.write(ctx, func(t *tx) error {
		if value != "" {
			return t.exec("INSERT OR REPLACE INTO setting VALUES (?, ?)", key, value)
		}
		return t.exec("DELETE FROM setting WHERE key = ?", key)
	})
}

func (s *Store) kept(ctx context.Context, query string, args ...any) (map[string]string, error) {
	values := map[string]string{}
	err := s.read(ctx, func(r *reader) error {
		return r.each(query, args, func(scan scanner) error {
			var key, value string
			err := scan(&key, &value)
			values[key] = value
			return err
		})
	})
	return values, err
}
