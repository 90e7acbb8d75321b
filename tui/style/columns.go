package style

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnBreak precedes each item of a line made by Columns. It is a control character, which
// no text on the screen contains.
const columnBreak = "\x02"

// columnGap is the number of cells between columns.
const columnGap = 2

// Columns returns a line for LayColumns. The items must be safe to show and may be styled.
func Columns(items ...string) string { return columnBreak + strings.Join(items, columnBreak) }

// LayColumns lays out the items of a Columns line row by row, in as many columns of equal
// width as fit into w cells. If an item is wider than w cells, each item is a row and none is
// cut. ok is false for any other line.
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
	if perRow == 1 {
		return items, true
	}
	for from := 0; from < len(items); from += perRow {
		var row strings.Builder
		last := min(from+perRow, len(items)) - 1
		for _, item := range items[from:last] {
			row.WriteString(Fit(item, widest, "") + strings.Repeat(" ", columnGap))
		}
		rows = append(rows, row.String()+items[last])
	}
	return rows, true
}
