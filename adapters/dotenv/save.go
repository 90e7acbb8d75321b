package dotenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stage is a moment of a save at which tests step in.
type stage string

const (
	atCreate    stage = "create"    // before the temporary file exists
	atWrite     stage = "write"     // half of it is written
	atSync      stage = "sync"      // all of it is written
	atReady     stage = "ready"     // it is durable and has its attributes
	atExchange  stage = "exchange"  // the last look at the target is over
	atExchanged stage = "exchanged" // the new bytes are in place, not yet judged
	atLeased    stage = "leased"    // what came out was judged good
)

// seam lets tests step in. An error it returns is one of the system's.
type seam struct {
	at         func(stage) error
	noExchange bool // as if the system could not exchange two names
}

func (s *seam) reach(at stage) error {
	if s == nil || s.at == nil {
		return nil
	}
	return s.at(at)
}

// Saved is a save that is durable.
type Saved struct {
	Source  *Source  // the file as it is now
	Changes []Change // the keys that read differently than before
	Written bool     // false: the file held these bytes already
}

// Save applies edits and replaces the file in one atomic, durable step. It
// ends in a [*ChangedError] when the file is no longer what was loaded, in a
// [*RefusedError] when the edits cannot be made, in a [*FileError] when mode,
// owner or attributes could not be kept. On any error the file is as it was.
// ctx ends the wait for another save and everything up to the exchange.
func (s *Source) Save(ctx context.Context, edits []Edit) (Saved, error) {
	after, err := s.File.With(edits...)
	if err != nil {
		return Saved{}, err
	}
	return s.Replace(ctx, after.Bytes())
}

// Replace is Save with all bytes of the file.
func (s *Source) Replace(ctx context.Context, data []byte) (Saved, error) {
	if len(data) > MaxSize {
		return Saved{}, &FileError{s.Path, tooLarge, nil}
	}
	unlock, err := lockFolder(ctx, filepath.Dir(s.Real))
	if err != nil {
		return Saved{}, err
	}
	defer unlock()
	notices, err := tidyLocked(s.Real)
	if err != nil {
		return Saved{}, err
	}
	w := &writer{Source: s, data: data, sum: sha256.Sum256(data)}
	if w.now, err = w.unchanged(); err != nil {
		return Saved{}, err
	}
	if s.Exists && bytes.Equal(w.now.data, data) {
		return Saved{Source: s}, nil
	}
	if err := w.permitted(); err != nil {
		return Saved{}, err
	}
	st, err := w.write(ctx)
	if err != nil {
		return Saved{}, err
	}
	next := st.source(s.Path, s.Real)
	next.seam = s.seam
	next.Notices = append(notices, next.Notices...)
	return Saved{Source: next, Changes: Changes(s.File, next.File), Written: true}, nil
}

// writer is one save under way.
type writer struct {
	*Source
	data []byte
	sum  [sha256.Size]byte // of data
	now  state             // the target when the save began; equal to what was loaded
	temp string            // the name beside the target
}

// unchanged reads the target and compares it with what was loaded.
func (w *writer) unchanged() (state, error) {
	if target, err := resolve(w.Path); err != nil {
		return state{}, err
	} else if target != w.Real {
		return state{}, &FileError{w.Path, "leads to another file than when it was read", nil}
	}
	st, err := readState(w.Real)
	if err != nil {
		return state{}, err
	}
	if st.exists() != w.Exists || st.hash() != w.Hash {
		return state{}, w.changed(st)
	}
	return st, nil
}

// permitted refuses a file that a rename would not keep what it is.
func (w *writer) permitted() error {
	if !w.now.exists() {
		return nil
	}
	if w.now.owner.links > 1 {
		return &FileError{w.Path, fmt.Sprintf("has %d hard links: a save would part them", w.now.owner.links), nil}
	}
	if err := writable(w.Real); err != nil {
		return &FileError{w.Path, fmt.Sprintf("is write-protected (mode %04o)", w.now.info.Mode().Perm()), reason(err)}
	}
	return nil
}

// write makes the temporary file and puts it in place.
func (w *writer) write(ctx context.Context) (state, error) {
	if err := w.reach(ctx, atCreate); err != nil {
		return state{}, err
	}
	mode := newMode
	if w.now.exists() {
		mode = w.now.info.Mode().Perm()
	}
	name := w.Real + leftover + rand.Text()
	part := name + partial
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&newMode)
	if err != nil {
		return state{}, w.failed("create a file beside it", err)
	}
	st, err := w.fill(ctx, f, mode)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = w.failed("write it", cerr)
	}
	if err == nil {
		w.temp = name + "-" + short(w.sum) + "-" + short(w.Hash) + exchanging
		if err = os.Rename(part, w.temp); err != nil {
			err = w.failed("write it", err)
		}
	}
	if err != nil {
		return state{}, errors.Join(err, os.Remove(part))
	}
	return st, w.place(ctx)
}

// fill writes the bytes, gives the file what the target has, and syncs it.
func (w *writer) fill(ctx context.Context, f *os.File, mode fs.FileMode) (state, error) {
	half := len(w.data) / 2
	if _, err := f.Write(w.data[:half]); err != nil {
		return state{}, w.failed("write it", err)
	}
	if err := w.reach(ctx, atWrite); err != nil {
		return state{}, err
	}
	if _, err := f.Write(w.data[half:]); err != nil {
		return state{}, w.failed("write it", err)
	}
	if err := w.dress(f, mode); err != nil {
		return state{}, err
	}
	if err := w.reach(ctx, atSync); err != nil {
		return state{}, err
	}
	if err := f.Sync(); err != nil {
		return state{}, w.failed("make it durable", err)
	}
	info, err := f.Stat()
	if err != nil {
		return state{}, w.failed("read it", err)
	}
	return state{data: w.data, info: info, owner: ownerOf(info)}, w.reach(ctx, atReady)
}

// dress gives the temporary file owner, attributes and mode of the target, in
// the order in which it is never open to more than the target.
func (w *writer) dress(f *os.File, mode fs.FileMode) error {
	if w.now.exists() {
		if err := giveTo(f, w.now.owner); err != nil {
			return &FileError{w.Path, fmt.Sprintf("belongs to user %d, group %d, which a save could not keep", w.now.owner.uid, w.now.owner.gid), reason(err)}
		}
		if err := writeXattrs(f, w.now.xattrs); err != nil {
			return &FileError{w.Path, "has extended attributes or an access list that a save could not keep", reason(err)}
		}
	}
	if err := f.Chmod(mode); err != nil {
		return w.failed("keep its mode", err)
	}
	return nil
}

// reach is a point at which ctx, or a test, may end the save.
func (w *writer) reach(ctx context.Context, at stage) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dotenv: save %s: %w", printable(w.Path), err)
	}
	if err := w.seam.reach(at); err != nil {
		return w.failed(string(at), err)
	}
	return nil
}

// failed says what could not be done.
func (w *writer) failed(what string, err error) error {
	return &FileError{w.Path, "was not saved: could not " + what, reason(err)}
}

// short is the beginning of a hash, as it stands in file names.
func short(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:8]) }
