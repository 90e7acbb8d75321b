package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// toolCard shows a tool call in one line: the first line of its result or, if there is none
// yet or the answer repeats that line, the call itself. An open card also shows the whole
// input and output.
type toolCard struct {
	partState
	call     assistant.ToolCall // Result is nil while the tool is running
	index    int                // N of the marker [[tool:N]]
	repeated bool               // the answer contains the first line of the result
	progress string
	args     string // arguments of the call, in one line; "" until computed
	input    string // arguments of the call as indented JSON; "" until computed
	data     string // data of the result as indented JSON; "" until computed
}

func newToolCard(c assistant.ToolCall, index int) *toolCard {
	return &toolCard{call: c, index: index, partState: partState{foldable: true}}
}

// toolCards returns the cards of the calls that the user sees, in marker order.
func toolCards(p assistant.Pair) []*toolCard {
	var cards []*toolCard
	for _, c := range p.ToolCalls {
		if !c.Silent {
			cards = append(cards, newToolCard(c, len(cards)))
		}
	}
	return cards
}

// message returns the message of the result; "" while the tool is running.
func (c *toolCard) message() string {
	if c.call.Result == nil {
		return ""
	}
	return c.call.Result.Message
}

// markRepeated marks the finished tool cards as repeated if the answer contains the first
// line of their results, and as not repeated otherwise.
func markRepeated(parts []part, answer safetext.Text) {
	said := lettersOf(string(answer))
	for _, p := range parts {
		if c, ok := p.(*toolCard); ok && c.call.Result != nil {
			message := lettersOf(firstLine(c.message()))
			c.repeated, c.dirty = message != "" && strings.Contains(said, message), true
		}
	}
}

// lettersOf returns the letters and digits of a text, so that a comparison ignores Markdown.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

func (c *toolCard) source() string {
	return fmt.Sprintf("%s %s\n%s", c.call.Name, c.call.Arguments, c.message())
}

// conditional begins the message of a tool that only tried something out, for example
// "Would hide 3 models": the card must not look as if something had been done.
const conditional = "Would "

// cardLead is the width of the fold icon and the state sign before the text, in cells.
const cardLead = 4

func (c *toolCard) draw(width int, rc *renderContext) {
	c.begin()
	st := &rc.st
	sign, tone, tail := st.Icons.Running[rc.spinnerFrame%len(st.Icons.Running)], st.Chat.ToolRunning, c.progress
	if r := c.call.Result; r != nil {
		sign, tone, tail = st.Icons.ToolBad, st.Chat.ToolBad, firstLine(r.Message)
		switch {
		case r.Success && strings.HasPrefix(r.Message, conditional):
			sign, tone = st.Icons.Pending, st.Chat.Time
		case r.Success:
			sign, tone = st.Icons.ToolOK, st.Chat.ToolOK
		}
	}
	head := tone.Render(c.foldIcon(rc)+" "+sign) + " "
	said := oneLine(tail)
	if c.repeated {
		said = ""
	}
	saysResult := c.call.Result != nil && said != ""
	if saysResult {
		head += st.Chat.ToolArgs.Render(said)
	} else {
		head += st.Chat.ToolName.Render(oneLine(strings.ReplaceAll(c.call.Name, "_", " ")))
		for _, s := range []string{c.argumentLine(), said} {
			if s != "" {
				head += "  " + st.Chat.ToolArgs.Render(s)
			}
		}
	}
	c.addLine(style.Truncate(head, width, st.Icons.Ellipsis), cardLead)
	if c.open {
		if c.input == "" {
			c.input = indentedJSON(c.call.Arguments)
		}
		if saysResult {
			c.addSection("call", c.call.Name, width, rc)
		}
		c.addSection("input", c.input, width, rc)
		c.addSection("output", c.message(), width, rc)
		if c.call.Result != nil && c.call.Result.Data != nil {
			if c.data == "" {
				raw, _ := json.Marshal(c.call.Result.Data) // cannot fail, because the data was decoded from JSON
				c.data = indentedJSON(raw)
			}
			c.addSection("data", c.data, width, rc)
		}
	}
	c.addDecoration("")
}

// argumentLine returns the arguments of the call in one line, truncated if long.
func (c *toolCard) argumentLine() string {
	if c.args == "" && len(c.call.Arguments) > maxIndented {
		c.args = oneLine(string(c.call.Arguments[:maxIndented]))
	} else if c.args == "" {
		c.args = string(safetext.Line(pane.ArgumentLine(c.call.Arguments), 400))
	}
	return c.args
}

// titleCells is the width of the titles in an open card, including the space around them.
const titleCells = 10

// addSection adds a text with its title to an open card; nothing if the text is empty.
func (c *toolCard) addSection(title, text string, width int, rc *renderContext) {
	if text == "" {
		return
	}
	st := &rc.st.Chat
	lead := min(titleCells, max(0, width-minText))
	label := func(title string) string {
		return style.Truncate("  "+st.Time.Render(fmt.Sprintf("%-7s", title))+" ", lead, "")
	}
	first, rest := label(title), label("")
	c.addVisible(rc, text, layout{lead: lead, width: width - lead, draw: func(i int, line string) string {
		if i > 0 {
			return rest + st.ToolArgs.Render(line)
		}
		return first + st.ToolArgs.Render(line)
	}})
}

// minText is the minimum width of a text in cells. Titles and indents are cut to make room for it.
const minText = 8

// maxIndented is the maximum size of JSON that is indented, in bytes.
const maxIndented = 16 << 10

func indentedJSON(raw json.RawMessage) string {
	var v any
	if len(raw) > maxIndented || json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	text, _ := json.MarshalIndent(v, "", "  ")
	return string(text)
}

// oneLine converts external text to one line and makes hidden characters visible.
func oneLine(text string) string {
	const most, bytesPerCell = 400, 16 // more bytes per cell do not occur in practice
	if len(text) > most*bytesPerCell {
		text = text[:most*bytesPerCell]
	}
	return string(safetext.Line(safetext.VisibleOnce(text), most))
}

// visible makes hidden characters in a text visible, line by line.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = string(safetext.VisibleOnce(l))
	}
	return strings.Join(lines, "\n")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// spread returns a line of width cells with left and right at its edges. If they do not fit,
// left is truncated.
func spread(left, right string, width int) string {
	room := max(0, width-style.Width(right))
	if room > 0 && style.Width(left) >= room {
		left = style.Truncate(left, room-1, "…")
	}
	return style.Fit(left, room, "") + right
}
