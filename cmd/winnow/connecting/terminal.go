package connecting

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"winnow/tui/lines"
)

// Terminal is the Ask of a Form whose questions are answered on a terminal: in is one.
// After the end of ctx a goroutine still waits for a line.
func Terminal(in *os.File, out io.Writer) lines.Ask {
	reader := bufio.NewReader(in)
	return func(ctx context.Context, prompt string, hidden bool) (string, error) {
		if hidden { // before the prompt, which the answer follows
			defer fmt.Fprintln(out)
			defer HideInput(in)()
		}
		fmt.Fprint(out, prompt)
		var line string
		var err error
		read := make(chan struct{})
		go func() {
			defer close(read)
			if line, err = reader.ReadString('\n'); line != "" {
				err = nil // the end of the input comes with the next line
			}
		}()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-read:
			return line, err
		}
	}
}

// HideInput makes a terminal show nothing of what is typed, until restore is called.
func HideInput(terminal *os.File) (restore func()) {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return func() {} // it is no terminal
	}
	hidden := *before
	hide(&hidden)
	_ = term.SetState(terminal.Fd(), &hidden) // at worst the key is seen as it is typed
	return func() { _ = term.SetState(terminal.Fd(), before) }
}
