package glob

import (
	"encoding/binary"
	"math/bits"
)

// A pattern of m tokens is an automaton of m+2 states. State 0 waits for the first slash of an id; only rules start
// there. State 1+i is about to read token i; state 1+m accepts. A star stays in its state for any character; being at
// a star implies being at the next token as well.
const (
	waiting = 0 // waiting for the first slash
	reading = 1 // state reading+i reads token i
)

// letter is a class of characters that no automaton of a search tells apart. Its bitsets are sets of states.
type letter struct {
	rune   rune // an example of the class
	slash  bool
	step   []uint64 // states of broad that advance on this letter
	loop   []uint64 // states of broad that stay on this letter
	narrow []uint64 // states of narrow with a token that accepts this letter
	within []uint64 // states of within with a token that accepts this letter
}

// automaton is the automaton of the broad pattern. A set of its states is a bitset.
type automaton struct {
	words      int
	accept     []uint64
	stars      []uint64
	acceptsAll []uint64 // states from which every string is accepted
}

func newAutomaton(p *Pattern) *automaton {
	n := stateWords(p)
	aut := &automaton{words: n, accept: make([]uint64, n), stars: make([]uint64, n), acceptsAll: make([]uint64, n)}
	m := len(p.tokens)
	setBit(aut.accept, reading+m)
	for i, t := range p.tokens {
		if t.kind == star {
			setBit(aut.stars, reading+i)
		}
	}
	if m > 0 && p.tokens[m-1].kind == star {
		setBit(aut.acceptsAll, reading+m-1)
	}
	return aut
}

func setBit(set []uint64, i int) { set[i/blockBits] |= 1 << (i % blockBits) }

// start stores the initial states in set; rules adds the state that waits for the first slash.
func (aut *automaton) start(set []uint64, rules bool) {
	clear(set)
	set[0] = 1 << reading
	if rules {
		set[0] |= 1 << waiting
	}
	aut.close(set)
}

// next stores in dst the states that the letter l leads to from the states in src.
func (aut *automaton) next(dst, src []uint64, l *letter) {
	carry := uint64(0)
	for i, s := range src {
		moved := s & l.step[i]
		dst[i] = moved<<1 | carry | s&l.loop[i]
		carry = moved >> (blockBits - 1)
	}
	aut.close(dst)
}

// close adds the states after stars, and all states before the last star in set. Adding these states does not
// change the answer: whatever a state before a star accepts passes through that star, which also accepts the
// preceding characters. But many sets that accept the same strings thereby become the same set, which keeps the
// number of sets linear for patterns without `?` and classes.
func (aut *automaton) close(set []uint64) {
	carry := uint64(0)
	for i := range set {
		starred := set[i] & aut.stars[i]
		set[i] |= starred<<1 | carry
		carry = starred >> (blockBits - 1)
	}
	for i := len(set) - 1; i >= 0; i-- {
		if starred := set[i] & aut.stars[i]; starred != 0 {
			set[i] |= 1<<(bits.Len64(starred)-1) - 1
			for k := range i {
				set[k] = ^uint64(0)
			}
			break
		}
	}
}

// newLetters returns the letters for the intervals of a. Intervals that no automaton tells apart become one letter.
func newLetters(a alphabet, aut *automaton, broad, narrow, within *Pattern) []letter {
	left, right := stateWords(narrow), stateWords(within)
	size := 2*aut.words + left + right
	bitsets := make([]uint64, a.len()*size)
	all := make([]letter, a.len())
	for i, r := range a.examples() {
		m := bitsets[i*size:][:size]
		l := letter{rune: r, slash: r == '/'}
		l.step, m = m[:aut.words], m[aut.words:]
		l.loop, m = m[:aut.words], m[aut.words:]
		l.narrow, l.within = m[:left], m[left:]
		copy(l.loop, aut.stars)
		if l.slash {
			setBit(l.step, waiting)
		} else {
			setBit(l.loop, waiting)
		}
		all[i] = l
	}
	broad.eachStep(a, func(token, interval int) { setBit(all[interval].step, reading+token) })
	narrow.eachStep(a, func(token, interval int) { setBit(all[interval].narrow, reading+token) })
	within.eachStep(a, func(token, interval int) { setBit(all[interval].within, reading+token) })
	return mergeLetters(all, bitsets, size)
}

// mergeLetters returns one letter, the first, for each group of letters with equal bitsets. The slash is a group of its
// own; letters that no string can contain are omitted.
func mergeLetters(all []letter, bitsets []uint64, size int) []letter {
	var merged []letter
	seen := map[string]bool{}
	var key []byte
	for i, l := range all {
		if l.rune < 0 {
			continue
		}
		key = key[:0]
		for _, w := range bitsets[i*size:][:size] {
			key = binary.LittleEndian.AppendUint64(key, w)
		}
		if l.slash {
			key = append(key, '/') // walkers distinguish the slash too
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			merged = append(merged, l)
		}
	}
	return merged
}

// stateWords returns the number of machine words in a set of p's states.
func stateWords(p *Pattern) int { return (len(p.tokens)+reading)/blockBits + 1 }

// eachStep calls f for each token of p, except stars, and each interval of a that the token accepts.
func (p *Pattern) eachStep(a alphabet, f func(token, interval int)) {
	for i, t := range p.tokens {
		switch t.kind {
		case char:
			f(i, a.interval(t.rune))
		case anyChar:
			for n := range a.len() {
				f(i, n)
			}
		case oneOf:
			for _, s := range t.class.spans {
				for n, last := a.interval(s.lo), a.interval(s.hi); n <= last; n++ {
					f(i, n)
				}
			}
		default:
		}
	}
}
