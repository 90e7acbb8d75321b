package history

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/safetext"
)

// Bounds of what a search returns.
const (
	searchLines    = 20  // pairs in one line each, when the call does not say
	maxSearchLines = 100 // and at most
	maxSearchIDs   = 500 // numbers of pairs
	foundAround    = 60  // characters on either side of a word in an answer
)

type searchArgs struct {
	Query string `json:"query,omitempty" jsonschema:"plain words; a pair matches when the user's or the assistant's text has all of them. \"Words in quotes\" stand together"`
	Line  string `json:"line,omitempty" jsonschema:"a filter line such as s>1 d<30d; with a query, both must match"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many pairs to show, the newest first; 20 unless given, at most 100"`
}

// found is what a search tells.
type found struct {
	Count int        `json:"count"`
	IDs   seqs       `json:"ids"`   // the newest first
	Pairs []PairLine `json:"pairs"` // the newest first
	Line  string     `json:"line"`  // what was searched for, as a filter line
	Hints []string   `json:"hints,omitempty"`
	// Truncated says that ids or pairs are not all; count is exact.
	Truncated bool `json:"truncated,omitempty"`
}

func (w *Window) searchPairs(ctx context.Context, a searchArgs) (assistant.ToolResult, refusal, error) {
	words := plainWords(a.Query)
	line := strings.TrimSpace(a.Line)
	if len(words) == 0 && line == "" {
		return assistant.ToolResult{}, refuse(assistant.CodeInvalidArguments, "give words to look for in query, or a filter line"), nil
	}
	q, refused := parseLine(line)
	if refused != nil {
		return assistant.ToolResult{}, refused, nil
	}
	q.Expr = withWords(q.Expr, words)
	s, refused, err := w.find(ctx, q, line)
	if err != nil || refused != nil {
		return assistant.ToolResult{}, refused, err
	}
	limit := a.Limit
	if limit <= 0 {
		limit = searchLines
	}
	loaded, err := w.store.Load(ctx, backwards(s.pairs, min(limit, maxSearchLines)))
	if err != nil {
		return assistant.ToolResult{}, nil, err
	}
	f := found{Count: len(s.pairs), IDs: backwards(s.pairs, maxSearchIDs), Pairs: []PairLine{}, Line: filter.PrintExpr(q.Expr)}
	for _, p := range loaded {
		l := pairLine(p)
		l.Found = around(p, words)
		f.Pairs = append(f.Pairs, l)
	}
	for _, h := range s.hints {
		f.Hints = append(f.Hints, shown(h.String()))
	}
	f.Truncated = len(f.Pairs) < f.Count
	return assistant.OK(f.sentence(), f), nil, nil
}

// sentence says what was found, also for who reads no more than that.
func (f found) sentence() string {
	what := shown(f.Line)
	if f.Count == 0 {
		out := "no pair matches " + what
		for _, h := range f.Hints {
			out += "; " + h
		}
		return out
	}
	verb := "match"
	if f.Count == 1 {
		verb = "matches"
	}
	const named = 5
	out := fmt.Sprintf("%s %s %s", assistant.Counted(f.Count, "pair"), verb, what)
	for i, p := range f.Pairs[:min(len(f.Pairs), named)] {
		sep := "; "
		if i == 0 {
			sep = ", the newest first: "
		}
		out += fmt.Sprintf("%s%d %q", sep, p.ID, p.User)
	}
	if more := f.Count - named; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// plainWords splits a query at white space, outside of double quotes.
func plainWords(query string) []string {
	var words []string
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			words = append(words, strings.TrimSpace(part))
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	nonEmpty := words[:0]
	for _, word := range words {
		if word != "" {
			nonEmpty = append(nonEmpty, word)
		}
	}
	return nonEmpty
}

// withWords narrows an expression to texts that hold all words.
func withWords(x filter.Expr, words []string) filter.Expr {
	var terms []filter.Expr
	switch x := x.(type) {
	case nil:
	case filter.And:
		terms = append(terms, x.Terms...)
	default:
		terms = append(terms, x)
	}
	for _, word := range words {
		terms = append(terms, filter.Content{Parts: []string{word}})
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return filter.And{Terms: terms}
}

// around is the piece of an answer in which the first word stands that the
// user's first words do not show; "" when there is none.
func around(p assistant.Pair, words []string) string {
	for _, word := range words {
		if at := place(safetext.Line(p.UserText, firstWords), word); at >= 0 {
			continue
		}
		for _, text := range []string{p.AssistantText, p.UserText} {
			if at := place(text, word); at >= 0 {
				all := []rune(text)
				from, to := max(0, at-foundAround), min(len(all), at+len([]rune(word))+foundAround)
				return safetext.Line(string(all[from:to]), 2*foundAround+maxName)
			}
		}
	}
	return ""
}

// place is where word stands in text, in characters, whatever the case; -1 when
// it does not.
func place(text, word string) int {
	low := strings.Map(unicode.ToLower, text)
	at := strings.Index(low, strings.Map(unicode.ToLower, word))
	if at < 0 {
		return -1
	}
	return len([]rune(low[:at]))
}
