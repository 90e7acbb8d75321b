package assistant

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The marker of tool result N in the assistant's text is [[tool:N]]. What looks
// like one in the model's text is escaped by a backslash before it.
const (
	markerOpen    = "[[tool:"
	escapedMarker = `\[[tool:`
)

func marker(n int) string { return fmt.Sprintf("%s%d]]", markerOpen, n) }

var markerForm = regexp.MustCompile(`\\?\[\[tool:(\d{1,6})\]\]`)

// Piece is a stretch of an answer: text, or the place of a tool's card.
type Piece struct {
	Text string
	Call int // index of the call whose card stands here; -1 for text
}

// Pieces splits an assistant text at the markers of its calls, calls counted
// as the user sees them (without silent ones). A marker that the model wrote,
// or whose number is out of range, is text.
func Pieces(text string, calls int) []Piece {
	var out []Piece
	from := 0
	addText := func(s string) {
		if s = unescapeMarkers(s); strings.TrimSpace(s) != "" {
			out = append(out, Piece{Text: s, Call: -1})
		}
	}
	for _, at := range markerForm.FindAllStringSubmatchIndex(text, -1) {
		if !opensCard(text, at, calls) {
			continue
		}
		n, _ := strconv.Atoi(text[at[2]:at[3]])
		addText(text[from:at[0]])
		out = append(out, Piece{Call: n})
		from = at[1]
	}
	addText(text[from:])
	return out
}

// opensCard reports whether a match of markerForm is the marker of a call.
func opensCard(text string, at []int, calls int) bool {
	n, err := strconv.Atoi(text[at[2]:at[3]])
	return err == nil && n < calls && text[at[0]] != '\\'
}

func unescapeMarkers(s string) string { return strings.ReplaceAll(s, escapedMarker, markerOpen) }

// segments gives, for each call, the text that stands before it, and the text
// after the last one. Markers count only the calls that are not silent.
func segments(text string, calls []ToolCall) (before []string, last string) {
	before = make([]string, len(calls))
	var shown []int // index in calls of each card
	for i, c := range calls {
		if !c.Silent {
			shown = append(shown, i)
		}
	}
	var pending strings.Builder
	for _, p := range Pieces(text, len(shown)) {
		if p.Call < 0 {
			pending.WriteString(p.Text)
			continue
		}
		before[shown[p.Call]] = strings.TrimSpace(pending.String())
		pending.Reset()
	}
	return before, strings.TrimSpace(pending.String())
}

// markerGuard escapes what looks like a tool marker in streamed model text. It
// holds back at most the beginning of one, so that chunks may cut it anywhere.
type markerGuard struct{ held string }

// write returns the text that is safe to pass on.
func (g *markerGuard) write(chunk string) string {
	text := g.held + chunk
	keep := overlap(text, markerOpen)
	g.held = text[len(text)-keep:]
	return strings.ReplaceAll(text[:len(text)-keep], markerOpen, escapedMarker)
}

// flush returns what was held back.
func (g *markerGuard) flush() string {
	text := g.held
	g.held = ""
	return text
}

// overlap is the length of the longest proper beginning of word that text ends with.
func overlap(text, word string) int {
	for n := min(len(word)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}
