package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant/filter"
)

const (
	// fewPairs are read rather than looked up: the index would have to go
	// through every place of the needle's letters.
	fewPairs = 256
	// readAtOnce is how many bodies one query reads, and how many are judged at once.
	readAtOnce = 512
)

// candidates is what the full-text index says about a term.
type candidates struct {
	sure  set // the term is true
	maybe set // the texts have to be read
}

// text judges a term that asks about texts.
func (f *search) text(x filter.Expr, within set) (set, error) {
	if within.count() <= fewPairs && !f.s.options.lookUpAll {
		return f.readTexts(x, within)
	}
	content, ok := x.(filter.Content)
	if !ok {
		return f.readTexts(x, within)
	}
	if len(content.Parts) == 0 {
		return within, nil
	}
	match, exact := matchOf(content)
	if match == "" {
		return f.readTexts(x, within)
	}
	c, ok := f.found[match]
	if !ok {
		var err error
		if c, err = f.lookUp(match, exact); err != nil {
			return nil, err
		}
		f.found[match] = c
	}
	read, err := f.readTexts(x, within.and(c.maybe))
	if err != nil {
		return nil, err
	}
	result := within.and(c.sure)
	result.add(read)
	return result, nil
}

// matchOf asks the full-text index for the parts that it can find, each in the
// same text; "" when it can find none. exact says that it needs no second look.
func matchOf(x filter.Content) (match string, exact bool) {
	var phrases []string
	for _, part := range x.Parts {
		if folded := fold(part); indexable(folded) {
			phrases = append(phrases, phrase(folded))
		}
	}
	if len(phrases) == 0 {
		return "", false
	}
	if len(phrases) == 1 {
		return phrases[0], len(x.Parts) == 1
	}
	var texts []string
	for _, column := range []string{"user", "answer"} {
		texts = append(texts, "("+column+" : "+strings.Join(phrases, " AND "+column+" : ")+")")
	}
	return strings.Join(texts, " OR "), false
}

// lookUp asks the full-text index, and which pairs it has not taken in yet.
func (f *search) lookUp(match string, exact bool) (candidates, error) {
	hits, rest := make(set, (f.n+63)/64), make(set, (f.n+63)/64)
	err := f.s.read(f.ctx, func(r *reader) error {
		for _, q := range []struct {
			query string
			args  []any
			into  set
		}{
			{"SELECT coalesce(group_concat(rowid, ' '), '') FROM words WHERE words MATCH ?", []any{match}, hits},
			{"SELECT coalesce(group_concat(seq, ' '), '') FROM unindexed", nil, rest},
		} {
			var list string
			if err := r.tx.QueryRowContext(f.ctx, q.query, q.args...).Scan(&list); err != nil {
				return fmt.Errorf("history: full-text index: %w", err)
			}
			f.putSeqs(q.into, list)
		}
		return nil
	})
	hits = hits.without(rest) // what the index says of a changed pair is out of date
	if exact {
		return candidates{sure: hits, maybe: rest}, err
	}
	rest.add(hits)
	return candidates{sure: make(set, len(rest)), maybe: rest}, err
}

// putSeqs puts the pairs of a list of seqs into a set.
func (f *search) putSeqs(into set, list string) {
	at := 0 // the index lists seqs in order, so the next is rarely far
	for field := range strings.FieldsSeq(list) {
		seq, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			continue
		}
		blocks := f.snap.blocks
		if at == len(blocks) || seq < blocks[at].seq[0] || seq > last(blocks[at].seq) {
			at, _, _ = f.snap.locate(seq)
		}
		if at == len(blocks) {
			continue
		}
		if i, ok := slices.BinarySearch(blocks[at].seq, seq); ok {
			into.put(f.from[at] + i)
		}
	}
}

func last[T any](s []T) T { return s[len(s)-1] }

// readTexts judges a term by the texts themselves, newest first.
func (f *search) readTexts(x filter.Expr, within set) (set, error) {
	result := make(set, len(within))
	positions := slices.Collect(within.each())
	slices.Reverse(positions)
	err := f.s.read(f.ctx, func(r *reader) error {
		for chunk := range slices.Chunk(positions, readAtOnce) {
			if err := f.readChunk(r, x, chunk, result); err != nil {
				return err
			}
		}
		return nil
	})
	return result, err
}

func (f *search) readChunk(r *reader, x filter.Expr, positions []int, result set) error {
	seqs := make([]int64, len(positions))
	place := make(map[int64]int, len(positions))
	for i, pos := range positions {
		b, at := f.at(pos)
		seqs[i] = b.seq[at]
		place[seqs[i]] = pos
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	var found []int
	var texts []filter.Pair
	err = r.each("SELECT b.seq, b.user, b.answer FROM json_each(?) j JOIN body b ON b.seq = j.value", []any{string(list)}, func(scan scanner) error {
		var seq int64
		var user, answer string
		err := scan(&seq, &user, &answer)
		found = append(found, place[seq])
		texts = append(texts, filter.Pair{Text: func() (string, string) { return user, answer }})
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range filter.EvalExpr(x, texts, f.env.Env) {
		result.put(found[i])
	}
	return nil
}
