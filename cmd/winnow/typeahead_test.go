package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/workspace"
	"winnow/checkpoint/privatefile"
)

// Text typed in runs that ended before their history was open appears in the box of the next run, and only there.
func TestTypedTextOutlivesARunWithoutHistory(t *testing.T) {
	t.Setenv("WINNOW_HOME", t.TempDir())
	for _, text := range []string{"first", "second"} {
		a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		if err := a.storeTypeahead(history.Draft{Text: text, Stash: []string{"put away " + text}}); err != nil {
			t.Fatal(err)
		}
	}
	a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	newRoot(a) // declares the flags, which config reads
	h, err := a.folders()
	if err != nil {
		t.Fatal(err)
	}
	path := h.Typeahead()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a private file", info, err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"Text":"cut by a cra`); err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	store, err := a.openHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() // close only after the test has read it
	for range 2 {       // the second time there is nothing to restore
		if err := a.restoreTypeahead(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	d, err := store.Draft(t.Context(), "input:"+a.folder())
	if want := []string{"put away first", "first", "put away second"}; err != nil || d.Text != "second" || !slices.Equal(d.Stash, want) {
		t.Errorf("the draft is %q with %q, want second with %q; %v", d.Text, d.Stash, want, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
}

// A symbolic link in place of the file is not followed, neither for reading nor for writing.
func TestTypedTextFollowsNoLink(t *testing.T) {
	if privatefile.NoFollow == 0 {
		t.Skip("this system follows links")
	}
	t.Setenv("WINNOW_HOME", t.TempDir())
	a := testApp(t)
	newRoot(a)
	h, err := a.folders()
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "theirs")
	const theirs = `{"Text":"theirs"}` + "\n"
	if err := errors.Join(os.MkdirAll(h.StateDir, 0o700), os.WriteFile(target, []byte(theirs), 0o600), os.Symlink(target, h.Typeahead())); err != nil {
		t.Fatal(err)
	}
	if err := a.storeTypeahead(history.Draft{Text: "mine"}); err == nil {
		t.Error("typed text is written through a link")
	}
	store, err := a.openHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.restoreTypeahead(t.Context(), store); err == nil {
		t.Error("a link is read")
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != theirs {
		t.Errorf("the target holds %q, %v", text, err)
	}
}

// A draft that the history does not take is kept for the next start, and the user is told.
func TestADraftThatTheHistoryDoesNotTakeIsKept(t *testing.T) {
	t.Setenv("WINNOW_HOME", t.TempDir())
	a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	newRoot(a) // declares the flags, which config reads
	store, err := a.openHistory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	hanging := &historytest.Hanging{}
	a.store = &historytest.Hooked{Store: store, Before: hanging.Before}
	a.background = newBackgroundOpen(t.Context())
	hanging.Hang()
	err = a.leave(t.Context(), history.Draft{Text: "typed"}, errors.New("the history did not answer within 1s"))
	hanging.Release()
	if err == nil || !strings.Contains(err.Error(), "the next start restores it: the history did not answer") {
		t.Errorf("the user is told %v", err)
	}
	if err := a.restoreTypeahead(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	d, err := workspace.New(workspace.Options{History: store, Folder: a.folder()}).Draft(t.Context())
	if err != nil || d.Text != "typed" {
		t.Errorf("the next start has the draft %q, %v", d.Text, err)
	}
}
