package markup

import (
	"strconv"
	"strings"

	"winnow/assistant/safetext"
)

// The card marker of tool result N in the assistant's text is [[tool:N]]. Similar text written by the model is
// escaped with a backslash.
const (
	cardStart    = "[[tool:"
	escapedStart = `\[[tool:`
)

// CardMarker returns the marker of tool result n.
func CardMarker(n int) safetext.Text { return safetext.Sprintf(cardStart+"%d]]", n) }

// Piece is a part of an answer: text, or the place of a tool's card.
type Piece struct {
	Text safetext.Text
	Call int // index of the call whose card is shown here; -1 for text
}

// Pieces splits the assistant's text at its card markers. calls is the number of calls visible to the user, that is,
// without silent ones. A marker is plain text if it was written by the model, if its number is out of range, or if
// its card has already occurred.
func Pieces(text safetext.Text, calls int) []Piece {
	var out []Piece
	from := 0
	addText := func(t safetext.Text) {
		if t = Unescape(t); t.TrimSpace() != "" {
			out = append(out, Piece{Text: t, Call: -1})
		}
	}
	eachCard(string(text), calls, func(n, start, end int) {
		addText(text[from:start])
		out = append(out, Piece{Call: n})
		from = end
	})
	addText(text[from:])
	return out
}

// eachCard calls do with the number, start and end of each card marker in text; see Pieces.
func eachCard(text string, calls int, do func(n, start, end int)) {
	const digits = 6 // maximum number of digits
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

// Unescape returns text as the model wrote it, for a text without card markers: a Guard has escaped what looks like one.
func Unescape(text safetext.Text) safetext.Text { return text.ReplaceAll(escapedStart, cardStart) }

// AfterLastCard returns the index in text at which the last card marker ends, or 0 if there is none.
func AfterLastCard[S ~string](text S, calls int) (after int) {
	eachCard(string(text), calls, func(_, _, end int) { after = end })
	return after
}

// Guard escapes what looks like a card marker in streamed model text. Chunks may end anywhere, because a Guard holds
// back a possible beginning of a marker.
type Guard struct{ held safetext.Text }

// Write returns the text that is safe to pass on.
func (g *Guard) Write(chunk safetext.Text) safetext.Text {
	text := g.held + chunk
	hold := overlap(string(text), cardStart)
	g.held = text[len(text)-hold:]
	return text[:len(text)-hold].ReplaceAll(cardStart, escapedStart)
}

// Flush returns what was held back.
func (g *Guard) Flush() safetext.Text {
	text := g.held
	g.held = ""
	return text
}

// overlap returns the length of the longest proper prefix of word that is a suffix of text.
func overlap(text, word string) int {
	for n := min(len(word)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}
