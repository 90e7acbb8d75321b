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

// Terminal is what the environment says about the terminal.
type Terminal struct {
	Name    string // TERM
	Program string // TERM_PROGRAM
	Tmux    bool   // tmux is around the program
	Environ []string
	Known   *safetext.Redactor // keys that no child may inherit
	In, Out *os.File           // nil where they are not files
	Columns int
	Colors  int  // how many there are; 0 for none
	NoColor bool // they were turned off
	Unicode bool
	// Send names the key that sends, where ctrl+enter is known to arrive and where not.
	Send func(ctrlEnter bool) string
	// AnswerTime is how long the terminal may take to answer; 0 is 3 s. Only one that never
	// answers takes as long; what comes later is typed at the prompt of the shell.
	AnswerTime time.Duration
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }

// Examine finds out what the terminal lacks. It asks the terminal questions.
func (t Terminal) Examine(ctx context.Context) []Finding {
	dumb := t.Name == "" || t.Name == "dumb"
	terminal := Pass("terminal", "TERM is %s", cmp.Or(t.Name, "not set"))
	if t.Program != "" {
		terminal.Detail += ", the program " + t.Program
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

// keyboard asks the terminal for its keyboard protocol. tmux speaks none itself, but
// passesOn ctrl+enter from the terminal around it.
func (t Terminal) keyboard(ctx context.Context, passesOn bool) Finding {
	if inBackground(t.In) {
		return Pass("keyboard", "not asked: in the background")
	}
	k, err := AskKeyboard(ctx, t.In, t.Out, cmp.Or(t.AnswerTime, 3*time.Second))
	switch said := k.Sentence(t.Send); {
	case err != nil:
		return Fail("keyboard", MergedKeys, err, "")
	case k != KittyKeyboard && passesOn:
		return Pass("keyboard", "tmux passes ctrl+enter on where the terminal around it reports it; %s always sends", t.Send(false))
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
		colours = Problem("colours", Warning, NoUnicode, colours.Detail+"; the locale is not UTF-8, signs are ASCII", "")
	}
	return colours
}
