package history

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/filter"
	"winnow/assistant/safetext"
)

// Limits on the context. search_pairs and list_topics return pairs and topics that the context omits.
const (
	maxContextPairs = 40 // the number of newest pairs, about two screenfuls
	maxUserCells    = 80 // the width of a user's text in cells
)

// truncatedNote tells the model what to do if the context is truncated.
const truncatedNote = "The lists are truncated to fit; every count is exact. search_pairs and list_topics return more."

// countTimeout limits the time for counting the pairs that the user's filter line matches, because counting may require
// reading their texts. If it takes longer, the context contains no count.
const countTimeout = 2 * time.Second

// defaultContextTokens is the limit on the context if no budget is set.
const defaultContextTokens = 16_000

// Context is the model's view of the window. The lists may be truncated; the counts are exact.
type Context struct {
	WindowType string         `json:"window_type"`
	Counts     ContextCounts  `json:"counts"`
	Filter     ContextFilter  `json:"active_filter"`
	Session    string         `json:"this_session,omitempty"`
	Topic      string         `json:"selected_topic,omitempty"`
	Topics     []ContextTopic `json:"topics"`
	Models     []ContextModel `json:"models"`
	Saved      []ContextSaved `json:"saved_filters"`
	Newest     []PairLine     `json:"newest_pairs"` // newest first
	Truncated  bool           `json:"truncated,omitempty"`
	Note       string         `json:"note,omitempty"`
}

// ContextCounts contains the counts of the whole history.
type ContextCounts struct {
	Pairs     int            `json:"pairs"`
	Sessions  int            `json:"sessions"` // the number of sessions that have pairs
	Topics    int            `json:"topics"`
	Models    int            `json:"models"`
	Saved     int            `json:"saved_filters"`
	Starred   map[string]int `json:"starred"` // by number of stars
	Unflagged int            `json:"unflagged"`
	NoTopic   int            `json:"without_topic"`
	Failed    int            `json:"failed"`
}

// ContextFilter is the filter line of the user's view.
type ContextFilter struct {
	Line  string `json:"line"`            // the filter line; "" matches all pairs
	Shows *int   `json:"shows,omitempty"` // the number of matching pairs; nil if unknown
	Error string `json:"error,omitempty"` // why the line is invalid; "" if it is valid
}

// ContextTopic is a topic with the number of its pairs, without and with the topics below it.
type ContextTopic struct {
	Topic string `json:"topic"`
	Pairs int    `json:"pairs"`
	All   int    `json:"with_subtopics"`
}

// ContextModel is a model that has answered pairs.
type ContextModel struct {
	Model string `json:"model"`
	Pairs int    `json:"pairs"`
}

// ContextSaved is a saved filter.
type ContextSaved struct {
	Name string `json:"name"`
	Line string `json:"line"`
}

// PairLine is a short form of a pair.
type PairLine struct {
	ID      int64  `json:"id"`
	At      string `json:"at"`
	Session string `json:"session,omitempty"`
	Topic   string `json:"topic,omitempty"`
	Model   string `json:"model,omitempty"`
	Stars   int    `json:"stars,omitempty"`
	Flag    bool   `json:"flag"`
	State   string `json:"state,omitempty"` // "" if the pair is complete
	User    string `json:"user"`            // the beginning of the user's text
	Found   string `json:"found,omitempty"` // an excerpt of the answer around the search term, if User does not contain the term
}

// timeLayout formats times for the model.
const timeLayout = "2006-01-02 15:04"

func pairLine(p assistant.Pair) PairLine {
	l := PairLine{
		ID: p.Seq, At: p.CreatedAt.Format(timeLayout), Session: oneLine(p.Session), Topic: oneLine(p.Topic), Model: oneLine(p.Model),
		Stars: p.Star, Flag: p.Flag, User: string(safetext.Line(p.UserText, maxUserCells)),
	}
	switch p.State {
	case assistant.PairComplete:
	case assistant.PairError:
		l.State = "error: " + oneLine(p.ErrorCode)
	default:
		l.State = string(p.State)
	}
	return l
}

// Context returns a Context that fits the context budget, and records for Changes what has changed since the last one.
func (w *Window) Context() (any, error) {
	w.storeMu.Lock()
	defer w.storeMu.Unlock()
	ctx := context.Background()
	now, err := w.readMarks(ctx)
	if err != nil {
		return nil, err
	}
	w.recordChanges(now, w.selected().Line)
	return w.describe(ctx, now)
}

// describe builds the context for the current marks.
func (w *Window) describe(ctx context.Context, now marks) (Context, error) {
	selected := w.selected()
	sessions, err := w.sessions(ctx)
	if err != nil {
		return Context{}, err
	}
	models, err := w.store.Models(ctx)
	if err != nil {
		return Context{}, err
	}
	saved, err := w.store.SavedFilters(ctx)
	if err != nil {
		return Context{}, err
	}
	newest, err := w.store.Load(ctx, newestFirst(now.pairs, maxContextPairs))
	if err != nil {
		return Context{}, err
	}
	c := Context{
		WindowType: PageName, Session: oneLine(selected.Session), Topic: oneLine(selected.Topic),
		Topics: now.below(""), Models: []ContextModel{}, Saved: []ContextSaved{}, Newest: []PairLine{},
		Counts: ContextCounts{
			Pairs: len(now.pairs), Sessions: len(sessions), Models: len(models), Topics: len(now.tree), Saved: len(saved),
			Starred: map[string]int{}, Unflagged: len(now.byMark[mark{flags, flagOff}]), NoTopic: len(now.byMark[mark{topics, ""}]),
		},
	}
	for n := 1; n <= filter.MaxStars; n++ {
		value := strconv.Itoa(n)
		c.Counts.Starred[value] = len(now.byMark[mark{stars, value}])
	}
	for _, m := range models {
		c.Counts.Failed += m.Failed
		c.Models = append(c.Models, ContextModel{oneLine(m.Model), m.Pairs})
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		c.Saved = append(c.Saved, ContextSaved{oneLine(name), oneLine(saved[name])})
	}
	for _, p := range newest {
		c.Newest = append(c.Newest, pairLine(p))
	}
	if c.Filter, err = w.activeFilter(ctx, selected.Line); err != nil {
		return Context{}, err
	}
	c.truncate(estimateChars(w.contextBudget()))
	return c, nil
}

// truncate repeatedly shortens the longest list, until the context has at most limit characters or all lists are empty.
func (c *Context) truncate(limit int) {
	if jsonChars(*c) <= limit {
		return
	}
	c.Truncated, c.Note = true, truncatedNote
	slices.SortStableFunc(c.Topics, func(a, b ContextTopic) int { return cmp.Compare(b.All, a.All) }) // so that the largest topics are kept
	for jsonChars(*c) > limit {
		sizes := []int{jsonChars(c.Topics), jsonChars(c.Models), jsonChars(c.Saved), jsonChars(c.Newest)}
		longest := slices.Max(sizes)
		if longest == len("[]") {
			return
		}
		switch slices.Index(sizes, longest) {
		case 0:
			c.Topics = c.Topics[:len(c.Topics)*3/4]
		case 1:
			c.Models = c.Models[:len(c.Models)*3/4]
		case 2:
			c.Saved = c.Saved[:len(c.Saved)*3/4]
		default:
			c.Newest = c.Newest[:len(c.Newest)*3/4]
		}
	}
	slices.SortFunc(c.Topics, func(a, b ContextTopic) int { return cmp.Compare(a.Topic, b.Topic) })
}

// jsonChars returns the number of characters of v as JSON.
func jsonChars(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // cannot happen: a context contains only encodable values
	}
	return utf8.RuneCount(text)
}

// estimateChars returns the number of characters that corresponds to an estimated number of tokens.
func estimateChars(tokens int) int { return int(float64(tokens) * budget.Params{}.CPT()) }

// activeFilter describes the user's filter line and counts the pairs that the line matches.
func (w *Window) activeFilter(ctx context.Context, line string) (ContextFilter, error) {
	f := ContextFilter{Line: oneLine(line)}
	q, err := filter.Parse(line)
	n := 0
	if err == nil {
		bounded, cancel := context.WithTimeout(ctx, countTimeout)
		defer cancel()
		n, err = w.store.Count(bounded, q, w.env(ctx))
		if err != nil && bounded.Err() != nil {
			return f, nil
		}
	}
	var lineErr *filter.Error
	switch {
	case errors.As(err, &lineErr):
		f.Error = oneLine(lineErr.Error())
		return f, nil
	case err != nil:
		return f, err
	}
	f.Shows = &n
	return f, nil
}

// SetContextBudget limits the context to about this many estimated tokens; 0 means defaultContextTokens.
func (w *Window) SetContextBudget(tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget = max(tokens, 0)
}

func (w *Window) contextBudget() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.budget, defaultContextTokens)
}
