package modelfilter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/nearest"
)

// UnknownError is returned for a name that does not exist.
type UnknownError struct {
	What  string // "provider", "model", "ignore rule", "allow rule"
	Name  string
	Near  []string // what may have been meant, the likeliest first
	Known []string // all there are; only of providers
}

// Error says what was not found and what is near.
func (e *UnknownError) Error() string {
	s := fmt.Sprintf("there is no %s %s", e.What, quote(e.Name))
	switch {
	case len(e.Near) > 0:
		s += fmt.Sprintf(". Did you mean %s?", quoteAll(e.Near))
	case len(e.Known) > 0:
		s += ". Known: " + quoteAll(e.Known)
	}
	return s
}

// maxNear is how many names are suggested for one that is unknown.
const maxNear = 5

// nearestNames returns the known names that may have been meant: those that contain
// the name or are contained in it, and those a few changed letters away.
func nearestNames(name string, known []string) []string {
	name = strings.ToLower(name)
	distance := map[string]int{}
	var found []string
	for _, k := range known {
		lower := strings.ToLower(k)
		limit, d := max(1, len(name)/3), max(len(lower)-len(name), len(name)-len(lower))
		contained := strings.Contains(lower, name) || len(lower) > 2 && strings.Contains(name, lower)
		if !contained && d <= limit {
			d = nearest.Distance(name, lower)
		}
		if name != "" && (contained || d <= limit) {
			distance[k], found = d, append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
	return found[:min(len(found), maxNear)]
}
