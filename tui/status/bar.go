package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
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
func (b Bar) Draw(parts []BarPart, w int, rest style.Style) string {
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
	Share            string // of the model's context that the next request takes: "31 % of 400k"; "" is not known
	Checkpoints      int    // changes in effect
	Counter          string // which pairs are sent; "" is no pair
	NearLimit        bool   // of the model
	Others           string // how many others are in the window; "" for none
	Mouse            bool   // it is on, and offers what else has a key alone
	Locked           string // why the window cannot be changed; "" is that it can
	Saves            bool   // the window can be saved
	Unsaved          int    // changes
}

const (
	minModel   = 12 // cells that the model has before other parts give way
	othersFrom = 60 // cells of a screen whose header counts the others in the window
)

// Header is the header in w cells. Where there is no room, the model is cut, then the
// checkpoints give way, then the share of the context, then the name of the window, then
// that of the provider; whether something is unsaved goes last.
func (b Bar) Header(h Header, w int) []BarPart {
	st := b.Styles.Header
	if !h.Ready {
		return []BarPart{{Text: st.Name.Render(" winnow")}}
	}
	var left BarPart
	var right []BarPart
	over := 1
	for _, give := range []func(){
		func() {}, func() { h.Checkpoints = 0 }, func() { h.Share = "" }, func() { h.Window = "" }, func() { h.Provider = "" },
	} {
		give()
		left.Text = st.Name.Render(" winnow")
		for _, name := range []string{h.Window, h.Provider} {
			if name != "" {
				left.Text += st.Text.Render(" · " + safetext.Visible(name))
			}
		}
		model := b.model(h.Model, w)
		right = b.right(h, model, w)
		if over = b.width(right...) + 1 + b.width(left) - w; over <= 0 {
			break
		}
		if cells := b.Widths.Width(model) - over; cells >= minModel {
			right, over = b.right(h, b.model(h.Model, cells), w), 0
			break
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
	name := safetext.Visible(cmp.Or(pane.ModelName(id), "no model"))
	return b.Styles.Header.Model.Render(b.Widths.Truncate(name, max(0, w), b.Styles.Icons.Ellipsis))
}

// right is the right side of the header, with a gap after each part.
func (b Bar) right(h Header, model string, w int) (right []BarPart) {
	st, ic := b.Styles.Header, b.Styles.Icons
	add := func(gap, text string, action keymap.Action) {
		if len(right) > 0 {
			right = append(right, BarPart{Text: st.Bar.Render(gap)})
		}
		right = append(right, BarPart{text, action})
	}
	const dot, wide = " · ", "   "
	add("", model, keymap.Models)
	counter := st.Count
	if h.NearLimit {
		counter = st.Unsaved // a warning as well
	}
	if h.Share != "" {
		add(dot, counter.Render(h.Share), keymap.ContextHUD)
	}
	add(dot, counter.Render(cmp.Or(h.Counter, "0/0")), keymap.ContextHUD)
	if h.Checkpoints > 0 {
		add(dot, st.Text.Render(assistant.Counted(h.Checkpoints, "checkpoint")), keymap.Checkpoints)
	}
	if h.Others != "" && w >= othersFrom {
		add(wide, st.Text.Render(h.Others), keymap.Notices)
	}
	if h.Mouse {
		add(wide, st.Text.Render("[new session]"), keymap.NewSession)
	}
	switch {
	case h.Locked != "":
		add(wide, st.Lock.Render(ic.Lock+" "+h.Locked), "")
	case h.Unsaved > 0:
		add(wide, st.Unsaved.Render(fmt.Sprintf("%d unsaved", h.Unsaved)), keymap.Save)
	case h.Saves:
		add(wide, st.Saved.Render("saved"), "")
	}
	return append(right, BarPart{Text: st.Bar.Render(" ")})
}

// Share is how much of a model's context a number of tokens is; known says that the size of
// the context is known.
func Share(tokens, context int, known bool) string {
	if context <= 0 {
		return ""
	}
	const percent = 100
	about := "~"
	if known {
		about = ""
	}
	return fmt.Sprintf("%d %% of %s%s", (max(tokens, 0)*percent+context-1)/context, about, short(context))
}

// short is a number in a few digits: "812", "400k", "1.0M".
func short(n int) string {
	const k, m = 1000, 1000_000
	switch {
	case n < k:
		return strconv.Itoa(n)
	case n < m-k/2:
		return fmt.Sprintf("%dk", (n+k/2)/k)
	}
	return fmt.Sprintf("%.1fM", float64(n)/m)
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
