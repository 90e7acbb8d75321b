package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Member is the Index of an Item that is a member of an object: the path
// that the item is found under names the member itself.
const Member = -1

// ErrMisfit is wrapped by what Delta.Apply returns for a document that the
// delta was not made from, or for a delta that contradicts itself.
var ErrMisfit = errors.New("delta does not fit the document")

// Delta is how one document became another. The keys of its maps are paths:
// keys joined by dots and items of lists as [n], as in rules.ignore[3].colour
// (in a key, . [ \ have a \ before them, and the empty key is \-; [n] counts
// only items that the delta neither adds nor removes). The zero value changes
// nothing. A Delta is not changed once made.
type Delta struct {
	// Added holds what only the new document has. Index is the item's place
	// in the new list, in rising order, or Member.
	Added map[string][]Item `json:"added,omitempty"`
	// Removed holds what only the old document has. Index is the item's
	// place in the old list, in rising order, or Member.
	Removed map[string][]Item `json:"removed,omitempty"`
	// Modified holds values that stayed in their place and changed.
	Modified map[string]Change `json:"modified,omitempty"`
}

// Item is a value that was added to or removed from a list or an object.
type Item struct {
	Index int             `json:"index"`
	Value json.RawMessage `json:"value"`
}

// Change is a value that was replaced by another.
type Change struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// Empty reports whether d changes nothing.
func (d Delta) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Modified) == 0 }

// Invert returns the delta that leads back. It shares its values with d.
func (d Delta) Invert() Delta {
	back := Delta{Added: d.Removed, Removed: d.Added}
	if d.Modified != nil {
		back.Modified = make(map[string]Change, len(d.Modified))
	}
	for path, c := range d.Modified {
		back.Modified[path] = Change{Old: c.New, New: c.Old}
	}
	return back
}

// Apply returns the document, in canonical form, that d makes of doc. A doc
// that lacks what d removes or replaces, or has what d adds, is an error that
// wraps ErrMisfit; one that Canonical refuses is a *SyntaxError.
func (d Delta) Apply(doc json.RawMessage) (json.RawMessage, error) {
	v, err := parse(doc)
	if err != nil {
		return nil, err
	}
	if v, err = d.apply(v); err != nil {
		return nil, err
	}
	return v.raw(), nil
}

// apply is Apply on a document that has been read.
func (d Delta) apply(v value) (value, error) {
	if d.Empty() {
		return v, nil
	}
	p, err := newPatch(d)
	if err == nil {
		v, err = p.apply(v)
	}
	if err != nil {
		return value{}, fmt.Errorf("checkpoint: %w: %w", ErrMisfit, err)
	}
	return v, nil
}

// Diff returns how a became b: Diff(a, b).Apply(a) is b and
// Diff(a, b).Invert().Apply(b) is a, in canonical form. Equal documents give
// the zero Delta. An a or b that Canonical refuses is a *SyntaxError.
func Diff(a, b json.RawMessage) (Delta, error) {
	va, err := parse(a)
	if err != nil {
		return Delta{}, err
	}
	vb, err := parse(b)
	if err != nil {
		return Delta{}, err
	}
	return diff(va, vb), nil
}

// diff is Diff on documents that have been read.
func diff(a, b value) Delta {
	var d Delta
	d.compare("", a, b)
	return d
}

// compare adds to d how a became b at path.
func (d *Delta) compare(path string, a, b value) {
	switch {
	case a.text == b.text:
	case a.kind == kindObject && b.kind == kindObject:
		d.compareObjects(path, a, b)
	case a.kind == kindList && b.kind == kindList:
		d.compareLists(path, a, b)
	default:
		if d.Modified == nil {
			d.Modified = make(map[string]Change)
		}
		d.Modified[path] = Change{Old: a.raw(), New: b.raw()}
	}
}

func (d *Delta) compareObjects(path string, a, b value) {
	i, j := 0, 0
	for i < len(a.keys) || j < len(b.keys) {
		switch {
		case j == len(b.keys) || i < len(a.keys) && a.keys[i] < b.keys[j]:
			put(&d.Removed, joinKey(path, a.keys[i]), Member, a.items[i])
			i++
		case i == len(a.keys) || b.keys[j] < a.keys[i]:
			put(&d.Added, joinKey(path, b.keys[j]), Member, b.items[j])
			j++
		default:
			if a.items[i].text != b.items[j].text {
				d.compare(joinKey(path, a.keys[i]), a.items[i], b.items[j])
			}
			i, j = i+1, j+1
		}
	}
}

// compareLists writes what differs between two lists. Items of a run that are
// both objects or both lists count as the same item, changed; so one changed
// rule does not repeat the thousand rules beside it.
func (d *Delta) compareLists(path string, a, b value) {
	rank, done := 0, 0 // items that stay, and items of a, before the run
	for _, r := range listRuns(a.items, b.items) {
		rank += r.a - done
		done = r.aEnd
		i, j := r.a, r.b
		for ; i < r.aEnd && j < r.bEnd; i, j = i+1, j+1 {
			old, now := a.items[i], b.items[j]
			if old.kind == now.kind && (old.kind == kindObject || old.kind == kindList) {
				d.compare(joinRank(path, rank), old, now)
				rank++
				continue
			}
			put(&d.Removed, path, i, old)
			put(&d.Added, path, j, now)
		}
		for ; i < r.aEnd; i++ {
			put(&d.Removed, path, i, a.items[i])
		}
		for ; j < r.bEnd; j++ {
			put(&d.Added, path, j, b.items[j])
		}
	}
}

// put appends an item to what m holds for path.
func put(m *map[string][]Item, path string, index int, v value) {
	if *m == nil {
		*m = make(map[string][]Item)
	}
	(*m)[path] = append((*m)[path], Item{Index: index, Value: v.raw()})
}
