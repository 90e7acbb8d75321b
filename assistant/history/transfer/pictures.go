package transfer

import (
	"context"
	"errors"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// An appender commits a batch as soon as its pictures have picturesAtOnce bytes in total.
const picturesAtOnce = 32 << 20

// loadPictures reads the Data of the pictures of a pair. A missing or damaged picture gets no Data, and the Notice of the
// pair reports it.
func loadPictures(ctx context.Context, s assistant.PictureStore, p *assistant.Pair) error {
	for i, f := range p.Attachments {
		if f.Hash == "" {
			continue
		}
		data, err := s.Picture(ctx, f.Hash)
		switch {
		case errors.Is(err, history.ErrPicture):
			p.Notice = safetext.Sprintf("%s\nThe picture %s is missing or damaged.", p.Notice, f.Name)
		case err != nil:
			return err
		}
		p.Attachments[i].Data = data
	}
	return nil
}

// appender adds pairs to a store, many in each transaction.
type appender struct {
	to           history.Pairs
	progress     func(done int) // called after each transaction
	added, known int            // known counts pairs that the store already had

	batch    []*assistant.Pair
	pictures int // bytes of pictures in batch
}

// pairsAtOnce is the maximum number of pairs added in one transaction.
const pairsAtOnce = 1000

// add adds a pair; from then on the pair belongs to the appender.
func (a *appender) add(ctx context.Context, p *assistant.Pair) error {
	for _, f := range p.Attachments {
		a.pictures += len(f.Data)
	}
	if a.batch = append(a.batch, p); len(a.batch) < pairsAtOnce && a.pictures < picturesAtOnce {
		return nil
	}
	return a.flush(ctx)
}

// flush commits the pending pairs.
func (a *appender) flush(ctx context.Context) error {
	added, err := a.to.Append(ctx, a.batch)
	if err != nil {
		return err
	}
	a.added, a.known = a.added+added, a.known+len(a.batch)-added
	a.batch, a.pictures = nil, 0
	a.progress(a.added + a.known)
	return nil
}
