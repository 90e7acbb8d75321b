package modelfilter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant"
)

// UnknownError is a name that nothing here has.
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
		s += ". There is: " + quoteAll(e.Known)
	}
	return s
}

// maxNear is how many names are suggested for one that is unknown.
const maxNear = 5

// maxCompared is how many names are compared letter by letter; of longer
// lists only those that hold the name or are held by it are suggested.
const maxCompared = 5000

// nearest returns the known names that may have been meant.
func nearest(name string, known []string) []string {
	name = strings.ToLower(name)
	if name == "" {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	far := 1 + max(1, len(name)/3)
	for i, k := range known {
		lower := strings.ToLower(k)
		if strings.Contains(lower, name) || len(lower) > 2 && strings.Contains(name, lower) {
			found = append(found, candidate{k, abs(len(lower) - len(name))})
			continue
		}
		if i >= maxCompared || abs(len(lower)-len(name)) >= far {
			continue
		}
		if d := assistant.EditDistance(name, lower); d < far {
			found = append(found, candidate{k, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Compare(a.distance, b.distance)
	})
	out := make([]string, 0, maxNear)
	for _, c := range found[:min(len(found), maxNear)] {
		out = append(out, c.name)
	}
	return out
}

func abs(n int) int { return max(n, -n) }
