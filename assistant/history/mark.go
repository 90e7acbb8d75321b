package history

import (
	"context"
	"fmt"
)

// Mark is what can be set on many pairs at once. A nil field is left as it is.
type Mark struct {
	Star  *int // 0 to 3
	Flag  *bool
	Topic *string // path; what lacks of it is made
}

// Mark sets stars, flags and topics of the pairs with these Seqs in one
// transaction, and counts those that exist.
func (s *Store) Mark(ctx context.Context, seqs []int64, m Mark) (n int, err error) {
	if m.Star != nil && (*m.Star < 0 || *m.Star > maxStar) {
		return 0, fmt.Errorf("history: %d stars; want 0 to %d", *m.Star, maxStar)
	}
	err = s.write(ctx, func(t *tx) error {
		n = 0
		c, err := s.change(t)
		if err != nil {
			return err
		}
		var topic any
		if m.Topic != nil {
			if topic, err = c.topic(*m.Topic); err != nil {
				return err
			}
		}
		for _, seq := range seqs {
			changed, err := c.tx.change(`UPDATE pair SET rev = ?, star = coalesce(?, star),
				flag = coalesce(?, flag), topic = coalesce(?, topic) WHERE seq = ?`, c.rev, m.Star, m.Flag, topic, seq)
			if err != nil {
				return err
			}
			n += int(changed)
		}
		return nil
	})
	return n, err
}
