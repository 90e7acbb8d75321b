//go:build unix

package models

import (
	"os"
	"syscall"
	"testing"
)

// A pipe in the place of a file would block the program for ever.
func TestPipeIsNotOpened(t *testing.T) {
	r := withAcme(t)
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(disk(r.dir).path("acme"), 0o600); err != nil {
		t.Skip(err)
	}
	if list, ok := r.lists().Cached("acme"); ok || list.Err == "" {
		t.Errorf("%+v", list)
	}
}
