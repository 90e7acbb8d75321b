package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// NewSession starts a new session in the same window. Unsaved changes are kept; if there are any, a confirmation is
// needed.
func (w *Workspace) NewSession(ctx context.Context, confirmed bool) (*Confirm, error) {
	switch {
	case w.session.Busy():
		return nil, assistant.ErrBusy
	case !confirmed && w.Unsaved():
		return &Confirm{Kind: ConfirmNewSession}, nil
	}
	w.EndReAsk()
	if w.history == nil {
		return nil, w.session.Renew(ctx)
	}
	before := w.session.ID()
	if err := errors.Join(w.session.Renew(ctx), w.showFirst(ctx)); err != nil {
		return nil, err
	}
	old, found, err := w.history.Session(ctx, before)
	if err != nil || !found {
		return nil, err
	}
	return nil, w.history.Touch(ctx, history.Session{ID: w.session.ID(), Folder: old.Folder, Window: old.Window, Model: w.session.Model()})
}

// Branch starts a session that branches off from this one at a pair; see
// assistant.Session.Branch.
func (w *Workspace) Branch(ctx context.Context, seq int64) error {
	if w.session.Busy() {
		return assistant.ErrBusy
	}
	before := w.session.ID()
	if err := w.session.Branch(ctx, seq); err != nil {
		return err
	}
	w.EndReAsk()
	if w.history == nil {
		return nil
	}
	old, _, err := w.history.Session(ctx, before) // the pair may belong to a session of another window
	if err != nil {
		return err
	}
	return w.history.Touch(ctx, history.Session{ID: w.session.ID(), Folder: old.Folder, Window: old.Window, Model: w.session.Model()})
}

// SetTitle names the session; "" restores the default, its first message. It returns the
// title.
func (w *Workspace) SetTitle(ctx context.Context, title string) (string, error) {
	if w.history == nil {
		return "", ErrNoHistory
	}
	if err := w.history.SetTitle(ctx, w.session.ID(), title); err != nil {
		return "", err
	}
	return w.Title(ctx)
}

// Title returns the title of the session; "" if it has no message yet.
func (w *Workspace) Title(ctx context.Context) (string, error) {
	all, err := w.Sessions(ctx)
	for _, s := range all {
		if s.ID == w.session.ID() {
			return s.Title, nil
		}
	}
	return "", err
}

// LoadView shows the pairs of the session in the view, or the pairs that Options.Visibility selects if there are
// none.
func (w *Workspace) LoadView(ctx context.Context) error {
	if err := w.session.LoadView(ctx); err != nil || len(w.session.Visible()) > 0 {
		return err
	}
	return w.showFirst(ctx)
}

// showFirst shows the pairs that Options.Visibility selects.
func (w *Workspace) showFirst(ctx context.Context) error {
	line, ok := map[string]string{"own": "u", "team": ""}[w.visibility]
	if !ok {
		return nil
	}
	r, err := w.evaluate(ctx, line)
	if err == nil {
		w.session.SetView(r.Refs, line)
	}
	return err
}

// ResumeSession continues another session of the history in the same window, with the model that was last selected in
// that session. Unsaved changes stay as they are. If Session().ID() is id after an error, the session was resumed,
// and only the time of its last use could not be stored, or its model could not be read.
func (w *Workspace) ResumeSession(ctx context.Context, id string) error {
	switch {
	case w.history == nil:
		return ErrNoHistory
	case id == w.session.ID():
		return nil
	case w.session.Busy():
		return assistant.ErrBusy
	}
	w.EndReAsk()
	if err := w.session.Resume(ctx, id); err != nil {
		return err
	}
	err := w.history.Touch(ctx, history.Session{ID: id})
	old, found, readErr := w.history.Session(ctx, id)
	if found && old.Model != "" {
		_ = w.session.SetModel(old.Model) // if its provider no longer exists, the current model is kept
	}
	return errors.Join(err, readErr)
}

// About describes the session: its Title is "" unless the user has named it, and its Folder is "" if the session
// belongs to the folder of this workspace, or if its folder is unknown.
func (w *Workspace) About(ctx context.Context) (history.Session, error) {
	if w.history == nil {
		return history.Session{}, nil
	}
	v, _, err := w.history.Session(ctx, w.session.ID())
	if v.Title = string(safetext.Clean(v.Title)); !v.Named {
		v.Title = ""
	}
	if v.Folder = string(safetext.VisibleOnce(v.Folder)); w.folder == "" || v.Folder == string(safetext.VisibleOnce(w.folder)) {
		v.Folder = ""
	}
	return v, err
}

// Sessions lists the sessions that have pairs, most recently used first. Their texts are safe to display.
func (w *Workspace) Sessions(ctx context.Context) ([]history.Session, error) {
	if w.history == nil {
		return nil, ErrNoHistory
	}
	all, err := w.history.Sessions(ctx)
	for i := range all {
		s := &all[i]
		s.Title, s.Model, s.Window, s.Folder = string(safetext.Clean(s.Title)), string(safetext.VisibleOnce(s.Model)), string(safetext.VisibleOnce(s.Window)), string(safetext.VisibleOnce(s.Folder))
	}
	return slices.DeleteFunc(all, func(s history.Session) bool { return s.Pairs == 0 }), err
}

// RecentSessions lists the n most recently used sessions of this folder that have pairs, except the open one.
func (w *Workspace) RecentSessions(ctx context.Context, n int) ([]history.Session, error) {
	all, err := w.Sessions(ctx)
	open := w.session.ID()
	all = slices.DeleteFunc(all, func(s history.Session) bool {
		return s.Folder != string(safetext.VisibleOnce(w.folder)) || s.ID == open
	})
	return all[:min(len(all), n)], err
}

// Keys of the history under which the lists of models are stored.
const (
	recentKey     = "recent models"
	favouritesKey = "favourite models"
)

// maxRecent is the maximum length of the list of recent models.
const maxRecent = 5

// refreshTimeout limits the duration of RefreshModels.
const refreshTimeout = 20 * time.Second

// PickModel selects the model for the next message and adds it to the recent models.
func (w *Workspace) PickModel(ctx context.Context, id string) error {
	if err := w.session.SetModel(id); err != nil {
		return err
	}
	if w.history != nil { // so that the session continues with this model when it is resumed
		if err := w.history.Touch(ctx, history.Session{ID: w.session.ID(), Folder: w.folder, Model: id}); err != nil {
			return err
		}
	}
	if w.modelPicked != nil {
		if err := w.modelPicked(ctx, id); err != nil {
			return err
		}
	}
	before, err := w.loadModels(ctx, recentKey)
	if err != nil {
		return err
	}
	recent := append([]string{id}, slices.DeleteFunc(before, func(have string) bool { return have == id })...)
	return w.storeModels(ctx, recentKey, recent[:min(len(recent), maxRecent)])
}

// RecentModels returns the recently selected models, newest first; none if they cannot be read.
func (w *Workspace) RecentModels(ctx context.Context) []string {
	all, _ := w.loadModels(ctx, recentKey)
	return all
}

// FavouriteModels returns the favourite models, in the order in which they were added; none if they cannot be read.
func (w *Workspace) FavouriteModels(ctx context.Context) []string {
	all, _ := w.loadModels(ctx, favouritesKey)
	return all
}

// ToggleFavourite adds a model to the favourites or removes it, and returns all favourites.
func (w *Workspace) ToggleFavourite(ctx context.Context, id string) ([]string, error) {
	all, err := w.loadModels(ctx, favouritesKey)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(all, id); i >= 0 {
		all = slices.Delete(all, i, i+1)
	} else {
		all = append(all, id)
	}
	return all, w.storeModels(ctx, favouritesKey, all)
}

// RefreshModels requests the models of all endpoints and returns the errors by provider.
func (w *Workspace) RefreshModels(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	failed := w.session.Registry().Refresh(ctx)
	w.session.ModelsChanged()
	return failed
}

// loadModels reads a list of models.
func (w *Workspace) loadModels(ctx context.Context, key string) ([]string, error) {
	if w.history == nil {
		return nil, nil
	}
	text, err := w.history.Get(ctx, key)
	return strings.Fields(text), err
}

func (w *Workspace) storeModels(ctx context.Context, key string, ids []string) error {
	if w.history == nil {
		return nil
	}
	return w.history.Set(ctx, key, strings.Join(ids, " "))
}

// Set changes a setting of the session, effective from the next message, and stores it. Keys and values are the same
// as in the configuration. A key that does not belong to the session, such as a setting of the screen, is only
// stored.
func (w *Workspace) Set(key, value string) error {
	set := w.session.Settings()
	number := func(into *int) error {
		n, err := strconv.Atoi(value)
		*into = n
		return err
	}
	var err error
	switch key {
	case "confirm":
		policy := assistant.ConfirmPolicy(value)
		if policy != assistant.ConfirmSave && policy != assistant.ConfirmAlways && policy != assistant.ConfirmNever {
			return fmt.Errorf("%w %s: %q", ErrSettingValue, key, value)
		}
		set.Confirm = policy
	case "max_iterations":
		err = number(&set.Iterations)
	case "user_request_allowance":
		err = number(&set.Budget.UserRequestAllowance)
	case "max_trim_attempts":
		err = number(&set.Budget.MaxTrimAttempts)
	case "context_tokens":
		err = number(&set.ContextTokens)
	}
	if err != nil {
		return fmt.Errorf("%w %s: %q is not a number", ErrSettingValue, key, value)
	}
	w.session.SetSettings(set)
	if w.storeSetting == nil {
		return nil
	}
	return w.storeSetting(key, value)
}
