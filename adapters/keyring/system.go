//go:build !unix || darwin

// Package keyring stores keys in the keyring of the system, under the service "winnow" and a name.
//
// Get and Set wait for the system, which may ask the user for a password; cancelling their context has no effect. All
// functions may be called from any goroutine.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// service is the name of winnow's keys in the keyring.
const service = "winnow"

// Available returns true, because this system always has a keyring.
func Available([]string) bool { return true }

// Get reads the key with this name. Errors contain no key.
func Get(_ context.Context, name string, _ []string) (string, error) {
	key, err := keyring.Get(service, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", fmt.Errorf("the keyring has no entry %q for %q", name, service)
	case err != nil:
		return "", fmt.Errorf("the keyring cannot be read: %w", err)
	}
	return key, nil
}

// Set stores a key under a name, replacing an existing one.
func Set(_ context.Context, name, key string, _ []string) error {
	if err := keyring.Set(service, name, key); err != nil {
		return fmt.Errorf("the keyring did not store the key: %w", err)
	}
	return nil
}
