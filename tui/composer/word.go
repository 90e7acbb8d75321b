package composer

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Word is what stands between the last white space and the cursor.
func (b *Model) Word() string {
	line := []rune(b.lineAt())
	end := min(b.area.Column(), len(line))
	from := end
	for from > 0 && !unicode.IsSpace(line[from-1]) {
		from--
	}
	return string(line[from:end])
}

func (b *Model) lineAt() string {
	lines := strings.Split(b.area.Value(), "\n")
	if at := b.area.Line(); at < len(lines) {
		return lines[at]
	}
	return ""
}

// ReplaceWord puts text in the place of Word, as one edit.
func (b *Model) ReplaceWord(text string) {
	b.remember()
	for range []rune(b.Word()) {
		b.area, _ = b.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	b.area.InsertString(normal(text))
	b.past.leave()
}
