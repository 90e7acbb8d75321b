package privatefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func acquire(t *testing.T, path string, o LockOptions) *Lock {
	t.Helper()
	l, err := Acquire(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAHeldLockNamesItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	since := time.Date(2026, 11, 22, 14, 3, 0, 0, time.Local)
	l := acquire(t, path, LockOptions{Program: "winnow serve", Since: since})
	_, err := Acquire(t.Context(), path, LockOptions{Name: "writer lock"})
	want := fmt.Sprintf("timed out waiting for the writer lock: winnow serve (process %d) has held it since 2026-11-22 14:03", os.Getpid())
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if h := Holder(path, "writer lock"); h == nil || h.Program != "winnow serve" {
		t.Errorf("Holder = %v", h)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if h := Holder(path, "writer lock"); h != nil {
		t.Errorf("Holder of a free lock = %v", h)
	}
	if h := LastHolder(path, ""); h.Program != "winnow serve" || h.PID != os.Getpid() {
		t.Errorf("LastHolder = %v", h)
	}
	acquire(t, path, LockOptions{})
}

func TestAcquireWaitsForTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := acquire(t, path, LockOptions{})
	got := make(chan error, 1)
	go func() {
		second, err := Acquire(context.Background(), path, LockOptions{Wait: time.Minute})
		got <- errors.Join(err, second.Release())
	}()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	acquire(t, path, LockOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Acquire(ctx, path, LockOptions{Wait: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was cancelled ended with %v", err)
	}
}

func TestSharedLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := acquire(t, path, LockOptions{Shared: true}), acquire(t, path, LockOptions{Shared: true})
	if _, err := Acquire(t.Context(), path, LockOptions{}); err == nil {
		t.Error("a shared lock was locked")
	}
	if err := errors.Join(a.Release(), b.Release()); err != nil {
		t.Fatal(err)
	}
	acquire(t, path, LockOptions{})
}

// The file of a temporary lock is made and removed by every holder, and still never
// two of them hold the lock.
func TestATemporaryLockLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	var all sync.WaitGroup
	holders, n := make(chan struct{}, 1), 0
	for range 4 {
		all.Go(func() {
			for range 50 {
				l, err := Acquire(context.Background(), path, LockOptions{Program: "x", Wait: time.Minute, Temporary: true})
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case holders <- struct{}{}:
				default:
					t.Error("two hold the lock")
				}
				n++
				<-holders
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(dir); n != 200 || len(left) > 0 {
		t.Errorf("%d holders; %v remain, %v", n, left, err)
	}
}

func TestAnExistingFileIsLockedAndNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := Acquire(t.Context(), path, LockOptions{Existing: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("12 KEY=secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	acquire(t, path, LockOptions{Existing: true, Program: "winnow"})
	if _, err := Acquire(t.Context(), path, LockOptions{Existing: true}); err == nil || strings.Contains(err.Error(), "12") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a locked file: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "12 KEY=secret" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestALinkIsNotLocked(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "other"), link); err != nil {
		t.Skip(err)
	}
	if _, err := Acquire(t.Context(), link, LockOptions{}); err == nil {
		t.Error("a link was followed")
	}
	if _, err := os.Lstat(filepath.Join(dir, "other")); err == nil {
		t.Error("the file behind the link was made")
	}
}
