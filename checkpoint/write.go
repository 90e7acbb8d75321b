package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// write appends a record, durably, and then adds it to the index. to is the
// state after the record, nil: as it was; side a state that is not the current
// one, "" for none. On error nothing has changed, in memory or, as far as
// possible, in the file. The caller has locked writing.
func (j *Journal) write(r record, to *document, side string) error {
	if err := j.writable(); err != nil {
		return err
	}
	x, now := j.index, j.now
	if side != "" {
		r.kind, r.payload = payloadSide, side
	}
	r.Seq, r.Prev, r.Sum = x.seq+1, x.last, x.sum()
	if r.Time.IsZero() && r.Check == nil && r.Op != opClose {
		r.Time = j.opts.Now().UTC()
	}
	if to != nil {
		full := r.Sum == "" || r.Check != nil && x.checks >= j.opts.Every-1
		now = *to
		r.kind, r.payload = transition(j.now, now, full)
		if now.text != j.now.text {
			r.Base, r.Sum = r.Sum, now.sum()
		}
	}
	if r.Check != nil {
		r.Check.Seq = r.Seq
	}
	if err := r.encode(); err != nil {
		return err
	}
	if err := j.append([]byte(r.text + "\n")); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = now
	x.apply(&r)
	if r.Op == opSaved {
		if j.saved = side; side == "" {
			j.saved = now.text
		}
	}
	return nil
}

// transition chooses the payload of a record after which the state is to.
func transition(from, to document, full bool) (payloadKind, string) {
	if !full && from.text == to.text {
		return payloadNone, ""
	}
	if !full {
		if delta, err := json.Marshal(diff(from.tree, to.tree)); err == nil && len(delta) < len(to.text) {
			return payloadDelta, string(delta)
		}
	}
	return payloadFull, to.text
}

// writable returns why nothing can be written, nil when it can.
func (j *Journal) writable() error {
	switch {
	case j.opts.ReadOnly:
		return ErrReadOnly
	case j.file == nil:
		return ErrClosed
	}
	info, err := os.Lstat(j.path)
	if err != nil || !os.SameFile(info, j.info) {
		return ErrMoved
	}
	return nil
}

// append writes text behind the last whole record, durably, or leaves the file
// as it was.
func (j *Journal) append(text []byte) error {
	if err := j.cutTorn(); err != nil {
		return err
	}
	n, err := j.file.WriteAt(text, j.index.size)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// The caller learns that nothing was written, so these bytes must go:
		// now, or before the next are written.
		j.torn = true
		if cut := j.cutTorn(); cut != nil {
			j.opts.Log.Warn("checkpoint journal", "error", cut)
		}
		return fmt.Errorf("checkpoint: write journal: %w", err)
	}
	return nil
}

// cutTorn cuts off what is behind the last whole record.
func (j *Journal) cutTorn() error {
	if !j.torn {
		return nil
	}
	if err := j.file.Truncate(j.index.size); err != nil {
		return fmt.Errorf("checkpoint: cut unfinished record off: %w", err)
	}
	j.torn = false
	return nil
}
