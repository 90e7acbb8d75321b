package keymap

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestNoKeyIsBoundTwice(t *testing.T) {
	for name, enterSends := range map[string]bool{"default": false, "enter sends": true} {
		if _, err := New(enterSends, nil); err != nil {
			t.Errorf("%s: New = %v, want no clash", name, err)
		}
	}
}

func TestEveryActionIsReachable(t *testing.T) {
	for _, a := range table(false) {
		if len(a.Keys) == 0 && a.Title == "" {
			t.Errorf("%s has no key and is not in the palette", a.Name)
		}
		if len(a.Keys) > 0 && len(a.Modes) == 0 {
			t.Errorf("%s has keys that work nowhere", a.Name)
		}
		for _, k := range a.Keys {
			if slices.Contains(reservedKeys, k) && !(k == "ctrl+h" && slices.Contains(a.Keys, "backspace")) { // arrives as backspace, and does what that does
				t.Errorf("%s is bound to %s, which terminals keep", a.Name, k)
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
		"terminal's keys": {Rebind{"view", "search", []string{"ctrl+b"}}, "terminals or tmux use this key"},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := New(false, []Rebind{c.rebind})
			var ke *Error
			switch {
			case c.want == "" && err != nil:
				t.Fatalf("New = %v, want none", err)
			case c.want == "":
				if a := k.Find(View, "ctrl+f"); a == nil || a.Name != "search" {
					t.Errorf("find(ctrl+f) = %v, want search", a)
				}
				if a := k.Find(View, "/"); a != nil {
					t.Errorf("find(/) = %s, want the old key to be free", a.Name)
				}
			case !errors.As(err, &ke) || !strings.Contains(err.Error(), c.want):
				t.Errorf("New = %v, want an *Error with %q", err, c.want)
			}
		})
	}
}

func TestClashNamesBoth(t *testing.T) {
	_, err := New(false, []Rebind{{"view", "search", []string{"y"}}})
	if err == nil || !strings.Contains(err.Error(), "search") || !strings.Contains(err.Error(), "copy-answer") {
		t.Errorf("New = %v, want both actions named", err)
	}
}

func TestSpecifiedKeys(t *testing.T) {
	k, err := New(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode Mode
		key  Key
		want Action
	}{
		{Input, "ctrl+enter", "send"},
		{Input, "ctrl+j", "send"},
		{Input, "alt+enter", "send"},
		{Input, "enter", "newline"},
		{Input, "shift+enter", "newline"},
		{View, "O", "jump-to-boundary"},
		{View, "o", "jump-to-boundary"},
		{View, "j", "next-item"},
		{View, "K", "previous-message"},
		{View, "G", "last-message"},
		{View, "r", "retry"},
		{View, "e", "re-ask"},
		{View, "d", "delete-pair"},
		{View, "y", "copy-answer"},
		{View, "Y", "copy-pair"},
		{View, "x", "exact-request"},
		{View, "*", "star"},
		{View, "0", "star-0"},
		{View, "3", "star-3"},
		{View, "t", "topic"},
		{View, "{", "previous-checkpoint"},
		{View, "}", "next-checkpoint"},
		{Pane, "h", "add-ignore"},
		{Pane, "a", "add-allow"},
		{Pane, "i", "input"},
		{Pane, "f", "filter"},
		{Pane, "x", "delete-rule"},
		{Pane, "D", "discard"},
		{Pane, "ctrl+r", "refresh-models"},
		{Command, "enter", "apply-filter"},
		{Command, "ctrl+p", "older-filter"},
		{Input, "ctrl+p", "palette"},
		{View, ":", "palette-colon"},
		{Pane, "?", "help-question"},
		{Input, "ctrl+z", "undo-typing"},
		{View, "ctrl+z", "undo"},
		{Command, "ctrl+s", "save"},
		{Input, "f2", "hud"},
		{Pane, "f3", "mouse"},
		{Input, "ctrl+q", "quit"},
		{Command, "ctrl+c", "cancel"},
		{Input, "alt+9", "choose-9"},
	} {
		if a := k.Find(c.mode, c.key); a == nil || a.Name != c.want {
			t.Errorf("find(%s, %s) = %v, want %s", c.mode, c.key, a, c.want)
		}
	}
}

func TestEnterSendsSwapsTheKeys(t *testing.T) {
	k, err := New(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[Key]Action{"enter": "send", "ctrl+j": "newline", "ctrl+enter": "newline", "alt+enter": "newline", "shift+enter": "newline"} {
		if a := k.Find(Input, key); a == nil || a.Name != want {
			t.Errorf("find(%s) = %v, want %s", key, a, want)
		}
	}
}

func TestUsesSayWhatAKeyDoes(t *testing.T) {
	uses := func(table []Use, name string) string {
		out := ""
		for _, u := range table {
			if slices.Contains(u.Keys, name) {
				out += u.Mode + ":" + u.Action + " "
			}
		}
		return out
	}
	plain, err := Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	swapped, err := Uses(true, []Rebind{{Mode: "view", Action: "fold", Keys: []string{"W"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table []Use
		key   string
		want  string
	}{
		{plain, "ctrl+j", "INPUT:send "},
		{plain, "enter", "INPUT:newline VIEW:enter COMMAND:apply-filter PANE:pane-highlight HUD:hud-show LINE:line-accept TEXT:text-close REQUEST:fold-section QUESTION:answer-marked "},
		{plain, "O", "VIEW:jump-to-boundary "},
		{plain, "ctrl+b", ""},
		{swapped, "ctrl+j", "INPUT:newline "},
		{swapped, "W", "VIEW:fold "},
		{swapped, "space", "PANE:pane-select TEXT:text-page-down REQUEST:fold-section "},
	} {
		if got := uses(c.table, c.key); got != c.want {
			t.Errorf("%s does %q, want %q", c.key, got, c.want)
		}
	}
	var fault *Error
	if _, err := Uses(false, []Rebind{{Mode: "view", Action: "fold", Keys: []string{"j"}}}); !errors.As(err, &fault) {
		t.Errorf("two actions on one key: %v, want an *Error", err)
	}
}

// testMap is the map of the table with bindings of the user.
func testMap(t *testing.T, rebinds ...Rebind) *Map {
	t.Helper()
	k, err := New(false, rebinds)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The texts name the key that arrives, in the mode of the screen or else in another.
func TestTheKeyThatTextsName(t *testing.T) {
	k := testMap(t, Rebind{"view", "save", []string{"W"}}, Rebind{"pane", "discard", nil}, Rebind{"view", "star-0", nil})
	if got := k.Key(Input, "send"); got != "ctrl+j" {
		t.Errorf("where ctrl+enter may not arrive, %s sends", got)
	}
	k.CtrlEnter = true
	for _, c := range []struct {
		mode        Mode
		name        Action
		key, clause string
	}{
		{Input, "send", "ctrl+enter", "ctrl+enter!"},
		{View, "save", "W", "W!"},
		{Input, "save", "ctrl+s", "ctrl+s!"},
		{Input, "fold", k.Key(View, "fold"), k.Key(View, "fold") + " in VIEW!"},
		{Input, "undo", "ctrl+z", "ctrl+z in VIEW!"}, // where it undoes typing
		{Pane, "undo", "ctrl+z", "ctrl+z!"},
		{Input, "text-close", k.Key(Text, "text-close"), k.Key(Text, "text-close") + "!"},
		{Pane, "discard", "", "f1 “" + k.Named("discard").Title + "”!"},
		{View, "star-0", "", ""},
		{View, "nothing", "", ""},
	} {
		if got := k.Key(c.mode, c.name); got != c.key {
			t.Errorf("Key(%s, %s) = %q, want %q", c.mode, c.name, got, c.key)
		}
		if c.name == "nothing" {
			continue
		}
		want := c.clause
		if strings.HasPrefix(want, "f1 ") {
			want = k.Key(c.mode, "palette") + want[2:]
		}
		if got := k.Clause(c.mode, "%s!", c.name); string(got) != want {
			t.Errorf("Clause(%s, %s) = %q, want %q", c.mode, c.name, got, want)
		}
	}
}

// The palette of a chat without rules leaves out what is on rules. A key of several modes is named once.
func TestWhatIsOffered(t *testing.T) {
	k := testMap(t)
	offered := func(plainChat bool) (names []Action) {
		for _, e := range k.Palette(plainChat) {
			names = append(names, e.Action)
			if keys := strings.Fields(e.Extra); len(keys) != len(slices.Compact(slices.Sorted(slices.Values(keys)))) {
				t.Errorf("the palette names a key of %s twice: %s", e.Action, e.Extra)
			} else if len(keys) > 0 && e.Short != keys[0] {
				t.Errorf("where there is no room the palette names %q of the keys %q", e.Short, keys)
			}
		}
		return names
	}
	all, plain := offered(false), offered(true)
	for _, name := range []Action{"save", "pane", "add-ignore", "discard"} {
		if !slices.Contains(all, name) || slices.Contains(plain, name) {
			t.Errorf("%s is missing, or is offered without rules", name)
		}
	}
}

// Help names each key once, a row of digits in one line; on a narrow screen it names the
// first key of each action.
func TestHelpNamesEachKeyOnce(t *testing.T) {
	k := testMap(t, Rebind{"view", "fold", nil}, Rebind{"view", "star-2", []string{"W"}})
	for w, want := range map[int]map[Action]string{
		helpWide: {
			"choose-1": "alt+1 … alt+9      choose a suggestion", "star-0": "0 1 2 3            stars", "send": "ctrl+j ctrl+enter alt+enter  ",
			"star-2": "W                  ", "choose-2": "", "star-1": "", "fold": "",
		},
		helpWide - 1: {"choose-1": "alt+1 … alt+9  choose a suggestion", "send": "ctrl+j     "},
	} {
		lines, times := map[Action]string{}, map[Action]int{}
		for _, e := range k.Help(w) {
			lines[e.Action] += e.Text
			times[e.Action]++
			if e.Text == "" || strings.HasPrefix(e.Text, " ") {
				t.Errorf("in %d cells %s has no key: %q", w, e.Action, e.Text)
			}
		}
		for name, want := range want {
			if got := lines[name]; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("in %d cells the line of %s is %q, want %q", w, name, got, want)
			}
		}
		for _, name := range []Action{"quit", "save", "hud"} {
			if times[name] != 1 {
				t.Errorf("in %d cells %s has %d lines", w, name, times[name])
			}
		}
	}
	rows := 0
	group := ""
	for _, e := range k.HelpOnScreen(View) {
		if e.Group != group {
			group, rows = e.Group, rows+2 // with an empty row
		}
		rows++
		if e.Action == "next-item" && e.Text != "j k        next/previous item" {
			t.Errorf("opposite actions stand as %q", e.Text)
		}
	}
	if room := 3 * 33; rows > room {
		t.Errorf("help takes %d rows; three columns of a screen of 40 lines have %d", rows, room)
	}
	uses, err := Uses(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		if u.Action == "star-0" && u.Line != [2]string{"0 1 2 3", "stars"} || len(u.Keys) == 0 {
			t.Errorf("the line of a use is %+v", u)
		}
	}
}
