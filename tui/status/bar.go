package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// BarPart is a piece of the first or last line.
type BarPart struct {
	Text   string        // the styled text
	Action keymap.Action // action of the key table that a click runs; "" means none
}

// Bar draws the first and the last line in the styles of a screen, and measures text with the
// screen's cache.
type Bar struct {
	Styles *style.Styles
	Widths *style.Cache
}

// width returns the total width of parts, in cells.
func (b Bar) width(parts ...BarPart) (sum int) {
	for _, p := range parts {
		sum += b.Widths.Width(p.Text)
	}
	return sum
}

// ActionAt returns the action of the part at a column; "" if there is none.
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

// Draw draws parts in w cells. rest is the style of the cells after the parts.
func (b Bar) Draw(parts []BarPart, w int, rest style.Style) string {
	used := b.width(parts...)
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	line := text.String()
	if used > w {
		line = b.Widths.Truncate(line, w, "…")
		used = b.Widths.Width(line)
	}
	return line + rest.Render(strings.Repeat(" ", max(0, w-used)))
}

// Header is what the first line shows. The zero value is a screen whose session is not open
// yet: it shows only the name of the program.
type Header struct {
	Ready            bool   // the session is open
	Title            string // the title of the session, if the user has set one
	Window, Provider string
	Model            string // may be ""
	Share            string // how much of the model's context the next request takes: "31 % of 400k"; "" if unknown
	Checkpoints      int    // number of changes in effect
	Counter          string // which pairs are sent; "" shows nothing
	NearLimit        bool   // the request is close to the model's limit
	Others           string // how many others are in the window; may be ""
	Mouse            bool   // the mouse is on, so there is a button for a new session
	Locked           string // why the window cannot be changed; "" if it can be changed
	Saved            bool   // "saved" is shown while Unsaved is 0, because changes were made earlier
	Unsaved          int    // number of unsaved changes
}

const (
	minModel   = 12 // the model name is shortened to this many cells before other parts are dropped
	maxTitle   = 30 // maximum cells of the title
	othersFrom = 60 // from this screen width on, the header counts the others in the window
)

// Header returns the parts of the header in w cells. If there is not enough room, the model
// is shortened first. Then these parts are dropped in this order: the checkpoints, the
// share of the context, the title of the session, the name of the window, the name of the
// provider, and the other parts of the right side, starting with the model. The last part of
// the right side always stays: usually the lock or whether there are unsaved changes.
func (b Bar) Header(h Header, w int) []BarPart {
	st := b.Styles.Header
	if !h.Ready {
		return []BarPart{{Text: st.Name.Render(" winnow")}}
	}
	var left BarPart
	var right []BarPart
	over := 1
	for _, give := range []func(){
		func() {}, func() { h.Checkpoints = 0 }, func() { h.Share = "" }, func() { h.Title = "" }, func() { h.Window = "" }, func() { h.Provider = "" },
	} {
		give()
		left.Text = st.Name.Render(" winnow")
		for _, name := range []string{h.Window, h.Provider} {
			if name != "" {
				left.Text += st.Text.Render(string(" · " + safetext.Visible(name)))
			}
		}
		if h.Title != "" {
			left.Text += st.Text.Render(" · “" + b.Widths.Truncate(string(safetext.Visible(h.Title)), maxTitle, b.Styles.Icons.Ellipsis) + "”")
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
		over -= b.width(right[:2]...) // a part and the gap after it
		right = right[2:]
	}
	gap := BarPart{Text: st.Bar.Render(strings.Repeat(" ", max(0, w-b.width(left)-b.width(right...))))}
	return append([]BarPart{left, gap}, right...)
}

// model returns the name of the model in at most w cells.
func (b Bar) model(id string, w int) string {
	name := safetext.Visible(cmp.Or(pane.ModelName(id), "no model"))
	return b.Styles.Header.Model.Render(b.Widths.Truncate(string(name), max(0, w), b.Styles.Icons.Ellipsis))
}

// right returns the right side of the header, with a gap after each part.
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
		counter = st.Unsaved // drawn as a warning, like unsaved changes
	}
	if h.Share != "" {
		add(dot, counter.Render(h.Share), keymap.ContextHUD)
	}
	if h.Counter != "" {
		add(dot, counter.Render(h.Counter), keymap.ContextHUD)
	}
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
	case h.Saved:
		add(wide, st.Saved.Render("saved"), "")
	}
	return append(right, BarPart{Text: st.Bar.Render(" ")})
}

// Share returns how much of the model's limit the system prompt and the included pairs
// take: "31 % of 400k", or "31 % of ~400k" if the limit is only assumed.
func Share(at budget.Boundary) string {
	if at.ML <= 0 {
		return ""
	}
	const percent = 100
	about := "~"
	if at.Known {
		about = ""
	}
	return fmt.Sprintf("%d %% of %s%s", (max(at.SYS+at.HistoryTokens, 0)*percent+at.ML-1)/at.ML, about, short(at.ML))
}

// short formats a number in few characters: "812", "400k", "1.0M".
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

// KeyHint is a key that works now, what it does, and the action that a click on it runs.
type KeyHint struct {
	Key, Text string
	Action    keymap.Action
}

// Hints draws hints, the most useful first. If they do not fit into w cells, it keeps the
// first hints and the last hint, which is help.
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
