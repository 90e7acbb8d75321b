package sqlite

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"winnow/assistant"
)

func TestAQueuedMessageOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h", "history.db")
	s := open(t, path, Options{})
	if _, found, err := s.Queued(t.Context(), "x"); found || err != nil {
		t.Fatalf("Queued before = %v, %v", found, err)
	}
	first := assistant.Prompt{Text: "first"}
	second := assistant.Prompt{Text: "second\n", Attachments: []assistant.Attachment{{Name: "a.txt", Type: "text/plain", Size: 3}}, Replaces: 7}
	for _, p := range []assistant.Prompt{first, second} {
		if err := s.SaveQueued(t.Context(), "x", p); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetSessionState(t.Context(), "x", json.RawMessage(`{"tab":"models"}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, path, Options{})
	if got, found, err := s.Queued(t.Context(), "x"); err != nil || !found || !reflect.DeepEqual(got, second) {
		t.Errorf("Queued = %+v, %v, %v; want %+v", got, found, err, second)
	}
	if _, found, err := s.Queued(t.Context(), "y"); found || err != nil {
		t.Errorf("Queued of another session = %v, %v", found, err)
	}
	if err := s.ClearQueued(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Queued(t.Context(), "x"); found || err != nil {
		t.Errorf("Queued after ClearQueued = %v, %v", found, err)
	}
	if got, err := s.SessionState(t.Context(), "x"); err != nil || string(got) != `{"tab":"models"}` {
		t.Errorf("SessionState = %s, %v", got, err)
	}
	if err := s.SetSessionState(t.Context(), "x", json.RawMessage(`{`)); err == nil {
		t.Error("a state that is not JSON was stored")
	}
}
