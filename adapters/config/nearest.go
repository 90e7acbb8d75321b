package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"winnow/assistant"
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
	best, at := "", min(farthest, utf8.RuneCountInString(name)/2)+1
	for _, n := range names {
		if d := assistant.EditDistance(strings.ToLower(name), n); d < at {
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

// longest is how much of a wrong value is repeated in a sentence.
const longest = 60

func quoted(s string) string { return `"` + safetext.Line(safetext.Visible(s), longest) + `"` }
