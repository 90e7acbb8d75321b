//go:build unix && !darwin

package keyring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const key = "sk-stored-0123456789abcdef"

// tool puts a secret-tool into PATH that runs a script; $last is the name of the key, $dir
// a folder.
func tool(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nfor last; do :; done\ndir='" + dir + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, toolName), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestSetThenGet(t *testing.T) {
	tool(t, `case $1 in store) cat > "$dir/$last" ;; lookup) cat "$dir/$last" ;; esac`)
	for name, key := range map[string]string{"one": key, "two": "another"} {
		if err := Set(t.Context(), name, key, os.Environ()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Get(t.Context(), "one", os.Environ()); got != key || err != nil {
		t.Errorf("Get = %q, %v", got, err)
	}
	if _, err := Get(t.Context(), "three", os.Environ()); err == nil || !strings.Contains(err.Error(), "secret-tool store") {
		t.Errorf("a key that is not there: %v, want how to store it", err)
	}
}

// The key is the first line that the tool prints; it runs in the environment given.
func TestTheKeyIsTheFirstLine(t *testing.T) {
	tool(t, `printf '%s\n' "$OF_THE_RUN" "$OF_THE_RUN" another`)
	if got, err := Get(t.Context(), "one", append(os.Environ(), "OF_THE_RUN="+key)); got != key || err != nil {
		t.Errorf("Get = %q, %v", got, err)
	}
	if got, err := Get(t.Context(), "one", os.Environ()); got != "" || err == nil {
		t.Errorf("an empty key: Get = %q, %v", got, err)
	}
}

// No error contains the key, whatever the tool prints.
func TestTheToolFails(t *testing.T) {
	tool(t, `cat; echo locked: `+key+` >&2; exit 3`)
	err := Set(t.Context(), "one", key, os.Environ())
	if err == nil || !strings.Contains(err.Error(), "status 3") || strings.Contains(err.Error(), key) {
		t.Errorf("Set = %v", err)
	}
	if got, err := Get(t.Context(), "one", os.Environ()); got != "" || err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("Get = %q, %v", got, err)
	}
}

// A tool that waits for a password ends with the context.
func TestTheToolWaits(t *testing.T) {
	tool(t, `exec sleep 600`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Set(ctx, "one", key, os.Environ()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Set = %v", err)
	}
	if _, err := Get(ctx, "one", os.Environ()); !errors.Is(err, errNoReply) {
		t.Errorf("Get = %v, want that nobody knows whether there is a key", err)
	}
}

func TestNoTool(t *testing.T) {
	bus := t.TempDir()
	if err := os.WriteFile(filepath.Join(bus, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if Available([]string{"XDG_RUNTIME_DIR=" + bus}) {
		t.Error("there is a keyring without its tool")
	}
	if err := Set(t.Context(), "one", key, nil); !errors.Is(err, errNoTool) {
		t.Errorf("Set = %v", err)
	}
	if _, err := Get(t.Context(), "one", nil); !errors.Is(err, errNoTool) {
		t.Errorf("Get = %v", err)
	}
	tool(t, "exit 0")
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
		if got := Available(c.environ); got != c.want {
			t.Errorf("Available(%q) = %v", c.environ, got)
		}
	}
}
