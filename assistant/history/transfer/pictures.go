package transfer

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/assistant/history"
)

// picturesAtOnce is how many bytes of pictures are in memory, those of one pair excepted.
const picturesAtOnce = 32 << 20

// loadPictures reads the Data of the pictures of a pair. One that is damaged stays without,
// and the Notice of the pair says so.
func loadPictures(ctx context.Context, s assistant.PictureStore, p *assistant.Pair) error {
	for i, f := range p.Attachments {
		if f.Hash == "" {
			continue
		}
		data, err := s.Picture(ctx, f.Hash)
		switch {
		case errors.Is(err, history.ErrPicture):
			p.Notice = fmt.Sprintf("%s\nThe picture %s is damaged on the disk.", p.Notice, f.Name)
		case err != nil:
			return err
		}
		p.Attachments[i].Data = data
	}
	return nil
}

// appender adds pairs to a store, many in one transaction.
type appender struct {
	to           history.Pairs
	progress     func(done int) // called after each transaction
	added, known int            // known: the store had them before

	batch    []*assistant.Pair
	pictures int // bytes in batch
}

// pairsAtOnce is how many pairs are added in one transaction.
const pairsAtOnce = 1000

// add adds a pair, which belongs to the appender from then on.
func (a *appender) add(ctx context.Context, p *assistant.Pair) error {
	for _, f := range p.Attachments {
		a.pictures += len(f.Data)
	}
	if a.batch = append(a.batch, p); len(a.batch) < pairsAtOnce && a.pictures < picturesAtOnce {
		return nil
	}
	return a.flush(ctx)
}

// flush ends the last transaction.
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
