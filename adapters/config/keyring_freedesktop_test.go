//go:build unix && !darwin

package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const storedKey = "sk-stored-0123456789abcdef"

// withKeyringTool puts a secret-tool into PATH that runs a script; $last is the name of the key, $dir
// a folder.
func withKeyringTool(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nfor last; do :; done\ndir='" + dir + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, keyringTool), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestTheKeyringKeepsKeys(t *testing.T) {
	withKeyringTool(t, `case $1 in store) cat > "$dir/$last" ;; lookup) cat "$dir/$last" ;; esac`)
	for name, key := range map[string]string{"one": storedKey, "two": "another"} {
		if err := StoreInKeyring(t.Context(), name, key, os.Environ()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readKeyring(t.Context(), "one", os.Environ()); got != storedKey || err != nil {
		t.Errorf("readKeyring = %q, %v", got, err)
	}
	if _, err := readKeyring(t.Context(), "three", os.Environ()); err == nil || !strings.Contains(err.Error(), "secret-tool store") {
		t.Errorf("a key that is not there: %v, want how to store it", err)
	}
}

// The key is the first line that the tool prints; it runs in the environment given.
func TestTheKeyringReadsTheFirstLine(t *testing.T) {
	withKeyringTool(t, `printf '%s\n' "$OF_THE_RUN" "$OF_THE_RUN" another`)
	if got, err := readKeyring(t.Context(), "one", append(os.Environ(), "OF_THE_RUN="+storedKey)); got != storedKey || err != nil {
		t.Errorf("readKeyring = %q, %v", got, err)
	}
	if got, err := readKeyring(t.Context(), "one", os.Environ()); got != "" || err == nil {
		t.Errorf("an empty key: readKeyring = %q, %v", got, err)
	}
}

// No error contains the key, whatever the tool prints.
func TestTheKeyringToolFails(t *testing.T) {
	withKeyringTool(t, `cat; echo locked: `+storedKey+` >&2; exit 3`)
	err := StoreInKeyring(t.Context(), "one", storedKey, os.Environ())
	if err == nil || !strings.Contains(err.Error(), "status 3") || strings.Contains(err.Error(), storedKey) {
		t.Errorf("StoreInKeyring = %v", err)
	}
	if got, err := readKeyring(t.Context(), "one", os.Environ()); got != "" || err == nil || strings.Contains(err.Error(), storedKey) {
		t.Errorf("readKeyring = %q, %v", got, err)
	}
}

// A tool that waits for a password ends with the context.
func TestTheKeyringToolWaits(t *testing.T) {
	withKeyringTool(t, `exec sleep 600`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := StoreInKeyring(ctx, "one", storedKey, os.Environ()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("StoreInKeyring = %v", err)
	}
	if _, err := readKeyring(ctx, "one", os.Environ()); !errors.Is(err, errNoKeyringReply) {
		t.Errorf("readKeyring = %v, want that nobody knows whether there is a key", err)
	}
}

func TestNoKeyringTool(t *testing.T) {
	bus := t.TempDir()
	if err := os.WriteFile(filepath.Join(bus, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if HasKeyring([]string{"XDG_RUNTIME_DIR=" + bus}) {
		t.Error("there is a keyring without its tool")
	}
	if err := StoreInKeyring(t.Context(), "one", storedKey, nil); !errors.Is(err, errNoKeyringTool) {
		t.Errorf("StoreInKeyring = %v", err)
	}
	if _, err := readKeyring(t.Context(), "one", nil); !errors.Is(err, errNoKeyringTool) {
		t.Errorf("readKeyring = %v", err)
	}
	withKeyringTool(t, "exit 0")
	for _, c := range []struct {
		environ []string
		want    bool
	}{
		{nil, false},
		{[]string{"DBUS_SESSION_BUS_ADDRESS="}, false},
		{[]string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/x"}, true},
		{[]string{"XDG_RUNTIME_DIR=" + bus}, true},
		{[]string{"XDG_RUNTIME_DIR=/nowhere"}, false},
	} {
		if got := HasKeyring(c.environ); got != c.want {
			t.Errorf("HasKeyring(%q) = %v", c.environ, got)
		}
	}
}
