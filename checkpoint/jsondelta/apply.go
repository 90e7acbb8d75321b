package jsondelta

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrMismatch is wrapped by the error of Apply if the document lacks a path that a delta changes.
var ErrMismatch = errors.New("the delta is for a different document")

// errNoPlace means that the document lacks a path; it is always wrapped together with ErrMismatch.
var errNoPlace = errors.New("no such path")

// absent stands for a member that an object does not have.
type absent struct{}

// Apply returns the document after applying deltas in order. It does not check that the removed or replaced values
// match those in the document.
func (d Document) Apply(deltas ...Delta) (Document, error) {
	tree := d.tree
	for _, delta := range deltas {
		var err error
		if tree, err = delta.apply(tree); err != nil {
			return Document{}, err
		}
	}
	return Document{tree, encode(tree, len(d.text))}, nil
}

// apply returns a changed tree, which shares the unchanged parts. It removes items from outer lists before inner
// ones, then modifies values, then adds items to inner lists before outer ones. So whenever it follows a path, [n] is
// the index in the list at that moment.
func (d Delta) apply(tree any) (any, error) {
	var err error
	at := func(path string, change func(any) (any, error)) {
		if err != nil {
			return
		}
		var parts []pathPart
		if parts, err = splitPath(path); err == nil {
			tree, err = changeAt(tree, parts, change)
		}
		if err != nil {
			err = fmt.Errorf("%w: %q: %w", ErrMismatch, path, err)
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

// outerFirst sorts paths so that each path precedes the paths inside it.
func outerFirst(items map[string][]Item) []string {
	return slices.SortedFunc(maps.Keys(items), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// changeAt returns v with the value at path replaced by the result of change. It copies the objects and lists along
// the path.
func changeAt(v any, path []pathPart, change func(old any) (any, error)) (any, error) {
	if len(path) == 0 {
		return change(v)
	}
	first, rest := path[0], path[1:]
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
		return nil, errNoPlace // only a member can be absent
	}
	list = slices.Clone(list)
	list[first.rank] = now
	return list, err
}

// removeItems returns the list v without the given items. If the only item is a Member, it returns absent.
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

// addItems returns the list v with the given items added. If the only item is a Member, it returns the value of the item.
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
