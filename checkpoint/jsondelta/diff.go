package jsondelta

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// Member is the Index of an Item that is a member of an object. Its path is then the path of the member itself.
const Member = -1

// Delta is the difference between two documents. The keys of its maps are paths: object keys joined by dots and list
// items as [n], such as lamps.kitchen[3].colour. Inside a key, the characters . [ \ are escaped with \, and the empty
// key is written as \-. [n] counts only items that the delta neither adds nor removes, so a path means the same place
// in both directions. The zero value changes nothing.
type Delta struct {
	// Added contains the items that only the new document has, by the path of their list or of the member itself.
	// Index is the index in the new list, or Member. The items of a list are sorted by Index.
	Added map[string][]Item `json:"added,omitempty"`
	// Removed contains the items that only the old document has, with paths as in Added. Index is the index in the
	// old list.
	Removed map[string][]Item `json:"removed,omitempty"`
	// Modified contains the replaced values, by path.
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

// Invert returns the delta from the new document to the old one. It shares its values with d.
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

// Diff returns the difference between a and b, so that a.Apply(Diff(a, b)) equals b and b.Apply(Diff(a, b).Invert())
// equals a. For equal documents it returns a Delta of empty maps.
func Diff(a, b Document) Delta {
	d := Delta{Added: map[string][]Item{}, Removed: map[string][]Item{}, Modified: map[string]Change{}}
	d.compare("", a.tree, b.tree)
	return d
}

// compare adds to d the difference between a and b at path.
func (d *Delta) compare(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.compareObjects(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.compareLists(path, x, y)
			return
		}
	}
	if !equal(a, b) {
		d.Modified[path] = Change{Old: raw(a), New: raw(b)}
	}
}

func (d *Delta) compareObjects(path string, a, b map[string]any) {
	for key, old := range a {
		if now, ok := b[key]; ok {
			d.compare(joinKey(path, key), old, now)
		} else {
			addItem(d.Removed, joinKey(path, key), Member, old)
		}
	}
	for key, now := range b {
		if _, ok := a[key]; !ok {
			addItem(d.Added, joinKey(path, key), Member, now)
		}
	}
}

// compareLists adds the differences between two lists. Between the items that both lists have in common, two objects
// or two lists at the same place count as one changed item, so that a change to one field does not store the whole
// object.
func (d *Delta) compareLists(path string, a, b []any) {
	i, j, rank := 0, 0, 0 // rank counts the items that are neither added nor removed
	for _, next := range append(commonItems(a, b), [2]int{len(a), len(b)}) {
		for ; i < next[0] && j < next[1]; i, j = i+1, j+1 {
			if sameContainer(a[i], b[j]) {
				d.compare(path+"["+strconv.Itoa(rank)+"]", a[i], b[j])
				rank++
				continue
			}
			addItem(d.Removed, path, i, a[i])
			addItem(d.Added, path, j, b[j])
		}
		for ; i < next[0]; i++ {
			addItem(d.Removed, path, i, a[i])
		}
		for ; j < next[1]; j++ {
			addItem(d.Added, path, j, b[j])
		}
		i, j, rank = i+1, j+1, rank+1
	}
}

func addItem(items map[string][]Item, path string, index int, v any) {
	items[path] = append(items[path], Item{index, raw(v)})
}

// itemSize is the expected size in bytes of a part of a document.
const itemSize = 128

func raw(v any) json.RawMessage { return json.RawMessage(encode(v, itemSize)) }

// sameContainer reports whether a and b are both objects or both lists.
func sameContainer(a, b any) bool {
	_, object := a.(map[string]any)
	_, list := a.([]any)
	_, object2 := b.(map[string]any)
	_, list2 := b.([]any)
	return object && object2 || list && list2
}

// commonItems returns the indexes in a and b of items that both lists contain in the same order. It finds all of them
// unless items have moved or equal items are adjacent.
func commonItems(a, b []any) [][2]int {
	var common [][2]int
	head, tail := 0, 0
	same := func(i int) bool { return i < min(len(a), len(b)) && equal(a[i], b[i]) }
	replaced := func(i int) bool { // a single item was replaced
		return len(a) == len(b) && i < len(a) && (i+1 == len(a) || same(i+1))
	}
	for ; same(head) || replaced(head); head++ {
		if same(head) {
			common = append(common, [2]int{head, head})
		}
	}
	for tail < min(len(a), len(b))-head && equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	places := make(map[string][]int) // indexes in b of the items between head and tail
	for j := head; j < len(b)-tail; j++ {
		text := encode(b[j], itemSize)
		places[text] = append(places[text], j)
	}
	next := head // first index in b that may still be used
	for i := head; i < len(a)-tail; i++ {
		text := encode(a[i], itemSize)
		for len(places[text]) > 0 && places[text][0] < next {
			places[text] = places[text][1:]
		}
		if len(places[text]) > 0 {
			next = places[text][0] + 1
			common = append(common, [2]int{i, next - 1})
		}
	}
	for ; tail > 0; tail-- {
		common = append(common, [2]int{len(a) - tail, len(b) - tail})
	}
	return common
}

// emptyKey stands for the key "" in a path.
const emptyKey = `\-`

var keyEscaper = strings.NewReplacer(`\`, `\\`, `.`, `\.`, `[`, `\[`)

// joinKey returns the path of a member of the object at path.
func joinKey(path, key string) string {
	if key = keyEscaper.Replace(key); key == "" {
		key = emptyKey
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// pathPart is one part of a path: an object key, or a rank in a list (the [n] of Delta).
type pathPart struct {
	key  string
	rank int // -1 for a key
}

var (
	pathPartPattern = regexp.MustCompile(`^(?:\[(0|[1-9]\d*)\]|\.?((?:\\[\\.\[-]|[^\\.\[])+))`)
	keyUnescaper    = strings.NewReplacer(emptyKey, "", `\\`, `\`, `\.`, `.`, `\[`, `[`)
)

// splitPath splits a path into its parts; it is the inverse of joinKey and of appending [n].
func splitPath(path string) ([]pathPart, error) {
	var parts []pathPart
	for rest := path; rest != ""; {
		match := pathPartPattern.FindStringSubmatch(rest)
		if match == nil {
			return nil, strconv.ErrSyntax
		}
		part := pathPart{rank: -1}
		if match[1] == "" {
			part.key = keyUnescaper.Replace(match[2])
		} else if rank, err := strconv.Atoi(match[1]); err == nil {
			part.rank = rank
		} else {
			return nil, err
		}
		parts = append(parts, part)
		rest = rest[len(match[0]):]
	}
	return parts, nil
}
