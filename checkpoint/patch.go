package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrMisfit is wrapped by what Delta.Apply returns for a document that lacks a
// place which the delta changes.
var ErrMisfit = errors.New("delta does not fit the document")

// errNoPlace is the reason of an ErrMisfit.
var errNoPlace = errors.New("no such place")

// absent is the value of a member that an object does not have.
type absent struct{}

// Apply returns the document, in canonical form, that d makes of doc, which is not
// changed. It does not compare the values that d removes or replaces.
func (d Delta) Apply(doc json.RawMessage) (json.RawMessage, error) {
	tree, err := decode(doc)
	if err != nil {
		return nil, err
	}
	if tree, err = d.apply(tree); err != nil {
		return nil, err
	}
	return raw(tree), nil
}

// apply is Apply on a tree: the result shares what stays as it is. Items are
// removed from outer lists before inner ones, then values are modified, then items
// are added to inner lists before outer ones: so the [n] of a path is the plain
// index whenever the path is followed.
func (d Delta) apply(tree any) (any, error) {
	var err error
	at := func(path string, change func(any) (any, error)) {
		if err != nil {
			return
		}
		var steps []step
		if steps, err = splitPath(path); err == nil {
			tree, err = changeAt(tree, steps, change)
		}
		if err != nil {
			err = fmt.Errorf("checkpoint: %w: %q: %w", ErrMisfit, path, err)
		}
	}
	for _, path := range outerFirst(d.Removed) {
		at(path, func(v any) (any, error) { return removeItems(v, d.Removed[path]) })
	}
	for path, c := range d.Modified {
		at(path, func(any) (any, error) { return decode(c.New) })
	}
	for _, path := range slices.Backward(outerFirst(d.Added)) {
		at(path, func(v any) (any, error) { return addItems(v, d.Added[path]) })
	}
	return tree, err
}

// outerFirst sorts paths so that a place comes before all that is inside it.
func outerFirst(side map[string][]Item) []string {
	return slices.SortedFunc(maps.Keys(side), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// changeAt returns v with another value at the place that steps lead to.
// Objects and lists on the way are copied.
func changeAt(v any, steps []step, change func(old any) (any, error)) (any, error) {
	if len(steps) == 0 {
		return change(v)
	}
	first, rest := steps[0], steps[1:]
	if object, ok := v.(map[string]any); ok && first.rank < 0 {
		now, err := changeAt(object[first.key], rest, change)
		object = maps.Clone(object)
		if object[first.key] = now; now == (absent{}) {
			delete(object, first.key)
		}
		return object, err
	}
	list, ok := v.([]any)
	if !ok || first.rank < 0 || first.rank >= len(list) {
		return nil, errNoPlace
	}
	now, err := changeAt(list[first.rank], rest, change)
	if now == (absent{}) {
		return nil, errNoPlace // an item of a list is no member
	}
	list = slices.Clone(list)
	list[first.rank] = now
	return list, err
}

// removeItems returns the list v without items, or no value for a member.
func removeItems(v any, items []Item) (any, error) {
	if len(items) == 1 && items[0].Index == Member {
		return absent{}, nil
	}
	list, ok := v.([]any)
	stay, next := make([]any, 0, len(list)), 0
	for _, item := range items {
		if !ok || item.Index < next || item.Index >= len(list) {
			return nil, errNoPlace
		}
		stay = append(stay, list[next:item.Index]...)
		next = item.Index + 1
	}
	return append(stay, list[next:]...), nil
}

// addItems returns the list v with items, or the value of a member.
func addItems(v any, items []Item) (any, error) {
	if len(items) == 1 && items[0].Index == Member {
		return decode(items[0].Value)
	}
	list, ok := v.([]any)
	all := make([]any, 0, len(list)+len(items))
	for _, item := range items {
		gap := item.Index - len(all)
		if !ok || gap < 0 || gap > len(list) {
			return nil, errNoPlace
		}
		now, err := decode(item.Value)
		if err != nil {
			return nil, err
		}
		all = append(append(all, list[:gap]...), now)
		list = list[gap:]
	}
	return append(all, list...), nil
}
