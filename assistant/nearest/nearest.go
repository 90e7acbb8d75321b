// Package nearest finds the name that was probably meant by a misspelt one.
//
// Both functions are pure. Distance costs the product of the two lengths: a
// caller bounds what it compares.
package nearest

import (
	"fmt"
	"strings"
)

// Hint is a sentence about the name that was probably meant: the nearest of the
// known names, or all of them when none is near; "" when none is known.
func Hint(name string, known []string) string {
	best, distance := "", 1+max(2, len(name)/3)
	for _, k := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf(" Did you mean '%s'?", best)
	case len(known) > 0:
		return " There is: " + strings.Join(known, ", ") + "."
	}
	return ""
}

// Distance counts the characters to insert, delete, replace or swap with
// their neighbour on the way from a to b: how far a name is from one that was meant.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	width := len(to) + 1
	rows := make([]int, 3*width)
	older, old, row := rows[:width], rows[width:2*width], rows[2*width:]
	for j := range old {
		old[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			cost := old[j]
			if from[i] != to[j] {
				cost++
			}
			row[j+1] = min(cost, old[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(to)]
}
