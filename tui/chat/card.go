package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// cardState is what a tool card shows.
type cardState int

const (
	cardRunning cardState = iota
	cardOK
	cardBad
)

// card is one tool call: a line that opens to its input and output.
type card struct {
	sheet
	foldable
	name     string
	input    json.RawMessage
	state    cardState
	message  string
	data     any
	progress string
	index    int
}

func newCard(c assistant.ToolCall) *card {
	k := &card{name: c.Name, input: c.Arguments, foldable: foldable{dirty: true}}
	if c.Result != nil {
		k.finish(c.Result.Success, c.Result.Message, c.Result.Data)
	}
	return k
}

func (c *card) finish(ok bool, message string, data any) {
	c.state, c.message, c.data, c.progress, c.dirty = cardBad, message, data, "", true
	if ok {
		c.state = cardOK
	}
}

func (c *card) changed() bool    { return c.dirty || c.state == cardRunning }
func (c *card) key(i int) string { return fmt.Sprintf("card %d", i) }

func (c *card) source() string {
	return fmt.Sprintf("%s %s\n%s", c.name, c.input, c.message)
}

// cardLead is how many cells fold and state take before the name.
const cardLead = 4

func (c *card) lines(width int, l *look) []string {
	c.dirty, c.sheet = false, sheet{}
	st := l.st
	fold := st.Icons.Folded
	if c.open {
		fold = st.Icons.Open
	}
	sign, tone := st.Icons.Running[l.frame%len(st.Icons.Running)], st.Chat.ToolRunning
	switch c.state {
	case cardOK:
		sign, tone = st.Icons.ToolOK, st.Chat.ToolOK
	case cardBad:
		sign, tone = st.Icons.ToolBad, st.Chat.ToolBad
	case cardRunning:
	}
	tail := firstLine(c.message)
	if c.state == cardRunning {
		tail = c.progress
	}
	head := tone.Render(fold+" "+sign) + " " + st.Chat.ToolName.Render(one(c.name))
	for _, s := range []string{shortArgs(c.input), one(tail)} {
		if s != "" {
			head += "  " + st.Chat.ToolArgs.Render(s)
		}
	}
	c.addLine(textwidth.Truncate(head, width, st.Icons.Ellipsis), markdown.Joint{Lead: cardLead})
	if c.open {
		c.body(width, l)
	}
	c.add("")
	return c.text
}

// cardTitle is how many cells the titles of an open card take, with what stands
// around them.
const cardTitle = 10

// body puts in what an open card shows: input, output, data.
func (c *card) body(width int, l *look) {
	st := l.st.Chat
	section := func(title, text string) {
		if text == "" {
			return
		}
		lead := min(cardTitle, max(0, width-leastText))
		c.put(safetext.Clean(text), lead, width-lead, func(i int, line string) string {
			if i > 0 {
				title = ""
			}
			label := "  " + st.Time.Render(fmt.Sprintf("%-7s", title)) + " "
			return textwidth.Truncate(label, lead, "") + st.ToolArgs.Render(line)
		})
	}
	section("input", visible(indented(c.input)))
	section("output", visible(c.message))
	if c.data != nil {
		raw, err := json.Marshal(c.data)
		if err == nil {
			section("data", visible(indented(raw)))
		}
	}
}

// leastText is how many cells a text keeps beside titles and indents.
const leastText = 8

// shortArgs shows the arguments on one line: the values of an object, whose
// names the tool's name implies, with everything made visible that hides.
func shortArgs(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return one(string(raw))
	}
	var values []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[key].(type) {
		case string:
			values = append(values, v)
		default:
			text, _ := json.Marshal(v)
			values = append(values, string(text))
		}
	}
	return one(strings.Join(values, " "))
}

func indented(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(text)
}
