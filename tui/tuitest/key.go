package tuitest

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
)

// Key is the name of a key in the program's key table: "ctrl+l", "shift+tab", "f1", "O".
// Type types a string as text and a Key as one key.
type Key string

// Keys that tests use often.
const (
	Send      Key = "ctrl+j" // works in every terminal
	Enter     Key = "enter"
	Esc       Key = "esc"
	Tab       Key = "tab"
	ShiftTab  Key = "shift+tab"
	Up        Key = "up"
	Down      Key = "down"
	Left      Key = "left"
	Right     Key = "right"
	Home      Key = "home"
	End       Key = "end"
	PgUp      Key = "pgup"
	PgDown    Key = "pgdown"
	Space     Key = "space"
	Backspace Key = "backspace"
	Delete    Key = "delete"
	CtrlC     Key = "ctrl+c"
	CtrlP     Key = "ctrl+p"
	CtrlQ     Key = "ctrl+q"
	CtrlS     Key = "ctrl+s"
	CtrlZ     Key = "ctrl+z"
	F1        Key = "f1"
	F2        Key = "f2"
	F3        Key = "f3"
)

// Alt returns the alt key with a digit from 0 to 9.
func Alt(digit int) Key { return Key(fmt.Sprintf("alt+%d", digit)) }

// keyCodes are the codes of the keys that are not characters, by name.
var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"insert": tea.KeyInsert, "delete": tea.KeyDelete, "space": tea.KeySpace,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// modifiers are the prefixes of key names.
var modifiers = map[string]tea.KeyMod{
	"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift, "meta": tea.ModMeta, "super": tea.ModSuper,
}

// Press returns the message for a key, for a test that calls Update itself. It panics if
// the key does not exist.
func Press(k Key) tea.KeyPressMsg {
	msg, err := k.press()
	if err != nil {
		panic(err)
	}
	return msg
}

// press returns the message that Bubble Tea sends for the key.
func (k Key) press() (tea.KeyPressMsg, error) {
	name, mod := string(k), tea.KeyMod(0)
	for {
		before, after, ok := strings.Cut(name, "+")
		m, known := modifiers[before]
		if !ok || !known || after == "" {
			break
		}
		name, mod = after, mod|m
	}
	if code, ok := keyCodes[name]; ok {
		msg := tea.KeyPressMsg{Code: code, Mod: mod}
		if code == tea.KeySpace && mod == 0 {
			msg.Text = " "
		}
		return msg, nil
	}
	r := []rune(name)
	if len(r) != 1 {
		return tea.KeyPressMsg{}, fmt.Errorf("tuitest: no key is named %q", string(k))
	}
	if mod != 0 {
		return tea.KeyPressMsg{Code: r[0], Mod: mod}, nil
	}
	return runePress(r[0]), nil
}

// runePress returns the message for a typed character. A terminal reports a capital letter
// as the lower-case one with shift.
func runePress(r rune) tea.KeyPressMsg {
	switch r {
	case '\n', '\r':
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case '\t':
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case ' ':
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if low := unicode.ToLower(r); low != r {
		return tea.KeyPressMsg{Code: low, ShiftedCode: r, Text: string(r), Mod: tea.ModShift}
	}
	return tea.KeyPressMsg{Code: r, Text: string(r)}
}

// PaneKey returns the default key of an action in a pane.
func PaneKey(action keymap.Action) string {
	return (*keymap.Map)(nil).Key(keymap.Pane, action)
}

// KeyGap is how far Type advances a Clock before each key: as little as a fast typist
// needs, and more than the gaps within a paste.
const KeyGap = 50 * time.Millisecond

// clockStart is the initial time of a Clock. It is fixed, so that frames with times are the
// same in each run.
var clockStart = time.Date(2026, 3, 4, 14, 32, 0, 0, time.UTC)

// Clock is a clock that only Advance moves. Create it with NewClock. Any goroutine may use
// it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a Clock set to 2026-03-04 14:32 UTC.
func NewClock() *Clock { return &Clock{now: clockStart} }

// Now returns the time on the clock. A model receives this method instead of time.Now.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
