package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/history"
)

// storePictures links a pair to its pictures, and stores the pictures that the pair's author does not have yet. In a
// shared history, each author has separate copies.
func (c *Change) storePictures(p *assistant.Pair) {
	author := int64(0)
	for i, f := range attachment.Pictures(p.Attachments) {
		if i == 0 && c.s.Shared {
			author = c.name("author", p.Author)
		}
		c.Run("INSERT INTO pair_picture (seq, author, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", p.Seq, author, f.Hash)
		if f.Data == nil {
			continue
		}
		if _, known := c.Number("SELECT 1 FROM picture WHERE author = ? AND hash = ?", author, f.Hash); !known {
			c.Run("INSERT INTO picture (author, hash, data) VALUES (?, ?, ?)", author, f.Hash, f.Data)
		}
	}
}

// disconnectPictures removes the links from pairs to their pictures and returns the hashes of the pictures.
func (c *Change) disconnectPictures(seqs []int64) (hashes []string) {
	of := "SELECT j.seq FROM " + c.s.Seqs + " j"
	hashes = List[string](c.Tx, "SELECT DISTINCT hash FROM pair_picture WHERE seq IN ("+of+")", asArray(seqs))
	c.Run("DELETE FROM pair_picture WHERE seq IN ("+of+")", asArray(seqs))
	return hashes
}

// dropPictures deletes the pictures with these hashes to which no pair is linked any more.
func (c *Change) dropPictures(hashes []string) {
	for _, hash := range hashes {
		c.Run(`DELETE FROM picture WHERE hash = ? AND NOT EXISTS
			(SELECT 1 FROM pair_picture p WHERE p.author = picture.author AND p.hash = picture.hash)`, hash)
	}
}

// Picture implements assistant.PictureStore.
func (s *Store) Picture(ctx context.Context, hash string) (data []byte, err error) {
	err = s.Read(ctx, func(t *Tx) { data = readPicture(t, hash) })
	return data, err
}

// readPicture fails with history.ErrPicture if the picture is missing or damaged.
func readPicture(t *Tx, hash string) (data []byte) {
	t.Each("SELECT data FROM picture WHERE hash = ? LIMIT 1", []any{hash}, func(scan Scanner) { scan(&data) })
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		t.Fail(fmt.Errorf("%w: SHA-256 %s", history.ErrPicture, hash))
	}
	return data
}

// checkPictures compares every picture with its hash.
func checkPictures(t *Tx, problem func(format string, args ...any)) {
	of := map[string]int64{} // a pair that has the picture, by hash
	t.Each("SELECT hash, max(seq) FROM pair_picture GROUP BY hash", nil, func(scan Scanner) {
		var hash string
		var seq int64
		scan(&hash, &seq)
		of[hash] = seq
	})
	for hash, seq := range of {
		if t.err != nil {
			return
		}
		if err := t.Try(func() { readPicture(t, hash) }); errors.Is(err, history.ErrPicture) {
			problem("a picture of message %d is missing or damaged", seq)
		} else {
			t.Fail(err)
		}
	}
}
