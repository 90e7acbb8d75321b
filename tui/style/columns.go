package style

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnBreak stands between the items of a line of Columns: a control character, which no
// text on the screen has.
const columnBreak = "\x02"

// columnGap is how many cells divide columns.
const columnGap = 2

// Columns is a line that LayColumns lays out. The items are safe to show and may be styled.
func Columns(items ...string) string { return columnBreak + strings.Join(items, columnBreak) }

// LayColumns lays the items of a line of Columns out in as many columns of one width as w
// cells hold, row by row. ok is false for any other line.
func LayColumns(line string, w int) (rows []string, ok bool) {
	joined, ok := strings.CutPrefix(line, columnBreak)
	if !ok {
		return nil, false
	}
	items := strings.Split(joined, columnBreak)
	widest := 1
	for _, item := range items {
		widest = max(widest, ansi.StringWidth(item))
	}
	perRow := max(1, (w+columnGap)/(widest+columnGap))
	width := min(widest, w)
	for from := 0; from < len(items); from += perRow {
		var row strings.Builder
		last := min(from+perRow, len(items)) - 1
		for i, item := range items[from : last+1] {
			if from+i == last {
				row.WriteString(Truncate(item, w-i*(width+columnGap), "…"))
				break
			}
			row.WriteString(Fit(item, width, "…") + strings.Repeat(" ", columnGap))
		}
		rows = append(rows, row.String())
	}
	return rows, true
}
