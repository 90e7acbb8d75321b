package plain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// onTool tells of a call on one line, if nothing comes between: what is
// called, and behind it what came of it.
func (c *console) onTool(e assistant.Event) {
	t := c.turn
	switch e := e.(type) {
	case assistant.ToolStart:
		c.settle()
		t.tool, t.progress = called(e), 0
		c.out.begin("Tool")
		c.out.more(t.tool + " …")
		t.inTool = true
	case assistant.ToolProgress:
		c.onProgress(e)
	case assistant.ToolComplete:
		if !t.inTool {
			c.settle()
			c.out.begin("Tool")
			c.out.more(safetext.Line(e.Tool, maxLabel))
		}
		c.out.more(" " + outcome(e))
		c.out.fresh()
		t.inTool = false
	default:
	}
}

// progressStep is how much further a call must be before it is said again: a
// listener wants to know that it goes on, not each step.
const progressStep = 0.25

func (c *console) onProgress(e assistant.ToolProgress) {
	t := c.turn
	if e.Progress < t.progress+progressStep && e.Progress < 1 {
		return
	}
	t.progress = e.Progress
	if e.Progress >= 1 {
		return // the outcome is about to say it
	}
	c.say("Progress", fmt.Sprintf("%d percent, %s", int(e.Progress*100), safetext.Line(e.Message, maxQuoted)))
}

func outcome(e assistant.ToolComplete) string {
	message := safetext.Line(e.Message, maxOutcome)
	switch {
	case e.Success:
		return "done: " + message
	case e.ErrorCode == assistant.CodeDeclined:
		return message
	}
	return "failed (" + safetext.Line(e.ErrorCode, maxLabel) + "): " + message
}

// maxOutcome bounds what a tool says of itself, in cells; /pair reads it all.
const maxOutcome = 400

// called is a call as it is read: the tool and the values it was given.
func called(e assistant.ToolStart) string {
	name := safetext.Line(e.Tool, maxLabel)
	if values := arguments(e.Input); values != "" {
		return name + " " + values
	}
	return name
}

// arguments are the values of an object of arguments; with their names when
// there are several. Nothing in them hides.
func arguments(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return cut(visible(string(raw)))
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	parts := make([]string, len(names))
	for i, name := range names {
		var text string
		if json.Unmarshal(fields[name], &text) != nil {
			text = string(fields[name])
		}
		if parts[i] = visible(text); len(names) > 1 {
			parts[i] = visible(name) + "=" + parts[i]
		}
	}
	return cut(strings.Join(parts, " "))
}

func cut(text string) string { return safetext.Line(text, maxOutcome) }

// kind is the name of a type of payload as words.
func kind(name string) string {
	if name == "" {
		return "Card"
	}
	name = words(name)
	return strings.ToUpper(name[:1]) + name[1:]
}
