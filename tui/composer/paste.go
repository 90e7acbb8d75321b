package composer

import (
	"fmt"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// ChipFrom is the size in bytes above which a paste becomes a chip: two screens of text,
// well below the size at which the textarea becomes slow.
const ChipFrom = 8 << 10

// chipLines is the number of line breaks from which a paste or a recalled message becomes a
// chip: more lines than a screen shows next to a conversation.
const chipLines = 60

// chip stands for a text that is too large for the box.
type chip struct{ label, text string }

// Paste inserts pasted text at the cursor, as one edit. Line ends become LF, and a large
// text becomes a chip. It returns how many invisible characters were removed.
func (b *Model) Paste(text string) (hidden int) {
	b.pushUndo()
	text = withLF(text)
	clean := string(safetext.Clean(text))
	hidden = len([]rune(text)) - len([]rune(clean))
	if large(clean) {
		clean = b.addChip(clean)
	}
	b.area.InsertString(clean)
	b.recall.leave()
	return hidden
}

// large reports whether a text becomes a chip.
func large(text string) bool { return len(text) > ChipFrom || strings.Count(text, "\n") >= chipLines }

// addChip adds a chip for text and returns its label.
func (b *Model) addChip(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1 // a line break at the end begins no line
	label := fmt.Sprintf("[paste %d · %s · %s]", len(b.chips)+1, formatSize(len(text)), assistant.Counted(lines, "line"))
	b.chips = append(append([]chip(nil), b.chips...), chip{label, text})
	return label
}

// expand replaces the first occurrence of each chip's label with the chip's text. Further
// occurrences, which the user has typed, stay.
func expand(text string, chips []chip) string {
	for _, c := range chips {
		text = strings.Replace(text, c.label, c.text, 1)
	}
	return text
}

// formatSize formats a number of bytes.
func formatSize(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// extraRows returns how many rows beyond the first a line of text takes.
func extraRows(line string, width int) int {
	if width < 1 {
		return 0
	}
	return style.Width(line) / width
}
