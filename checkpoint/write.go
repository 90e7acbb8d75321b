package checkpoint

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// draft is what write appends: a record, and the state after it.
type draft struct {
	record
	to   *value // the state after the record; nil: as it was
	full bool   // with the full state, whatever changed
	side string // a state beside; "" for none
}

// plain is a draft that leaves the state as it is.
func plain(r record) draft { return draft{record: r} }

// newID returns a new id: 60 random bits as 12 characters.
func newID() string {
	const length = 12
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:length])
}

// read makes a value of a state that came from the caller. The one before a
// write tool is mostly the very text that was recorded last.
func (j *Journal) read(state json.RawMessage) (value, error) {
	if j.given != "" && string(state) == j.given {
		return j.givenAs, nil
	}
	text := string(state)
	v, err := parseText(text)
	if err != nil {
		return value{}, err
	}
	j.given, j.givenAs = text, v
	return v, nil
}

// write appends records, all with one write and one sync, and then takes them
// in. On error nothing has changed, in memory or, as far as can be helped, in
// the file. The caller holds writing.
func (j *Journal) write(drafts ...draft) error {
	if err := j.writable(); err != nil {
		return err
	}
	var out []byte
	lines := make([]line, len(drafts))
	now, sum, prev, seq := j.now, j.ledger.sum(), j.ledger.last, j.ledger.seq
	records, checks := j.ledger.records, j.ledger.checks
	for i := range drafts {
		d := &drafts[i]
		full := d.full || records >= maxDeltas || d.Check != nil && checks >= j.opts.Every-1
		kind, payload := payloadNone, ""
		if d.side != "" {
			kind, payload = payloadSide, d.side
		}
		after := sum
		if d.to != nil {
			var err error
			if kind, payload, err = transition(now, *d.to, sum == "", full); err != nil {
				return err
			}
			now, after = *d.to, stateSum(*d.to)
		}
		seq++
		d.Seq, d.Prev, d.Sum = seq, prev, after
		if d.Check != nil {
			d.Check.Seq = seq
		}
		if sum != after {
			d.Base = sum
		}
		from := len(out)
		var err error
		if out, err = appendLine(out, &d.record, kind, payload); err != nil {
			return err
		}
		lines[i] = line{offset: j.size + int64(from), length: len(out) - from - 1, kind: kind}
		prev, sum = seq, after
		if kind == payloadFull {
			records, checks = 0, 0
		}
	}
	if err := j.writeBytes(out); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range drafts {
		j.ledger.apply(&drafts[i].record, lines[i])
		if drafts[i].Op == opSaved {
			if j.saved = drafts[i].side; j.saved == "" {
				j.saved = j.now.text
			}
		}
	}
	j.now = now
	return nil
}

// maxDeltas bounds how many deltas making one state again can take.
const maxDeltas = 50

// writable says why nothing can be written.
func (j *Journal) writable() error {
	switch {
	case j.opts.ReadOnly:
		return ErrReadOnly
	case j.isClosed():
		return ErrClosed
	}
	info, err := os.Lstat(j.place.path)
	if err != nil || !os.SameFile(info, j.info) {
		return ErrMoved
	}
	return nil
}

// writeBytes appends whole lines, durably, or leaves the file as it was.
func (j *Journal) writeBytes(text []byte) error {
	if err := j.cutTorn(); err != nil {
		return err
	}
	n, err := j.file.WriteAt(text, j.size)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// Nobody was told that these bytes are there, so they must go: now,
		// or before the next are written.
		j.torn = true
		return errors.Join(fmt.Errorf("checkpoint: write journal: %w", err), j.cutTorn())
	}
	j.size += int64(len(text))
	return nil
}

// cutTorn cuts off what is behind the last whole record.
func (j *Journal) cutTorn() error {
	if !j.torn {
		return nil
	}
	if err := j.file.Truncate(j.size); err != nil {
		return fmt.Errorf("checkpoint: cut unfinished record off: %w", err)
	}
	j.torn = false
	return nil
}
