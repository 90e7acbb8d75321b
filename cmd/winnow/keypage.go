package main

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/adapters/doctor"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// probedKeys are keys that some terminals do not distinguish from other keys.
var probedKeys = []string{"ctrl+enter", "shift+enter", "alt+enter", "ctrl+j"}

// keyPage is the screen of `winnow doctor keys`. For each key pressed it shows winnow's
// name for the key and what the key does in each mode, newest last. It also shows which of
// probedKeys have arrived.
type keyPage struct {
	uses  []keymap.Use    // what keys do in each mode
	lines []string        // what has been shown so far, oldest first
	last  string          // the last key pressed
	seen  map[string]bool // the probedKeys that have arrived
	kitty bool            // see Kitty
	send  func(ctrlEnter bool) string
	size  tea.WindowSizeMsg
}

// newKeyPage returns a page. uses comes from keymap.Uses; send returns the name of the key
// that sends, given whether ctrl+enter is known to arrive.
func newKeyPage(uses []keymap.Use, send func(ctrlEnter bool) string) *keyPage {
	p := &keyPage{uses: uses, send: send, seen: map[string]bool{}}
	for _, key := range probedKeys {
		p.seen[key] = false
	}
	return p
}

// maxKeyLines is how many lines are kept, more than the tallest screen shows.
const maxKeyLines = 300

// Init implements tea.Model.
func (p *keyPage) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (p *keyPage) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.size = msg
	case tea.KeyboardEnhancementsMsg:
		p.kitty = p.kitty || msg.SupportsKeyDisambiguation()
	case tea.PasteMsg:
		p.lines = append(p.lines, "a paste of "+assistant.Counted(len([]rune(msg.Content)), "character"))
	case tea.KeyPressMsg:
		return p, p.press(msg.String())
	}
	return p, nil
}

// press shows a key and, below it, what it does in each mode. Esc twice or ctrl+c ends the
// program.
func (p *keyPage) press(name string) tea.Cmd {
	if _, asked := p.seen[name]; asked {
		p.seen[name] = true
	}
	p.lines = append(p.lines, name)
	bound := false
	for _, u := range p.uses {
		if slices.Contains(u.Keys, name) {
			p.lines, bound = append(p.lines, fmt.Sprintf("    %-8s %s (%s)", u.Mode, u.Help, u.Action)), true
		}
	}
	if !bound {
		p.lines = append(p.lines, "    not bound: in INPUT it types text or moves the cursor")
	}
	p.lines = p.lines[max(0, len(p.lines)-maxKeyLines):]
	before := p.last
	if p.last = name; name == "ctrl+c" || name == "esc" && before == "esc" {
		return tea.Quit
	}
	return nil
}

// View implements tea.Model.
func (p *keyPage) View() tea.View {
	lines := []string{
		"winnow doctor keys: press any key to see what arrives. Press esc twice or ctrl+c to leave.", "",
		"  " + strings.Join(p.arrivals(), "   "),
		"  " + p.protocol(), "",
	}
	room := max(0, p.size.Height-len(lines))
	lines = append(lines, p.lines[max(0, len(p.lines)-room):]...)
	lines = lines[:min(len(lines), max(p.size.Height, 1))]
	for i, line := range lines {
		lines[i] = string(safetext.Line(line, max(p.size.Width, 1)))
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

// Seen returns which of probedKeys have arrived. The caller must not change the map.
func (p *keyPage) Seen() map[string]bool { return p.seen }

// Kitty reports whether the terminal supports the kitty protocol, which distinguishes all
// keys.
func (p *keyPage) Kitty() bool { return p.kitty }

// Summary describes the terminal in two lines: which of probedKeys have arrived, and its
// keyboard protocol.
func (p *keyPage) Summary() []string { return []string{strings.Join(p.arrivals(), ", "), p.protocol()} }

// arrivals says for each of probedKeys whether it has arrived.
func (p *keyPage) arrivals() []string {
	var out []string
	for _, key := range probedKeys {
		state := "not seen yet"
		if p.seen[key] {
			state = "arrives"
		}
		out = append(out, key+": "+state)
	}
	return out
}

func (p *keyPage) protocol() string {
	keyboard := doctor.PlainKeyboard
	if p.kitty {
		keyboard = doctor.KittyKeyboard
	}
	return keyboard.Sentence(p.send)
}
