//go:build !unix || darwin

package config

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// fromKeyring asks the keyring of the system.
func fromKeyring(_ context.Context, name string, _ []string) (string, error) {
	key, err := keyring.Get(keyringService, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", fmt.Errorf("the keyring has no %q of %q", name, keyringService)
	case err != nil:
		return "", fmt.Errorf("the keyring cannot be read: %w", err)
	}
	return key, nil
}
