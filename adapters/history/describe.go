package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

const (
	maxClauses    = 3  // maximum number of clauses in a sentence
	maxTopicCells = 40 // maximum width of a topic in cells
)

// DescribeChange implements [assistant.Describer]. It returns, for example, "gave 3 stars to 2 messages; moved 1
// message to AI > Agents", or "" if nothing changed or a state cannot be read.
func (w *Window) DescribeChange(before, after json.RawMessage) string {
	was, _, err1 := readState(before)
	is, _, err2 := readState(after)
	if errors.Join(err1, err2) != nil {
		return ""
	}
	gained := map[mark]int{} // the number of pairs that gained each mark
	for k := range defaultMarks {
		unmarked := was.marked(k).minus(is.marked(k))
		gained[mark{k, defaultMarks[k]}] = len(unmarked)
	}
	var made, gone []string // topics
	for key, pairs := range is.byMark {
		gained[key] += len(pairs.minus(was.byMark[key]))
		if _, known := was.byMark[key]; !known && key.kind == topics && len(pairs) == 0 {
			made = append(made, string(safetext.Line(key.value, maxTopicCells)))
		}
	}
	for key, pairs := range was.byMark {
		if _, known := is.byMark[key]; !known && key.kind == topics && len(pairs) == 0 {
			gone = append(gone, string(safetext.Line(key.value, maxTopicCells)))
		}
	}
	return sentence(gained, made, gone)
}

// marked returns the pairs with a mark of kind k that is not the default.
func (m marks) marked(k kind) (all seqs) {
	for key, pairs := range m.byMark {
		if key.kind == k && !key.isDefault() {
			all = append(all, pairs...)
		}
	}
	slices.Sort(all)
	return all
}

// sentence describes how many pairs gained each mark, and which empty topics were created and removed.
func sentence(gained map[mark]int, made, gone []string) string {
	var keys []mark
	for key, n := range gained {
		if n > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b mark) int {
		return cmp.Or(slices.Index(kindOrder, a.kind)-slices.Index(kindOrder, b.kind), strings.Compare(a.value, b.value))
	})
	var clauses []string
	for _, key := range keys {
		clauses = append(clauses, clause(key, assistant.Counted(gained[key], "message")))
	}
	slices.Sort(made)
	slices.Sort(gone)
	for _, path := range made {
		clauses = append(clauses, "created the topic "+path)
	}
	for _, path := range gone {
		clauses = append(clauses, "removed the topic "+path)
	}
	if more := len(clauses) - maxClauses; more > 0 {
		clauses = append(clauses[:maxClauses], fmt.Sprintf("%d more", more))
	}
	return strings.Join(clauses, "; ")
}

// kindOrder is the order of the marks in a sentence.
var kindOrder = []kind{stars, flags, topics}

// clause describes that pairs gained a mark, for example "gave 3 stars to 2 messages".
func clause(m mark, pairs string) string {
	switch {
	case m.kind == stars && m.isDefault():
		return "removed the stars from " + pairs
	case m.kind == stars:
		n, _ := strconv.Atoi(m.value) // readState has checked the value
		return "gave " + assistant.Counted(n, "star") + " to " + pairs
	case m.kind == flags && m.isDefault():
		return "flagged " + pairs
	case m.kind == flags:
		return "removed the flag from " + pairs
	case m.isDefault():
		return "removed the topic from " + pairs
	default:
		return "moved " + pairs + " to " + string(safetext.Line(m.value, maxTopicCells))
	}
}
