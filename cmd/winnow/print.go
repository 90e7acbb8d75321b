package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// isTerminal says whether people read w, or type at it.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// colour says whether standard output may hold colours.
func (a *app) colour() bool {
	return !a.flags.noColor && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" && isTerminal(a.stdout)
}

// usualWidth is the width assumed of a terminal that does not tell.
const usualWidth = 80

func (a *app) width() int {
	if f, ok := a.stdout.(*os.File); ok {
		if w, _, err := term.GetSize(f.Fd()); err == nil && w > 0 {
			return w
		}
	}
	return usualWidth
}

// print writes one line of data, safe for a terminal. A program that reads it
// gets it as it is, a terminal without Unicode with other signs.
func (a *app) print(format string, args ...any) error {
	text := safetext.Clean(fmt.Sprintf(format, args...))
	if isTerminal(a.stdout) {
		text = a.signs(text)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}

// printJSON writes one value as one line.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.stdout.Write(visibleJSON(b.Bytes()))
	return err
}

// visibleJSON writes the characters of a JSON text that a terminal would obey or
// hide as \u escapes: the same value, safe to print.
func visibleJSON(text []byte) []byte {
	const firstUnsafe = 0x7f // JSON escapes the control characters below
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= firstUnsafe }) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for _, r := range string(text) {
		if r < firstUnsafe || safetext.Clean(string(r)) == string(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// column is one column of a table.
type column struct {
	title string
	right bool // numbers
}

// emit prints a result: v as one line of JSON with --json, else what text prints.
func (a *app) emit(v any, text func() error) error {
	if a.flags.json {
		return a.printJSON(v)
	}
	return text()
}

// interactive says whether a question can be asked on the terminal.
func (a *app) interactive() bool {
	return isTerminal(a.stdin) && isTerminal(a.stderr) && !a.flags.json
}

// answerGuard is how soon after a question a line cannot be an answer to it:
// nobody reads and types that fast, so it was typed before.
const answerGuard = 300 * time.Millisecond

// askYesNo asks a question on the terminal. Only y or yes is a yes; lines that
// were typed before the question was there are ignored.
func (a *app) askYesNo(ctx context.Context, question string) bool {
	if a.typed == nil {
		a.typed = readLines(a.stdin)
	}
	fmt.Fprint(a.stderr, safetext.Line(question, maxLine)+" [y/N] ")
	asked := time.Now()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.stderr)
			return false
		case line, ok := <-a.typed:
			if ok && time.Since(asked) < answerGuard {
				continue
			}
			line = strings.ToLower(strings.TrimSpace(line))
			return line == "y" || line == "yes"
		}
	}
}

// readLines reads lines until r ends, which closes the channel. A read from a
// terminal cannot be interrupted, so its goroutine ends with the process.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(r); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}

// table prints rows under titles, in aligned columns.
func (a *app) table(columns []column, rows [][]string) error {
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = strings.ToUpper(c.title)
	}
	rows = append([][]string{titles}, rows...)
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i := range row {
			row[i] = safetext.Line(row[i], maxName)
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if columns[i].right {
				cell, pad = pad+cell, ""
			}
			b.WriteString(cell + pad + "  ")
		}
		if err := a.print("%s", strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// colours is how many colours the terminal shows.
func (a *app) colours() style.Profile {
	if !a.colour() {
		return style.None
	}
	switch colorprofile.Env(a.environ) {
	case colorprofile.TrueColor:
		return style.True
	case colorprofile.ANSI256:
		return style.Col256
	case colorprofile.ANSI:
		return style.Col16
	default:
		return style.None
	}
}

// unicode says whether the terminal shows more than ASCII, as far as the locale tells.
func (a *app) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(a.env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return a.env("TERM") != "linux"
}

// signs replaces the signs that the terminal cannot show, as the screen does.
func (a *app) signs(words string) string {
	if a.unicode() {
		return words
	}
	return style.ASCII(words)
}

// theme is the style that the settings ask for; fixed says that they name the
// background, too, and the terminal is not to be asked.
func (a *app) theme(s *config.Settings) (o style.Options, fixed bool) {
	name, background := s.Background()
	return style.Options{Dark: background != "light", Colors: a.colours(), Unicode: a.unicode(), Theme: name}, background != "auto"
}

// plainStyles is the style of data: no colours.
func (a *app) plainStyles() style.Styles {
	return style.New(style.Options{Colors: style.None, Unicode: a.unicode()})
}

// styles is the style of what is printed without asking the terminal for its
// background: where the settings do not name one, the sixteen colours that are
// readable on either.
func (a *app) styles() style.Styles {
	settings := a.settings
	if settings == nil {
		settings = &config.Settings{}
	}
	o, fixed := a.theme(settings)
	if !fixed && o.Colors < style.Col16 {
		o.Colors = style.Col16
	}
	return style.New(o)
}

// progress shows how far long work is in one line of the terminal, which the
// next call overwrites. Nothing is shown where standard error is no terminal.
func (a *app) progress(format string, args ...any) {
	if !isTerminal(a.stderr) || a.flags.json || a.flags.plain {
		return
	}
	line := safetext.Line(fmt.Sprintf(format, args...), a.width()-1)
	line = a.signs(line)
	_, _ = io.WriteString(a.stderr, "\r"+line+ansi.EraseLineRight)
}

// progressEnd erases the line.
func (a *app) progressEnd() {
	if isTerminal(a.stderr) && !a.flags.json && !a.flags.plain {
		_, _ = io.WriteString(a.stderr, "\r"+ansi.EraseLineRight)
	}
}
