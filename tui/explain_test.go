package tui

import (
	"errors"
	"testing"
)

func TestKeysTellsWhatAKeyDoes(t *testing.T) {
	uses := func(k func(key string) []KeyUse, name string) string {
		out := ""
		for _, u := range k(name) {
			out += u.Mode + ":" + u.Action + " "
		}
		return out
	}
	plain, err := Keys(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	swapped, err := Keys([]Rebind{{Mode: "view", Action: "fold", Keys: []string{"F"}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table func(key string) []KeyUse
		key   string
		want  string
	}{
		{plain, "ctrl+j", "INPUT:send "},
		{plain, "enter", "INPUT:newline VIEW:enter COMMAND:apply-filter PANE:pane-highlight "},
		{plain, "O", "VIEW:jump-to-boundary "},
		{plain, "ctrl+b", ""},
		{swapped, "ctrl+j", "INPUT:newline "},
		{swapped, "F", "VIEW:fold "},
		{swapped, "space", "PANE:pane-select "},
	} {
		if got := uses(c.table, c.key); got != c.want {
			t.Errorf("%s does %q, want %q", c.key, got, c.want)
		}
	}
	var fault *KeyError
	if _, err := Keys([]Rebind{{Mode: "view", Action: "fold", Keys: []string{"j"}}}, false); !errors.As(err, &fault) {
		t.Errorf("two actions on one key: %v, want a *KeyError", err)
	}
}
