package markup

import (
	"fmt"
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

// Piece is a stretch of an answer: text, or the place of a tool's card.
type Piece struct {
	Text string
	Call int // index of the call whose card stands here; -1 for text
}

// Pieces splits an assistant text at its card markers. calls is the number of calls
// that the user sees, without silent ones. A marker that the model wrote, whose number is
// out of range, or whose card stood before, is text.
func Pieces(text string, calls int) []Piece {
	var out []Piece
	from := 0
	addText := func(s string) {
		if s = unescapeMarkers(s); strings.TrimSpace(s) != "" {
			out = append(out, Piece{Text: s, Call: -1})
		}
	}
	eachCard(text, calls, func(n, start, end int) {
		addText(text[from:start])
		out = append(out, Piece{Call: n})
		from = end
	})
	addText(text[from:])
	return out
}

// eachCard calls do with the number of each card marker of text, and where it begins and
// ends.
func eachCard(text string, calls int, do func(n, start, end int)) {
	const digits = 6 // of a number, at most
	shown := map[int]bool{}
	for at := 0; len(shown) < calls; {
		i := strings.Index(text[at:], cardStart)
		if i < 0 {
			return
		}
		start := at + i
		at = start + len(cardStart)
		number, _, closed := strings.Cut(text[at:min(len(text), at+digits+len("]]"))], "]]")
		n, err := strconv.Atoi(number)
		if !closed || err != nil || number[0] < '0' || n >= calls || shown[n] || start > 0 && text[start-1] == '\\' {
			continue
		}
		at += len(number) + len("]]")
		shown[n] = true
		do(n, start, at)
	}
}

func unescapeMarkers(s string) string { return strings.ReplaceAll(s, escapedStart, cardStart) }

// AfterLastCard is where the text after the last card marker begins; 0 without one.
func AfterLastCard(text string, calls int) (after int) {
	eachCard(text, calls, func(_, _, end int) { after = end })
	return after
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
