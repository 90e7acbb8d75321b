//go:build unix && !darwin

package config

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// fromKeyring asks the desktop's keyring through its own tool. The Go modules
// that speak to it directly call methods by their names at run time, which
// prevents the linker from removing unused methods: the program would be half
// as large again.
func fromKeyring(ctx context.Context, name string, environ []string) (string, error) {
	tool, err := exec.LookPath("secret-tool")
	if err != nil {
		return "", errors.New("the keyring is read through secret-tool, which is not installed: its package is libsecret-tools or libsecret")
	}
	key, err := output(ctx, []string{tool, "lookup", "service", keyringService, "username", name}, environ)
	if err != nil {
		return "", fmt.Errorf("the keyring has no %q: secret-tool store --label winnow service %s username %s puts it there", name, keyringService, name)
	}
	return key, nil
}
