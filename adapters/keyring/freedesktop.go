//go:build unix && !darwin

// Package keyring stores keys in the keyring of the desktop or the system, under the service "winnow" and a name.
//
// Get and Set run a program or wait for the system, which may ask the user for a password; their context limits the
// wait. All functions may be called from any goroutine.
//
// # Caveats
//
// Servers and containers usually have no keyring. Available only guesses; Set reports an error.
package keyring

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

// service is the name of winnow's keys in the keyring.
const service = "winnow"

// The keyring is accessed through its command-line tool, because the Go modules for it call methods by name at run
// time, which prevents the linker from removing unused methods and would make the program 50% larger.
const toolName = "secret-tool"

// errNoReply replaces the error of ctx, which would look like an error of the request that needs the key.
var errNoReply = errors.New("the keyring did not answer in time")

var errNoTool = errors.New("using the keyring requires secret-tool, which is not installed (package libsecret-tools or libsecret)")

// Available reports whether a keyring seems to exist. environ is the environment of the tool.
func Available(environ []string) bool {
	if _, err := exec.LookPath(toolName); err != nil {
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

// Get reads the key with this name; environ is the environment of the tool. Errors contain no key.
func Get(ctx context.Context, name string, environ []string) (string, error) {
	key, err := run(ctx, "", environ, "lookup", "service", service, "username", name)
	switch {
	case errors.Is(err, errNoTool):
		return "", err
	case ctx.Err() != nil:
		return "", errNoReply
	case err != nil || key == "":
		return "", fmt.Errorf("the keyring has no %q; store it with: secret-tool store --label winnow service %s username %s", name, service, name)
	}
	return key, nil
}

// Set stores a key under a name, replacing an existing one.
func Set(ctx context.Context, name, key string, environ []string) error {
	_, err := run(ctx, key, environ, "store", "--label", "winnow "+name, "service", service, "username", name)
	if err != nil && !errors.Is(err, errNoTool) {
		return fmt.Errorf("the keyring did not store the key: %w", err)
	}
	return err
}

// run runs the tool and returns the first line of its output. Errors do not contain the output, because it may
// contain the key.
func run(ctx context.Context, input string, environ []string, args ...string) (string, error) {
	tool, err := exec.LookPath(toolName)
	if err != nil {
		return "", errNoTool
	}
	c := exec.CommandContext(ctx, tool, args...)
	c.Env, c.Stdin, c.WaitDelay = environ, strings.NewReader(input), time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s exited with status %d", toolName, exit.ExitCode())
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return strings.TrimSpace(string(line)), err
}
