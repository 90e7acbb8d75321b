package filter

import "fmt"

// Error says where a line cannot be read.
type Error struct {
	Column int    // in characters, from 1
	Found  string // what stands there
	Want   string // what would do
}

// Error gives the sentence shown below the line.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: found %s, want %s", e.Column, e.Found, e.Want)
}
