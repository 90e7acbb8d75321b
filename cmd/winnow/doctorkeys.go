package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui"
)

func keysCommand(a *app) *cobra.Command {
	c := command("keys", "Press keys, and see what winnow receives and what each does", 0, 0, a.doctorKeys)
	c.Long = "keys shows for each key that is pressed the name that winnow gives it and what it\n" +
		"does in each mode. Esc twice or ctrl+c leaves."
	return c
}

// probedKeys are the keys that not every terminal can tell from others.
var probedKeys = []string{"ctrl+enter", "shift+enter", "alt+enter", "ctrl+j"}

// keyPage is the screen of doctor keys: what was pressed, the newest last, and
// which of probedKeys have come.
type keyPage struct {
	uses  func(key string) []tui.KeyUse // what a key does in each mode
	lines []string                      // of the keys that were pressed
	last  string                        // the key before
	seen  map[string]bool
	kitty bool // the terminal says that it tells all keys apart
	size  tea.WindowSizeMsg
}

func newKeyPage(uses func(key string) []tui.KeyUse) *keyPage {
	p := &keyPage{uses: uses, seen: map[string]bool{}}
	for _, key := range probedKeys {
		p.seen[key] = false
	}
	return p
}

// maxLines bounds lines: more than the tallest screen shows.
const maxLines = 300

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

// press shows a key and, below it, what it does in each mode. Esc after Esc, or
// ctrl+c, ends.
func (p *keyPage) press(name string) tea.Cmd {
	if _, asked := p.seen[name]; asked {
		p.seen[name] = true
	}
	p.lines = append(p.lines, name)
	uses := p.uses(name)
	for _, u := range uses {
		p.lines = append(p.lines, fmt.Sprintf("    %-8s %s (%s)", u.Mode, u.Help, u.Action))
	}
	if len(uses) == 0 {
		p.lines = append(p.lines, "    bound to nothing: in INPUT it is text or moves the cursor")
	}
	p.lines = p.lines[max(0, len(p.lines)-maxLines):]
	before := p.last
	if p.last = name; name == "ctrl+c" || name == "esc" && before == "esc" {
		return tea.Quit
	}
	return nil
}

// View implements tea.Model.
func (p *keyPage) View() tea.View {
	lines := []string{
		"winnow doctor keys: press any key to see what arrives. Esc twice or ctrl+c leaves.", "",
		"  " + strings.Join(p.arrivals(), "   "),
		"  " + p.protocol(), "",
	}
	room := max(0, p.size.Height-len(lines))
	lines = append(lines, p.lines[max(0, len(p.lines)-room):]...)
	lines = lines[:min(len(lines), max(p.size.Height, 1))]
	for i, line := range lines {
		lines[i] = ansi.Truncate(safetext.Line(line, maxLine), max(p.size.Width, 1), "…")
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

// arrivals says which of probedKeys have come.
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
	if p.kitty {
		return "This terminal says that it tells all keys apart (kitty protocol)."
	}
	return "This terminal does not say that it tells all keys apart: where ctrl+enter comes as enter, send with ctrl+j."
}

// doctorKeys runs the page and sums up what was seen.
func (a *app) doctorKeys(context.Context, []string) error {
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return &usageError{"winnow doctor keys", "doctor keys needs a terminal"}
	}
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	s, err := a.config()
	if err != nil {
		return err
	}
	uses, err := tui.Keys(rebinds(s.Keys), s.SendKey == "enter")
	if err != nil {
		return err
	}
	page := newKeyPage(uses)
	if err := a.runModel(a.newScreen(page, in, out), in, out, func() {}); err != nil {
		return err
	}
	return a.emit(map[string]any{"kitty_protocol": page.kitty, "seen": page.seen}, strings.Join(page.arrivals(), ", "), page.protocol())
}
