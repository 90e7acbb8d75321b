package modelfilter

import (
	"context"
	"errors"
	"fmt"

	"winnow/adapters/dotenv"
)

// ErrNoVersions is returned where earlier versions are wanted and none are kept.
var ErrNoVersions = errors.New("earlier versions of the rules are not kept")

// ErrUnsaved is returned by Restore while rules are staged.
var ErrUnsaved = errors.New("there are unsaved rules: save or discard them first")

// Versions lists the last saves of the file, newest first.
func (w *Window) Versions(ctx context.Context) ([]dotenv.Version, error) {
	if w.versions == nil {
		return nil, ErrNoVersions
	}
	return w.versions.Log(ctx, w.loaded())
}

// VersionDiff lists the lines that a version changed, secrets masked.
func (w *Window) VersionDiff(ctx context.Context, id string) ([]dotenv.DiffLine, error) {
	if w.versions == nil {
		return nil, ErrNoVersions
	}
	return w.versions.Diff(ctx, w.loaded(), id)
}

// RestoreDiff lists the lines that Restore would change, secrets masked.
func (w *Window) RestoreDiff(ctx context.Context, id string, side dotenv.Side) ([]dotenv.DiffLine, error) {
	if w.versions == nil {
		return nil, ErrNoVersions
	}
	return w.versions.RestoreDiff(ctx, w.loaded(), id, side)
}

// Restore gives the file the rules of a version, as the version's save left
// them (dotenv.After) or found them (dotenv.Before). All other lines stay. The error is ErrLocked, ErrUnsaved, ErrNoVersions or one of a save.
func (w *Window) Restore(ctx context.Context, id string, side dotenv.Side) (Saved, error) {
	if w.versions == nil {
		return Saved{}, ErrNoVersions
	}
	w.saving.Lock()
	defer w.saving.Unlock()
	err := w.asUser(func() error {
		if w.dirty() {
			return ErrUnsaved
		}
		return nil
	})
	if err != nil {
		return Saved{}, err
	}
	source := w.loaded()
	saved, warning := w.versions.Restore(ctx, source, id, side, dotenv.Author{Who: dotenv.User, Session: w.opts.Session()})
	if saved.Source == nil || warning != nil && !saved.Written {
		return Saved{}, warning
	}
	out := Saved{Path: source.Path, Written: saved.Written, Changes: saved.Changes}
	out.Message = fmt.Sprintf("Version %s of %s is back. %s", id, w.fileName(), restartHint)
	if warning != nil {
		out.Message += " Note: " + warning.Error() + "."
	}
	w.takeSaved(saved.Source, dropStaged, dotenv.User)
	return out, nil
}

// loaded is the file as it was read last.
func (w *Window) loaded() *dotenv.Source {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.source
}
