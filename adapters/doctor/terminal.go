package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"

	"winnow/assistant/safetext"
)

// Terminal describes the terminal as far as the environment reveals it.
type Terminal struct {
	Name    string // TERM
	Program string // TERM_PROGRAM
	Tmux    bool   // the program runs in tmux
	Environ []string
	Known   *safetext.Redactor // keys that child processes must not inherit
	In, Out *os.File           // nil if they are not files
	Columns int
	Colors  int  // number of colours; 0 for none
	NoColor bool // colours are turned off
	Unicode bool
	// Send names the send key, depending on whether ctrl+enter is known to arrive.
	Send func(ctrlEnter bool) string
	// AnswerTime is how long to wait for the terminal's answers; 0 means 3 s. Only a terminal that never answers takes
	// this long; answers that arrive later appear as input in the shell.
	AnswerTime time.Duration
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }

// Examine checks what the terminal lacks. It sends queries to the terminal.
func (t Terminal) Examine(ctx context.Context) []Finding {
	dumb := t.Name == "" || t.Name == "dumb"
	terminal := Pass("terminal", "TERM is %s", cmp.Or(t.Name, "not set"))
	if t.Program != "" {
		terminal.Detail += ", TERM_PROGRAM is " + t.Program
	}
	switch {
	case !isTerminal(t.Out):
		terminal.Detail += "; standard output is not a terminal"
	case dumb:
		terminal = Problem("terminal", Warning, PlainTerminal, terminal.Detail, "")
	default:
		terminal.Detail += fmt.Sprintf(", %d columns; winnow doctor keys shows which keys arrive here", t.Columns)
	}
	found := []Finding{terminal, t.colours()}
	passesOn := false
	if t.Tmux {
		tmux := Tmux(ctx, t.Environ, t.Known)
		found, passesOn = append(found, tmux), tmux.State == OK
	}
	if !dumb && isTerminal(t.In) && isTerminal(t.Out) {
		found = slices.Insert(found, 1, t.keyboard(ctx, passesOn))
	}
	return found
}

// keyboard queries the terminal for its keyboard protocol. tmux supports none, but if passesOn is set, tmux passes on
// ctrl+enter from the terminal in which it runs.
func (t Terminal) keyboard(ctx context.Context, passesOn bool) Finding {
	if inBackground(t.In) {
		return Pass("keyboard", "not checked, because winnow runs in the background")
	}
	k, err := AskKeyboard(ctx, t.In, t.Out, cmp.Or(t.AnswerTime, 3*time.Second))
	switch said := k.Sentence(t.Send); {
	case err != nil:
		return Fail("keyboard", MergedKeys, err, "")
	case k != KittyKeyboard && passesOn:
		return Pass("keyboard", "tmux passes on ctrl+enter if the terminal it runs in reports it; %s always sends", t.Send(false))
	case k != KittyKeyboard && t.Send(true) == "ctrl+enter":
		return Problem("keyboard", Warning, MergedKeys, said, "")
	default:
		return Pass("keyboard", "%s", said)
	}
}

func (t Terminal) colours() Finding {
	const few = 1 << 4
	colours := Pass("colours", "%s", map[int]string{0: "none", few: "16", 1 << 8: "256", 1 << 24: "24 bit"}[t.Colors])
	switch {
	case t.NoColor:
		colours.Detail += " (NO_COLOR is set)"
	case isTerminal(t.Out) && t.Colors <= few:
		colours = Problem("colours", Warning, FewColours, colours.Detail, "")
	}
	if !t.Unicode {
		colours = Problem("colours", Warning, NoUnicode, colours.Detail+"; the locale is not UTF-8, so symbols are shown in ASCII", "")
	}
	return colours
}
