package modelfilter

import (
	"context"
	"errors"
	"strings"

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
	return w.versions.Diff(ctx, w.loaded(), id)
}

// visibleTwice undoes the second of two calls of safetext.Visible.
var visibleTwice = strings.NewReplacer("‹U+2039›", "‹", "‹U+203A›", "›")

// VersionChanges describes how a version changed the rules: "hid *mini* on openai". It
// returns nothing for the original version.
func (w *Window) VersionChanges(ctx context.Context, id string) ([]string, error) {
	lines, err := w.VersionDiff(ctx, id)
	if err != nil {
		return nil, err
	}
	sides := map[string]*strings.Builder{"-": {}, "+": {}}
	for _, l := range lines {
		sides[l.Kind].WriteString(l.Text + "\n")
	}
	out := []string{}
	for _, c := range fileChanges(dotenv.Parse([]byte(sides["-"].String())), dotenv.Parse([]byte(sides["+"].String()))) {
		out = append(out, visibleTwice.Replace(c.Line()))
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
