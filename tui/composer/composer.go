package composer

import (
	"slices"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"winnow/tui/keymap"
	"winnow/tui/style"
)

// maxLines is the maximum height of the box in lines; callers show far fewer lines.
const maxLines = 200

// prompt is drawn before the first line while the box has the focus. All lines are indented
// by the width of the prompt.
const (
	prompt      = " › "
	promptWidth = 3
)

// Model is the input box. Create it with New.
type Model struct {
	area   textarea.Model
	undo   undoStack
	chips  []chip
	recall recall
	width  int
	styles int // number of calls of SetStyles
	drawn  drawn
}

// drawn caches the last View. Drawing three lines takes a third of the time of a frame, and
// in most frames the box has not changed.
type drawn struct {
	key    viewKey
	view   string
	cursor *tea.Cursor // nil if the box does not have the focus
}

// viewKey is everything that a view of the box depends on.
type viewKey struct {
	text, placeholder                          string
	row, column, scroll, width, height, styles int
	focused                                    bool
}

// New returns an empty box without the focus. Its keys are the keys of the mode
// [keymap.Editing].
func New(st style.Input, keys *keymap.Map) *Model {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = maxLines
	area.SetPromptFunc(promptWidth, func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 && line.Focused {
			return prompt
		}
		return ""
	})
	area.SetVirtualCursor(false)
	area.KeyMap = keyMap(keys)
	b := &Model{area: area}
	b.SetStyles(st)
	b.area.SetHeight(1)
	return b
}

// SetKeys changes the key bindings.
func (b *Model) SetKeys(keys *keymap.Map) { b.area.KeyMap = keyMap(keys) }

// keyMap returns the key map of the textarea, without the keys that winnow handles itself.
func keyMap(keys *keymap.Map) textarea.KeyMap {
	m := textarea.DefaultKeyMap()
	for binding, a := range map[*key.Binding]keymap.Action{
		&m.CharacterBackward: keymap.EditLeft, &m.CharacterForward: keymap.EditRight, &m.LinePrevious: keymap.EditUp, &m.LineNext: keymap.EditDown,
		&m.WordBackward: keymap.EditWordLeft, &m.WordForward: keymap.EditWordRight, &m.LineStart: keymap.EditStart, &m.LineEnd: keymap.EditEnd,
		&m.DeleteCharacterBackward: keymap.EditDeleteBefore, &m.DeleteCharacterForward: keymap.EditDeleteAfter, &m.DeleteWordBackward: keymap.EditDeleteWord,
		&m.DeleteBeforeCursor: keymap.EditDeleteToStart, &m.DeleteAfterCursor: keymap.EditDeleteToEnd,
	} {
		*binding = keys.Binding(keymap.Editing, a)
	}
	m.InsertNewline.Unbind() // NewLine inserts line breaks
	m.TransposeCharacterBackward.Unbind()
	m.SelectAll.Unbind()
	m.Paste.Unbind()
	m.PageUp.Unbind()
	m.PageDown.Unbind()
	return m
}

// SetStyles changes the colours.
func (b *Model) SetStyles(st style.Input) {
	state := textarea.StyleState{
		Text: st.Text, Placeholder: st.Placeholder, Prompt: st.Prompt, Selection: st.Selected,
	}
	styles := b.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Cursor.Blink = false
	b.area.SetStyles(styles)
	b.styles++
}

// SetPlaceholder sets the text that an empty box shows.
func (b *Model) SetPlaceholder(text string) { b.area.Placeholder = text }

// SetWidth sets the width in cells. Call it before Rows.
func (b *Model) SetWidth(w int) {
	if w != b.width {
		b.width = w
		b.area.SetWidth(w)
	}
}

// Rows returns how many lines the whole text takes; for a text of more than maxLines, the
// result is slightly more than maxLines.
func (b *Model) Rows() int {
	rows := 0
	for _, line := range strings.Split(b.area.Value(), "\n") {
		rows += 1 + extraRows(line, b.width-promptWidth-1)
		if rows > maxLines {
			break
		}
	}
	return rows
}

// Focus makes the box accept keys and show the cursor.
func (b *Model) Focus() { b.area.Focus() }

// Blur removes the focus.
func (b *Model) Blur() { b.area.Blur() }

// Focused reports whether the box has the focus.
func (b *Model) Focused() bool { return b.area.Focused() }

// View draws the box in height lines.
func (b *Model) View(height int) string {
	if b.area.Height() != height {
		b.area.SetHeight(height)
		b.area, _ = b.area.Update(nil) // an update scrolls to the cursor in the new height
	}
	key := viewKey{
		text: b.area.Value(), placeholder: b.area.Placeholder, focused: b.area.Focused(), styles: b.styles,
		row: b.area.Line(), column: b.area.Column(), scroll: b.area.ScrollYOffset(), width: b.area.Width(), height: height,
	}
	if b.drawn.key != key || b.drawn.view == "" {
		b.drawn = drawn{key, b.area.View(), b.area.Cursor()}
	}
	return b.drawn.view
}

// Cursor returns the cursor in the box as the last View drew it; nil without the focus.
func (b *Model) Cursor() *tea.Cursor {
	if b.drawn.cursor == nil {
		return nil
	}
	c := *b.drawn.cursor
	return &c
}

// Key handles a key for the box.
func (b *Model) Key(k tea.KeyPressMsg) {
	before := b.area.Value()
	b.area, _ = b.area.Update(k)
	if after := b.area.Value(); after != before {
		b.undo.edited(before, after)
		b.recall.leave()
	}
}

// Text returns the whole message, in which each chip is replaced by its text.
func (b *Model) Text() string { return expand(b.area.Value(), b.chips) }

// Shown returns the text as displayed, with the labels of chips. Different messages have
// different shown texts.
func (b *Model) Shown() string { return b.area.Value() }

// Empty reports whether the text is empty or only white space.
func (b *Model) Empty() bool { return strings.TrimSpace(b.area.Value()) == "" }

// Set replaces the text. Undo and Older restore the previous text.
func (b *Model) Set(text string) {
	b.stashText()
	b.pushUndo()
	b.chips = nil
	b.replace(text)
}

// replace replaces the text without adding the previous text to the stash; a large text
// becomes a chip.
func (b *Model) replace(text string) {
	text = withLF(text)
	if large(text) {
		text = b.addChip(text)
	}
	b.setValue(text)
}

// setValue sets the text of the textarea, and moves the cursor to its end.
func (b *Model) setValue(text string) {
	b.area.Reset()
	b.area.SetValue(text)
	b.area.MoveToEnd()
}

// Reset empties the box and returns the previous text. Undo restores it.
func (b *Model) Reset() string {
	text := b.Text()
	b.empty()
	return text
}

// Exchange shows a text in place of the draft. restore brings back the draft and its undo
// steps.
func (b *Model) Exchange(text string) (restore func()) {
	draft, undo := state{b.area.Value(), b.chips}, b.undo
	undo.states = slices.Clone(undo.states)
	b.replace(text)
	return func() {
		b.chips, b.undo = draft.chips, undo
		b.setValue(draft.text)
	}
}

// Clear empties the box. Undo and Older restore the text.
func (b *Model) Clear() {
	b.stashText()
	b.empty()
}

// AddToStash adds to the stash a text that could not be sent; Older recalls it from there. The
// box does not change.
func (b *Model) AddToStash(text string) {
	b.recall.addToStash(text)
	b.recall.leave()
}

// empty empties the box. Undo restores the text.
func (b *Model) empty() {
	b.pushUndo()
	b.area.Reset()
	b.recall.leave()
}

// stashText adds the text of the box to the stash, unless the text was recalled and not
// changed.
func (b *Model) stashText() {
	if !b.recall.browsing && !b.Empty() {
		b.recall.addToStash(b.Text())
	}
}

// AtFirstLine reports whether the cursor is on the first row of the text.
func (b *Model) AtFirstLine() bool { return b.area.Line() == 0 && b.area.LineInfo().RowOffset == 0 }

// AtLastLine reports whether the cursor is on the last row of the text.
func (b *Model) AtLastLine() bool {
	return b.area.Line() == b.area.LineCount()-1 && b.area.LineInfo().RowOffset >= b.area.LineInfo().Height-1
}

// Move moves the cursor up a line if step is negative, otherwise down a line.
func (b *Model) Move(step int) {
	if step < 0 {
		b.area.CursorUp()
	} else {
		b.area.CursorDown()
	}
}

// NewLine inserts a line break.
func (b *Model) NewLine() {
	before := b.area.Value()
	b.undo.edited(before, before+"\n")
	b.area.InsertString("\n")
	b.recall.leave()
}

// withLF converts line ends to LF: the textarea would treat CR LF as two line ends.
func withLF(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// Before returns the text of the cursor's line before the cursor.
func (b *Model) Before() string {
	line := []rune(b.currentLine())
	return string(line[:min(b.area.Column(), len(line))])
}

// Word returns the text between the last white space before the cursor and the cursor.
func (b *Model) Word() string {
	before := b.Before()
	return before[len(strings.TrimRightFunc(before, func(r rune) bool { return !unicode.IsSpace(r) })):]
}

func (b *Model) currentLine() string {
	lines := strings.Split(b.area.Value(), "\n")
	if n := b.area.Line(); n < len(lines) {
		return lines[n]
	}
	return ""
}

// ReplaceBefore replaces the n runes before the cursor, within its line, with text. The
// replacement is a single edit.
func (b *Model) ReplaceBefore(n int, text string) {
	b.pushUndo()
	bound := b.area.KeyMap
	b.area.KeyMap = textarea.DefaultKeyMap() // the default key map contains the backspace used below
	for range n {
		b.area, _ = b.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	b.area.KeyMap = bound
	b.area.InsertString(withLF(text))
	b.recall.leave()
}

// SetColumn moves the cursor to the position before rune n of its line.
func (b *Model) SetColumn(n int) { b.area.SetCursorColumn(n) }
