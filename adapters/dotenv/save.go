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
	"strings"
	"syscall"

	"winnow/checkpoint/privatefile"
)

// errNoExchange means that the system or the file system cannot exchange two names.
var errNoExchange = errors.New("the file system cannot exchange two names: do not change the file in another program while it is saved")

// Saved is the result of a save.
type Saved struct {
	Source  *Source  // the file after the save
	Changes []Change // the keys with changed values
	Written bool     // false if the file already had these bytes
	// Warning is a sentence about what went wrong after the new bytes were in place, to be shown to the user; "" if
	// nothing went wrong.
	Warning string
}

// ChangedError means that another program has changed the file since it was loaded. Its message does not quote the
// file.
type ChangedError struct {
	Path    string
	Base    []byte // the file as it was loaded
	Theirs  []byte // the other program's version; it may be incomplete if Busy
	Ours    []byte // the version that should have been saved
	Missing bool   // true if the file no longer exists
	Busy    bool   // true if another program has the file open for writing
	// Kept is the name of a file next to the target that contains Theirs. It is set if the other program wrote during
	// the exchange; the target then contains Ours. If it is "", nothing was saved.
	Kept string
	Err  error // why Theirs could not be read, or nil
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
		what = "was changed by another program during the save; the other version is in " + printable(e.Kept)
	}
	if e.Kept == "" {
		what += "; nothing was saved"
	}
	return fmt.Sprintf("dotenv: %s %s", printable(e.Path), what)
}

func (e *ChangedError) Unwrap() error { return e.Err }

// GoString returns the same as Error, so that %#v does not print values.
func (e *ChangedError) GoString() string { return e.Error() }

// Save applies edits and replaces the file in one atomic, durable step. The error is a [*ChangedError] if the file is
// no longer what was loaded, a [*RefusedError] if the edits cannot be made, or a [*FileError] if the file cannot be
// written or its mode, owner or attributes cannot be preserved. After an error the file is unchanged, with two
// exceptions: a ChangedError with Kept, and a FileError whose message says otherwise. ctx can cancel the save until the
// file is replaced.
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
	lock, err := lockFile(ctx, s.Real, saveWait)
	if err != nil {
		return Saved{}, err
	}
	defer lock.release()
	notices, err := recoverLocked(s.Real, s.hooks)
	if err != nil {
		return Saved{}, err
	}
	w := &writer{Source: s, data: data, lock: lock}
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
	if err := w.commit(ctx); err != nil {
		return Saved{}, err
	}
	if w.inPlace {
		written.info = w.loaded.info
	}
	next := written.source(s.Path, s.Real)
	next.hooks = s.hooks
	next.Notices = append(notices, next.Notices...)
	return Saved{next, Changes(s.File, next.File), true, strings.Join(w.warnings, "; ")}, nil
}

// writer is one save in progress.
type writer struct {
	*Source
	data     []byte
	lock     *saveLock
	loaded   snapshot // the target at the start of the save, with the same bytes as Source
	temp     string   // path of the temporary file; its name records the save
	inPlace  bool     // true if the target could not be exchanged and was written in place
	warnings []string // the sentences of Saved.Warning
}

// unchanged reads the target; it returns an error if the target differs from what was loaded.
func (w *writer) unchanged() (snapshot, error) {
	if target, err := resolve(w.Path); err != nil {
		return snapshot{}, err
	} else if target != w.Real {
		return snapshot{}, &FileError{w.Path, "now leads to a different file than when it was read", nil}
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

// checkReplaceable returns an error for a file with several hard links, which a rename would break, and for a
// write-protected file, which a rename would replace despite the protection.
func (w *writer) checkReplaceable() error {
	if !w.Exists {
		return nil
	}
	if n := ownerOf(w.loaded.info).links; n > 1 {
		return &FileError{w.Path, fmt.Sprintf("has %d hard links, which a save would break", n), nil}
	}
	if err := checkWritable(w.Real); err != nil {
		return fileError(w.Path, fmt.Sprintf("is write-protected (mode %04o)", w.Mode), err)
	}
	return nil
}

// writeTemp creates the temporary file under a name that recovery removes. Once the file is durable, writeTemp renames
// it to the name that records the save.
func (w *writer) writeTemp(ctx context.Context) (written snapshot, err error) {
	mode := newMode
	if w.Exists {
		mode = w.Mode
	}
	written.data = w.data
	name := w.Real + saveInfix + rand.Text()
	w.temp = name + partialSuffix
	var f *os.File
	if err = w.step(ctx, atCreate, func() (err error) {
		f, err = os.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&newMode)
		return err
	}); err != nil {
		return snapshot{}, w.notCreated(err)
	}
	if err = w.fill(f, mode); err == nil {
		written.info, err = f.Stat()
	}
	durable := name + "-" + shortHash(written.hash()) + "-" + shortHash(w.Hash) + swapSuffix
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.step(ctx, atReady, func() error { return os.Rename(w.temp, durable) })
	}
	if err != nil {
		return snapshot{}, w.notSaved("write the new text to a file in its folder", err)
	}
	w.temp = durable
	return written, nil
}

// fill writes the bytes, sets the attributes to those of the target and syncs the file. The order ensures that the file
// is never accessible to more users than the target.
func (w *writer) fill(f *os.File, mode fs.FileMode) error {
	if err := w.hooks.do(atWrite, func() error { _, err := f.Write(w.data); return err }); err != nil {
		return err
	}
	if w.Exists {
		owner := ownerOf(w.loaded.info)
		if err := w.hooks.do(atOwner, func() error { return setOwner(f, owner) }); err != nil {
			return fileError(w.Path, fmt.Sprintf("belongs to user %d, group %d, which a save could not preserve", owner.uid, owner.gid), err)
		}
		if err := w.hooks.do(atXattrs, func() error { return writeXattrs(f, w.loaded.xattrs) }); err != nil {
			return fileError(w.Path, "has extended attributes or an access list that a save could not preserve", err)
		}
	}
	return errors.Join(w.hooks.do(atMode, func() error { return f.Chmod(mode) }), w.hooks.do(atSync, f.Sync))
}

// commit replaces the target with the temporary file as a compare-and-swap. If it returns nil, the file was saved, and
// later failures are warnings. It opens all file handles before the exchange, so that it cannot run out of handles
// afterwards.
func (w *writer) commit(ctx context.Context) error {
	var folder *os.File
	err := w.step(ctx, atFolder, func() (err error) {
		folder, err = os.Open(filepath.Dir(w.Real))
		return err
	})
	if err != nil {
		return w.notSaved("open its folder", err)
	}
	defer folder.Close()
	old, leased, err := w.compare(ctx)
	if old != nil {
		defer old.Close()
	}
	if err != nil {
		return w.notSaved("compare it with the version that was loaded", err)
	}
	exchanged, err := w.putInPlace(ctx)
	switch {
	case w.Exists && errors.Is(err, syscall.EBUSY): // a mount point, as in a container
		_ = old.Close()
		return w.writeInPlace(ctx, leased, folder)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		current, readErr := readSnapshot(w.Real)
		changed := w.changedError(current)
		changed.Err, err = readErr, changed
		fallthrough
	case err != nil:
		return w.notSaved("replace it with the new version", err)
	case exchanged:
		if err := w.checkDisplaced(old, leased, folder); err != nil || w.warnings != nil {
			return err
		}
	}
	w.finish(folder)
	return nil
}

// compare checks again that the target is what was loaded and that no other program is writing to it. It returns a
// handle for the target, or nil if there is no target; leased reports whether the handle has a lease.
func (w *writer) compare(ctx context.Context) (old *os.File, leased bool, err error) {
	var current snapshot
	err = w.step(ctx, atCompare, func() (err error) { current, err = w.unchanged(); return err })
	switch {
	case err != nil:
		return nil, false, err
	case !w.Exists:
		return nil, false, nil
	case !current.sameAttributes(w.loaded):
		return nil, false, w.changedError(current)
	}
	if err = w.hooks.do(atOpen, func() (err error) { old, err = openRegular(w.Real); return err }); err != nil {
		return nil, false, err
	}
	leased, busy := setLease(old, false)
	if busy {
		changed := w.changedError(current)
		changed.Busy = true
		return old, false, changed
	}
	return old, leased, nil
}

// putInPlace gives the name of the target to the temporary file. exchanged reports whether the old target now has the
// temporary name.
func (w *writer) putInPlace(ctx context.Context) (exchanged bool, err error) {
	err = w.step(ctx, atExchange, func() error {
		if !w.Exists {
			return os.Link(w.temp, w.Real) // fails if the file has been created in the meantime
		}
		err := errNoExchange
		if !w.hooks.noExchange {
			err = exchange(w.temp, w.Real)
		}
		if errors.Is(err, errNoExchange) {
			return os.Rename(w.temp, w.Real)
		}
		exchanged = err == nil
		return err
	})
	return exchanged, err
}

// finish makes the new name durable and removes the displaced file. If the removal fails, the next Load tries again.
func (w *writer) finish(folder *os.File) {
	kept := ""
	if _, err := os.Lstat(w.temp); !errors.Is(err, fs.ErrNotExist) { // a plain rename leaves no displaced file
		kept = "; a copy with all secrets stays at " + printable(w.temp) + " until the next start"
	}
	if err := w.hooks.do(atExchanged, folder.Sync); err != nil {
		w.warn("was saved, but not yet durably, and may not survive a power cut: its folder could not be synced (%v)%s", err, kept)
		return
	}
	err := w.hooks.do(atRemove, func() error { return os.Remove(w.temp) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.warn("was saved, but its previous version could not be removed (%v)%s", err, kept)
	}
}

// warn adds a sentence about the file, without its subject and full stop, to the warnings of the save.
func (w *writer) warn(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = privatefile.Cause(err)
		}
	}
	w.warnings = append(w.warnings, printable(w.Path)+" "+fmt.Sprintf(format, args...))
}

// step makes one of the save's system calls, unless ctx has ended.
func (w *writer) step(ctx context.Context, at stage, call func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dotenv: save %s: %w", printable(w.Path), err)
	}
	return w.hooks.do(at, call)
}

// notSaved removes the temporary file and wraps err with the step that failed.
func (w *writer) notSaved(what string, err error) error {
	err = w.failed(what, err)
	if rest := os.Remove(w.temp); rest != nil && !errors.Is(rest, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("dotenv: a copy with all secrets stays at %s until the next start: %w", printable(w.temp), privatefile.Cause(rest)))
	}
	return err
}

// failed wraps err with the step that failed, unless err already gives a reason.
func (w *writer) failed(what string, err error) error {
	var file *FileError
	var changed *ChangedError
	if errors.As(err, &file) || errors.As(err, &changed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fileError(w.Path, "was not saved: could not "+what, err)
}

// needsFolder is the reason and the advice for a save that is refused because no file can be created in the folder of
// the target.
const needsFolder = "no file can be created in its folder, which saving requires (make the folder writable; in a container, mount the folder, not just the file)"

// notCreated wraps an error that occurred while a file was created in the folder of the target.
func (w *writer) notCreated(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fileError(w.Path, "was not saved: "+needsFolder, err)
	}
	return w.failed("create a file in its folder", err)
}

// CheckFolder returns an error if no file can be created in the folder of the `.env` file; a save would then be
// refused.
func (s *Source) CheckFolder() error {
	if err := checkFolder(filepath.Dir(s.Real)); err != nil {
		return fileError(s.Path, "cannot be saved: "+needsFolder, err)
	}
	return nil
}

// shortHash returns the first 64 bits of a hash in hexadecimal, for file names.
func shortHash(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:8]) }
