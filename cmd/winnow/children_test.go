package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// Programs that libraries start, such as the clipboard program, inherit the environment of the process. It contains
// no key, whatever the variable is called.
func TestTheProcessDropsItsKeys(t *testing.T) {
	const key = "sk-test-0123456789"
	for name, value := range map[string]string{"WORK": key, "WITHIN": "x:" + key, "ODD_API_KEY": "short", "PLAIN": "here"} {
		t.Setenv(name, value)
	}
	a := newApp(t.Context(), strings.NewReader(""), io.Discard, io.Discard)
	defer a.stop()
	a.redactor.Add(key) // as the endpoints add those of the .env file
	a.dropKeys()
	for name, want := range map[string]string{"WORK": "", "WITHIN": "", "ODD_API_KEY": "", "PLAIN": "here", "PATH": a.env("PATH")} {
		if got := os.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if a.env("WORK") != key {
		t.Error("the program itself has lost its key")
	}
}
