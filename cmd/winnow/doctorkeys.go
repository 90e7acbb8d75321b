package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui"
)

func keysCommand(a *app) *cobra.Command {
	c := command("keys", "Press keys, and see what winnow receives and what each does", 0, 0, a.doctorKeys)
	c.Long = "keys shows for each key that is pressed the bytes that the terminal sends, the name\n" +
		"that winnow gives it, and what it does in each mode. Esc twice or ctrl+c leaves."
	return c
}

// sendKeys are the keys that terminals differ about.
var sendKeys = []string{"ctrl+enter", "shift+enter", "alt+enter", "ctrl+j"}

// keyPage is the screen of doctor keys: what was pressed, the newest last, and
// which of sendKeys have come.
type keyPage struct {
	table *tui.KeyTable
	raw   *tap
	tmux  []string // what tmux needs; none outside of it, or when all is well
	lines []string // of the keys that were pressed
	last  string   // the key before
	seen  map[string]bool
	kitty bool // the terminal says that it tells all keys apart
	size  tea.WindowSizeMsg
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
		p.raw.take() // the terminal's answer is no key
	case tea.PasteMsg:
		p.raw.take()
		p.lines = append(p.lines, "a paste of "+assistant.Counted(len([]rune(msg.Content)), "character"))
	case tea.KeyPressMsg:
		return p, p.press(msg.String())
	}
	return p, nil
}

// press shows a key, its bytes, and below what it does in each mode. Esc after
// Esc, or ctrl+c, ends.
func (p *keyPage) press(name string) tea.Cmd {
	p.seen[name] = true
	p.lines = append(p.lines, strings.TrimRight(fmt.Sprintf("%-14s %s", name, p.raw.take()), " "))
	uses := p.table.Uses(name)
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
	for _, line := range p.tmux {
		lines = append(lines, "  "+line)
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

// arrivals says which of the keys that send or break the line have come.
func (p *keyPage) arrivals() []string {
	var out []string
	for _, key := range sendKeys {
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
func (a *app) doctorKeys(ctx context.Context, _ []string) error {
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return &usageError{"winnow doctor keys", "keys can be pressed at a terminal only"}
	}
	in, out := a.stdin.(*os.File), a.stdout.(*os.File)
	s, err := a.config()
	if err != nil {
		return err
	}
	table, err := tui.Keys(rebinds(s.Keys), s.SendKey == "enter")
	if err != nil {
		return err
	}
	page := &keyPage{table: table, raw: &tap{File: in}, seen: map[string]bool{}}
	if a.env("TMUX") != "" {
		if f := a.examineTmux(ctx); f.State != fine {
			wrong, _, _ := strings.Cut(f.Detail, " (")
			page.tmux = append([]string{"tmux: " + wrong}, strings.Split(f.Next, "\n")...)
		}
	}
	if err := a.runModel(a.newScreen(page, page.raw, out), in, out, func() {}); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, key := range sendKeys {
		seen[key] = page.seen[key]
	}
	return a.emit(map[string]any{"kitty_protocol": page.kitty, "seen": seen}, strings.Join(page.arrivals(), ", "), page.protocol())
}

// tap is a terminal whose bytes are noted as they are read.
type tap struct {
	*os.File
	mu    sync.Mutex
	bytes []byte
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p[:n]...)
	if most := 64; len(t.bytes) > most { // the longest key is a fraction of it
		t.bytes = t.bytes[len(t.bytes)-most:]
	}
	return n, err
}

// byteNames are the bytes that have a name.
var byteNames = map[byte]string{0x1b: "ESC", '\r': "CR", '\n': "LF", '\t': "TAB", ' ': "SPACE", 0x7f: "DEL"}

// take is what was read since it was called last, for people: "ESC [13;5u".
func (t *tap) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, c := range t.bytes {
		name := byteNames[c]
		switch {
		case name != "":
		case c < ' ':
			name = "^" + string(rune(c|0x40))
		case c > 0x7e:
			name = fmt.Sprintf("%02x", c)
		default:
			name = string(rune(c))
		}
		if i > 0 && (len(name) > 1 || t.bytes[i-1] < ' ' || t.bytes[i-1] > 0x7e) {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	}
	t.bytes = nil
	return b.String()
}
