package history

import (
	"context"
	"errors"
	"slices"
	"strings"

	"winnow/assistant"
)

// back is the way back from a command.
type back struct {
	marks   []assistant.PairMark // what the pairs had before
	topics  []string             // that were made for them, those above first
	filters map[string]string    // saved filters as they were; "" is none
}

// CanTakeBack says whether TakeBack can undo what was done.
func (o Outcome) CanTakeBack() bool {
	return o.back != nil && len(o.back.marks)+len(o.back.filters) > 0
}

// TakenBack says what TakeBack has done, as a clause.
func (o Outcome) TakenBack() string {
	if o.back == nil {
		return ""
	}
	for name := range o.back.filters {
		return "@" + name + " is as before"
	}
	if len(o.back.marks) == 1 {
		return "1 pair is as before"
	}
	return Pairs(len(o.back.marks)) + " are as before"
}

// TakeBack undoes what a command has done, in one transaction: pairs get back
// the marks that they had, topics that were made for them go unless something
// else is in them by now, and saved filters are as they were.
func (s *Store) TakeBack(ctx context.Context, o Outcome) error {
	if !o.CanTakeBack() {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		for _, m := range o.back.marks {
			if _, err := c.mark([]int64{m.Seq}, Mark{m.Star, m.Flag, m.Topic}); err != nil {
				return err
			}
		}
		for _, path := range slices.Backward(o.back.topics) {
			if err := c.removeEmpty(path); err != nil {
				return err
			}
		}
		for name, line := range o.back.filters {
			if err := c.putFilter(name, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// lacking lists the topics that a path needs and that do not exist, those above
// first.
func (c *change) lacking(path string) (missing []string, err error) {
	names := splitTopic(path)
	for n, at := 0, int64(0); n < len(names); n++ {
		found := false
		if at, found, err = c.find(name{"topic", at, names[n]}); err != nil {
			return nil, err
		}
		if !found {
			for end := n + 1; end <= len(names); end++ {
				missing = append(missing, strings.Join(names[:end], TopicSeparator))
			}
			return missing, nil
		}
	}
	return nil, nil
}

// removeEmpty removes a topic in which there is nothing, not even a pair that
// was cut. One that is gone, or has another name by now, is left.
func (c *change) removeEmpty(path string) error {
	at, err := c.existing(path)
	if errors.Is(err, ErrTopic) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.exec(`DELETE FROM topic WHERE n = ?1
		AND NOT EXISTS (SELECT 1 FROM pair WHERE topic = ?1)
		AND NOT EXISTS (SELECT 1 FROM topic WHERE parent = ?1)`, at)
}
