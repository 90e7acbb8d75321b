package openai

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// calls assembles tool calls from their pieces. The index of a piece says to
// which call it belongs; endpoints that leave it out, or give every call the
// same one, are understood by their ids and by where a call is complete. The
// zero value is ready to use.
type calls struct {
	slots []*slot
	byKey map[slotKey]*slot
	last  *slot // took the newest piece
}

// slotKey finds the newest call with an index, or the call with an id.
type slotKey struct {
	index int64
	id    string // "" finds by index
}

// slot is a call that is being assembled.
type slot struct {
	order     int64 // its index; calls without one come after those they follow
	indexed   bool  // order is an index that the endpoint gave
	id        string
	name      string
	arguments strings.Builder
	pieces    pieces
	braces    jsonValue
	opened    bool // the arguments have begun
	complete  bool // the arguments are one whole JSON object
}

// slotCost is what a call counts against the size of an answer besides its
// text, so that a flood of empty calls is bounded too.
const slotCost = 256

// add takes a piece and returns how much it adds to the size of the answer.
func (cs *calls) add(d callDelta) (size int) {
	s := cs.find(d)
	if s == nil {
		s = cs.open(d)
		size = slotCost
	}
	cs.last = s
	if s.id == "" && d.id != "" {
		s.id = d.id
		cs.byKey[slotKey{-1, d.id}] = s
	}
	s.named(d.name)
	s.write(d.arguments)
	return size + len(d.arguments) + len(d.name) + len(d.id)
}

// find returns the call that d continues, nil when d begins one.
func (cs *calls) find(d callDelta) *slot {
	if s := cs.byKey[slotKey{-1, d.id}]; d.id != "" && s != nil && (!d.indexed || s.order == d.index) {
		return s
	}
	s := cs.last
	if d.indexed {
		if known := cs.byKey[slotKey{d.index, ""}]; known != nil || s == nil || s.indexed || d.name != "" || d.id != "" {
			s = known
		} else { // the index comes late
			cs.place(s, d.index)
		}
	}
	if s == nil || s.begunAnew(d) {
		return nil
	}
	return s
}

// begunAnew reports whether d, which claims to continue s, is another call:
// it has a name of its own and another id, or s takes no more.
func (s *slot) begunAnew(d callDelta) bool {
	if d.name == "" {
		return false
	}
	if d.id != "" && s.id != "" && d.id != s.id {
		return true
	}
	return s.complete && (d.name != s.name || strings.TrimSpace(d.arguments) != "")
}

func (cs *calls) open(d callDelta) *slot {
	s := &slot{order: d.index}
	if !d.indexed {
		if s.order = 0; cs.last != nil {
			s.order = cs.last.order
		}
	}
	if cs.byKey == nil {
		cs.byKey = map[slotKey]*slot{}
	}
	cs.slots = append(cs.slots, s)
	if d.indexed {
		cs.place(s, d.index)
	}
	return s
}

// place gives s its index.
func (cs *calls) place(s *slot, index int64) {
	s.order, s.indexed = index, true
	cs.byKey[slotKey{index, ""}] = s
}

// named takes a name that came once, again, or in pieces.
func (s *slot) named(name string) {
	switch {
	case name == "" || name == s.name:
	case s.name == "" || !s.opened && strings.HasPrefix(name, s.name):
		s.name = name
	case !s.opened:
		s.name += name
	}
}

func (s *slot) write(raw string) {
	arguments := s.pieces.next(raw)
	for i := range len(arguments) {
		if s.braces.step(arguments[i]) {
			s.complete = true
		}
	}
	s.opened = s.opened || arguments != ""
	s.arguments.WriteString(arguments)
}

// list returns the calls in the order of their index, each with an id of its own.
func (cs *calls) list() []assistant.Call {
	slices.SortStableFunc(cs.slots, func(a, b *slot) int { return cmp.Compare(a.order, b.order) })
	taken := map[string]bool{}
	for _, s := range cs.slots {
		s.id, s.name = word(s.id), word(s.name)
		taken[s.id] = true
	}
	given := map[string]bool{}
	var list []assistant.Call
	for _, s := range cs.slots {
		s.arguments.WriteString(s.pieces.flush())
		if s.name == "" && s.id == "" && s.arguments.Len() == 0 {
			continue
		}
		id := s.id
		for n := len(list) + 1; id == "" || given[id] || id != s.id && taken[id]; n++ {
			id = "call_" + strconv.Itoa(n)
		}
		given[id] = true
		list = append(list, assistant.Call{
			ID: id, Name: s.name, Arguments: strings.ToValidUTF8(s.arguments.String(), "\ufffd"),
		})
	}
	return list
}

// word makes an id or a name safe to show, on one line.
func word(s string) string {
	return strings.Join(strings.Fields(safetext.Clean(s)), " ")
}
