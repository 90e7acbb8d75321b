package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// BarPart is a piece of a bar.
type BarPart struct {
	Text   string        // styled
	Action keymap.Action // what a click does, of the key table; "" is nothing
}

// Bar draws in the styles of a screen, whose cache it measures with.
type Bar struct {
	Styles *style.Styles
	Widths *style.Cache
}

// width is the width of parts together, in cells.
func (b Bar) width(parts ...BarPart) (sum int) {
	for _, p := range parts {
		sum += b.Widths.Width(p.Text)
	}
	return sum
}

// ActionAt is the action of the part at a column; "" for none.
func (b Bar) ActionAt(parts []BarPart, x int) keymap.Action {
	for _, p := range parts {
		w := b.width(p)
		if x >= 0 && x < w {
			return p.Action
		}
		x -= w
	}
	return ""
}

// Draw draws parts in w cells; rest styles the cells after them.
func (b Bar) Draw(parts []BarPart, w int, rest lipgloss.Style) string {
	line, used := "", b.width(parts...)
	for _, p := range parts {
		line += p.Text
	}
	if used > w {
		line = b.Widths.Truncate(line, w, "…")
		used = b.Widths.Width(line)
	}
	return line + rest.Render(strings.Repeat(" ", max(0, w-used)))
}

// Header is what the first line shows. The zero value is a screen whose session is not
// open yet: the name alone.
type Header struct {
	Ready            bool // the session is open
	Window, Provider string
	Model            string // "" for none
	Checkpoints      int    // changes in effect
	Counter          string // which pairs are sent; "" is no pair
	NearLimit        bool   // of the model
	Others           string // how many others are in the window; "" for none
	Mouse            bool   // it is on, and offers what else has a key alone
	Locked           string // why the window cannot be changed; "" is that it can
	Saves            bool   // the window can be saved
	Unsaved          bool
}

const (
	minModel   = 12 // cells that the model has before provider and window give way
	othersFrom = 60 // cells of a screen whose header counts the others in the window
)

// Header is the header in w cells. Where there is no room, the model is cut, then the
// checkpoints give way, then the name of the window, then that of the provider; the
// unsaved mark goes last.
func (b Bar) Header(h Header, w int) []BarPart {
	st := b.Styles.Header
	if !h.Ready {
		return []BarPart{{Text: st.Name.Render(" winnow")}}
	}
	model := b.model(h.Model, w)
	var left BarPart
	var right []BarPart
	over := 1
	const tries = 6 // two, with and without the checkpoints, for each of three left sides
	for try := 0; try < tries && over > 0; try++ {
		left.Text = st.Name.Render(" winnow")
		for _, name := range []string{h.Window, h.Provider}[try/2:] {
			if name != "" {
				left.Text += st.Text.Render(" · " + safetext.Visible(name))
			}
		}
		checkpoints := try%2 == 0
		right = b.right(h, model, w, checkpoints)
		over = b.width(right...) + 1 + b.width(left) - w
		if cells := b.Widths.Width(model) - over; over > 0 && cells >= minModel {
			right, over = b.right(h, b.model(h.Model, cells), w, checkpoints), 0
		}
	}
	for over > 0 && len(right) > 2 {
		over -= b.width(right[:2]...) // a part and its gap
		right = right[2:]
	}
	gap := BarPart{Text: st.Bar.Render(strings.Repeat(" ", max(0, w-b.width(left)-b.width(right...))))}
	return append([]BarPart{left, gap}, right...)
}

// model is the model in at most w cells.
func (b Bar) model(id string, w int) string {
	ic := b.Styles.Icons
	frame := b.Widths.Width(ic.Model) + b.Widths.Width(ic.Menu) + 2
	name := safetext.Visible(cmp.Or(id, "no model"))
	return b.Styles.Header.Model.Render(ic.Model + " " + b.Widths.Truncate(name, max(0, w-frame), ic.Ellipsis) + " " + ic.Menu)
}

// right is the right side of the header, with a gap after each part.
func (b Bar) right(h Header, model string, w int, checkpoints bool) (right []BarPart) {
	st, ic := b.Styles.Header, b.Styles.Icons
	add := func(text string, action keymap.Action) {
		if len(right) > 0 {
			right = append(right, BarPart{Text: st.Bar.Render("  ")})
		}
		right = append(right, BarPart{text, action})
	}
	add(model, keymap.Models)
	if h.Checkpoints > 0 && checkpoints {
		add(st.Text.Render(fmt.Sprintf("%s %d %s", ic.Checkpoint, h.Checkpoints, ic.Menu)), keymap.Checkpoints)
	}
	counter := st.Count
	if h.NearLimit {
		counter = st.Unsaved // a warning as well
	}
	add(counter.Render(cmp.Or(h.Counter, "0/0")), keymap.ContextHUD)
	if h.Others != "" && w >= othersFrom {
		add(st.Text.Render(h.Others), keymap.Notices)
	}
	if h.Mouse {
		add(st.Text.Render("[new session]"), keymap.NewSession)
	}
	switch {
	case h.Locked != "":
		add(st.Lock.Render(ic.Lock+" "+h.Locked), "")
	case h.Unsaved:
		add(st.Unsaved.Render(ic.Unsaved+" unsaved"), keymap.Save)
	case h.Saves:
		add(st.Saved.Render(ic.Saved+" saved"), "")
	}
	return append(right, BarPart{Text: st.Bar.Render(" ")})
}

// KeyHint is a key that works now.
type KeyHint struct {
	Key, Text string
	Action    keymap.Action
}

// Hints draws hints, the most useful first. When they do not fit into w cells, the first
// ones stay, and the last, help.
func (b Bar) Hints(hints []KeyHint, w int) (parts []BarPart) {
	f := b.Styles.Footer
	for i, h := range hints {
		text := f.Bar.Render(" ") + f.Key.Render(h.Key) + f.Text.Render(" "+h.Text)
		if i > 0 {
			text = f.Text.Render(" ·") + text
		}
		parts = append(parts, BarPart{text, h.Action})
	}
	for len(parts) > 0 && b.width(parts...) > w {
		at := min(max(1, len(parts)-2), len(parts)-1)
		parts = slices.Delete(parts, at, at+1)
	}
	return parts
}
