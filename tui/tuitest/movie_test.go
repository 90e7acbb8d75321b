package tuitest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const width, height = 30, 6

func shoot(frame string, seconds int) Shot {
	return Shot{SVG(frame, width, height, PictureOptions{Title: "t"}), time.Duration(seconds) * time.Second}
}

var steps = regexp.MustCompile(`([\d.]+)%\{visibility:(\w+)\}`)

// at is what a movie shows at a time: the texts and backgrounds, in their places.
func at(t *testing.T, movie []byte, percent float64) []string {
	t.Helper()
	visible := map[string]bool{"": true}
	for _, m := range regexp.MustCompile(`@keyframes (\w+)\{(.*)\}`).FindAllStringSubmatch(string(movie), -1) {
		for _, step := range steps.FindAllStringSubmatch(m[2], -1) {
			from, err := strconv.ParseFloat(step[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if from <= percent {
				visible[m[1]] = step[2] == "visible"
			}
		}
	}
	var shown []string
	var groups []xml.StartElement
	for d := xml.NewDecoder(bytes.NewReader(movie)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			slices.Sort(shown)
			return shown
		}
		if err != nil {
			t.Fatalf("the movie is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			groups = append(groups, token.Copy())
		case xml.EndElement:
			groups = groups[:len(groups)-1]
			continue
		case xml.CharData:
			if last := len(groups) - 1; last < 0 || groups[last].Name.Local != "text" || strings.TrimSpace(string(token)) == "" {
				continue
			}
		default:
			continue
		}
		place, on := "", true
		for _, g := range groups {
			for _, a := range g.Attr {
				if a.Name.Local == "class" {
					on = on && (visible[a.Value] || a.Value == "sign")
				} else {
					place += " " + a.Name.Local + "=" + a.Value
				}
			}
		}
		text, isText := token.(xml.CharData)
		if last := groups[len(groups)-1].Name.Local; on && (isText || last == "rect" || last == "path") {
			shown = append(shown, last+place+string(text))
		}
	}
}

// At each time a movie shows what the picture of that time shows, and nothing else.
func TestAMovieShowsItsShotsInTurn(t *testing.T) {
	shots := []Shot{
		shoot("one\n\x1b[41mred\x1b[0m <&>\n\nunchanged", 1),
		shoot("two\n\x1b[41mred\x1b[0m <&>\n┌──┐\nunchanged", 2),
		shoot("one\n\x1b[42mgreen\x1b[0m\n└──┘ ✓\nunchanged", 1),
	}
	movie := MovieSVG(shots)
	for n, percent := range []float64{10, 50, 90} {
		got, want := at(t, movie, percent), at(t, shots[n].SVG, 0)
		if !slices.Equal(got, want) {
			t.Errorf("at %g %% it shows\n%s\nwant\n%s", percent, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if n := bytes.Count(movie, []byte("unchanged")); n != 1 {
		t.Errorf("a row of all shots is in the movie %d times", n)
	}
	if n := bytes.Count(movie, []byte(">one<")); n != 1 {
		t.Errorf("a row of two shots is in the movie %d times", n)
	}
	// Without animation a class has the visibility of the last shot.
	still := regexp.MustCompile(`@keyframes \w+\{.*\}\n@media.*`).ReplaceAll(movie, nil)
	for _, m := range regexp.MustCompile(`\.(\w+)\{visibility:(\w+)\}`).FindAllSubmatch(still, -1) {
		last := regexp.MustCompile(fmt.Sprintf(`@keyframes %s\{.*visibility:(\w+)\}\}`, m[1])).FindSubmatch(movie)
		if last == nil || !bytes.Equal(last[1], m[2]) {
			t.Errorf("%s is %s at rest and %s at the end", m[1], m[2], last)
		}
	}
}

func TestAMovieOfNothing(t *testing.T) {
	if got := MovieSVG(nil); got != nil {
		t.Errorf("SVG(nil) = %s", got)
	}
	one := shoot("alone", 1)
	if got, want := at(t, MovieSVG([]Shot{one}), 0), at(t, one.SVG, 0); !slices.Equal(got, want) {
		t.Errorf("one shot shows %q, want %q", got, want)
	}
}
