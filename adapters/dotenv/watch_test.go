//go:build unix

package dotenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWatch changes a file in the ways in which programs do, also behind a link.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	real := put(t, filepath.Join(dir, "real", "env"), "A=1\n", 0o600)
	path := filepath.Join(dir, ".env")
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	changed, err := Watch(ctx, path)
	if err != nil {
		t.Skipf("nothing can be watched here: %v", err)
	}
	other := put(t, filepath.Join(dir, "other"), "A=9\n", 0o600)
	for _, step := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"in place", func() error { return os.WriteFile(real, []byte("A=2\n"), 0o600) }, "A=2\n"},
		{"rename", func() error {
			put(t, real+"~", "A=3\n", 0o600)
			return os.Rename(real+"~", real)
		}, "A=3\n"},
		{"save", func() error {
			_, err := load(t, path).Save(t.Context(), []Edit{Set("A", "4")})
			return err
		}, "A=4\n"},
		{"link", func() error { return errors.Join(os.Symlink(other, path+"~"), os.Rename(path+"~", path)) }, "A=9\n"},
		{"behind the new link", func() error { return os.WriteFile(other, []byte("A=5\n"), 0o600) }, "A=5\n"},
		{"removed", func() error { return os.Remove(path) }, ""},
		{"created", func() error { return os.WriteFile(path, []byte("A=6\n"), 0o600) }, "A=6\n"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		for range changed { // ends with the test's time at worst
			if got := string(load(t, path).File.Bytes()); got == step.want {
				break
			}
		}
	}
	stop()
	for range changed { // closed when the watch ends
	}
}

// TestWatchIgnoresOtherFiles changes another file first: the first signal comes
// when the watched one has changed.
func TestWatchIgnoresOtherFiles(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	changed, err := Watch(t.Context(), path)
	if err != nil {
		t.Skipf("nothing can be watched here: %v", err)
	}
	put(t, filepath.Join(dir, "other"), "A=9\n", 0o600)
	put(t, path, "A=2\n", 0o600)
	<-changed
	if got := string(load(t, path).File.Bytes()); got != "A=2\n" {
		t.Errorf("signalled while the file was %q", got)
	}
}

func TestWatchNeedsAFolder(t *testing.T) {
	if _, err := Watch(t.Context(), filepath.Join(t.TempDir(), "none", ".env")); err == nil {
		t.Error("a file in no folder is watched")
	}
}
