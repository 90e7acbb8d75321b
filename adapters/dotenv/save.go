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

// errNoExchange is the error of exchange where the system or the file system
// cannot swap two names.
var errNoExchange = errors.New("two names cannot be exchanged here")

// Saved is the result of a save.
type Saved struct {
	Source  *Source  // the file as it is now
	Changes []Change // the keys that read differently than before
	Written bool     // false: the file had these bytes already
}

// ChangedError is a file that another program has changed since it was loaded.
// Its message contains nothing of the file.
type ChangedError struct {
	Path    string
	Base    []byte // as it was loaded
	Theirs  []byte // the other program's version; may be incomplete when Busy
	Ours    []byte // what was to be saved
	Missing bool   // the file is gone
	Busy    bool   // another program has it open for writing
	// Kept is the name of a file with Theirs beside the file: the other
	// program wrote during the exchange, and Ours is in the file.
	// "" when nothing was saved.
	Kept string
	Err  error // why Theirs could not be read; nil when it was
}

func (e *ChangedError) Error() string {
	what := "was changed by another program since it was read"
	switch {
	case e.Err != nil:
		what += ": " + e.Err.Error()
	case e.Missing:
		what = "was removed by another program since it was read"
	case e.Busy:
		what = "is open for writing in another program"
	case e.Kept != "":
		what = "was changed by another program while it was saved; the other version is in " + printable(e.Kept)
	}
	if e.Kept == "" {
		what += "; nothing was saved"
	}
	return fmt.Sprintf("dotenv: %s %s", printable(e.Path), what)
}

func (e *ChangedError) Unwrap() error { return e.Err }

// GoString is Error: %#v must not print values.
func (e *ChangedError) GoString() string { return e.Error() }

// Save applies edits and replaces the file in one atomic, durable step. The
// error is a [*ChangedError] when the file is no longer what was loaded, a
// [*RefusedError] when the edits cannot be made, a [*FileError] when the file
// cannot be written or its mode, owner or attributes cannot be preserved. The
// file is then as it was, with two exceptions: after a ChangedError with Kept,
// and when an error comes with Saved.Written. Then the new bytes are in place,
// and the error is about a later step. ctx is checked until the file is replaced.
func (s *Source) Save(ctx context.Context, edits []Edit) (Saved, error) {
	after, err := s.File.With(edits...)
	if err != nil {
		return Saved{}, err
	}
	return s.replace(ctx, after.Bytes())
}

// replace writes data as the whole file, with all checks of Save.
func (s *Source) replace(ctx context.Context, data []byte) (Saved, error) {
	if len(data) > MaxSize {
		return Saved{}, &FileError{s.Path, tooLarge, nil}
	}
	unlock, err := lockFolder(ctx, s.Real)
	if err != nil {
		return Saved{}, err
	}
	defer unlock()
	notices, err := recoverLocked(s.Real)
	if err != nil {
		return Saved{}, err
	}
	w := &writer{Source: s, data: data}
	if w.loaded, err = w.unchanged(); err != nil {
		return Saved{}, err
	}
	if s.Exists && bytes.Equal(w.loaded.data, data) {
		return Saved{Source: s}, nil
	}
	if err := w.checkReplaceable(); err != nil {
		return Saved{}, err
	}
	written, err := w.writeTemp(ctx)
	if err != nil {
		return Saved{}, err
	}
	done, err := w.commit(ctx)
	if !done {
		return Saved{}, err
	}
	next := written.source(s.Path, s.Real)
	next.hooks = s.hooks
	next.Notices = append(notices, next.Notices...)
	return Saved{next, Changes(s.File, next.File), true}, err
}

// writer is one save in progress.
type writer struct {
	*Source
	data   []byte
	loaded snapshot // the target when the save began; the bytes are those of Source
	temp   string   // the finished temporary file; the name is the record of the save
}

// unchanged reads the target and compares it with what was loaded.
func (w *writer) unchanged() (snapshot, error) {
	if target, err := resolve(w.Path); err != nil {
		return snapshot{}, err
	} else if target != w.Real {
		return snapshot{}, &FileError{w.Path, "leads to another file than when it was read", nil}
	}
	current, err := readSnapshot(w.Real)
	if err != nil {
		return snapshot{}, err
	}
	if current.exists() != w.Exists || current.hash() != w.Hash {
		return snapshot{}, w.changedError(current)
	}
	return current, nil
}

func (w *writer) changedError(found snapshot) *ChangedError {
	return &ChangedError{
		Path: w.Path, Base: w.File.Bytes(), Theirs: found.data, Ours: w.data,
		Missing: w.Exists && !found.exists(),
	}
}

// checkReplaceable refuses a file with several hard links, which a rename would
// separate, and a write-protected one, which a rename would replace all the same.
func (w *writer) checkReplaceable() error {
	if !w.Exists {
		return nil
	}
	if n := ownerOf(w.loaded.info).links; n > 1 {
		return &FileError{w.Path, fmt.Sprintf("has %d hard links: a save would separate them", n), nil}
	}
	if err := checkWritable(w.Real); err != nil {
		return fileError(w.Path, fmt.Sprintf("is write-protected (mode %04o)", w.Mode), err)
	}
	return nil
}

// writeTemp makes the temporary file: first under a name that recovery removes,
// and once it is durable under the name that records the save.
func (w *writer) writeTemp(ctx context.Context) (snapshot, error) {
	mode := newMode
	if w.Exists {
		mode = w.Mode
	}
	written := snapshot{data: w.data}
	name := w.Real + saveInfix + rand.Text()
	w.temp = name + partialSuffix
	err := w.step(ctx, atCreate)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&newMode)
	}
	if err != nil {
		return snapshot{}, w.failed("create a file beside it", err)
	}
	if err = w.fill(f, mode); err == nil {
		written.info, err = f.Stat()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.step(ctx, atReady)
	}
	durable := name + "-" + shortHash(written.hash()) + "-" + shortHash(w.Hash) + swapSuffix
	if err == nil {
		err = os.Rename(w.temp, durable)
	}
	if err != nil {
		return snapshot{}, errors.Join(w.failed("write a file beside it", err), os.Remove(w.temp))
	}
	w.temp = durable
	return written, nil
}

// fill writes the bytes, sets the attributes of the target and syncs the file. The
// order ensures that it is never accessible to more users than the target.
func (w *writer) fill(f *os.File, mode fs.FileMode) error {
	if _, err := f.Write(w.data); err != nil {
		return err
	}
	if w.Exists {
		owner := ownerOf(w.loaded.info)
		if err := setOwner(f, owner); err != nil {
			return fileError(w.Path, fmt.Sprintf("belongs to user %d, group %d, which a save could not preserve", owner.uid, owner.gid), err)
		}
		if err := writeXattrs(f, w.loaded.xattrs); err != nil {
			return fileError(w.Path, "has extended attributes or an access list that a save could not preserve", err)
		}
	}
	return errors.Join(f.Chmod(mode), f.Sync())
}

// commit puts the temporary file in place of the target as a compare-and-swap.
// done reports whether the file was saved; an error beside it is about a later
// step. Every file handle is opened before the exchange, so that nothing
// can fail for lack of one afterwards.
func (w *writer) commit(ctx context.Context) (done bool, err error) {
	folder, err := os.Open(filepath.Dir(w.Real))
	if err != nil {
		return false, errors.Join(w.failed("open its folder", err), os.Remove(w.temp))
	}
	defer folder.Close()
	old, leased, err := w.compare(ctx)
	if old != nil {
		defer old.Close()
	}
	exchanged := false
	if err == nil {
		exchanged, err = w.putInPlace()
	}
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		current, readErr := readSnapshot(w.Real)
		changed := w.changedError(current)
		changed.Err, err = readErr, changed
		fallthrough
	case err != nil:
		return false, errors.Join(w.failed("put it in place", err), os.Remove(w.temp))
	case exchanged:
		if out, err := w.readDisplaced(old); err != nil || out.hash() != w.Hash || !out.sameAttributes(w.loaded) || leased && leaseBroken(old) {
			return false, errors.Join(w.displacedError(out, err), folder.Sync())
		}
	}
	return true, w.finish(folder)
}

// compare checks again that the target is what was loaded and nobody is
// writing to it. It returns a handle of the target, nil when there is none.
func (w *writer) compare(ctx context.Context) (old *os.File, leased bool, err error) {
	current, err := w.unchanged()
	switch {
	case err != nil:
		return nil, false, err
	case !w.Exists:
		return nil, false, w.step(ctx, atExchange)
	case !current.sameAttributes(w.loaded):
		return nil, false, w.changedError(current)
	}
	if old, err = openRegular(w.Real); err != nil {
		return nil, false, err
	}
	leased, busy := setLease(old)
	if busy {
		changed := w.changedError(current)
		changed.Busy = true
		return old, false, changed
	}
	return old, leased, w.step(ctx, atExchange)
}

// putInPlace gives the temporary file the name of the target. exchanged reports
// whether the target now has the temporary name.
func (w *writer) putInPlace() (exchanged bool, err error) {
	if !w.Exists {
		return false, os.Link(w.temp, w.Real) // fails when there is a file by now
	}
	if err = errNoExchange; !w.hooks.noExchange {
		err = exchange(w.temp, w.Real)
	}
	if errors.Is(err, errNoExchange) {
		return false, os.Rename(w.temp, w.Real)
	}
	return err == nil, err
}

// readDisplaced reads the file under the temporary name: usually the one of which
// old is a handle, else one that was renamed over it before the exchange.
func (w *writer) readDisplaced(old *os.File) (snapshot, error) {
	before, err := old.Stat()
	if err != nil {
		return snapshot{}, err
	}
	if now, err := os.Lstat(w.temp); err == nil && os.SameFile(before, now) {
		return readOpen(w.temp, old)
	}
	return readSnapshot(w.temp)
}

// displacedError is the error for a displaced file that is not what was loaded, or that
// another program is about to write to. The file remains beside the target.
func (w *writer) displacedError(out snapshot, err error) error {
	changed := w.changedError(out)
	changed.Missing, changed.Err = false, err
	changed.Kept, err = setAside(w.Real, w.temp)
	return errors.Join(changed, err)
}

// finish makes the new name durable and removes the displaced file. If that
// fails, the next Load tries again.
func (w *writer) finish(folder *os.File) error {
	err := w.step(context.Background(), atExchanged)
	if err == nil {
		err = folder.Sync()
	}
	if err != nil {
		return fileError(w.Path, "was saved, but may not survive a power cut: its folder could not be synced", err)
	}
	if err = w.step(context.Background(), atRemove); err == nil {
		err = os.Remove(w.temp)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a plain rename leaves none
		return fileError(w.Path, "was saved, but its previous version could not be removed and is in "+printable(w.temp), err)
	}
	return nil
}

// step ends the save with an error if ctx has ended or the test's hook fails.
func (w *writer) step(ctx context.Context, at stage) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dotenv: save %s: %w", printable(w.Path), err)
	}
	if w.hooks.at == nil {
		return nil
	}
	return w.hooks.at(at)
}

// failed adds what failed to err, unless err already gives a reason.
func (w *writer) failed(what string, err error) error {
	var file *FileError
	var changed *ChangedError
	if errors.As(err, &file) || errors.As(err, &changed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fileError(w.Path, "was not saved: could not "+what, err)
}

// shortHash is the beginning of a hash, as used in file names.
func shortHash(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:8]) }

// stage is a moment of a save at which hooks.at is called.
type stage string

const (
	atCreate    stage = "create"    // before the temporary file exists
	atReady     stage = "ready"     // it is durable and has its attributes
	atExchange  stage = "exchange"  // the last comparison is over
	atExchanged stage = "exchanged" // the new bytes are in place
	atRemove    stage = "remove"    // the folder is synced
)

// hooks let tests interrupt a save. An error from at simulates a system error.
type hooks struct {
	at         func(stage) error
	noExchange bool // as if the system could not exchange two names
}
