package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrMisfit is wrapped by what Delta.Apply returns for a document that the
// delta was not made from, or for a delta that contradicts itself.
var ErrMisfit = errors.New("delta does not fit the document")

// absent is the value of a member that an object does not have.
type absent struct{}

// Apply returns the document, in canonical form, that d makes of doc. A doc
// that lacks what d removes or replaces, or has what d adds, is an error that
// wraps ErrMisfit. doc is not changed.
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

// apply is Apply on a tree, which is not changed: the result shares what stays
// as it is. Items are removed from outer lists before inner ones, then values
// are modified, then items are added to inner lists before outer ones: so the
// [n] of a path is the plain index whenever the path is followed.
func (d Delta) apply(tree any) (any, error) {
	var err error
	at := func(path string, replace func(any) (any, error)) {
		if err != nil {
			return
		}
		var steps []step
		if steps, err = splitPath(path); err == nil {
			tree, err = replaceAt(tree, steps, replace)
		}
		if err != nil {
			err = fmt.Errorf("checkpoint: %w: %q: %w", ErrMisfit, path, err)
		}
	}
	for _, path := range outerFirst(d.Removed) {
		at(path, func(v any) (any, error) { return removeItems(v, d.Removed[path]) })
	}
	for path, c := range d.Modified {
		if c.Old == nil || c.New == nil {
			return nil, fmt.Errorf("checkpoint: %w: %q: a value is missing", ErrMisfit, path)
		}
		at(path, func(v any) (any, error) { return exchange(v, c.Old, c.New) })
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

// replaceAt returns v with another value at the place that steps lead to.
// Objects and lists on the way are copied.
func replaceAt(v any, steps []step, replace func(old any) (any, error)) (any, error) {
	if len(steps) == 0 {
		return replace(v)
	}
	first, rest := steps[0], steps[1:]
	if object, ok := v.(map[string]any); ok && first.rank < 0 {
		old, ok := object[first.key]
		if !ok {
			old = absent{}
		}
		now, err := replaceAt(old, rest, replace)
		object = maps.Clone(object)
		if object[first.key] = now; now == (absent{}) {
			delete(object, first.key)
		}
		return object, err
	}
	list, ok := v.([]any)
	if !ok || first.rank < 0 || first.rank >= len(list) {
		return nil, errors.New("no such place")
	}
	now, err := replaceAt(list[first.rank], rest, replace)
	if now == (absent{}) {
		return nil, errors.New("an item of a list is no member")
	}
	list = slices.Clone(list)
	list[first.rank] = now
	return list, err
}

// exchange returns now if v is old; nil stands for no value.
func exchange(v any, old, now json.RawMessage) (any, error) {
	was, err := decodeOrAbsent(old)
	if err == nil && !equal(v, was) {
		err = errors.New("the value is another")
	}
	if err != nil {
		return nil, err
	}
	return decodeOrAbsent(now)
}

func decodeOrAbsent(value json.RawMessage) (any, error) {
	if value == nil { // of a member that is added or removed
		return absent{}, nil
	}
	return decode(value)
}

// removeItems returns the list v without items, or no value for a member.
func removeItems(v any, items []Item) (any, error) {
	if len(items) == 1 && items[0].Index == Member {
		return exchange(v, items[0].Value, nil)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("the value is no list")
	}
	stay, next := make([]any, 0, len(list)), 0
	for _, item := range items {
		old, err := decode(item.Value)
		if err != nil {
			return nil, err
		}
		if item.Index < next || item.Index >= len(list) || !equal(list[item.Index], old) {
			return nil, fmt.Errorf("the item %d to remove is another", item.Index)
		}
		stay = append(stay, list[next:item.Index]...)
		next = item.Index + 1
	}
	return append(stay, list[next:]...), nil
}

// addItems returns the list v with items, or the value of a member.
func addItems(v any, items []Item) (any, error) {
	if len(items) == 1 && items[0].Index == Member {
		return exchange(v, nil, items[0].Value)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("the value is no list")
	}
	all := make([]any, 0, len(list)+len(items))
	for _, item := range items {
		now, err := decode(item.Value)
		if err != nil {
			return nil, err
		}
		gap := item.Index - len(all)
		if gap < 0 || gap > len(list) {
			return nil, fmt.Errorf("no place %d for an item to add", item.Index)
		}
		all = append(append(all, list[:gap]...), now)
		list = list[gap:]
	}
	return append(all, list...), nil
}
