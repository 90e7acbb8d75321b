package workspace_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/workspace"
)

var errUnread = errors.New("too many files are open")

// unreadable returns a workspace on the history of r, in which one method fails until readable is called.
func unreadable(r *rig, method string) (w *workspace.Workspace, readable func()) {
	fails := true
	store := &historytest.Hooked{Store: r.store, Before: func(_ context.Context, called string) error {
		if fails && called == method {
			return errUnread
		}
		return nil
	}}
	return workspace.New(workspace.Options{Session: r.session, History: store, Folder: "/w"}), func() { fails = false }
}

// A list that could not be read is not empty, so it is not replaced.
func TestAnUnreadListOfModelsIsNotReplaced(t *testing.T) {
	r := newRig(t)
	_, err := r.ToggleFavourite(r.ctx, "test/small")
	r.must(err)
	r.must(r.PickModel(r.ctx, "test/small"))
	w, _ := unreadable(r, "Get")
	if _, err := w.ToggleFavourite(r.ctx, "test/script"); !errors.Is(err, errUnread) {
		t.Errorf("ToggleFavourite = %v, want %v", err, errUnread)
	}
	if err := w.PickModel(r.ctx, "test/script"); !errors.Is(err, errUnread) {
		t.Errorf("PickModel = %v, want %v", err, errUnread)
	}
	for _, all := range [][]string{r.FavouriteModels(r.ctx), r.RecentModels(r.ctx)} {
		if !slices.Equal(all, []string{"test/small"}) {
			t.Errorf("the models are %q", all)
		}
	}
}

// A draft that could not be read at the start is not replaced by what is typed after it; both are found again.
func TestAnUnreadDraftIsNotReplaced(t *testing.T) {
	r := newRig(t)
	before := workspace.New(workspace.Options{Session: r.session, History: r.store, Folder: "/w"})
	r.must(before.SaveDraft(r.ctx, history.Draft{Text: "old", Stash: []string{"older"}}))
	w, readable := unreadable(r, "Draft")
	if _, err := w.Draft(r.ctx); !errors.Is(err, errUnread) {
		t.Fatalf("Draft = %v, want %v", err, errUnread)
	}
	readable()
	r.must(w.SaveDraft(r.ctx, history.Draft{Text: "new"}))

	next := workspace.New(workspace.Options{Session: r.session, History: r.store, Folder: "/w"})
	for _, text := range []string{"old", "new"} {
		d, err := next.Draft(r.ctx)
		r.must(err)
		want(t, "draft", d.Text, text)
		r.must(next.SaveDraft(r.ctx, history.Draft{}))
	}
}

// A session whose model could not be read goes on with the current model, and says so.
func TestAResumedSessionSaysThatItsModelWasNotRead(t *testing.T) {
	r := newRig(t)
	r.must(r.PickModel(r.ctx, "test/small"))
	before := r.session.ID()
	_, err := r.NewSession(r.ctx, true)
	r.must(err)
	w, _ := unreadable(r, "Session")
	if err := w.ResumeSession(r.ctx, before); !errors.Is(err, errUnread) {
		t.Errorf("ResumeSession = %v, want %v", err, errUnread)
	}
}
