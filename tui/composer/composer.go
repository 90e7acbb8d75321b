package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"winnow/tui/style"
)

// maxLines bounds how far the box styled for the height of its text; the caller
// bounds what it shows far earlier.
const maxLines = 200

// Model is the input box. New makes one.
type Model struct {
	area   textarea.Model
	undo   undoStack
	chips  []chip
	recall recall
	width  int
	added  int // runes that the last Key or NewLine put in; 0 after anything else
	styled int // counts changes of the colours
	drawn  drawn
}

// drawn is what View gave last, and of what. To draw three lines takes a third
// of a frame, and most frames have the box as it was.
type drawn struct {
	of   viewKey
	view string
}

// viewKey is all that a view of the box depends on.
type viewKey struct {
	text, placeholder                     string
	row, column, scroll, width, h, styled int
	focused                               bool
}

// New returns an empty box without focus.
func New(st style.Input) *Model {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = maxLines
	area.Prompt = " "
	area.SetVirtualCursor(false)
	area.KeyMap = keyMap()
	b := &Model{area: area}
	b.SetStyles(st)
	b.area.SetHeight(1)
	return b
}

// keyMap leaves the keys to the textarea that winnow does not use itself.
func keyMap() textarea.KeyMap {
	m := textarea.DefaultKeyMap()
	m.CharacterBackward = key.NewBinding(key.WithKeys("left"))
	m.DeleteCharacterBackward = key.NewBinding(key.WithKeys("backspace", "ctrl+h"))
	m.LineNext = key.NewBinding(key.WithKeys("down"))
	m.LinePrevious = key.NewBinding(key.WithKeys("up"))
	m.InsertNewline = key.NewBinding(key.WithKeys("enter"))
	m.TransposeCharacterBackward.Unbind()
	m.SelectAll.Unbind()
	m.Paste.Unbind()
	m.PageUp.Unbind()
	m.PageDown.Unbind()
	return m
}

// SetStyles draws with other colours from now on.
func (b *Model) SetStyles(st style.Input) {
	state := textarea.StyleState{
		Text: st.Text, Placeholder: st.Placeholder, Prompt: st.Prompt, Selection: st.Selected,
	}
	styles := b.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Cursor.Blink = false
	b.area.SetStyles(styles)
	b.styled++
}

// SetPlaceholder says what stands in an empty box.
func (b *Model) SetPlaceholder(text string) { b.area.Placeholder = text }

// SetWidth sets the width in cells. It must come before Rows.
func (b *Model) SetWidth(w int) {
	if w != b.width {
		b.width = w
		b.area.SetWidth(w)
	}
}

// Rows is the height that the whole text needs.
func (b *Model) Rows() int {
	rows := 0
	for _, line := range strings.Split(b.area.Value(), "\n") {
		rows += 1 + displayRows(line, b.width-2)
		if rows > maxLines {
			break
		}
	}
	return rows
}

// Focus and Blur say whether the box takes keys and shows the cursor.
func (b *Model) Focus() { b.area.Focus() }

// Blur takes the cursor away.
func (b *Model) Blur() { b.area.Blur() }

// View draws the box in height lines.
func (b *Model) View(height int) string {
	if b.area.Height() != height {
		b.area.SetHeight(height)
		b.area, _ = b.area.Update(nil) // shows the lines around the cursor in the new height
	}
	of := viewKey{
		text: b.area.Value(), placeholder: b.area.Placeholder, focused: b.area.Focused(), styled: b.styled,
		row: b.area.Line(), column: b.area.Column(), scroll: b.area.ScrollYOffset(), width: b.area.Width(), h: height,
	}
	if b.drawn.of != of || b.drawn.view == "" {
		b.drawn = drawn{of, b.area.View()}
	}
	return b.drawn.view
}

// Cursor is where the cursor stands in the box; nil without focus.
func (b *Model) Cursor() *tea.Cursor { return b.area.Cursor() }

// Key gives the box a key that nobody else took.
func (b *Model) Key(k tea.KeyPressMsg) {
	before := b.area.Value()
	b.area, _ = b.area.Update(k)
	b.added = 0
	if after := b.area.Value(); after != before {
		b.added = utf8.RuneCountInString(after) - utf8.RuneCountInString(before)
		b.undo.edited(before, after)
		b.recall.leave()
	}
}

// TakeBack removes the text that the last Key or NewLine has put before the
// cursor, as if it had not come: what seemed to be typed was the beginning of a
// paste. It reports whether that edit did put it there.
func (b *Model) TakeBack(text string) bool {
	n := utf8.RuneCountInString(text)
	if n == 0 || b.added != n {
		return false
	}
	for range n {
		b.area, _ = b.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	b.added = 0
	b.undo.unedit()
	return true
}

// Text is the whole message, chips replaced by what they stand for.
func (b *Model) Text() string { return expand(b.area.Value(), b.chips) }

// Shown is what stands in the box, chips by their labels: another text means
// another message.
func (b *Model) Shown() string { return b.area.Value() }

// Empty says whether there is nothing but white space.
func (b *Model) Empty() bool { return strings.TrimSpace(b.area.Value()) == "" }

// Set puts text in place of what is there, which Undo and Older bring back.
func (b *Model) Set(text string) {
	b.putAway()
	b.pushUndo()
	b.chips = nil
	b.put(text)
}

// put shows text, a large one as a chip.
func (b *Model) put(text string) {
	text = normal(text)
	b.area.Reset()
	if len(text) > ChipFrom {
		text = b.addChip(text)
	}
	b.area.SetValue(text)
	b.area.MoveToEnd()
}

// Take empties the box and returns what was in it.
func (b *Model) Take() string {
	text := b.Text()
	b.empty()
	return text
}

// Clear empties the box. Undo and Older bring the text back.
func (b *Model) Clear() {
	b.putAway()
	b.empty()
}

// PutAway keeps a text that was in the box and could not be sent: Older brings
// it back. What stands in the box stays.
func (b *Model) PutAway(text string) {
	b.recall.putAway(text)
	b.recall.leave()
}

func (b *Model) empty() {
	b.pushUndo()
	b.area.Reset()
	b.recall.leave()
}

// putAway keeps what is in the box, unless it is an older text unchanged.
func (b *Model) putAway() {
	if !b.recall.away && !b.Empty() {
		b.recall.putAway(b.Text())
	}
}

// AtFirstLine and AtLastLine say whether an arrow key would leave the text.
func (b *Model) AtFirstLine() bool { return b.area.Line() == 0 && b.area.LineInfo().RowOffset == 0 }

// AtLastLine reports whether the cursor is on the last line.
func (b *Model) AtLastLine() bool {
	return b.area.Line() == b.area.LineCount()-1 && b.area.LineInfo().RowOffset >= b.area.LineInfo().Height-1
}

// NewLine breaks the line.
func (b *Model) NewLine() {
	before := b.area.Value()
	b.undo.edited(before, before+"\n")
	b.added = 1
	b.area.InsertString("\n")
	b.recall.leave()
}

// Insert puts text at the cursor, as one edit.
func (b *Model) Insert(text string) {
	b.pushUndo()
	b.area.InsertString(normal(text))
}

// normal makes line ends LF: the textarea would take CR and LF for two.
func normal(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

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
	b.pushUndo()
	for range []rune(b.Word()) {
		b.area, _ = b.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	b.area.InsertString(normal(text))
	b.recall.leave()
}
