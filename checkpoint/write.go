package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"winnow/checkpoint/jsondelta"
)

// write durably appends a record and then adds it to the index. to is the state after the record, or nil if the
// record does not change it; other is the payload for payloadOther, or "". On error nothing has changed in memory or,
// as far as possible, in the file. The caller holds the writer lock and j.writing.
func (j *Journal) write(r record, to *jsondelta.Document, other string) error {
	if err := j.writable(); err != nil {
		return err
	}
	x, now := j.index, j.current
	if other != "" {
		r.kind, r.payload = payloadOther, other
	}
	r.Seq, r.Prev, r.Sum = x.lastSeq+1, x.lastSeq, x.sum()
	if r.Time.IsZero() && r.Checkpoint == nil && r.Op != OpClose {
		r.Time = j.opts.Now().UTC()
	}
	if to != nil {
		full := r.Sum == "" || r.Checkpoint != nil && x.sinceFull >= j.opts.FullEvery-1
		now = *to
		r.kind, r.payload = choosePayload(j.current, now, full)
		if now.Text() != j.current.Text() {
			r.Base, r.Sum = r.Sum, stateSum(now)
		}
	}
	if r.Checkpoint != nil {
		r.Checkpoint.Seq = r.Seq
	}
	if j.opts.Author != nil {
		r.User, r.Author = j.opts.Author()
	}
	if err := r.encode(); err != nil {
		return err
	}
	if err := j.append([]byte(r.text + "\n")); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.current = now
	x.apply(&r)
	if r.Op == OpSaved {
		if j.saved = other; other == "" {
			j.saved = now.Text()
		}
	}
	return nil
}

// choosePayload returns the payload of a record that changes the state from one document to another: the full state
// if full is set or the delta is not smaller, otherwise the delta, or nothing if the documents are equal.
func choosePayload(from, to jsondelta.Document, full bool) (payloadKind, string) {
	if !full && from.Text() == to.Text() {
		return payloadNone, ""
	}
	if !full {
		if delta, err := json.Marshal(jsondelta.Diff(from, to)); err == nil && len(delta) < len(to.Text()) {
			return payloadDelta, string(delta)
		}
	}
	return payloadFull, to.Text()
}

// writable returns an error if the file at the path is no longer the one that was opened.
func (j *Journal) writable() error {
	info, err := os.Lstat(j.path)
	if err != nil || !os.SameFile(info, j.info) {
		return ErrMoved
	}
	return nil
}

// append durably writes text after the last complete record, or leaves the file unchanged.
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
		// The caller is told that nothing was written, so these bytes must be cut off, now or before the next record
		// is written.
		j.torn = true
		if cut := j.cutTorn(); cut != nil {
			j.opts.Log.Warn("checkpoint journal", "error", cut)
		}
		return fmt.Errorf("checkpoint: write journal: %w", err)
	}
	return nil
}

// cutTorn cuts off everything after the last complete record.
func (j *Journal) cutTorn() error {
	if !j.torn {
		return nil
	}
	if err := j.file.Truncate(j.index.size); err != nil {
		return fmt.Errorf("checkpoint: remove unfinished record: %w", err)
	}
	j.torn = false
	return nil
}
