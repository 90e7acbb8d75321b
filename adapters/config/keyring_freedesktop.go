//go:build unix && !darwin

package config

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// fromKeyring reads the desktop's keyring through its own tool. The Go modules for
// it call methods by name at run time, which prevents the linker from removing
// unused methods: the program would be 50% larger.
func fromKeyring(ctx context.Context, name string, environ []string) (string, error) {
	tool, err := exec.LookPath("secret-tool")
	if err != nil {
		return "", errors.New("the keyring is read through secret-tool, which is not installed: its package is libsecret-tools or libsecret")
	}
	key, err := firstLine(ctx, []string{tool, "lookup", "service", keyringService, "username", name}, environ)
	if err != nil {
		return "", fmt.Errorf("the keyring has no %q; store it with: secret-tool store --label winnow service %s username %s", name, keyringService, name)
	}
	return key, nil
}
