package glob

import (
	"math/bits"
	"slices"
)

// maxAntichain is how many sets are stored for each pair of states to prune larger ones.
// Pruning is never needed for the answer, only for speed.
const maxAntichain = 12

// statePair is a state of narrow and one of within.
type statePair struct{ narrow, within int32 }

// node is a visited state of the product: a pair of states, and the set of states that
// broad can be in then.
type node struct {
	statePair
	parent int32
	letter int32 // with which it was reached from parent

	sameHash int32 // the node before it with its hash, -1 for none
}

// searcher looks, shortest strings first, for one that narrow and within
// accept and broad does not. A node is left out when another one at the
// same pair of states, found no later, has a subset of its set: a string that refutes
// coverage from the larger set does so from the smaller one.
type searcher struct {
	broad   *automaton
	letters []letter
	narrow  walker
	within  walker
	rules   bool

	nodes    []node
	sets     []uint64              // the set of node i is at i times the words of broad
	newest   map[uint64]int32      // the last node of each hash
	smallest map[statePair][]int32 // nodes of each pair, none with a subset of another's set
}

// search decides whether broad accepts all that narrow and within accept; a nil
// within accepts everything.
func search(broad, narrow, within *Pattern, rules bool) Coverage {
	if within == nil {
		within = Compile("*")
	}
	a := newAlphabet(narrow, within, broad)
	aut := newAutomaton(broad)
	if (2*aut.words+stateWords(narrow)+stateWords(within))*a.len() > maxStateWords {
		return Coverage{Undecided: true}
	}
	s := &searcher{
		broad: aut, rules: rules,
		letters:  newLetters(a, aut, broad, narrow, within),
		newest:   map[uint64]int32{},
		smallest: map[statePair][]int32{},
	}
	s.narrow = newWalker(narrow, len(s.letters), func(l int) []uint64 { return s.letters[l].narrow })
	s.within = newWalker(within, len(s.letters), func(l int) []uint64 { return s.letters[l].within })
	return s.run(min(MaxStates, maxStateWords/max(aut.words, 1)))
}

func (s *searcher) run(limit int) Coverage {
	set := make([]uint64, s.broad.words)
	s.broad.start(set, s.rules)
	starts := []int32{reading}
	if s.rules && !s.narrow.isStar(reading) { // a leading star is the wider start
		starts = append(starts, waiting)
	}
	for _, q := range starts {
		if i := s.visit(statePair{q, reading}, set, -1, 0); i >= 0 && s.refutes(i) {
			return s.counterexample(i)
		}
	}
	for i := 0; i < len(s.nodes); i++ {
		if found := s.expand(i, set); found >= 0 {
			return s.counterexample(found)
		}
		if len(s.nodes) > limit {
			return Coverage{Undecided: true, States: len(s.nodes)}
		}
	}
	return Coverage{Covered: true, States: len(s.nodes)}
}

// expand visits what node i leads to and returns a node that refutes the
// coverage, or -1.
func (s *searcher) expand(i int, set []uint64) int {
	n, w := s.nodes[i], s.broad.words
	for _, l := range s.narrow.moves[n.narrow] {
		letter := &s.letters[l]
		right, ok := s.within.next(n.within, letter.within, letter.slash)
		if !ok {
			continue
		}
		left, _ := s.narrow.next(n.narrow, letter.narrow, letter.slash)
		s.broad.next(set, s.sets[i*w:][:w], letter)
		for _, q := range left {
			for _, r := range right {
				if q < 0 || r < 0 {
					continue
				}
				found := s.visit(statePair{q, r}, set, int32(i), l)
				if found >= 0 && s.refutes(found) {
					return found
				}
			}
		}
	}
	return -1
}

// visit adds a node, or returns -1 if nothing new can come of it.
func (s *searcher) visit(at statePair, set []uint64, parent, letter int32) int {
	for i, w := range set {
		if w&s.broad.acceptsAll[i] != 0 {
			return -1
		}
	}
	found, sum := len(s.nodes), hash(at, set)
	last, collides := s.newest[sum]
	if !collides {
		last = -1
	}
	for i := last; i >= 0; i = s.nodes[i].sameHash {
		if s.nodes[i].statePair == at && slices.Equal(s.sets[int(i)*len(set):][:len(set)], set) {
			return -1
		}
	}
	if !s.addSmallest(at, set, int32(found)) {
		return -1
	}
	s.newest[sum] = int32(found)
	s.nodes = append(s.nodes, node{at, parent, letter, last})
	s.sets = append(s.sets, set...)
	return found
}

// hash mixes a pair and a set. A map with the whole of them as its key is half as fast.
func hash(at statePair, set []uint64) uint64 {
	const factor = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	h := uint64(at.narrow)<<32 | uint64(at.within)
	for _, w := range set {
		h = bits.RotateLeft64(h*factor, 29) ^ w
	}
	return h * factor
}

// addSmallest reports whether no stored set of the pair is a subset of set. If so
// it stores set, instead of a superset or while there is room.
func (s *searcher) addSmallest(at statePair, set []uint64, id int32) bool {
	stored := s.smallest[at]
	replace := -1
	for k, other := range stored {
		have := s.sets[int(other)*len(set):][:len(set)]
		within, contains := true, true
		for i, w := range set {
			within = within && have[i]&^w == 0
			contains = contains && w&^have[i] == 0
		}
		if within {
			return false
		}
		if contains {
			replace = k
		}
	}
	switch {
	case replace >= 0:
		stored[replace] = id
	case len(stored) < maxAntichain:
		s.smallest[at] = append(stored, id)
	}
	return true
}

// refutes reports whether narrow and within accept in node i and broad does not.
func (s *searcher) refutes(i int) bool {
	if !s.narrow.accepts(s.nodes[i].narrow) || !s.within.accepts(s.nodes[i].within) {
		return false
	}
	for k, w := range s.sets[i*s.broad.words:][:s.broad.words] {
		if w&s.broad.accept[k] != 0 {
			return false
		}
	}
	return true
}

// counterexample makes the answer for a node that refutes.
func (s *searcher) counterexample(i int) Coverage {
	var text []int32
	for n := s.nodes[i]; n.parent >= 0; n = s.nodes[n.parent] {
		text = append(text, n.letter)
	}
	var b []byte
	for k := len(text) - 1; k >= 0; k-- {
		b, _ = appendRune(b, s.letters[text[k]].rune)
	}
	return Coverage{Counterexample: string(b), States: len(s.nodes)}
}
