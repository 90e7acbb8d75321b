// Package nearest finds the known name that is closest to a misspelt one.
//
// All functions are pure. Comparing two names takes time proportional to the product of their lengths, so callers must
// limit the lengths.
package nearest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Hint returns a sentence, preceded by a space, that suggests the nearest known name or, if none is near, lists all
// known names. It returns "" if there are no known names. A name is near if it is within two edits or one edit per
// three bytes, whichever is more, ignoring case.
func Hint(name string, known []string) string {
	best, limit := "", 1+max(2, len(name)/3)
	for _, k := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(k)); d < limit {
			best, limit = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf(" Did you mean '%s'?", best)
	case len(known) > 0:
		return " Available: " + strings.Join(known, ", ") + "."
	}
	return ""
}

// Names returns up to n known names that may have been meant, nearest first, ignoring case: names that contain the given
// name or are contained in it (their distance is the difference in length), and names within one edit per three bytes.
func Names(name string, known []string, n int) []string {
	name = strings.ToLower(name)
	distance := map[string]int{}
	var found []string
	for _, k := range known {
		lower := strings.ToLower(k)
		limit, d := max(1, len(name)/3), max(len(lower)-len(name), len(name)-len(lower))
		contained := strings.Contains(lower, name) || len(lower) > 2 && strings.Contains(name, lower)
		if !contained && d <= limit {
			d = Distance(name, lower)
		}
		if name != "" && (contained || d <= limit) {
			distance[k], found = d, append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
	return found[:min(len(found), n)]
}

// Distance returns the number of edits that turn a into b. An edit inserts, deletes or replaces a character, or swaps
// two adjacent ones.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	width := len(to) + 1
	rows := make([]int, 3*width)
	beforeLast, last, row := rows[:width], rows[width:2*width], rows[2*width:]
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			cost := last[j]
			if from[i] != to[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], beforeLast[j-1]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(to)]
}
