package dotenv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errNoExchange is what exchange and create answer where the system or the
// file system has no such thing.
var errNoExchange = errors.New("two names cannot be exchanged here")

// place puts the finished temporary file where the target is, as a
// compare-and-swap. Whatever comes out that is not what was loaded goes back.
func (w *writer) place(ctx context.Context) error {
	err := w.glance()
	if err == nil {
		err = w.reach(ctx, atExchange)
	}
	if err != nil {
		return errors.Join(err, os.Remove(w.temp))
	}
	if !w.Exists {
		return w.placeNew()
	}
	err = errNoExchange
	if w.seam == nil || !w.seam.noExchange {
		err = exchange(w.temp, w.Real)
	}
	switch {
	case errors.Is(err, errNoExchange):
		return w.placeOver()
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(w.changed(state{}), os.Remove(w.temp))
	case err != nil:
		return errors.Join(w.failed("put it in place", err), os.Remove(w.temp))
	}
	return w.judge()
}

// glance looks once more at the target right before the exchange, so that
// the new bytes are almost never seen when they have to go back.
func (w *writer) glance() error {
	info, err := os.Lstat(w.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !w.Exists:
		return nil
	case err == nil && w.Exists && os.SameFile(info, w.now.info) &&
		info.Size() == w.now.info.Size() && info.ModTime().Equal(w.now.info.ModTime()):
		return nil
	}
	st, err := w.unchanged()
	if err != nil {
		return err
	}
	if !w.dressedLike(st) {
		return w.changed(st)
	}
	w.now.info = st.info // touched, or replaced by the same bytes
	return nil
}

// dressedLike tells whether owner and mode are those the new file got.
func (w *writer) dressedLike(st state) bool {
	return st.owner.same(w.now.owner) && st.info.Mode() == w.now.info.Mode()
}

// judge looks at the file that came out of the exchange. Until the save is
// over, the lease keeps others from opening it for writing.
func (w *writer) judge() error {
	if err := w.seam.reach(atExchanged); err != nil {
		return w.giveUp(w.look(), err)
	}
	out := w.look()
	if out.foreign(w.Hash) || !w.dressedLike(out.state) {
		return w.undo(out)
	}
	if err := syncFolder(filepath.Dir(w.Real)); err != nil {
		return w.giveUp(out, err)
	}
	if err := w.seam.reach(atLeased); err != nil {
		return w.giveUp(out, err)
	}
	if !out.lease.holds() {
		out.busy = true
		return w.undo(out)
	}
	defer out.release()
	if err := os.Remove(w.temp); err != nil {
		return w.failed("remove the old file beside it", err)
	}
	return nil
}

// displaced is the file that an exchange took out of its place.
type displaced struct {
	state
	err   error // it could not be read
	busy  bool  // somebody has it open for writing, or waits to
	lease *lease
}

// look reads what lies under the temporary name.
func (w *writer) look() *displaced {
	f, err := openPlain(w.temp)
	if err != nil {
		return &displaced{err: err}
	}
	d := &displaced{lease: takeLease(f)}
	d.busy = d.lease.refused
	d.state, d.err = readOpen(w.temp, f)
	return d
}

// foreign tells whether it is not, or may not stay, what the hash says.
func (d *displaced) foreign(sum [32]byte) bool {
	return d.err != nil || d.busy || d.hash() != sum
}

func (d *displaced) release() {
	if d.lease != nil {
		d.lease.release()
	}
}

// undo puts back what somebody else changed, and answers the [*ChangedError].
func (w *writer) undo(out *displaced) error {
	changed := w.changed(out.state)
	changed.Busy, changed.Err = out.busy, out.err
	var err error
	changed.Kept, err = w.putBack(out)
	if err != nil {
		return errors.Join(changed, err)
	}
	return changed
}

// giveUp puts the old file back after the system refused a step.
func (w *writer) giveUp(out *displaced, cause error) error {
	aside, err := w.putBack(out)
	cause = w.failed("make it durable", cause)
	if aside != "" {
		changed := w.changed(out.state)
		changed.Kept = aside
		return errors.Join(cause, changed, err)
	}
	return errors.Join(cause, err)
}

// putBack exchanges the two files again. When somebody changed the new bytes
// in the meantime, those are kept beside the file under the name it answers.
func (w *writer) putBack(out *displaced) (aside string, err error) {
	defer out.release()
	folder := filepath.Dir(w.Real)
	err = exchange(w.temp, w.Real)
	if errors.Is(err, fs.ErrNotExist) {
		// The new file is gone already; what came out takes the empty place.
		if err = create(w.temp, w.Real); err == nil {
			return "", syncFolder(folder)
		}
	}
	if err != nil {
		aside, kerr := keepAside(w.Real, w.temp)
		return aside, errors.Join(w.failed("put it back", err), kerr)
	}
	ours := w.look()
	defer ours.release()
	if ours.foreign(w.sum) {
		aside, err = keepAside(w.Real, w.temp)
		return aside, errors.Join(err, syncFolder(folder))
	}
	return "", errors.Join(os.Remove(w.temp), syncFolder(folder))
}

// placeNew creates the target; it must still not be there.
func (w *writer) placeNew() error {
	err := create(w.temp, w.Real)
	if errors.Is(err, fs.ErrExist) {
		st, rerr := readState(w.Real)
		changed := w.changed(st)
		changed.Err = rerr
		return errors.Join(changed, os.Remove(w.temp))
	}
	if err != nil {
		return errors.Join(w.failed("put it in place", err), os.Remove(w.temp))
	}
	if err := syncFolder(filepath.Dir(w.Real)); err != nil {
		return w.failed("make it durable", err)
	}
	return nil
}

// placeOver renames over the target where no exchange is possible, after one
// more comparison. A change between the two is lost.
func (w *writer) placeOver() error {
	if _, err := w.unchanged(); err != nil {
		return errors.Join(err, os.Remove(w.temp))
	}
	if err := os.Rename(w.temp, w.Real); err != nil {
		return errors.Join(w.failed("put it in place", err), os.Remove(w.temp))
	}
	if err := syncFolder(filepath.Dir(w.Real)); err != nil {
		return w.failed("make it durable", err)
	}
	return nil
}
