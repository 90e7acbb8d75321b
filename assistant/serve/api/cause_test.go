package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"winnow/assistant/serve"
)

// A token file that cannot be read says nothing about a token: its client must not ask for another one.
func TestATokenIsNotUnknownIfTheFileCannotBeRead(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	tokens := serve.Tokens{Path: t.TempDir()} // a folder
	handlers := map[string]http.Handler{"/metrics": Observe(ObserveOptions{Metrics: serve.NewMetrics("test"), Tokens: tokens, Log: log})}
	handlers["/v1/sessions"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &Server{log: log, opts: Options{Tokens: tokens, Address: "127.0.0.1:80"}}
		refuse(w, s.refusal(r))
	})
	for path, h := range handlers {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:80"+path, nil)
		r.Header.Set("Authorization", "Bearer winnow_x")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusInternalServerError {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A request that could not be recorded, because the disk was full, leaves half a line. The next record is not part of
// it, so a repetition of that request is recognised after a restart.
func TestAHalfRecordedRequestDamagesNoOther(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	path, log := filepath.Join(t.TempDir(), "kept"), slog.New(slog.DiscardHandler)
	k, err := openKept(path, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.file.WriteString(`{"user":"an`); err != nil { // as much as fitted on the disk
		t.Fatal(err)
	}
	free := k.file
	k.file = full
	if _, p := k.begin("anna", "refused", "x"); p == nil {
		t.Fatal("a request that was not recorded is carried out")
	}
	k.file = free
	if _, p := k.begin("anna", "carried out", "x"); p != nil {
		t.Fatal(p)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openKept(path, log)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.find("anna", "carried out") == nil || again.find("anna", "refused") != nil {
		t.Errorf("recorded are %v", again.users)
	}
}
