package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// windowType is how the context names this window.
const windowType = "history"

// Bounds of the context. Neither is ever the whole story: the tools are.
const (
	newestShown    = 40 // pairs: two screenfuls
	firstWords     = 80 // cells of a user's text
	maxModelsShown = 50
)

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
	Found   string `json:"found,omitempty"` // where a search met it
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

// StateHash changes whenever the context may have changed.
func (w *Window) StateHash() string {
	w.work.Lock()
	defer w.work.Unlock()
	ctx := context.Background()
	hash := sha256.New()
	now, err := w.read(ctx)
	if err == nil {
		var c Context
		if c, err = w.describe(ctx, now); err == nil {
			err = json.NewEncoder(hash).Encode(c)
		}
	}
	if err != nil {
		return "" // nothing is known; Context says why
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// describe makes the context of these marks.
func (w *Window) describe(ctx context.Context, now marks) (Context, error) {
	at := w.selected()
	c := Context{
		WindowType: windowType, Session: shown(at.Session), Topic: shown(at.Topic),
		Topics: []ContextTopic{}, Models: []ContextModel{}, Saved: []ContextSaved{}, Newest: []PairLine{},
	}
	sessions, err := w.store.Groups(ctx, history.BySession)
	if err != nil {
		return c, err
	}
	models, err := w.store.Groups(ctx, history.ByModel)
	if err != nil {
		return c, err
	}
	c.Counts = ContextCounts{
		Pairs: len(now.pairs), Topics: len(now.columns[topics].sets), Saved: len(now.filters), Starred: map[string]int{},
		Unflagged: len(now.columns[flags].sets[flagOff]), NoTopic: len(now.pairs) - len(now.columns[topics].marked()),
		Sessions: len(sessions), Models: len(models),
	}
	for _, s := range sessions {
		c.Counts.Failed += s.Failed
	}
	for value, pairs := range now.columns[stars].sets {
		c.Counts.Starred[value] = len(pairs)
	}
	if c.Filter, err = w.activeFilter(ctx, at.Line); err != nil {
		return c, err
	}
	f := lists{models: mostUsed(models)}
	if f.newest, err = w.newest(ctx, now.pairs); err != nil {
		return c, err
	}
	f.topics, f.saved = now.tree(noTopic), now.filters
	return f.fill(c, w.contextBudget()), nil
}

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

// newest loads the last pairs, the newest first.
func (w *Window) newest(ctx context.Context, pairs seqs) ([]PairLine, error) {
	loaded, err := w.store.Load(ctx, backwards(pairs, newestShown))
	lines := make([]PairLine, len(loaded))
	for i, p := range loaded {
		lines[i] = pairLine(p)
	}
	return lines, err
}

// backwards is up to n of the last pairs, the newest first.
func backwards(pairs seqs, n int) seqs {
	out := make(seqs, 0, min(n, len(pairs)))
	for i := len(pairs) - 1; i >= 0 && len(out) < n; i-- {
		out = append(out, pairs[i])
	}
	return out
}

// SetContextBudget bounds the context to about so many estimated tokens.
func (w *Window) SetContextBudget(tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.budget = tokens
}

func (w *Window) contextBudget() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.budget <= 0 {
		return defaultContextTokens
	}
	return w.budget
}
