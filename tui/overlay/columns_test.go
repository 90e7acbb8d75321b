package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// keysInColumns is a help of 30 actions in three groups.
func keysInColumns() *overlay.Picker {
	var entries []overlay.Entry
	for i := range 30 {
		entries = append(entries, overlay.Entry{
			Value: fmt.Sprint("a", i), Text: fmt.Sprintf("k%d does %d", i, i), Extra: fmt.Sprintf("all keys of %d", i), Group: fmt.Sprint("GROUP", i/10),
		})
	}
	return overlay.NewPicker("Keys", entries, 0).WithColumns(20)
}

// TestColumns: all entries are on one page where they fit, the fewest columns are taken,
// and the selected one has its keys below.
func TestColumns(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	for _, c := range []struct {
		w, h, rows int
		page       string
	}{{100, 40, 39, ""}, {100, 24, 22, ""}, {66, 17, 15, ""}, {20, 12, 12, "page 1/5"}, {44, 12, 12, "page 1/3"}} {
		p := keysInColumns()
		w, h := p.Size(c.w, c.h)
		if w != c.w || h != c.rows {
			t.Errorf("%d×%d: the size is %d×%d, want %d rows", c.w, c.h, w, h, c.rows)
		}
		body := p.Body(w, h, st)
		text := ansi.Strip(strings.Join(body, "\n"))
		if len(body) != h || p.Position() != c.page || !strings.Contains(text, "all keys of 0") {
			t.Errorf("%d×%d: %d lines, page %q:\n%s", c.w, c.h, len(body), p.Position(), text)
		}
		for i := range 30 {
			if c.page == "" && !strings.Contains(text, fmt.Sprintf("k%d does %d", i, i)) {
				t.Errorf("%d×%d lacks entry %d:\n%s", c.w, c.h, i, text)
			}
		}
		for _, line := range body {
			if ansi.StringWidth(line) > w {
				t.Errorf("%d×%d: a line of %d cells", c.w, c.h, ansi.StringWidth(line))
			}
		}
	}
}

func TestKeysMoveInColumns(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	p := keysInColumns()
	selected := func() string {
		w, h := p.Size(100, 17)
		body := p.Body(w, h, st)
		return strings.TrimSpace(ansi.Strip(body[len(body)-1]))
	}
	for _, step := range []struct{ key, want string }{
		{"down", "all keys of 1"},
		{"right", "all keys of 11"},
		{"right", "all keys of 21"},
		{"left", "all keys of 11"},
		{"up", "all keys of 10"},
		{"left", "all keys of 0"},
		{"left", "all keys of 0"},
		{"end", "all keys of 29"},
	} {
		p.Key(keymap.Key(step.key), "")
		if got := selected(); got != step.want {
			t.Errorf("after %s: %q, want %q", step.key, got, step.want)
		}
	}
	p.Key("d", "d")
	if got := p.Hints(); !strings.Contains(got, "search") {
		t.Errorf("hints %q", got)
	}
	if out, ok := p.Key("enter", "").(overlay.Chosen); !ok || out.Value != "a0" {
		t.Errorf("after a search, enter gives %#v", out)
	}
}

// What does not fit in a column is not cut off: it is replaced by its main clause, or wrapped.
func TestTextsInColumnsAreWhole(t *testing.T) {
	st := style.New(style.Options{Unicode: true, Profile: style.NoColor})
	p := overlay.NewPicker("Keys", []overlay.Entry{
		{Text: "ctrl+q  quit", Extra: "ctrl+q ctrl+c alt+q  quit the program"},
		{Text: "a       select everything that is listed here"},
		{Text: "ctrl+j  send; while a turn runs: queue", Brief: "ctrl+j  send"},
	}, 0).WithColumns(20)
	_, h := p.Size(24, 30)
	var got []string
	for _, line := range p.Body(24, h, st)[2:] {
		got = append(got, strings.TrimRight(ansi.Strip(line), " "))
	}
	want := []string{"› ctrl+q  quit", "  a       select", "          everything", "          that is listed", "          here", "  ctrl+j  send", "  ctrl+q ctrl+c alt+q", "  quit the program"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p.Key("down", "")
	p.Key("down", "")
	if out, ok := p.Key("enter", "").(overlay.Chosen); !ok || len(p.Body(24, h, st)) != h {
		t.Errorf("enter gives %#v", out)
	}
}
