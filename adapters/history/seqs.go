package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// seqs is a set of pairs by their numbers, rising.
type seqs []int64

// minus is a without what is in b.
func (a seqs) minus(b seqs) seqs {
	var out seqs
	j := 0
	for _, s := range a {
		for j < len(b) && b[j] < s {
			j++
		}
		if j == len(b) || b[j] != s {
			out = append(out, s)
		}
	}
	return out
}

// and is what is in both.
func (a seqs) and(b seqs) seqs {
	var out seqs
	j := 0
	for _, s := range a {
		for j < len(b) && b[j] < s {
			j++
		}
		if j < len(b) && b[j] == s {
			out = append(out, s)
		}
	}
	return out
}

// or is what is in either.
func (a seqs) or(b seqs) seqs {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := make(seqs, 0, len(a)+len(b))
	out = append(append(out, a...), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// upTo is the part of a up to and including last.
func (a seqs) upTo(last int64) seqs {
	n, found := slices.BinarySearch(a, last)
	if found {
		n++
	}
	return a[:n:n]
}

// after is the part of a that is greater than last.
func (a seqs) after(last int64) seqs { return a[len(a.upTo(last)):] }

// runs writes a as runs of neighbours: "4", "6-9".
func (a seqs) runs() []string {
	out := []string{}
	for i := 0; i < len(a); {
		j := i + 1
		for j < len(a) && a[j] == a[j-1]+1 {
			j++
		}
		run := strconv.FormatInt(a[i], 10)
		if j > i+1 {
			run += "-" + strconv.FormatInt(a[j-1], 10)
		}
		out = append(out, run)
		i = j
	}
	return out
}

// maxRunsShown is how many runs a sentence names.
const maxRunsShown = 40

// String names the pairs, the first ones of a long list.
func (a seqs) String() string {
	runs := a.runs()
	if more := len(runs) - maxRunsShown; more > 0 {
		return strings.Join(runs[:maxRunsShown], ", ") + fmt.Sprintf(" and %d more runs", more)
	}
	return strings.Join(runs, ", ")
}

// readRuns reads what runs writes. No number may be above last, which bounds
// what a damaged text can ask for.
func readRuns(runs []string, last int64) (seqs, error) {
	var out seqs
	at := int64(0)
	for _, run := range runs {
		first, end, isRun := strings.Cut(run, "-")
		from, err := strconv.ParseInt(first, 10, 64)
		to := from
		if err == nil && isRun {
			to, err = strconv.ParseInt(end, 10, 64)
		}
		if err != nil || from <= at || to < from || to > last {
			return nil, fmt.Errorf("%q is no run of pairs between %d and %d", run, at+1, last)
		}
		for at = from; at < to; at++ {
			out = append(out, at)
		}
		out = append(out, at)
	}
	return out, nil
}

// MarshalJSON writes the numbers as a list, never null.
func (a seqs) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int64{}, a...)) }
