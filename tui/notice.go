package tui

import (
	"strings"

	"winnow/assistant/safetext"
)

// notice is the sentence in the footer. It stays until the next key that does
// something.
type notice struct {
	text string
	warn bool
}

func (n *notice) say(text string) { n.text, n.warn = oneLine(text), false }
func (n *notice) bad(text string) { n.text, n.warn = oneLine(text), true }
func (n *notice) clear()          { n.text = "" }

// oneLine makes a text from anywhere safe for one line of the screen.
func oneLine(text string) string { return safetext.Line(text, 500) }

// trimEnd takes the line breaks off that editors leave at the end of a file.
func trimEnd(text string) string { return strings.TrimRight(text, "\r\n") }
