//go:build !unix || darwin

package config

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// keyringService is the name of winnow's keys in the keyring.
const keyringService = "winnow"

// HasKeyring returns true, because this system always has a keyring.
func HasKeyring([]string) bool { return true }

// readKeyring reads the key with this name. Errors contain no key.
func readKeyring(_ context.Context, name string, _ []string) (string, error) {
	key, err := keyring.Get(keyringService, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", fmt.Errorf("the keyring has no key %q for the service %q", name, keyringService)
	case err != nil:
		return "", fmt.Errorf("the keyring cannot be read: %w", err)
	}
	return key, nil
}

// StoreInKeyring stores a key under a name, replacing an existing one. The system may ask the user for a password;
// cancelling the context has no effect.
func StoreInKeyring(_ context.Context, name, key string, _ []string) error {
	if err := keyring.Set(keyringService, name, key); err != nil {
		return fmt.Errorf("the keyring did not store the key: %w", err)
	}
	return nil
}
