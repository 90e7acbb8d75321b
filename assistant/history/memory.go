package history

import (
	"context"
	"encoding/json"
	"fmt"

	"winnow/assistant/filter"
)

// How much is remembered between runs.
const (
	storedSent        = 500 // texts of sent messages
	storedFilterLines = 100 // lines of the filter that worked
)

// Draft is what stands in an input box, and what was put away from it.
type Draft struct {
	Text  string
	Stash []string // newest last
}

// SaveDraft stores the draft of a session or window under a key of the caller's
// choice. An empty draft is removed.
func (s *SQLite) SaveDraft(ctx context.Context, key string, d Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return s.write(ctx, func(t *tx) error { return t.run("DELETE FROM draft WHERE key = ?", key) })
	}
	stash, err := json.Marshal(d.Stash)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		return t.run("INSERT OR REPLACE INTO draft VALUES (?, ?, ?)", key, s.Redact(d.Text), s.Redact(string(stash)))
	})
}

// Draft returns the draft under key, the zero Draft when there is none.
func (s *SQLite) Draft(ctx context.Context, key string) (d Draft, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.each("SELECT text, stash FROM draft WHERE key = ?", []any{key}, func(scan scanner) error {
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
func (s *SQLite) AddSent(ctx context.Context, text string) error {
	return s.addLine(ctx, "sent", s.Redact(text), storedSent)
}

// Sent returns up to n different messages, the newest first.
func (s *SQLite) Sent(ctx context.Context, n int) ([]string, error) { return s.lines(ctx, "sent", n) }

// AddFilterLine remembers a line that worked, as the newest.
func (s *SQLite) AddFilterLine(ctx context.Context, line string) error {
	return s.addLine(ctx, "filter_line", s.Redact(line), storedFilterLines)
}

// FilterLines returns the lines that worked, the newest first.
func (s *SQLite) FilterLines(ctx context.Context) ([]string, error) {
	return s.lines(ctx, "filter_line", storedFilterLines)
}

func (s *SQLite) addLine(ctx context.Context, table, text string, most int) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.run("INSERT OR REPLACE INTO "+table+" (text) VALUES (?)", text); err != nil {
			return err
		}
		return t.run(fmt.Sprintf("DELETE FROM %[1]s WHERE n NOT IN (SELECT n FROM %[1]s ORDER BY n DESC LIMIT %[2]d)", table, most))
	})
}

func (s *SQLite) lines(ctx context.Context, table string, n int) (lines []string, err error) {
	err = s.read(ctx, func(t *tx) error {
		lines, err = list[string](t, "SELECT text FROM "+table+" ORDER BY n DESC LIMIT ?", n)
		return err
	})
	return lines, err
}

// Set stores a value of the program's under a key; "" removes it.
func (s *SQLite) Set(ctx context.Context, key, value string) error {
	return s.write(ctx, func(t *tx) error {
		if value == "" {
			return t.run("DELETE FROM setting WHERE key = ?", key)
		}
		return t.run("INSERT OR REPLACE INTO setting VALUES (?, ?)", key, s.Redact(value))
	})
}

// Get returns the value under key, "" when there is none.
func (s *SQLite) Get(ctx context.Context, key string) (value string, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.each("SELECT value FROM setting WHERE key = ?", []any{key}, func(scan scanner) error { return scan(&value) })
	})
	return value, err
}

const savedFilters = "SELECT name, line FROM saved_filter"

// SavedFilters returns the saved lines by name.
func (s *SQLite) SavedFilters(ctx context.Context) (saved map[string]string, err error) {
	err = s.read(ctx, func(t *tx) error {
		saved, err = keyed[string, string](t, savedFilters)
		return err
	})
	return saved, err
}

// SaveFilter stores a line of the filter language under a name; "" removes it.
// A line that could not be evaluated with the filters that are saved beside it, because it
// leads back to itself for example, is refused with a *filter.Error, and
// nothing has happened.
func (s *SQLite) SaveFilter(ctx context.Context, name, line string) error {
	return s.change(ctx, func(c *change) error {
		saved, err := keyed[string, string](c.tx, savedFilters)
		if err != nil {
			return err
		}
		if saved[name] = line; line != "" {
			if err := checkFilter(saved, line); err != nil {
				return err
			}
		}
		return c.putFilter(name, line)
	})
}

// putFilter stores a line under a name; "" removes it.
func (c *change) putFilter(name, line string) error {
	if line == "" {
		return c.run("DELETE FROM saved_filter WHERE name = ?", name)
	}
	return c.run("INSERT OR REPLACE INTO saved_filter VALUES (?, ?)", name, c.s.Redact(line))
}

// SetFilters makes these the saved filters, by name, in one transaction. They
// were saved before: nothing is checked.
func (s *SQLite) SetFilters(ctx context.Context, lines map[string]string) error {
	return s.change(ctx, func(c *change) error {
		if err := c.run("DELETE FROM saved_filter"); err != nil {
			return err
		}
		for name, line := range lines {
			if err := c.putFilter(name, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFilter refuses a line that cannot be evaluated with these filters.
func checkFilter(saved map[string]string, line string) error {
	q, err := filter.Parse(line)
	if err != nil {
		return err
	}
	if q.Command != nil {
		return fmt.Errorf("a line with :%s cannot be saved", q.Command.Verb)
	}
	_, err = filter.Expand(q, lookUp(saved))
	return err
}

// lookUp finds saved filters for filter.Expand.
func lookUp(saved map[string]string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		line, ok := saved[name]
		return line, ok
	}
}
