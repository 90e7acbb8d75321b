package glob

import (
	"math/bits"
	"slices"
)

// maxAntichain is the maximum number of sets stored per pair of states to prune supersets. Pruning affects only the
// speed, not the answer.
const maxAntichain = 12

// statePair is a state of narrow and a state of within.
type statePair struct{ narrow, within int32 }

// node is a visited state of the product: a pair of states, and the set of states that broad can be in at that point.
type node struct {
	statePair
	parent int32
	letter int32 // letter that leads here from parent

	sameHash int32 // previous node with the same hash, or -1
}

// searcher looks for a shortest string that narrow and within accept and broad does not. It skips a node if an
// earlier node with the same pair of states has a subset of its set, because any string that refutes coverage from
// the larger set also refutes it from the smaller one.
type searcher struct {
	broad   *automaton
	letters []letter
	narrow  walker
	within  walker
	rules   bool

	nodes    []node
	sets     []uint64              // the set of node i starts at i*broad.words
	newest   map[uint64]int32      // the last node with each hash
	smallest map[statePair][]int32 // nodes of each pair, none of whose sets is a subset of another
}

// search decides whether broad accepts everything that narrow and within both accept; a nil within accepts
// everything.
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
	if s.rules && !s.narrow.isStar(reading) { // a leading star already includes this start
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

// expand visits the successors of node i and returns a node that refutes coverage, or -1.
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

// visit adds a node and returns its index, or -1 if the node cannot lead to anything new.
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

// hash combines a pair and a set. Using them as a map key directly is half as fast.
func hash(at statePair, set []uint64) uint64 {
	const factor = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	h := uint64(at.narrow)<<32 | uint64(at.within)
	for _, w := range set {
		h = bits.RotateLeft64(h*factor, 29) ^ w
	}
	return h * factor
}

// addSmallest reports whether no stored set of the pair is a subset of set. In that case it also stores set: in
// place of a superset, or in addition if there is room.
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

// refutes reports whether, in node i, narrow and within accept but broad does not.
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

// counterexample returns the answer for a node that refutes coverage.
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
