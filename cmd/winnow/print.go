package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"winnow/assistant/safetext"
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

// visibleJSON writes the characters of a JSON text that a terminal would obey
// or hide as \u escapes: the same value, safe to look at.
func visibleJSON(text []byte) []byte {
	if isPlain(text) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < del || safetext.Clean(string(r)) == string(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			hi, lo := surrogates(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// del is the one control character that JSON does not escape.
const del = 0x7f

// isPlain says whether a JSON text is ASCII without controls.
func isPlain(text []byte) bool {
	for _, b := range text {
		if b >= del {
			return false
		}
	}
	return true
}

// surrogates is a character above U+FFFF as JSON's escapes write it.
func surrogates(r rune) (hi, lo rune) {
	const first, tenBits = 0x10000, 0x3ff
	r -= first
	return 0xd800 + r>>10, 0xdc00 + r&tenBits
}

// column is one column of a table.
type column struct {
	title string
	right bool // numbers
}

// table writes rows under titles, aligned, for people.
func (a *app) table(columns []column, rows [][]string) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = ansi.StringWidth(c.title)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = safetext.Line(row[i], maxShown)
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = strings.ToUpper(c.title)
	}
	for _, row := range append([][]string{titles}, rows...) {
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
