package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/safetext"
)

// Limits on what a search returns.
const (
	defaultSearchLines = 20  // number of pairs if the call does not specify a limit
	maxSearchLines     = 100 // pairs
	maxSearchIDs       = 500 // maximum number of ids in a result
	excerptChars       = 60  // characters before the word in an excerpt; twice as many are shown from the word on
)

type searchArgs struct {
	Query string `json:"query,omitempty" jsonschema:"plain words; a pair matches if each word is in the user's or the assistant's text. \"Words in quotes\" must be adjacent"`
	Line  string `json:"line,omitempty" jsonschema:"a filter line such as s>1 d<30d; with a query, both must match"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many pairs to show, newest first; default 20, at most 100"`
}

// searchResult is what search_pairs returns.
type searchResult struct {
	Count     int        `json:"count"`
	IDs       seqs       `json:"ids"`   // newest first
	Pairs     []PairLine `json:"pairs"` // newest first
	Line      string     `json:"line"`  // the search as a filter line
	Hints     []string   `json:"hints,omitempty"`
	Truncated bool       `json:"truncated,omitempty"` // true if ids or pairs are incomplete; count is always exact
}

func (w *Window) searchPairs(ctx context.Context, a searchArgs) (assistant.ToolResult, error) {
	words := plainWords(a.Query)
	line := strings.TrimSpace(a.Line)
	if len(words) == 0 && line == "" {
		return assistant.ToolResult{}, refuse(assistant.CodeInvalidArguments, "specify words in query, or a filter line in line")
	}
	q, err := parseLine(line)
	if err != nil {
		return assistant.ToolResult{}, err
	}
	q.Expr = withWords(q.Expr, words)
	s, err := w.find(ctx, q, line)
	if err != nil {
		return assistant.ToolResult{}, err
	}
	limit := a.Limit
	if limit <= 0 {
		limit = defaultSearchLines
	}
	loaded, err := w.store.Load(ctx, newestFirst(s.pairs, min(limit, maxSearchLines)))
	f := searchResult{Count: len(s.pairs), IDs: newestFirst(s.pairs, maxSearchIDs), Pairs: []PairLine{}, Line: filter.PrintExpr(q.Expr)}
	for _, p := range loaded {
		l := pairLine(p)
		if len(words) > 0 && !strings.Contains(strings.ToLower(l.User), strings.ToLower(words[0])) {
			l.Found = excerpt(string(p.AssistantText), words[0])
		}
		f.Pairs = append(f.Pairs, l)
	}
	for _, h := range s.hints {
		f.Hints = append(f.Hints, oneLine(h.String()))
	}
	f.Truncated = len(f.Pairs) < f.Count
	return assistant.OK(f.message(), f), err
}

// message describes the result and includes the first pairs, for clients that only show the message.
func (f searchResult) message() string {
	what := oneLine(f.Line)
	if f.Count == 0 {
		out := "no message matches " + what
		for _, h := range f.Hints {
			out += "; " + h
		}
		return out
	}
	verb := "match"
	if f.Count == 1 {
		verb = "matches"
	}
	named := f.Pairs[:min(len(f.Pairs), 5)]
	out := fmt.Sprintf("%s %s %s", assistant.Counted(f.Count, "message"), verb, what)
	for i, p := range named {
		sep := "; "
		if i == 0 {
			sep = ", newest first: "
		}
		out += fmt.Sprintf("%s%d %q", sep, p.ID, p.User)
	}
	if more := f.Count - len(named); more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// plainWords splits a query at white space, except within double quotes.
func plainWords(query string) []string {
	var words []string
	for i, part := range strings.Split(query, `"`) {
		if part = strings.TrimSpace(part); i%2 == 1 && part != "" {
			words = append(words, part)
		} else if i%2 == 0 {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// withWords restricts an expression to pairs whose texts contain all words.
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

// excerpt returns the part of a text around a word, or "" if the text does not contain the word.
func excerpt(text, word string) string {
	lower := strings.Map(unicode.ToLower, text) // lower has as many runes as text
	before, _, found := strings.Cut(lower, strings.Map(unicode.ToLower, word))
	if !found {
		return ""
	}
	all, at := []rune(text), utf8.RuneCountInString(before)
	return string(safetext.Line(string(all[max(0, at-excerptChars):min(len(all), at+2*excerptChars)]), maxNameCells))
}

// maxIDs is the maximum number of ids in a call; for more pairs, the call must use a filter line.
const maxIDs = 1000

// maxBusyPairs is how many of the newest matching pairs are checked for pairs that are being answered. More sessions
// rarely run at the same time.
const maxBusyPairs = 32

// pairArgs are the arguments that select the pairs of a call.
type pairArgs struct {
	IDs  []int64 `json:"ids,omitempty" jsonschema:"numbers of pairs, as returned by search_pairs"`
	Line string  `json:"line,omitempty" jsonschema:"a filter line instead of ids; it searches the whole history"`
}

// selection is the pairs that a call works on.
type selection struct {
	pairs seqs
	busy  seqs // pairs requested but left out, because they are being answered
	hints []filter.Hint
}

// selectPairs returns the pairs that a call works on, at least one.
func (w *Window) selectPairs(ctx context.Context, c pairArgs) (selection, error) {
	line := strings.TrimSpace(c.Line)
	switch {
	case len(c.IDs) > 0 && line != "":
		return selection{}, refuse(assistant.CodeInvalidArguments, "specify ids or a line, not both")
	case line == "" && len(c.IDs) == 0:
		return selection{}, refuse(assistant.CodeInvalidArguments, "specify ids, or a line that matches pairs")
	case len(c.IDs) > maxIDs:
		return selection{}, refuse(assistant.CodeInvalidArguments, "%d ids exceed the limit of %d; use a line instead", len(c.IDs), maxIDs)
	}
	q, err := parseLine(line) // an empty line matches all pairs
	if err != nil {
		return selection{}, err
	}
	s, err := w.find(ctx, q, line)
	if len(c.IDs) > 0 && err == nil {
		pairs := seqs(slices.Clone(c.IDs))
		slices.Sort(pairs)
		pairs = slices.Compact(pairs)
		s.busy = s.busy.intersect(pairs)
		var unknown seqs
		if s.pairs, unknown = pairs.minus(s.busy).split(s.pairs); len(unknown) > 0 {
			verb := "is"
			if len(unknown) > 1 {
				verb = "are"
			}
			err = refuse(assistant.CodeFailed, "there %s no %s; search_pairs returns the ids of messages", verb, unknown.named())
		}
	}
	if err == nil && len(s.pairs) == 0 {
		err = refuse(assistant.CodeFailed, "no message matches%s", s.remarks())
	}
	return s, err
}

// find returns the pairs that a query matches. It omits pairs that are being answered, because they are the request
// itself.
func (w *Window) find(ctx context.Context, q *filter.Query, line string) (selection, error) {
	matches, err := w.store.Filter(ctx, q, w.env(ctx))
	if err != nil {
		return selection{}, refuseLine(err, line)
	}
	s := selection{hints: matches.Hints}
	for _, r := range matches.Refs {
		s.pairs = append(s.pairs, r.Seq)
	}
	loaded, err := w.store.Load(ctx, newestFirst(s.pairs, maxBusyPairs))
	for _, p := range slices.Backward(loaded) {
		if p.State == assistant.PairSending {
			s.busy = append(s.busy, p.Seq)
		}
	}
	s.pairs = s.pairs.minus(s.busy)
	return s, err
}

// parseLine parses a line; it refuses a line that contains a command.
func parseLine(line string) (*filter.Query, error) {
	q, err := filter.Parse(line)
	if err != nil {
		return nil, refuseLine(err, line)
	}
	if q.Command != nil {
		return nil, refuse(assistant.CodeInvalidArguments, "the line may only filter; remove %s and use the corresponding tool", quote(q.Command.String()))
	}
	return q, nil
}

// refuseLine converts an error in a line to a refusal that names the column.
func refuseLine(err error, line string) error {
	var e *filter.Error
	if !errors.As(err, &e) {
		return err
	}
	r := refuse(assistant.CodeInvalidArguments, "the line is invalid: %s", e.Error())
	r.Hint = "Nothing was done. Correct the line at that column and call the tool again."
	r.Data = map[string]any{"line": oneLine(line), "column": e.Column, "found": oneLine(e.Found), "want": oneLine(e.Want)}
	return r
}

// remarks returns the hints and the omitted pairs as the end of a sentence.
func (s selection) remarks() string {
	var out string
	for _, h := range s.hints {
		out += "; " + oneLine(h.String())
	}
	switch len(s.busy) {
	case 0:
	case 1:
		out += fmt.Sprintf("; %s is still being answered and was left out", s.busy.named())
	default:
		out += fmt.Sprintf("; %s are still being answered and were left out", s.busy.named())
	}
	return out
}
