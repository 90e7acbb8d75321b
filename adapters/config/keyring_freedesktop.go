//go:build unix && !darwin

package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// keyringService is the name of winnow's keys in the keyring.
const keyringService = "winnow"

// The keyring is accessed through its command-line tool, because the Go modules for it call methods by name at run
// time, which prevents the linker from removing unused methods and would make the program 50% larger.
const keyringTool = "secret-tool"

// errNoKeyringReply replaces the error of ctx, which would look like an error of the request that needs the key.
var errNoKeyringReply = errors.New("the keyring did not answer in time")

var errNoKeyringTool = errors.New("using the keyring requires secret-tool, which is not installed (package libsecret-tools or libsecret)")

// HasKeyring reports whether there seems to be a keyring; servers and containers usually have none. This is only a
// guess: StoreInKeyring may still fail. environ is the environment of the tool.
func HasKeyring(environ []string) bool {
	if _, err := exec.LookPath(keyringTool); err != nil {
		return false
	}
	for _, e := range environ {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "DBUS_SESSION_BUS_ADDRESS":
			if value != "" {
				return true
			}
		case "XDG_RUNTIME_DIR":
			if _, err := os.Stat(filepath.Join(value, "bus")); err == nil {
				return true
			}
		}
	}
	return false
}

// readKeyring reads the key with this name; environ is the environment of the tool. Errors contain no key.
func readKeyring(ctx context.Context, name string, environ []string) (string, error) {
	key, err := runKeyringTool(ctx, "", environ, "lookup", "service", keyringService, "username", name)
	switch {
	case errors.Is(err, errNoKeyringTool):
		return "", err
	case ctx.Err() != nil:
		return "", errNoKeyringReply
	case err != nil || key == "":
		return "", fmt.Errorf("the keyring has no key %q; store it with: secret-tool store --label winnow service %s username %s", name, keyringService, name)
	}
	return key, nil
}

// StoreInKeyring stores a key under a name, replacing an existing one. The tool may ask the user for a password; ctx
// limits the wait.
func StoreInKeyring(ctx context.Context, name, key string, environ []string) error {
	_, err := runKeyringTool(ctx, key, environ, "store", "--label", "winnow "+name, "service", keyringService, "username", name)
	if err != nil && !errors.Is(err, errNoKeyringTool) {
		return fmt.Errorf("the keyring did not store the key: %w", err)
	}
	return err
}

// runKeyringTool runs the tool and returns the first line of its output. Errors do not contain the output, because it
// may contain the key.
func runKeyringTool(ctx context.Context, input string, environ []string, args ...string) (string, error) {
	tool, err := exec.LookPath(keyringTool)
	if err != nil {
		return "", errNoKeyringTool
	}
	c := exec.CommandContext(ctx, tool, args...)
	c.Env, c.Stdin, c.WaitDelay = environ, strings.NewReader(input), time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s exited with status %d", keyringTool, exit.ExitCode())
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return strings.TrimSpace(string(line)), err
}
