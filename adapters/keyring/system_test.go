//go:build !unix || darwin

package keyring

import (
	"errors"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestSetThenGet(t *testing.T) {
	keyring.MockInit()
	const key = "sk-stored-0123456789abcdef"
	if err := Set(t.Context(), "one", key, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Get(t.Context(), "one", nil); got != key || err != nil {
		t.Errorf("Get = %q, %v", got, err)
	}
	if _, err := Get(t.Context(), "two", nil); err == nil || !strings.Contains(err.Error(), `no "two"`) {
		t.Errorf("a key that is not there: %v", err)
	}
}

func TestAKeyringThatFails(t *testing.T) {
	locked := errors.New("the keyring is locked")
	keyring.MockInitWithError(locked)
	if err := Set(t.Context(), "one", "x", nil); !errors.Is(err, locked) {
		t.Errorf("Set = %v", err)
	}
	if _, err := Get(t.Context(), "one", nil); !errors.Is(err, locked) {
		t.Errorf("Get = %v", err)
	}
}
