package composer

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
)

// ChipFrom is the size in bytes from which a paste becomes a chip: two screens
// of text, and well below where the textarea grows slow.
const ChipFrom = 8 << 10

// chipLines is the number of lines from which it does: no screen shows them
// beside a conversation.
const chipLines = 60

// chip stands for a text that is too large for the box.
type chip struct{ label, text string }

// Paste puts a pasted text at the cursor, as one edit. Line ends become LF, a
// large text a chip. It never sends. It returns how many characters were left
// out because they cannot be seen.
func (b *Model) Paste(text string) (hidden int) {
	b.pushUndo()
	text = normal(text)
	clean := safetext.Clean(text)
	hidden = len([]rune(text)) - len([]rune(clean))
	if len(clean) > ChipFrom || strings.Count(clean, "\n") >= chipLines {
		clean = b.addChip(clean)
	}
	b.area.InsertString(clean)
	b.recall.leave()
	return hidden
}

func (b *Model) addChip(text string) string {
	label := fmt.Sprintf("[paste %d · %s · %d lines]", len(b.chips)+1, size(len(text)), strings.Count(text, "\n")+1)
	b.chips = append(append([]chip(nil), b.chips...), chip{label, text})
	return label
}

// expand replaces each chip by its text, once: a label typed by hand stays.
func expand(text string, chips []chip) string {
	for _, c := range chips {
		text = strings.Replace(text, c.label, c.text, 1)
	}
	return text
}

// size says a number of bytes for people.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// displayRows is how many rows beyond the first a line takes at a width.
func displayRows(line string, width int) int {
	if width < 1 {
		return 0
	}
	return ansi.StringWidth(line) / width
}
