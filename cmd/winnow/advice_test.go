package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"winnow/adapters/endpoints"
	"winnow/assistant/history"
)

// An error of the file system comes with advice.
func TestRefusedFilesComeWithAdvice(t *testing.T) {
	for cause, want := range map[syscall.Errno]string{
		syscall.EROFS:  "--home DIR",
		syscall.EACCES: "owner and mode",
		syscall.ENOSPC: "the disk is full",
		syscall.EMFILE: "too many files are open",
		syscall.EEXIST: "--force",
	} {
		err := fmt.Errorf("history: %w", &fs.PathError{Op: "open", Path: "x", Err: cause})
		if got := nextStep(err); !strings.Contains(got, want) {
			t.Errorf("for %v: %q, want advice that mentions %s", err, got, want)
		}
	}
	unlisted := &endpoints.ListError{Endpoint: &endpoints.Endpoint{Name: "mine"}, Err: errors.New("strange")}
	if got := nextStep(unlisted); got != "name a model with -m mine/NAME" {
		t.Errorf("for an error without advice of its own: %q", got)
	}
	if got := nextStep(&history.FileError{Path: "x", Reason: "anyone can write to this folder"}); !strings.Contains(got, "chmod 700") {
		t.Errorf("for a folder that anyone can write to: %q, want advice that mentions chmod 700", got)
	}
}
