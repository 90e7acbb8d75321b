package glob

// walker steps through the automaton of one pattern, one state at a time. Being at a star implies being at the
// following token as well.
type walker struct {
	tokens []token
	moves  [][]int32 // for each state, the letters that lead to another state
}

// newWalker returns the walker of p; accepting returns the states of p with a token that accepts a letter.
func newWalker(p *Pattern, letters int, accepting func(letter int) []uint64) walker {
	w := walker{tokens: p.tokens, moves: make([][]int32, reading+len(p.tokens)+1)}
	every := make([]int32, letters)
	for l := range every {
		every[l] = int32(l)
	}
	w.moves[waiting] = every
	for i, t := range p.tokens {
		q := reading + i
		if t.kind == star || t.kind == anyChar {
			w.moves[q] = every
			continue
		}
		for l := range every {
			if hasBit(accepting(l), q) {
				w.moves[q] = append(w.moves[q], int32(l))
			}
		}
	}
	return w
}

func hasBit(set []uint64, i int) bool { return set[i/blockBits]>>(i%blockBits)&1 != 0 }

func (w *walker) isStar(q int32) bool {
	i := int(q) - reading
	return i >= 0 && i < len(w.tokens) && w.tokens[i].kind == star
}

// accepts reports whether a string may end in state q.
func (w *walker) accepts(q int32) bool {
	end := int32(reading + len(w.tokens))
	return q == end || q == end-1 && w.isStar(q)
}

// next returns the states, at most two, that a letter leads to from q; a missing one is -1. ok is false if there are
// none. accepting contains the states with a token that accepts the letter.
func (w *walker) next(q int32, accepting []uint64, slash bool) (to [2]int32, ok bool) {
	switch {
	case q == waiting && slash:
		return [2]int32{reading, -1}, true
	case q == waiting:
		return [2]int32{waiting, -1}, true
	case !w.isStar(q):
		if !hasBit(accepting, int(q)) {
			return to, false
		}
		return [2]int32{q + 1, -1}, true
	case !hasBit(accepting, int(q)+1): // checks the token after the star
		return [2]int32{q, -1}, true
	case w.isStar(q + 2): // state q+2 accepts everything that q accepts
		return [2]int32{q + 2, -1}, true
	}
	return [2]int32{q, q + 2}, true
}
