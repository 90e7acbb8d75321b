package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// listLine is a line of a list above a text that is being written.
type listLine struct{ text, extra string }

const (
	listFrame = 2  // lines of the frame above and below
	listLeast = 36 // cells inside, so that the list keeps its width while one types
	listSides = 4  // cells of the frame and the space beside it
)

// listBox draws a framed list of at most rows lines on a screen of w cells,
// with the line at in sight and marked; -1 marks none.
func listBox(lines []listLine, at, rows, w int, st style.Styles) []string {
	rows = min(rows, len(lines))
	top := min(max(0, at-rows+1), len(lines)-rows)
	widest := 0
	for _, l := range lines {
		widest = max(widest, ansi.StringWidth(l.text)+ansi.StringWidth(l.extra)+4) // the sign and gaps
	}
	inner := max(min(max(widest, listLeast), w-listSides), 1)
	b, border := st.Border.Shape, st.Overlay.Border
	out := []string{border.Render(b.TopLeft + strings.Repeat(b.Top, inner+2) + b.TopRight)}
	for i := top; i < top+rows; i++ {
		out = append(out, border.Render(b.Left)+" "+listRow(lines[i], i == at, inner, st)+" "+border.Render(b.Right))
	}
	place := ""
	if rows < len(lines) {
		place = fmt.Sprintf(" %d/%d ", max(at, top+rows-1)+1, len(lines))
		if at >= 0 {
			place = fmt.Sprintf(" %d/%d ", at+1, len(lines))
		}
	}
	rest := max(0, inner+2-ansi.StringWidth(place))
	return append(out, border.Render(b.BottomLeft+strings.Repeat(b.Bottom, rest)+place+b.BottomRight))
}

func listRow(l listLine, selected bool, w int, st style.Styles) string {
	sign := " "
	if selected {
		sign = st.Icons.Selected
	}
	extra := textwidth.Truncate(l.extra, max(w/2, w-ansi.StringWidth(l.text)-4), st.Icons.Ellipsis)
	text := textwidth.Truncate(sign+" "+l.text, max(0, w-ansi.StringWidth(extra)-1), st.Icons.Ellipsis)
	gap := strings.Repeat(" ", max(0, w-ansi.StringWidth(text)-ansi.StringWidth(extra)))
	if selected {
		return st.Overlay.Selected.Render(text + gap + extra)
	}
	return st.Overlay.Text.Render(text+gap) + st.Overlay.Muted.Render(extra)
}
