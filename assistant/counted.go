package assistant

import "fmt"

// Counted is a number with its noun, as every part of winnow says it: "1 pair",
// "3 pairs". thing is one of them, in a word whose plural takes an s.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
