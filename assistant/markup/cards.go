package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The card marker of tool result N in the assistant's text is [[tool:N]]. What
// looks like one in the model's text is escaped by a backslash before it.
const (
	cardStart    = "[[tool:"
	escapedStart = `\[[tool:`
)

// CardMarker is the marker of tool result n.
func CardMarker(n int) string { return fmt.Sprintf("%s%d]]", cardStart, n) }

var cardForm = regexp.MustCompile(`\\?\[\[tool:(\d{1,6})\]\]`)

// Piece is a stretch of an answer: text, or the place of a tool's card.
type Piece struct {
	Text string
	Call int // index of the call whose card stands here; -1 for text
}

// Pieces splits an assistant text at its card markers. calls is the number of calls
// that the user sees, without silent ones. A marker that the model wrote, or whose
// number is out of range, is text.
func Pieces(text string, calls int) []Piece {
	var out []Piece
	from := 0
	addText := func(s string) {
		if s = unescapeMarkers(s); strings.TrimSpace(s) != "" {
			out = append(out, Piece{Text: s, Call: -1})
		}
	}
	for _, at := range cardForm.FindAllStringSubmatchIndex(text, -1) {
		if !isCard(text, at, calls) {
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

// isCard reports whether a match of cardForm is the marker of a call.
func isCard(text string, at []int, calls int) bool {
	n, err := strconv.Atoi(text[at[2]:at[3]])
	return err == nil && n < calls && text[at[0]] != '\\'
}

func unescapeMarkers(s string) string { return strings.ReplaceAll(s, escapedStart, cardStart) }

// AfterLastCard is where the text after the last card marker begins; 0 without one.
func AfterLastCard(text string, calls int) int {
	for _, at := range slices.Backward(cardForm.FindAllStringSubmatchIndex(text, -1)) {
		if isCard(text, at, calls) {
			return at[1]
		}
	}
	return 0
}

// Guard escapes what looks like a card marker in streamed model text. It holds back
// at most the beginning of one, so that a chunk may end anywhere.
type Guard struct{ held string }

// Write returns the text that is safe to pass on.
func (g *Guard) Write(chunk string) string {
	text := g.held + chunk
	hold := overlap(text, cardStart)
	g.held = text[len(text)-hold:]
	return strings.ReplaceAll(text[:len(text)-hold], cardStart, escapedStart)
}

// Flush returns what was held back.
func (g *Guard) Flush() string {
	text := g.held
	g.held = ""
	return text
}

// overlap is the length of the longest proper prefix of word that text ends with.
func overlap(text, word string) int {
	for n := min(len(word)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}
