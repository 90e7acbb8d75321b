package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestNoKeyIsBoundTwice(t *testing.T) {
	for name, enterSends := range map[string]bool{"default": false, "enter sends": true} {
		if _, err := newKeyMap(enterSends, nil); err != nil {
			t.Errorf("%s: newKeyMap = %v, want no clash", name, err)
		}
	}
}

func TestEveryActionIsReachable(t *testing.T) {
	for _, a := range actionTable(false) {
		if a.do == nil {
			t.Errorf("%s does nothing", a.name)
		}
		if len(a.keys) == 0 && (a.title == "" || a.inside) {
			t.Errorf("%s has no key and is not in the palette", a.name)
		}
		if len(a.keys) > 0 && len(a.modes) == 0 {
			t.Errorf("%s has keys that work nowhere", a.name)
		}
		for _, k := range a.keys {
			if slices.Contains(reservedKeys, k) {
				t.Errorf("%s is bound to %s, which terminals keep", a.name, k)
			}
		}
	}
}

func TestRebinding(t *testing.T) {
	for name, c := range map[string]struct {
		rebind Rebind
		want   string // "" is success
	}{
		"another key":     {Rebind{"view", "search", []string{"ctrl+f"}}, ""},
		"two on one key":  {Rebind{"view", "search", []string{"y"}}, "bound to both"},
		"unknown mode":    {Rebind{"vieww", "search", []string{"y"}}, "no such mode"},
		"unknown action":  {Rebind{"view", "serch", []string{"y"}}, "no such action"},
		"terminal's keys": {Rebind{"view", "search", []string{"ctrl+b"}}, "reserve this key"},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := newKeyMap(false, []Rebind{c.rebind})
			var ke *KeyError
			switch {
			case c.want == "" && err != nil:
				t.Fatalf("newKeyMap = %v, want none", err)
			case c.want == "":
				if a := k.find(modeView, "ctrl+f"); a == nil || a.name != "search" {
					t.Errorf("find(ctrl+f) = %v, want search", a)
				}
				if a := k.find(modeView, "/"); a != nil {
					t.Errorf("find(/) = %s, want the old key to be free", a.name)
				}
			case !errors.As(err, &ke) || !strings.Contains(err.Error(), c.want):
				t.Errorf("newKeyMap = %v, want a *KeyError with %q", err, c.want)
			}
		})
	}
}

func TestClashNamesBoth(t *testing.T) {
	_, err := newKeyMap(false, []Rebind{{"view", "search", []string{"y"}}})
	if err == nil || !strings.Contains(err.Error(), "search") || !strings.Contains(err.Error(), "copy-answer") {
		t.Errorf("newKeyMap = %v, want both actions named", err)
	}
}

func TestSpecifiedKeys(t *testing.T) {
	k, err := newKeyMap(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode mode
		key  string
		want string
	}{
		{modeInput, "ctrl+enter", "send"},
		{modeInput, "ctrl+j", "send"},
		{modeInput, "alt+enter", "send"},
		{modeInput, "enter", "newline"},
		{modeInput, "shift+enter", "newline"},
		{modeView, "O", "jump-to-boundary"},
		{modeView, "o", "jump-to-boundary"},
		{modeView, "j", "next-item"},
		{modeView, "K", "previous-message"},
		{modeView, "G", "last-message"},
		{modeView, "r", "retry"},
		{modeView, "e", "re-ask"},
		{modeView, "d", "delete-pair"},
		{modeView, "y", "copy-answer"},
		{modeView, "Y", "copy-pair"},
		{modeView, "x", "exact-request"},
		{modeView, "*", "star"},
		{modeView, "0", "star-0"},
		{modeView, "3", "star-3"},
		{modeView, "t", "topic"},
		{modeView, "{", "previous-checkpoint"},
		{modeView, "}", "next-checkpoint"},
		{modePane, "i", "add-ignore"},
		{modePane, "w", "add-allow"},
		{modePane, "x", "delete-rule"},
		{modePane, "D", "discard"},
		{modePane, "ctrl+r", "refresh-models"},
		{modeCommand, "enter", "apply-filter"},
		{modeCommand, "ctrl+p", "older-filter"},
		{modeInput, "ctrl+p", "palette"},
		{modeView, ":", "palette-colon"},
		{modePane, "?", "help-question"},
		{modeInput, "ctrl+z", "undo-typing"},
		{modeView, "ctrl+z", "undo"},
		{modeCommand, "ctrl+s", "save"},
		{modeInput, "f2", "hud"},
		{modePane, "f3", "mouse"},
		{modeInput, "ctrl+q", "quit"},
		{modeCommand, "ctrl+c", "cancel"},
		{modeInput, "alt+9", "choose-9"},
	} {
		if a := k.find(c.mode, c.key); a == nil || a.name != c.want {
			t.Errorf("find(%s, %s) = %v, want %s", c.mode, c.key, a, c.want)
		}
	}
}

func TestEnterSendsSwapsTheKeys(t *testing.T) {
	k, err := newKeyMap(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"enter": "send", "ctrl+j": "newline", "ctrl+enter": "newline", "alt+enter": "newline", "shift+enter": "newline"} {
		if a := k.find(modeInput, key); a == nil || a.name != want {
			t.Errorf("find(%s) = %v, want %s", key, a, want)
		}
	}
}
