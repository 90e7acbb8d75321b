package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"winnow/checkpoint/privatefile"
)

func TestExportFileIsThereWholeOrNotAtAll(t *testing.T) {
	s := newStore(t)
	put(t, s, pair("x", "one", "1"), pair("x", "two", "2"))
	dir := t.TempDir()
	path := filepath.Join(dir, "all.json")
	export := func(force bool, o ExportOptions) error {
		o.Overwrite = force
		return ExportFile(t.Context(), s, path, JSON, o)
	}
	only := func(names ...string) {
		t.Helper()
		found, err := os.ReadDir(dir)
		if err != nil || len(found) != len(names) {
			t.Errorf("the folder holds %v, %v; want %v", found, err, names)
		}
	}

	if err := export(false, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || privatefile.HasModes && info.Mode().Perm() != privatefile.FileMode {
		t.Errorf("the file is %v, %v; want mode %v", info.Mode(), err, privatefile.FileMode)
	}
	if err := export(false, ExportOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v, want an fs.ErrExist", err)
	}
	if err := export(true, ExportOptions{Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) == string(whole) {
		t.Errorf("force left the file as it was, %v", err)
	}
	only("all.json")

	// A link that leads nowhere is somebody's file, too.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), path); err == nil {
		if err := export(false, ExportOptions{}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a dead link: %v, want an fs.ErrExist", err)
		}
		only("all.json")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ExportFile(ctx, s, path, JSON, ExportOptions{}); err == nil {
		t.Error("a cancelled export says nothing")
	}
	only()
}
