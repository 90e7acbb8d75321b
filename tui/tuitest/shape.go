package tuitest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind says how a character is drawn.
type kind uint8

const (
	letters kind = iota // text of a font
	sign                // text that a font may lack: it stands alone
	line                // lines through the middle of the cell
	area                // a part of the cell
)

// form is a kind and what cells must share to be drawn at once.
type form struct {
	kind  kind
	value int // of a line: its width in pixels; of an area: how much of its colour shows, in percent
}

// Widths of the lines of boxes, in pixels. Both are odd: a line then lies in the
// middle of a cell without a blur.
const (
	lightLine = 1
	heavyLine = 3
)

// The ways in which a line leaves the middle of its cell.
const (
	up = 1 << iota
	right
	down
	left
	round // the corner is an arc
)

// boxes are the characters that draw boxes.
var boxes = func() map[rune]stroke {
	ways := []int{
		left | right, up | down, right | down, down | left, up | right, up | left,
		up | right | down, up | down | left, right | down | left, up | right | left, up | right | down | left,
	}
	all := map[rune]stroke{
		'╭': {lightLine, right | down | round}, '╮': {lightLine, down | left | round},
		'╯': {lightLine, up | left | round}, '╰': {lightLine, up | right | round},
	}
	for width, signs := range map[int]string{lightLine: "─│┌┐└┘├┤┬┴┼", heavyLine: "━┃┏┓┗┛┣┫┳┻╋"} {
		for i, r := range []rune(signs) {
			all[r] = stroke{width, ways[i]}
		}
	}
	return all
}()

// stroke is the lines of a box in one cell.
type stroke struct{ width, ways int }

// part is the part of a cell that a block covers, in eighths from its top left,
// and how much of its colour shows, in percent.
type part struct{ x, y, w, h, percent int }

// eighths is how finely blocks divide a cell.
const eighths = 8

// blocks are the characters that fill parts of a cell.
var blocks = func() map[rune]part {
	all := map[rune]part{
		'▀': {0, 0, 8, 4, 100}, '█': {0, 0, 8, 8, 100}, '▐': {4, 0, 4, 8, 100},
		'░': {0, 0, 8, 8, 25}, '▒': {0, 0, 8, 8, 50}, '▓': {0, 0, 8, 8, 75},
	}
	for i, r := range []rune("▁▂▃▄▅▆▇") {
		all[r] = part{0, 7 - i, 8, i + 1, 100}
	}
	for i, r := range []rune("▏▎▍▌▋▊▉") {
		all[r] = part{0, 0, i + 1, 8, 100}
	}
	return all
}()

// formOf is how the content of a cell is drawn.
func formOf(content string) form {
	r, n := utf8.DecodeRuneInString(content)
	if n == len(content) {
		if s, ok := boxes[r]; ok {
			return form{line, s.width}
		}
		if b, ok := blocks[r]; ok {
			return form{area, b.percent}
		}
	}
	if isPlain(content) {
		return form{kind: letters}
	}
	return form{kind: sign}
}

// shape draws a run of boxes or blocks. Its path has its origin at the left end
// of the run, on the line that letters stand on; its title is what it stands for.
func (p *picture) shape(r run) {
	look, draw := fmt.Sprintf(`fill="none" stroke="%s"`, r.paint.fore), boxPath
	switch {
	case r.form.kind == area:
		look, draw = fmt.Sprintf(`fill="%s"`, r.paint.fore), blockPath
		if r.form.value < 100 {
			look += fmt.Sprintf(` fill-opacity="%g"`, float64(r.form.value)/100)
		}
	case r.form.value != lightLine:
		look += fmt.Sprintf(` stroke-width="%d"`, r.form.value)
	}
	p.add(`<path transform="translate(%d)" %s d="%s"><title>%s</title></path>`, r.x*cellWidth, look, draw(r.text), escaped(r.text))
}

// boxPath draws the lines of a run. Lines from cell to cell are one. Their caps
// are square: so corners are filled, and no seam shows between rows when the
// picture is scaled.
func boxPath(text string) string {
	const (
		middle = cellWidth / 2.0
		height = cellHeight/2.0 + 0.5 - ascent // of the middle, over the line that letters stand on
		top    = -ascent
		bottom = cellHeight - ascent
	)
	var b strings.Builder
	begun := -1.0 // where the line across that is being drawn began
	end := func(at float64) {
		if begun >= 0 {
			fmt.Fprintf(&b, "M%g %gH%g", begun, height, at)
			begun = -1
		}
	}
	for i, r := range []rune(text) {
		s, from := boxes[r], float64(i*cellWidth)
		mid := from + middle
		if s.ways&round != 0 {
			end(from)
			b.WriteString(arc(mid, height, s.ways))
			continue
		}
		switch {
		case s.ways&left == 0:
			end(from)
			if s.ways&right != 0 {
				begun = mid
			}
		case begun < 0:
			begun = from
		}
		if s.ways&left != 0 && s.ways&right == 0 {
			end(mid)
		}
		above, below := height, height
		if s.ways&up != 0 {
			above = top
		}
		if s.ways&down != 0 {
			below = bottom
		}
		if above != below {
			fmt.Fprintf(&b, "M%g %gV%g", mid, above, below)
		}
	}
	end(float64(utf8.RuneCountInString(text) * cellWidth))
	return b.String()
}

// arc is the round corner of a cell whose middle is at x, y.
func arc(x, y float64, ways int) string {
	const radius = cellWidth / 2.0
	edge, dy := float64(cellHeight-ascent), radius
	if ways&up != 0 {
		edge, dy = -ascent, -radius
	}
	dx := radius
	if ways&left != 0 {
		dx = -radius
	}
	return fmt.Sprintf("M%g %gV%gQ%g %g %g %g", x, edge, y+dy, x, y, x+dx, y)
}

// blockPath draws the blocks of a run. Blocks of one kind that are as wide as
// their cells are drawn as one.
func blockPath(text string) string {
	var b strings.Builder
	signs := []rune(text)
	for i := 0; i < len(signs); {
		s, n := blocks[signs[i]], 1
		for s.w == eighths && i+n < len(signs) && signs[i+n] == signs[i] {
			n++
		}
		w := float64(s.w*cellWidth*n) / eighths
		fmt.Fprintf(&b, "M%g %gh%gv%gh%gz", float64(i*cellWidth)+float64(s.x*cellWidth)/eighths,
			float64(s.y*cellHeight)/eighths-ascent, w, float64(s.h*cellHeight)/eighths, -w)
		i += n
	}
	return b.String()
}
