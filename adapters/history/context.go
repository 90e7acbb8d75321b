package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
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

// Bounds of the context. Neither is ever the whole story: the tools are.
const (
	newestShown = 40 // pairs: two screenfuls
	firstWords  = 80 // cells of a user's text
)

// cutNote tells the model what to do about a cut context.
const cutNote = "The lists are cut to fit; every count is exact. search_pairs, list_topics and list_sessions give the rest."

// countPatience bounds how long the context waits for the count of a line that
// has to read texts; such a line is shown without its count.
const countPatience = 2 * time.Second

// defaultContextTokens bounds the context when nobody has set a budget.
const defaultContextTokens = 16_000

// Context is what the model is told of the window. The lists may be cut; the
// counts are exact.
type Context struct {
	WindowType string         `json:"window_type"`
	Counts     ContextCounts  `json:"counts"`
	Filter     ContextFilter  `json:"active_filter"`
	Session    string         `json:"this_session,omitempty"`
	Topic      string         `json:"selected_topic,omitempty"`
	Topics     []ContextTopic `json:"topics"`
	Models     []ContextModel `json:"models"`
	Saved      []ContextSaved `json:"saved_filters"`
	Newest     []PairLine     `json:"newest_pairs"` // the newest first
	Truncated  bool           `json:"truncated,omitempty"`
	Note       string         `json:"note,omitempty"`
}

// ContextCounts are of the whole history.
type ContextCounts struct {
	Pairs     int            `json:"pairs"`
	Sessions  int            `json:"sessions"` // that have pairs
	Topics    int            `json:"topics"`
	Models    int            `json:"models"`
	Saved     int            `json:"saved_filters"`
	Starred   map[string]int `json:"starred"` // by stars
	Unflagged int            `json:"unflagged"`
	NoTopic   int            `json:"without_topic"`
	Failed    int            `json:"failed"`
}

// ContextFilter is the line that decides what the user sees.
type ContextFilter struct {
	Line  string `json:"line"`            // "" shows all
	Shows *int   `json:"shows,omitempty"` // pairs; nil is not known
	Error string `json:"error,omitempty"` // why the line cannot be read
}

// ContextTopic is a topic with the number of its own pairs, and of those with
// the ones below it.
type ContextTopic struct {
	Topic string `json:"topic"`
	Pairs int    `json:"pairs"`
	All   int    `json:"with_subtopics"`
}

// ContextModel is a model that answered pairs.
type ContextModel struct {
	Model string `json:"model"`
	Pairs int    `json:"pairs"`
}

// ContextSaved is a saved filter.
type ContextSaved struct {
	Name string `json:"name"`
	Line string `json:"line"`
}

// PairLine is a pair in one line.
type PairLine struct {
	ID      int64  `json:"id"`
	At      string `json:"at"`
	Session string `json:"session,omitempty"`
	Topic   string `json:"topic,omitempty"`
	Model   string `json:"model,omitempty"`
	Stars   int    `json:"stars,omitempty"`
	Flag    bool   `json:"flag"`
	State   string `json:"state,omitempty"` // when it is not complete
	User    string `json:"user"`            // the first words
	Found   string `json:"found,omitempty"` // where a search met it, when those do not show it
}

// lineTime is how times are told: to the minute, with their day.
const lineTime = "2006-01-02 15:04"

func pairLine(p assistant.Pair) PairLine {
	l := PairLine{
		ID: p.Seq, At: p.CreatedAt.Format(lineTime), Session: shown(p.Session), Topic: shown(p.Topic), Model: shown(p.Model),
		Stars: p.Star, Flag: p.Flag, User: safetext.Line(p.UserText, firstWords),
	}
	switch p.State {
	case assistant.PairComplete:
	case assistant.PairError:
		l.State = "error: " + shown(p.ErrorCode)
	default:
		l.State = string(p.State)
	}
	return l
}

// Context returns a Context, cut to the budget.
func (w *Window) Context() (any, error) {
	w.work.Lock()
	defer w.work.Unlock()
	ctx := context.Background()
	now, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	w.notice(now, w.selected().Line)
	return w.describe(ctx, now)
}

// StateHash changes whenever the context may have changed. "" says that it
// cannot be read; Context says why.
func (w *Window) StateHash() string {
	w.work.Lock()
	defer w.work.Unlock()
	ctx := context.Background()
	now, err := w.read(ctx)
	if err != nil {
		return ""
	}
	c, err := w.describe(ctx, now)
	raw, encodeErr := json.Marshal(c)
	if err != nil || encodeErr != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// describe makes the context of these marks.
func (w *Window) describe(ctx context.Context, now marks) (Context, error) {
	at := w.selected()
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
	newest, err := w.store.Load(ctx, backwards(now.pairs, newestShown))
	if err != nil {
		return Context{}, err
	}
	c := Context{
		WindowType: PageName, Session: shown(at.Session), Topic: shown(at.Topic),
		Topics: now.below(""), Models: []ContextModel{}, Saved: []ContextSaved{}, Newest: []PairLine{},
		Counts: ContextCounts{
			Pairs: len(now.pairs), Sessions: len(sessions), Models: len(models), Topics: len(now.tree), Saved: len(saved),
			Starred: map[string]int{}, Unflagged: len(now.sets[mark{flags, flagOff}]), NoTopic: len(now.sets[mark{topics, ""}]),
		},
	}
	for n := 1; n <= filter.MaxStars; n++ {
		value := strconv.Itoa(n)
		c.Counts.Starred[value] = len(now.sets[mark{stars, value}])
	}
	for _, m := range models {
		c.Counts.Failed += m.Failed
		c.Models = append(c.Models, ContextModel{shown(m.Model), m.Pairs})
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		c.Saved = append(c.Saved, ContextSaved{shown(name), shown(saved[name])})
	}
	for _, p := range newest {
		c.Newest = append(c.Newest, pairLine(p))
	}
	if c.Filter, err = w.activeFilter(ctx, at.Line); err != nil {
		return Context{}, err
	}
	c.cut(charsOf(w.contextBudget()))
	return c, nil
}

// cut shortens the longest list until the context has at most so many characters.
func (c *Context) cut(limit int) {
	if size(*c) <= limit {
		return
	}
	c.Truncated, c.Note = true, cutNote
	slices.SortStableFunc(c.Topics, func(a, b ContextTopic) int { return cmp.Compare(b.All, a.All) }) // the largest stay
	for size(*c) > limit {
		sizes := []int{size(c.Topics), size(c.Models), size(c.Saved), size(c.Newest)}
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

// size is how many characters v takes as JSON.
func size(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // only what encodes is in a context
	}
	return utf8.RuneCount(text)
}

// charsOf is how many characters are estimated as so many tokens.
func charsOf(tokens int) int { return int(float64(tokens) * budget.Params{}.CPT()) }

// activeFilter counts what the user sees.
func (w *Window) activeFilter(ctx context.Context, line string) (ContextFilter, error) {
	f := ContextFilter{Line: shown(line)}
	q, err := filter.Parse(line)
	n := 0
	if err == nil {
		bounded, cancel := context.WithTimeout(ctx, countPatience)
		defer cancel()
		n, err = w.store.Count(bounded, q, w.env())
		if err != nil && bounded.Err() != nil {
			return f, nil
		}
	}
	var unreadable *filter.Error
	switch {
	case errors.As(err, &unreadable):
		f.Error = shown(unreadable.Error())
		return f, nil
	case err != nil:
		return f, err
	}
	f.Shows = &n
	return f, nil
}

// SetContextBudget bounds the context to about so many estimated tokens.
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
