package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"winnow/adapters/config"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// timeLayout formats times for people.
const timeLayout = "2006-01-02 15:04:05"

// emit prints a result on standard output: with --json, v as one line of JSON; otherwise lines, sanitised.
func (a *app) emit(v any, lines ...string) error {
	if a.flags.json {
		return a.printJSON(v)
	}
	for _, line := range lines {
		text := string(safetext.Clean(line))
		if isTerminal(a.stdout) {
			text = a.displayable(text)
		}
		if _, err := fmt.Fprintln(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// printErr prints one line to standard error, sanitised and with keys redacted. While a screen is drawn, the line is
// kept for printDeferred. Empty text is ignored. It is safe for concurrent use.
func (a *app) printErr(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text == "" {
		return
	}
	a.errLine(safetext.Line(a.redactor.Redact(text), maxLine))
}

// errLine prints a line on standard error, or keeps it for printDeferred.
func (a *app) errLine(text safetext.Text) {
	line := a.displayable(string(text))
	a.deferMu.Lock()
	defer a.deferMu.Unlock()
	switch {
	case !a.deferring:
		fmt.Fprintln(a.stderr, line)
	case !slices.Contains(a.deferred, line):
		a.deferred = append(a.deferred, line)
	}
}

// defers reports whether a screen is drawn, so that printErr defers its lines.
func (a *app) defers() bool {
	a.deferMu.Lock()
	defer a.deferMu.Unlock()
	return a.deferring
}

// printDeferred prints the lines that printErr has deferred.
func (a *app) printDeferred() {
	a.deferMu.Lock()
	defer a.deferMu.Unlock()
	for _, line := range a.deferred {
		fmt.Fprintln(a.stderr, line)
	}
	a.deferring, a.deferred = false, nil
}

// printJSON prints v as one line of JSON.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.stdout.Write(safetext.JSON(b.Bytes()))
	return err
}

// visible returns a pattern, id or name with its invisible characters spelled out.
func visible(s string) string { return string(safetext.Visible(s)) }

// nonNil returns a copy that is never nil, so that an empty list is [] in JSON.
func nonNil[T any](s []T) []T { return append([]T{}, s...) }

// progress shows the progress of long work on one line, which the next call overwrites; "" erases it. It prints
// nothing with --json or --plain, or if standard error is not a terminal.
func (a *app) progress(format string, args ...any) {
	if !isTerminal(a.stderr) || a.flags.json || a.flags.plain {
		return
	}
	line := a.displayable(string(safetext.Line(fmt.Sprintf(format, args...), a.width()-1)))
	_, _ = io.WriteString(a.stderr, "\r"+line+ansi.EraseLineRight)
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}

// width returns the number of columns of the terminal, or 80 if it is unknown.
func (a *app) width() int {
	if f, ok := a.stdout.(*os.File); ok {
		if w, _, err := term.GetSize(f.Fd()); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// hasColour reports whether standard output may contain colours.
func (a *app) hasColour() bool {
	return !a.flags.noColor && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" && (a.onScreen || isTerminal(a.stdout))
}

// colourProfile returns the range of colours that the terminal supports.
func (a *app) colourProfile() style.Profile {
	profiles := map[colorprofile.Profile]style.Profile{
		colorprofile.TrueColor: style.TrueColor, colorprofile.ANSI256: style.ANSI256, colorprofile.ANSI: style.ANSI16,
	}
	if p, ok := profiles[colorprofile.Env(a.environ)]; ok && a.hasColour() {
		return p
	}
	return style.NoColor
}

// unicode reports whether the terminal can show more than ASCII, judged by the locale.
func (a *app) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(a.env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return a.env("TERM") != "linux"
}

// displayable replaces the symbols that the terminal cannot show, as the screen does.
func (a *app) displayable(text string) string {
	if a.unicode() {
		return text
	}
	return style.ASCII(text)
}

// theme returns the style that the settings ask for. fixed reports that the settings also specify the background, so
// that the terminal need not be asked.
func (a *app) theme(s *config.Settings) (o style.Options, fixed bool) {
	name, background := s.Background()
	return style.Options{Dark: background != "light", Profile: a.colourProfile(), Unicode: a.unicode(), Theme: name}, background != "auto"
}

// answerStyles returns the style of an answer that is printed without asking the terminal for its background. Unless
// the settings specify the background, it uses at most sixteen colours, which are readable on any background.
func (a *app) answerStyles() style.Styles {
	o, fixed := a.theme(a.settings)
	if !fixed && o.Profile < style.ANSI16 {
		o.Profile = style.ANSI16
	}
	return style.New(o)
}
