package jsondelta

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Difference is one value that was added, removed or replaced.
type Difference struct {
	Path   string          `json:"path"` // path of the value, or of the list that contains it
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Differences lists the plain values that differ between two documents, sorted by path, ignoring the paths in except.
func Differences(before, after Document, except ...string) (out []Difference) {
	d := Diff(before, after)
	for path, items := range d.Removed {
		for _, i := range items {
			eachValue(path, i.Value, func(path string, v json.RawMessage) { out = append(out, Difference{Path: path, Before: v}) })
		}
	}
	for path, items := range d.Added {
		for _, i := range items {
			eachValue(path, i.Value, func(path string, v json.RawMessage) { out = append(out, Difference{Path: path, After: v}) })
		}
	}
	for path, m := range d.Modified {
		out = append(out, Difference{path, m.Old, m.New})
	}
	out = slices.DeleteFunc(out, func(d Difference) bool { return slices.Contains(except, d.Path) })
	slices.SortStableFunc(out, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// eachValue calls f with the path of each string, number or other plain value in v, and with the value.
func eachValue(path string, v json.RawMessage, f func(path string, v json.RawMessage)) {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case json.Unmarshal(v, &members) == nil && members != nil:
		for _, name := range slices.Sorted(maps.Keys(members)) {
			eachValue(path+"."+name, members[name], f)
		}
	case json.Unmarshal(v, &items) == nil && items != nil:
		for _, item := range items {
			eachValue(path, item, f)
		}
	default:
		f(path, v)
	}
}
