//go:build unix

package privatefile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

type document struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// stored writes a document and returns its path and bytes.
func stored(t *testing.T, d document) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "doc")
	if err := WriteDocument(path, d); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestWriteThenRead(t *testing.T) {
	path, _ := stored(t, document{"a\nb", 1})
	for n := 2; n < 4; n++ { // also over an older one
		var got document
		if err := ReadDocument(path, &got); err != nil || got != (document{"a\nb", n - 1}) {
			t.Fatalf("%+v, %v", got, err)
		}
		if err := WriteDocument(path, document{"a\nb", n}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != FileMode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := ReadDocument(path+"x", &document{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing document: %v", err)
	}
}

// TestDamageIsNoticed cuts and changes a file at every byte.
func TestDamageIsNoticed(t *testing.T) {
	path, whole := stored(t, document{"name", 12})
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		for _, data := range [][]byte{whole[:i], flipped} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := ReadDocument(path, &document{}); !errors.Is(err, ErrDamaged) {
				t.Fatalf("%q: %v, want ErrDamaged", data, err)
			}
		}
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	path, _ := stored(t, document{})
	dir := filepath.Dir(path)
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Symlink(path, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe, dir} {
		if err := ReadDocument(path, &document{}); err == nil || errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "doc")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteDocument(path, document{}); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("written over a folder: %v", err)
	}
	if err := WriteDocument(path, func() {}); err == nil {
		t.Error("a function was written")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDocumentFolder(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "a")
	for _, step := range []struct {
		change   func() error
		repaired bool
		refusal  string
	}{
		{func() error { return nil }, false, ""}, // made
		{func() error { return nil }, false, ""},
		{func() error { return os.Chmod(dir, 0o755) }, true, ""},
		{func() error { return os.Chmod(dir, 0o770) }, false, "other users can write"},
		{func() error { return errors.Join(os.Chmod(dir, 0o700), os.Chmod(parent, 0o777)) }, false, "anyone can write"},
		{func() error { return os.Chmod(parent, 0o777|fs.ModeSticky) }, false, ""},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		repaired, err := DocumentFolder(dir)
		if repaired != step.repaired || (err == nil) != (step.refusal == "") || err != nil && !strings.Contains(err.Error(), step.refusal) {
			t.Errorf("repaired %v, %v; want %v, %q", repaired, err, step.repaired, step.refusal)
		}
		if info, serr := os.Stat(dir); serr != nil || err == nil && info.Mode().Perm() != FolderMode {
			t.Errorf("mode %v, %v", info.Mode(), serr)
		}
	}
}

// TestLockOrdersWriters increments a number from several goroutines.
func TestLockOrdersWriters(t *testing.T) {
	path, _ := stored(t, document{})
	var all sync.WaitGroup
	const writers, each = 4, 10
	for range writers {
		all.Go(func() {
			for range each {
				unlock, err := LockDocument(context.Background(), path+".lock")
				if err != nil {
					t.Error(err)
					return
				}
				var d document
				err = ReadDocument(path, &d)
				d.N++
				if err = errors.Join(err, WriteDocument(path, d)); err != nil {
					t.Error(err)
				}
				unlock()
			}
		})
	}
	all.Wait()
	var d document
	if err := ReadDocument(path, &d); err != nil || d.N != writers*each {
		t.Errorf("%d, %v; want %d", d.N, err, writers*each)
	}
}
