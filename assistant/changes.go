package assistant

import (
	"maps"
	"slices"
)

// MaxChanges is how many changes are remembered: more than a model would read
// between two messages.
const MaxChanges = 200

// Changes is the memory that a Window needs to be a ChangeLog: the newest
// MaxChanges of them, numbered as they came. The zero value is empty and ready; it is
// guarded by whoever owns it.
type Changes struct {
	last    int64 // number of the newest change
	entries []numbered
}

type numbered struct {
	at     int64
	change Change
}

// Add remembers a change, which is the owner's no more.
func (c *Changes) Add(change Change) {
	c.last++
	if len(c.entries) == MaxChanges {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, numbered{c.last, change})
}

// Continue is Add for what may go on, such as a search that is being typed: a
// change of the same type in the newest place gives way to it.
func (c *Changes) Continue(change Change) {
	if n := len(c.entries); n > 0 && c.entries[n-1].change["type"] == change["type"] {
		c.entries = c.entries[:n-1]
	}
	c.Add(change)
}

// Since returns copies of what came after mark, oldest first, and the mark to
// ask with next time, as ChangeLog wants it. The list is never nil.
func (c *Changes) Since(mark int64) ([]Change, int64) {
	changes := []Change{}
	for _, e := range c.entries {
		if e.at > mark {
			changes = append(changes, maps.Clone(e.change))
		}
	}
	return changes, c.last
}
