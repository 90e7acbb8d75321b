package tuitest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shot is one picture of a movie.
type Shot struct {
	SVG []byte        // made by the function SVG; all shots of a movie have the same size and title
	For time.Duration // how long the picture is shown
}

// What separates the parts of a picture made by SVG.
const (
	backsBegin = `<g shape-rendering="crispEdges">` + "\n" // starts the cells' backgrounds, one line each
	rowEnd     = "\n</g>"                                  // ends the text of a row
)

// movieElement is a background or a row, with the numbers of the shots that show it.
type movieElement struct {
	text  string
	shots []int
}

// MovieSVG returns a movie that shows the shots in order and then repeats. It returns nil if
// there are no shots.
func MovieSVG(shots []Shot) []byte {
	if len(shots) == 0 {
		return nil
	}
	var backs, texts []movieElement
	var head, textsHead string
	for n, s := range shots {
		before, rest, _ := strings.Cut(string(s.SVG), backsBegin)
		rects, rest, _ := strings.Cut(rest, "</g>\n")
		headOfTexts, rows, _ := strings.Cut(rest, "\n")
		rows = strings.TrimSuffix(strings.TrimSpace(rows), "</g>\n</svg>")
		head, textsHead = before, headOfTexts
		for rect := range strings.Lines(rects) {
			backs = add(backs, strings.TrimSuffix(rect, "\n"), n)
		}
		for row := range strings.SplitSeq(rows, rowEnd+"\n") {
			if row = strings.TrimSuffix(strings.TrimSpace(row), rowEnd); row != "" {
				texts = add(texts, row+rowEnd, n)
			}
		}
	}
	classes := &styles{shots: shots}
	body := backsBegin + classes.wrap(backs) + "</g>\n" + textsHead + "\n" + classes.wrap(texts) + "</g>\n</svg>\n"
	return []byte(head + "<style>\n" + classes.sheet.String() + "</style>\n" + body)
}

// add records that shot n shows a part of the picture.
func add(all []movieElement, text string, n int) []movieElement {
	i := slices.IndexFunc(all, func(e movieElement) bool { return e.text == text })
	if i < 0 {
		return append(all, movieElement{text, []int{n}})
	}
	all[i].shots = append(all[i].shots, n)
	return all
}

// styles holds the classes of elements. Elements that the same shots show share a class.
type styles struct {
	shots []Shot
	names map[string]string // by the shots that show the class
	sheet strings.Builder
}

// wrap returns the elements as SVG. Elements that only some shots show are in groups with a
// class.
func (s *styles) wrap(all []movieElement) string {
	slices.SortStableFunc(all, func(a, b movieElement) int { return slices.Compare(a.shots, b.shots) })
	var b strings.Builder
	open := ""
	for _, e := range all {
		class := s.class(e.shots)
		if class != open {
			if open != "" {
				b.WriteString("</g>\n")
			}
			if class != "" {
				fmt.Fprintf(&b, "<g class=%q>\n", class)
			}
			open = class
		}
		b.WriteString(e.text + "\n")
	}
	if open != "" {
		b.WriteString("</g>\n")
	}
	return b.String()
}

// class returns the name of the class that is visible in these shots; "" if these are all
// shots.
func (s *styles) class(shown []int) string {
	if len(shown) == len(s.shots) {
		return ""
	}
	key := fmt.Sprint(shown)
	if name, ok := s.names[key]; ok {
		return name
	}
	if s.names == nil {
		s.names = map[string]string{}
	}
	name := fmt.Sprintf("s%d", len(s.names))
	s.names[key] = name
	var whole, at time.Duration
	for _, shot := range s.shots {
		whole += shot.For
	}
	state := func(n int) string {
		if slices.Contains(shown, n) {
			return "visible"
		}
		return "hidden"
	}
	var steps strings.Builder
	for n, shot := range s.shots {
		if n == 0 || state(n) != state(n-1) {
			fmt.Fprintf(&steps, "%.2f%%{visibility:%s}", 100*at.Seconds()/whole.Seconds(), state(n))
		}
		at += shot.For
	}
	fmt.Fprintf(&s.sheet, ".%s{visibility:%s}@keyframes %s{%s}\n", name, state(len(s.shots)-1), name, &steps)
	fmt.Fprintf(&s.sheet, "@media (prefers-reduced-motion:no-preference){.%s{animation:%s %gs step-end infinite}}\n", name, name, whole.Seconds())
	return name
}
