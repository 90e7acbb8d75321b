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
	if len(name) > longest {
		return ""
	}
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

// distance counts the letters to insert, delete, replace or swap with the next.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				cost = 1 + min(cost, rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cost = min(cost, rows[i-2][j-2]+1)
			}
			rows[i][j] = cost
		}
	}
	return rows[len(a)][len(b)]
}

// longest is how much of a wrong value is repeated in a sentence.
const longest = 60

func quoted(s string) string { return `"` + safetext.Line(safetext.Visible(s), longest) + `"` }
