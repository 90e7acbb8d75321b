package history

import "context"

// Mark is what can be set on many pairs at once. A nil field is left as it is.
type Mark struct {
	Star  *int // 0 to 3
	Flag  *bool
	Topic *string // path; what lacks of it is made
}

// Mark sets stars, flags and topics of the pairs with these Seqs in one
// transaction, and counts those that exist.
func (s *Store) Mark(ctx context.Context, seqs []int64, m Mark) (n int, err error) {
	if err := checkMark(m.Star); err != nil {
		return 0, err
	}
	err = s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		n, err = c.mark(seqs, m)
		return err
	})
	return n, err
}
