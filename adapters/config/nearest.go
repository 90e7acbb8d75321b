package config

import (
	"fmt"
	"strings"

	"winnow/assistant/safetext"
)

// farthest is how many letters a name may be off and still be meant: more
// would make every short name the nearest of every other.
const farthest = 3

// Nearest is the name that was most likely meant; "" when none is close.
func Nearest(name string, names []string) string {
	best, at := "", min(farthest, len(name)/2)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < at {
			best, at = n, d
		}
	}
	return best
}

// hint is the end of a sentence that names what was meant.
func hint(name string, names []string) string {
	if n := Nearest(name, names); n != "" {
		return fmt.Sprintf("; did you mean %s?", quoted(n))
	}
	return "; there are " + strings.Join(names, ", ")
}

// distance counts the letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// longest is how much of a wrong value is repeated in a sentence.
const longest = 60

func quoted(s string) string { return `"` + safetext.Line(safetext.Visible(s), longest) + `"` }
