package tuitest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// element is a piece of a picture's screen that holds text.
type element struct {
	name, text string
	x, y       int // of its row and its beginning, in cells
	attrs      map[string]string
}

var pathStart = regexp.MustCompile(`^translate\((\d+)\)$`)

// elements reads a picture and fails the test unless it is well-formed.
func elements(t *testing.T, svg []byte) []element {
	t.Helper()
	var out []element
	var path map[string]string
	y, screen := 0, false
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("the picture is not well-formed: %v\n%s", err, svg)
		}
		begin, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attrs := map[string]string{}
		for _, a := range begin.Attr {
			attrs[a.Name.Local] = a.Value
		}
		switch name := begin.Name.Local; {
		case name == "g" && attrs["id"] == "screen":
			screen = true
		case !screen:
		case pathStart.MatchString(attrs["transform"]):
			path = attrs
		case name == "g":
			var dx, dy int
			if _, err := fmt.Sscanf(attrs["transform"], "translate(%d %d)", &dx, &dy); err != nil || dx != margin {
				t.Fatalf("a row is at %q: %v", attrs["transform"], err)
			}
			y = (dy - barHeight - ascent) / cellHeight
		case name == "text", name == "title":
			var text string
			if err := d.DecodeElement(&text, &begin); err != nil {
				t.Fatal(err)
			}
			at := attrs["x"]
			if name == "title" {
				attrs, at = path, pathStart.FindStringSubmatch(path["transform"])[1]
			}
			x, err := strconv.Atoi(at)
			if err != nil || x%cellWidth != 0 {
				t.Fatalf("%q begins at %s, which is no edge of a cell", text, at)
			}
			out = append(out, element{name, text, x / cellWidth, y, attrs})
		}
	}
}

// grid puts the text of a picture back where it is drawn.
func grid(t *testing.T, svg []byte, h int) string {
	t.Helper()
	rows := make([]string, h)
	for _, e := range elements(t, svg) {
		gap := e.x - ansi.StringWidth(rows[e.y])
		if gap < 0 {
			t.Fatalf("%q lies on top of %q", e.text, rows[e.y])
		}
		rows[e.y] += strings.Repeat(" ", gap) + e.text
	}
	return strings.Join(rows, "\n")
}

// stripped is a frame without its styles and the space at the ends of its lines.
func stripped(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

var frames = map[string]string{
	"empty":       "",
	"words":       "one two  three\n\n  four",
	"box":         "┌─ a ──┐\n│ b    ┃\n╰──┬───╯\n┗━━┻━━━┛\n▌██▄▄░░▐",
	"wide":        "漢字 and 👨‍👩‍👧 and e\u0301.\n✓│⚑│漢│",
	"styles":      "\x1b[1mbold\x1b[0m \x1b[2mfaint\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munder line\x1b[0m \x1b[7m back \x1b[0m \x1b[9mgone\x1b[0m",
	"colours":     "\x1b[31mred\x1b[38;5;208morange\x1b[38;2;1;2;3mown\x1b[48;2;9;8;7m behind \x1b[m plain",
	"markup":      `<script>alert("&amp;")</script> ]]> <!-- ' -->`,
	"right first": "abc שלום def",
}

func TestThePictureHoldsTheFrame(t *testing.T) {
	for name, frame := range frames {
		t.Run(name, func(t *testing.T) {
			want := stripped(frame)
			h := strings.Count(want, "\n") + 1
			for _, dark := range []bool{true, false} {
				svg := SVG(frame, 60, h, PictureOptions{Dark: dark, Title: "a & b"})
				if got := grid(t, svg, h); got != want {
					t.Errorf("the picture says\n%s\nwant\n%s", got, want)
				}
				if again := SVG(frame, 60, h, PictureOptions{Dark: dark, Title: "a & b"}); !bytes.Equal(svg, again) {
					t.Error("the same frame gave two pictures")
				}
			}
		})
	}
}

func TestStyles(t *testing.T) {
	const fore, back = "#e4e4ec", "#1c1d24"
	for name, c := range map[string]struct {
		sgr  string
		want map[string]string // of the text
		rect string            // colour behind it
	}{
		"none":              {"", map[string]string{}, ""},
		"bold italic":       {"1;3", map[string]string{"font-weight": "bold", "font-style": "italic"}, ""},
		"sixteen":           {"31", map[string]string{"fill": "#800000"}, ""},
		"256":               {"38;5;208", map[string]string{"fill": "#ff8700"}, ""},
		"true":              {"38;2;1;2;3;48;2;9;8;7", map[string]string{"fill": "#010203"}, "#090807"},
		"reverse":           {"7", map[string]string{"fill": back}, fore},
		"reverse of colour": {"7;38;2;1;2;3;48;2;9;8;7", map[string]string{"fill": "#090807"}, "#010203"},
		"faint":             {"2;38;2;200;100;0;48;2;0;0;0", map[string]string{"fill": "#643200"}, "#000000"},
		"hidden":            {"8", map[string]string{"fill": back}, ""},
		"ended":             {"1;31m\x1b[0", map[string]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			svg := SVG("\x1b["+c.sgr+"mword", 10, 1, PictureOptions{Dark: true})
			all := elements(t, svg)
			if len(all) != 1 {
				t.Fatalf("%d runs, want 1:\n%s", len(all), svg)
			}
			for _, key := range []string{"fill", "font-weight", "font-style"} {
				if got := all[0].attrs[key]; got != c.want[key] {
					t.Errorf("%s is %q, want %q", key, got, c.want[key])
				}
			}
			rect := fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d" fill=%q/>`, margin, barHeight, 4*cellWidth, cellHeight, c.rect)
			if got := strings.Contains(string(svg), rect); got != (c.rect != "") {
				t.Errorf("the background %s is drawn: %v\n%s", rect, got, svg)
			}
		})
	}
}

func TestLinesUnderAndThrough(t *testing.T) {
	svg := string(SVG("ab \x1b[4mc d\x1b[24;9mx", 10, 1, PictureOptions{Dark: true}))
	for _, want := range []string{`d="M27 2.5h27"`, `d="M54 -4.5h9"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
}

// Each character of boxes reaches those edges of its cell that it points to, in
// their middle, and no other.
func TestBoxesJoin(t *testing.T) {
	const middleX, middleY = 4.5, -4.5
	edges := map[rune][2]float64{'u': {middleX, -14}, 'd': {middleX, 4}, 'l': {0, middleY}, 'r': {9, middleY}}
	for r, want := range map[rune]string{
		'─': "rl", '│': "ud", '┌': "rd", '┐': "dl", '└': "ur", '┘': "ul", '├': "urd", '┤': "udl", '┬': "rdl", '┴': "url", '┼': "urdl",
		'━': "rl", '┃': "ud", '┏': "rd", '╋': "urdl", '╭': "rd", '╮': "dl", '╯': "ul", '╰': "ur",
	} {
		reached := points(t, path(string(r)))
		for way, at := range edges {
			if got, want := reached[at], strings.ContainsRune(want, way); got != want {
				t.Errorf("%c goes to %v: %v, want %v (%s)", r, at, got, want, path(string(r)))
			}
		}
	}
	for text, want := range map[string]string{
		"█▌": "M0 -14h9v18h-9zM9 -14h4.5v18h-4.5z", "▄": "M0 -5h9v9h-9z", "▀": "M0 -14h9v9h-9z", "▐": "M4.5 -14h4.5v18h-4.5z",
	} {
		if got := path(text); got != want {
			t.Errorf("path(%s) = %s, want %s", text, got, want)
		}
	}
}

var command = regexp.MustCompile(`([MVHQ])([-\d. ]*)`)

// points are where the lines of a path begin and end.
func points(t *testing.T, path string) map[[2]float64]bool {
	t.Helper()
	out := map[[2]float64]bool{}
	var x, y float64
	for _, c := range command.FindAllStringSubmatch(path, -1) {
		var n []float64
		for _, f := range strings.Fields(c[2]) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			n = append(n, v)
		}
		switch c[1] {
		case "H":
			x = n[0]
		case "V":
			y = n[0]
		default:
			x, y = n[len(n)-2], n[len(n)-1]
		}
		out[[2]float64{x, y}] = true
	}
	return out
}

func TestHostileFrames(t *testing.T) {
	for name, frame := range map[string]string{
		"title in markup": "</text></svg><svg onload=x>",
		"controls":        "a\x00\x01\x07\x7fb\x1b]52;c;aGk=\x07c\x1b[2Jd\x1b[10;10He",
		"no text":         "\xff\xfe\xc3(",
		"not of XML":      "a\ufffe\uffff b",
		"cut sequence":    "abc\x1b[38;2;1",
		"too many":        strings.Repeat(strings.Repeat("漢", 50)+"\n", 50),
		"returns":         "abcdef\rxy\r\nz\tq",
		"combining":       "\u0301e" + strings.Repeat("\u0301", 100),
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range []int{-1, 0, 1, 7, 40} {
				svg := SVG(frame, w, 5, PictureOptions{Title: frame})
				for _, e := range elements(t, svg) {
					if e.x >= max(w, 1) || e.y >= 5 {
						t.Errorf("%q lies outside, at %d, %d", e.text, e.x, e.y)
					}
				}
				if bytes.Contains(svg, []byte("<svg onload")) {
					t.Errorf("text became markup:\n%s", svg)
				}
				if !utf8.Valid(svg) {
					t.Errorf("the picture is not UTF-8")
				}
			}
		})
	}
}

// TestBackgroundsLieUnderAllText holds that no row paints over the one before.
func TestBackgroundsLieUnderAllText(t *testing.T) {
	svg := string(SVG("\x1b[7mone\ntwo", 10, 2, PictureOptions{}))
	if strings.LastIndex(svg, "<rect") > strings.Index(svg, ">one<") {
		t.Errorf("a background comes after text:\n%s", svg)
	}
}
