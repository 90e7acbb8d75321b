package main

import (
	"fmt"
	"io"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
)

// progress shows how far long work is: one line on a terminal, which the next
// one takes the place of. Nothing is shown where no human looks.
func (a *app) progress(format string, args ...any) {
	if !isTerminal(a.stderr) || a.flags.json || a.flags.plain {
		return
	}
	line := safetext.Line(fmt.Sprintf(format, args...), a.width()-1)
	line = a.signs(line)
	_, _ = io.WriteString(a.stderr, "\r"+line+ansi.EraseLineRight)
}

// progressEnd takes the line away.
func (a *app) progressEnd() {
	if isTerminal(a.stderr) && !a.flags.json && !a.flags.plain {
		_, _ = io.WriteString(a.stderr, "\r"+ansi.EraseLineRight)
	}
}
