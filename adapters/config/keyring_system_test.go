//go:build !unix || darwin

package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestTheKeyringKeepsKeys(t *testing.T) {
	keyring.MockInit()
	const key = "sk-stored-0123456789abcdef"
	if err := StoreInKeyring(t.Context(), "one", key, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := readKeyring(t.Context(), "one", nil); got != key || err != nil {
		t.Errorf("readKeyring = %q, %v", got, err)
	}
	if _, err := readKeyring(t.Context(), "two", nil); err == nil || !strings.Contains(err.Error(), `no "two"`) {
		t.Errorf("a key that is not there: %v", err)
	}
}

func TestAKeyringThatFails(t *testing.T) {
	locked := errors.New("the keyring is locked")
	keyring.MockInitWithError(locked)
	if err := StoreInKeyring(t.Context(), "one", "x", nil); !errors.Is(err, locked) {
		t.Errorf("StoreInKeyring = %v", err)
	}
	if _, err := readKeyring(t.Context(), "one", nil); !errors.Is(err, locked) {
		t.Errorf("readKeyring = %v", err)
	}
}
