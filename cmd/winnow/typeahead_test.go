package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/history"
)

// What was typed in runs that ended before their history was open is in the box
// of the next, and nowhere else.
func TestTypedTextOutlivesARunWithoutHistory(t *testing.T) {
	t.Setenv("WINNOW_HOME", t.TempDir())
	for _, text := range []string{"first", "second"} {
		a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
		if err := a.storeTypeahead(history.Draft{Text: text, Stash: []string{"put away " + text}}); err != nil {
			t.Fatal(err)
		}
	}
	a := newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	newRoot(a) // declares the flags, which the settings need
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
	defer store.Close() // the test reads it
	for range 2 {       // a second time there is nothing
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
