package dotenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"winnow/checkpoint/privatefile"
)

const (
	// leaseRetry is the time between two attempts to get a lease. leaseWait is how long a save waits for programs that
	// only read the file.
	leaseRetry = 2 * time.Millisecond
	leaseWait  = time.Second
)

// writeInPlace saves to a target that cannot be replaced by another file. Before the first byte changes, both versions
// are durable in a file next to the target. If this process is killed, the next Load or save finds that file and
// restores the previous version.
func (w *writer) writeInPlace(ctx context.Context, leases bool, folder *os.File) error {
	if err := os.Remove(w.temp); err != nil { // the file with both versions replaces it
		return w.notSaved("remove its temporary file", err)
	}
	if err := w.keepBoth(ctx, folder); err != nil {
		return err
	}
	f, err := w.openInPlace(ctx, leases)
	if err != nil {
		return w.notSaved("open it for writing", err)
	}
	defer f.Close()
	if err := w.overwrite(f); err != nil {
		return err
	}
	w.inPlace = true
	kept := "; a copy with all secrets stays at " + printable(w.temp) + " until the next start"
	if err := w.hooks.do(atSyncPlace, f.Sync); err != nil {
		w.warn("was saved, but not yet durably, and may not survive a power cut: it could not be synced (%v)%s", err, kept)
		return nil
	}
	if err := w.hooks.do(atRemoveKept, func() error { return os.Remove(w.temp) }); err != nil {
		w.warn("was saved, but its previous version could not be removed (%v)%s", err, kept)
	}
	return nil
}

// keepBoth creates a durable file with the previous and the new version.
func (w *writer) keepBoth(ctx context.Context, folder *os.File) error {
	name := w.Real + saveInfix + rand.Text()
	w.temp = name + partialSuffix
	var f *os.File
	if err := w.step(ctx, atKeep, func() (err error) {
		f, err = os.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privatefile.FileMode)
		return err
	}); err != nil {
		return w.notCreated(err)
	}
	both := binary.BigEndian.AppendUint64(nil, uint64(len(w.loaded.data)))
	both = append(append(both, w.loaded.data...), w.data...)
	err := w.hooks.do(atKeepWrite, func() error { _, err := f.Write(both); return err })
	if err == nil {
		err = f.Sync()
	}
	place := name + "-" + shortHash(snapshot{data: w.data}.hash()) + "-" + shortHash(w.Hash) + placeSuffix
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.step(ctx, atKeepReady, func() error { return os.Rename(w.temp, place) })
	}
	if err != nil {
		return w.notSaved("keep its previous version", err)
	}
	w.temp = place
	if err := w.hooks.do(atKeepSync, folder.Sync); err != nil {
		return w.notSaved("keep its previous version", err)
	}
	return nil
}

// openInPlace opens the target for writing if the target is still what was loaded. If leases is set, no other program
// has the target open at that moment, and programs that open it afterwards have to wait.
func (w *writer) openInPlace(ctx context.Context, leases bool) (f *os.File, err error) {
	if leases {
		_ = w.lock.target.Release() // the lock keeps the file open, which would prevent the lease; the lease excludes more programs
	}
	err = w.step(ctx, atOpenPlace, func() (err error) {
		f, err = openLeased(w.Real, leases)
		return err
	})
	if errors.Is(err, errBusy) {
		changed := w.changedError(w.loaded)
		changed.Busy = true
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	current, err := readOpen(w.Real, f)
	if err == nil && (current.hash() != w.Hash || !current.sameAttributes(w.loaded)) {
		err = w.changedError(current)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// errBusy means that another program has the file open.
var errBusy = errors.New("another program has it open")

// openLeased opens a file for writing in place; if leases is set, it also takes a write lease.
func openLeased(path string, leases bool) (*os.File, error) {
	for end := time.Now().Add(leaseWait); ; time.Sleep(leaseRetry) {
		f, err := os.OpenFile(path, os.O_RDWR|privatefile.NoFollow, 0)
		if err != nil || !leases {
			return f, err
		}
		if _, busy := setLease(f, true); !busy {
			return f, nil
		}
		if err := f.Close(); err != nil || time.Now().After(end) {
			return nil, errors.Join(errBusy, err)
		}
	}
}

// overwrite writes the new bytes and cuts off what remains of the previous version. If there is an error, it writes the
// previous version back.
func (w *writer) overwrite(f *os.File) error {
	err := w.hooks.do(atOverwrite, func() error { _, err := f.WriteAt(w.data, 0); return err })
	if err == nil {
		err = w.hooks.do(atTruncate, func() error { return f.Truncate(int64(len(w.data))) })
	}
	if err == nil {
		return nil
	}
	if back := w.hooks.do(atTakeBack, func() error { return restoreBytes(f, w.loaded.data) }); back != nil {
		return fileError(w.Path, "may be incomplete: writing it failed, and so did writing its previous version back; the next start restores it from "+printable(w.temp), errors.Join(err, back))
	}
	return w.notSaved("write it in place", err)
}

// restoreBytes durably replaces the content of f with data.
func restoreBytes(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(len(data))), f.Sync())
}

// recoverInPlace restores a target that a killed save was writing in place. If another program has changed the target
// since then, the target stays unchanged, and rest is the name of a file that contains the previous version.
func recoverInPlace(target, name string, h hooks) (rest, notice string, err error) {
	before, after, err := readKept(name)
	if err != nil {
		return name, "", err
	}
	current, err := readSnapshot(target)
	if err != nil {
		return name, "", err
	}
	remove := func() error { return h.do(atRemoveKept, func() error { return os.Remove(name) }) }
	switch {
	case !current.exists(), !isMixture(current.data, before, after):
		return keepPrevious(name, before)
	case bytes.Equal(current.data, before), bytes.Equal(current.data, after):
		return name, "", errors.Join(h.do(atSyncPlace, func() error { return privatefile.SyncFile(target) }), remove())
	}
	f, err := openUnwritten(target)
	if err != nil {
		return name, "", err
	}
	defer f.Close()
	if err = h.do(atTakeBack, func() error { return restoreBytes(f, before) }); err != nil {
		return name, "", err
	}
	return name, "A save was interrupted while it wrote " + printable(target) + ": the previous version was restored.", remove()
}

// openUnwritten opens a file for writing in place, unless another program has it open for writing.
func openUnwritten(path string) (*os.File, error) {
	old, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	_, busy := setLease(old, false)
	if err := old.Close(); err != nil || busy {
		return nil, errors.Join(errBusy, err)
	}
	return os.OpenFile(path, os.O_RDWR|privatefile.NoFollow, 0)
}

// readKept reads the two versions of a save in place and checks them against the hashes in the file name.
func readKept(name string) (before, after []byte, err error) {
	both, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	const head = 8 // number of bytes that encode the length of the previous version
	parts := strings.Split(strings.TrimSuffix(filepath.Base(name), placeSuffix), "-")
	if len(both) >= head && len(parts) >= 3 {
		if n := binary.BigEndian.Uint64(both); n <= uint64(len(both)-head) {
			before, after = both[head:head+n], both[head+n:]
			if shortHash(snapshot{data: before}.hash()) == parts[len(parts)-1] && shortHash(snapshot{data: after}.hash()) == parts[len(parts)-2] {
				return before, after, nil
			}
		}
	}
	return nil, nil, errors.New("it is damaged")
}

// isMixture reports whether a file can be the result of an interrupted save in place: each byte is from one of the two
// versions, or zero where the file grew, as after a power cut.
func isMixture(current, before, after []byte) bool {
	for i, c := range current {
		switch {
		case i < len(before) && c == before[i], i < len(after) && c == after[i]:
		case i >= len(before) && i < len(after) && c == 0:
		default:
			return false
		}
	}
	return len(current) >= min(len(before), len(after))
}

// keepPrevious moves the version from before an interrupted save to a file that stays, because another program has
// changed the target since then.
func keepPrevious(name string, before []byte) (rest, notice string, err error) {
	aside := strings.TrimSuffix(name, placeSuffix) + previousSuffix
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|privatefile.NoFollow, privatefile.FileMode)
	if err != nil {
		return name, "", err
	}
	_, err = io.Copy(f, bytes.NewReader(before))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return name, "", err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, "", err
	}
	return aside, "", nil // the caller derives the notice from the name
}
