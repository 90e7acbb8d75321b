package modelfilter

import (
	"context"
	"errors"

	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// ErrUnsaved is returned by Restore if there are staged rules.
var ErrUnsaved = errors.New("there are unsaved rules: save or discard them first")

// Versions lists the stored versions of the file, one per save, newest first.
func (w *Window) Versions(ctx context.Context) ([]dotenv.Version, error) {
	return w.versions.Log(ctx, w.loaded())
}

// VersionDiff lists the lines that a version changed, with secrets masked.
func (w *Window) VersionDiff(ctx context.Context, id string) ([]assistant.FileLine, error) {
	before, after, err := w.versions.Files(ctx, w.loaded(), id)
	return dotenv.Diff(before, after), err
}

// VersionChanges describes how a version changed the rules: "hid *mini* on openai". It
// returns nothing for the original version.
func (w *Window) VersionChanges(ctx context.Context, id string) ([]safetext.Text, error) {
	before, after, err := w.versions.Files(ctx, w.loaded(), id)
	if err != nil {
		return nil, err
	}
	out := []safetext.Text{}
	for _, c := range fileChanges(before, after) {
		out = append(out, c.Line())
	}
	return out, nil
}

// Restore sets the file's rules to those of a version. All other lines are unchanged. The
// error is ErrLocked, ErrUnsaved, dotenv.ErrNoVersions or an error of the save.
func (w *Window) Restore(ctx context.Context, id string) (assistant.Saved, error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	err := w.asUser(func() error {
		if w.dirty() {
			return ErrUnsaved
		}
		return nil
	})
	if err != nil {
		return assistant.Saved{}, err
	}
	source := w.loaded()
	result, err := w.versions.Restore(ctx, source, id, w.savedBy(dotenv.User, nil))
	var changed *dotenv.ChangedError
	switch {
	case errors.As(err, &changed):
		return assistant.Saved{}, conflictOf(changed)
	case err != nil:
		return assistant.Saved{}, err
	}
	saved := w.adoptSaved(result, dropStaged, dotenv.User)
	w.logSaved(saved, dotenv.User)
	saved.Message = safetext.Sprintf("Restored the rules in %s to version %s. %s", w.fileName(), id, w.takeEffect(&saved, 0))
	return saved, nil
}

// loaded returns the file as last read.
func (w *Window) loaded() *dotenv.Source {
	return withLock(w, func() *dotenv.Source { return w.source })
}
