package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// patch is a Delta as a tree: what happens at one place of a document and
// below it.
type patch struct {
	old, new       *value // replaced as a whole; both or neither
	removed, added []placed
	gone, come     map[string]value  // members of an object
	byKey          map[string]*patch // changes inside members that stay
	byRank         map[int]*patch    // changes inside items that stay
}

// placed is an item of a list with its place in it.
type placed struct {
	index int
	value value
}

// newPatch reads the paths and values of d.
func newPatch(d Delta) (*patch, error) {
	root := &patch{}
	for path, change := range d.Modified {
		place, err := root.at(path)
		if err != nil {
			return nil, err
		}
		old, err := parse(change.Old)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		now, err := parse(change.New)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		place.old, place.new = &old, &now
	}
	if err := root.place(d.Removed, func(p *patch) (*[]placed, *map[string]value) { return &p.removed, &p.gone }); err != nil {
		return nil, err
	}
	if err := root.place(d.Added, func(p *patch) (*[]placed, *map[string]value) { return &p.added, &p.come }); err != nil {
		return nil, err
	}
	return root, nil
}

// at returns the patch of a place, making those on the way to it.
func (p *patch) at(path string) (*patch, error) {
	steps, err := splitPath(path)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return p.walk(steps), nil
}

func (p *patch) walk(steps []step) *patch {
	for _, s := range steps {
		if s.rank < 0 {
			if p.byKey == nil {
				p.byKey = make(map[string]*patch)
			}
			if p.byKey[s.key] == nil {
				p.byKey[s.key] = &patch{}
			}
			p = p.byKey[s.key]
			continue
		}
		if p.byRank == nil {
			p.byRank = make(map[int]*patch)
		}
		if p.byRank[s.rank] == nil {
			p.byRank[s.rank] = &patch{}
		}
		p = p.byRank[s.rank]
	}
	return p
}

// place puts the items of one side of a delta where they belong; side picks
// that side of a patch.
func (p *patch) place(items map[string][]Item, side func(*patch) (*[]placed, *map[string]value)) error {
	for path, list := range items {
		steps, err := splitPath(path)
		if err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		for _, item := range list {
			v, err := parse(item.Value)
			if err != nil {
				return fmt.Errorf("%q: %w", path, err)
			}
			if item.Index != Member {
				indexed, _ := side(p.walk(steps))
				*indexed = append(*indexed, placed{item.Index, v})
				continue
			}
			last := len(steps) - 1
			if last < 0 || steps[last].rank >= 0 || len(list) > 1 {
				return fmt.Errorf("%q: %w", path, errPath)
			}
			_, members := side(p.walk(steps[:last]))
			if *members == nil {
				*members = make(map[string]value)
			}
			(*members)[steps[last].key] = v
		}
	}
	return nil
}

// apply makes the new value. What the patch expects and v does not have is an
// error; nothing is guessed.
func (p *patch) apply(v value) (value, error) {
	inList := len(p.removed)+len(p.added)+len(p.byRank) > 0
	inObject := len(p.gone)+len(p.come)+len(p.byKey) > 0
	switch {
	case p.old != nil && (inList || inObject), inList && inObject:
		return value{}, errors.New("two changes of one place")
	case p.old != nil:
		if v.text != p.old.text {
			return value{}, errors.New("the value to replace is another")
		}
		return *p.new, nil
	case inList && v.kind == kindList:
		return p.applyList(v)
	case inObject && v.kind == kindObject:
		return p.applyObject(v)
	default:
		return value{}, errors.New("the value is of another type")
	}
}

func (p *patch) applyObject(v value) (value, error) {
	members := make(map[string]value, len(v.keys)+len(p.come))
	for i, key := range v.keys {
		members[key] = v.items[i]
	}
	for key, old := range p.gone {
		if has, ok := members[key]; !ok || has.text != old.text {
			return value{}, fmt.Errorf("the member %q to remove is another", key)
		}
		delete(members, key)
	}
	for key, below := range p.byKey {
		old, ok := members[key]
		if !ok {
			return value{}, fmt.Errorf("no member %q", key)
		}
		now, err := below.apply(old)
		if err != nil {
			return value{}, fmt.Errorf("%q: %w", key, err)
		}
		members[key] = now
	}
	for key, now := range p.come {
		if _, ok := v.find(key); ok {
			return value{}, fmt.Errorf("the member %q to add is there already", key)
		}
		members[key] = now
	}
	keys := slices.Sorted(maps.Keys(members))
	items := make([]value, len(keys))
	for i, key := range keys {
		items[i] = members[key]
	}
	return newObject(keys, items), nil
}

func (p *patch) applyList(v value) (value, error) {
	stay := make([]value, 0, len(v.items))
	next := 0 // first item of v not looked at
	for _, old := range p.removed {
		if old.index < next || old.index >= len(v.items) || v.items[old.index].text != old.value.text {
			return value{}, fmt.Errorf("the item %d to remove is another", old.index)
		}
		stay = append(stay, v.items[next:old.index]...)
		next = old.index + 1
	}
	stay = append(stay, v.items[next:]...)
	for rank, below := range p.byRank {
		if rank >= len(stay) {
			return value{}, fmt.Errorf("no item %d", rank)
		}
		now, err := below.apply(stay[rank])
		if err != nil {
			return value{}, fmt.Errorf("item %d: %w", rank, err)
		}
		stay[rank] = now
	}
	items := make([]value, 0, len(stay)+len(p.added))
	for _, now := range p.added {
		gap := now.index - len(items)
		if gap < 0 || gap > len(stay) {
			return value{}, fmt.Errorf("no place %d for an item to add", now.index)
		}
		items = append(items, stay[:gap]...)
		items = append(items, now.value)
		stay = stay[gap:]
	}
	return newList(append(items, stay...)), nil
}

// applyText applies a delta in its JSON form.
func applyText(v value, text []byte) (value, error) {
	var d Delta
	if err := json.Unmarshal(text, &d); err != nil {
		return value{}, fmt.Errorf("%w: %w", ErrMisfit, err)
	}
	return d.apply(v)
}
