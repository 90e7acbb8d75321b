package glob

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// A pattern of m tokens is an automaton of m+2 states. State 0 waits for the
// first slash of an id; only rules start there. State 1+i is about to read
// token i; state 1+m accepts. A star stays where it is with any character, and
// to be at a star is to be at the next token as well.
const (
	waiting = 0 // for the first slash
	reading = 1 // token i is read in state reading+i
)

// letter is a class of characters that no automaton of a search tells apart.
// Its bitsets are over states.
type letter struct {
	rune   rune // the best example
	slash  bool
	step   []uint64 // union states that move on with it
	loop   []uint64 // union states that stay with it
	narrow []uint64 // states of narrow whose token takes it
	within []uint64 // states of within whose token takes it
}

// union is the automaton of all strings that at least one of some patterns
// matches. A set of its states is a bitset; each pattern has words of its own.
type union struct {
	words    int
	parts    []part
	accept   []uint64
	stars    []uint64
	hopeless []uint64 // states from which every string is accepted
}

// part is the range of words of one pattern.
type part struct{ from, to int }

func newUnion(patterns []*Pattern) *union {
	u := &union{}
	for _, p := range patterns {
		from := u.words
		u.words += stateWords(p)
		u.parts = append(u.parts, part{from, u.words})
	}
	u.accept = make([]uint64, u.words)
	u.stars = make([]uint64, u.words)
	u.hopeless = make([]uint64, u.words)
	for k, p := range patterns {
		at := u.parts[k].from * blockBits
		m := len(p.tokens)
		setBit(u.accept, at+reading+m)
		for i, t := range p.tokens {
			if t.kind == star {
				setBit(u.stars, at+reading+i)
			}
		}
		if m > 0 && p.tokens[m-1].kind == star {
			setBit(u.hopeless, at+reading+m-1)
		}
	}
	return u
}

func setBit(set []uint64, i int) { set[i/blockBits] |= 1 << (i % blockBits) }

// start puts the first states into set.
func (u *union) start(set []uint64, rules bool) {
	clear(set)
	for _, p := range u.parts {
		set[p.from] = 1 << reading
		if rules {
			set[p.from] |= 1 << waiting
		}
	}
	u.close(set)
}

// next puts into to the states that from reaches with l.
func (u *union) next(to, from []uint64, l *letter) {
	carry := uint64(0)
	for i, s := range from {
		moved := s & l.step[i]
		to[i] = moved<<1 | carry | s&l.loop[i]
		carry = moved >> (blockBits - 1) // 0 at the end of a part: its last state never moves
	}
	u.close(to)
}

// close adds the states behind stars, and all states before the last star of
// each pattern. The latter changes no answer: from a state before a star,
// whatever is accepted passes that star, which also takes what came before it.
// But it makes sets that accept the same strings look the same, and keeps
// their number linear for patterns without `?` and classes.
func (u *union) close(set []uint64) {
	for _, p := range u.parts {
		carry := uint64(0)
		for i := p.from; i < p.to; i++ {
			starred := set[i] & u.stars[i]
			set[i] |= starred<<1 | carry
			carry = starred >> (blockBits - 1)
		}
		for i := p.to - 1; i >= p.from; i-- {
			if starred := set[i] & u.stars[i]; starred != 0 {
				set[i] |= 1<<(bits.Len64(starred)-1) - 1
				for k := p.from; k < i; k++ {
					set[k] = ^uint64(0)
				}
				break
			}
		}
	}
}

// newLetters divides the intervals of a by what the automata tell apart. The
// most readable letters come first.
func newLetters(a alphabet, u *union, broad []*Pattern, narrow, within *Pattern) []letter {
	left, right := stateWords(narrow), stateWords(within)
	size := 2*u.words + left + right
	masks := make([]uint64, a.len()*size)
	all := make([]letter, a.len())
	for i, r := range a.examples() {
		m := masks[i*size:][:size]
		l := letter{rune: r, slash: r == '/'}
		l.step, m = m[:u.words], m[u.words:]
		l.loop, m = m[:u.words], m[u.words:]
		l.narrow, l.within = m[:left], m[left:]
		copy(l.loop, u.stars)
		for _, p := range u.parts {
			if l.slash {
				l.step[p.from] |= 1 << waiting
			} else {
				l.loop[p.from] |= 1 << waiting
			}
		}
		all[i] = l
	}
	for k, p := range broad {
		at := u.parts[k].from*blockBits + reading
		p.eachStep(a, func(token, interval int) { setBit(all[interval].step, at+token) })
	}
	narrow.eachStep(a, func(token, interval int) { setBit(all[interval].narrow, reading+token) })
	within.eachStep(a, func(token, interval int) { setBit(all[interval].within, reading+token) })
	return mergeLetters(all, masks, size)
}

// mergeLetters keeps the most readable one of the letters that are alike.
func mergeLetters(all []letter, masks []uint64, size int) []letter {
	order := make([]int, 0, len(all))
	for i, l := range all {
		if l.rune >= 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(all[a].rune) - rank(all[b].rune) })
	kept := make([]letter, 0, len(order))
	seen := map[string]bool{}
	var key []byte
	for _, i := range order {
		key = key[:0]
		for _, w := range masks[i*size:][:size] {
			key = binary.LittleEndian.AppendUint64(key, w)
		}
		if all[i].slash {
			key = append(key, '/') // paths tell the slash apart too
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			kept = append(kept, all[i])
		}
	}
	return kept
}

// rank orders characters by how well they read.
func rank(r rune) int {
	if i := strings.IndexRune(readable, r); i >= 0 {
		return i
	}
	if unicode.IsPrint(r) {
		return len(readable)
	}
	return len(readable) + 1
}

// stateWords returns how many words a set of p's states takes.
func stateWords(p *Pattern) int { return (len(p.tokens)+reading)/blockBits + 1 }

// eachStep calls f with each token of p that is no star and every interval of
// a whose characters it accepts.
func (p *Pattern) eachStep(a alphabet, f func(token, interval int)) {
	for i, t := range p.tokens {
		switch t.kind {
		case one:
			f(i, a.interval(t.rune))
		case any1:
			for n := range a.len() {
				f(i, n)
			}
		case set:
			for _, s := range t.class.spans {
				for n, last := a.interval(s.lo), a.interval(s.hi); n <= last; n++ {
					f(i, n)
				}
			}
		default:
		}
	}
}
