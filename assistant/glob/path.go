package glob

// path follows the automaton of one pattern along single states. A state at a
// star is the state behind it as well.
type path struct {
	tokens []token
	moves  [][]int32 // by state: the letters that lead anywhere
}

// newPath makes the path of p; accepting returns the states of p whose token
// accepts a letter.
func newPath(p *Pattern, letters int, accepting func(letter int) []uint64) path {
	f := path{tokens: p.tokens, moves: make([][]int32, reading+len(p.tokens)+1)}
	every := make([]int32, letters)
	for l := range every {
		every[l] = int32(l)
	}
	f.moves[waiting] = every
	for i, t := range p.tokens {
		q := reading + i
		if t.kind == star || t.kind == any1 {
			f.moves[q] = every
			continue
		}
		for l := range every {
			if hasBit(accepting(l), q) {
				f.moves[q] = append(f.moves[q], int32(l))
			}
		}
	}
	return f
}

func hasBit(set []uint64, i int) bool { return set[i/blockBits]>>(i%blockBits)&1 != 0 }

func (f *path) isStar(q int32) bool {
	i := int(q) - reading
	return i >= 0 && i < len(f.tokens) && f.tokens[i].kind == star
}

// accepts reports whether the string may end in state q.
func (f *path) accepts(q int32) bool {
	end := int32(reading + len(f.tokens))
	return q == end || q == end-1 && f.isStar(q)
}

// next returns the at most two states, -1 for none, that q leads to with a
// letter that the tokens of the states in accepting accept; false when there are none.
func (f *path) next(q int32, accepting []uint64, slash bool) (to [2]int32, ok bool) {
	switch {
	case q == waiting && slash:
		return [2]int32{reading, -1}, true
	case q == waiting:
		return [2]int32{waiting, -1}, true
	case !f.isStar(q):
		if !hasBit(accepting, int(q)) {
			return to, false
		}
		return [2]int32{q + 1, -1}, true
	case !hasBit(accepting, int(q)+1): // of the token behind the star
		return [2]int32{q, -1}, true
	case f.isStar(q + 2): // accepts all that q accepts
		return [2]int32{q + 2, -1}, true
	}
	return [2]int32{q, q + 2}, true
}
