//go:build !unix || darwin

// Package keyring stores keys in the keyring of the system, under the service "winnow"
// and a name.
//
// Get and Set wait for the system, which may ask the user for a password; their context
// does not end that. All functions are safe from any goroutine.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// service is the name of winnow's keys in the keyring.
const service = "winnow"

// Available reports that there is a keyring.
func Available([]string) bool { return true }

// Get reads the key of this name. Errors contain no key.
func Get(_ context.Context, name string, _ []string) (string, error) {
	key, err := keyring.Get(service, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", fmt.Errorf("the keyring has no %q of %q", name, service)
	case err != nil:
		return "", fmt.Errorf("the keyring cannot be read: %w", err)
	}
	return key, nil
}

// Set stores a key under a name, and replaces the one that is there.
func Set(_ context.Context, name, key string, _ []string) error {
	if err := keyring.Set(service, name, key); err != nil {
		return fmt.Errorf("the keyring did not store the key: %w", err)
	}
	return nil
}
