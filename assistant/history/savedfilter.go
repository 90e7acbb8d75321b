package history

import (
	"context"
	"fmt"

	"winnow/assistant/filter"
)

// SaveFilter keeps a line of the filter language under a name; "" forgets it.
// A line that could not be evaluated with the filters that are saved beside it,
// because it leads back to itself for example, is refused with a
// *filter.Error, and nothing has happened.
func (s *Store) SaveFilter(ctx context.Context, name, line string) error {
	_, err := s.saveFilter(ctx, name, line)
	return err
}

// saveFilter is SaveFilter that returns the line of before.
func (s *Store) saveFilter(ctx context.Context, name, line string) (was string, err error) {
	err = s.write(ctx, func(t *tx) error {
		saved, err := t.savedFilters()
		if err != nil {
			return err
		}
		was = saved[name]
		if saved[name] = line; line != "" {
			if err := checkFilter(saved, line); err != nil {
				return err
			}
		}
		c, err := s.change(t)
		if err != nil {
			return err
		}
		return c.putFilter(name, line)
	})
	return was, err
}

// putFilter keeps a line under a name; "" forgets it.
func (c *change) putFilter(name, line string) error {
	if line == "" {
		return c.exec("DELETE FROM saved_filter WHERE name = ?", name)
	}
	return c.exec("INSERT OR REPLACE INTO saved_filter VALUES (?, ?)", name, line)
}

// SetFilters makes these the saved filters, by name, in one transaction. They
// were saved before: nothing is checked.
func (s *Store) SetFilters(ctx context.Context, lines map[string]string) error {
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		if err := c.exec("DELETE FROM saved_filter"); err != nil {
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

// SavedFilters returns the saved lines by name.
func (s *Store) SavedFilters(ctx context.Context) (map[string]string, error) {
	return s.kept(ctx, "SELECT name, line FROM saved_filter")
}

// savedFilters reads them inside a transaction, which nobody else changes.
func (t *tx) savedFilters() (saved map[string]string, err error) {
	rows, err := t.query("SELECT name, line FROM saved_filter")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	saved = map[string]string{}
	for rows.Next() {
		var name, line string
		if err := rows.Scan(&name, &line); err != nil {
			return nil, err
		}
		saved[name] = line
	}
	return saved, rows.Err()
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
