package history

import (
	"context"
	"encoding/json"
	"iter"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// Store holds pairs and what a user interface remembers. SQLite is the one of
// this package; another engine passes historytest.Run. Its methods are safe from
// any goroutine, and each is one transaction.
type Store interface {
	assistant.Store // Commit, Load, Refs
	pairStore
	topicStore
	sessionStore
	memoryStore
	// Path says where the store is, for people.
	Path() string
	// Redact takes out of a text what is never stored or exported.
	Redact(text string) string
	// Check reads the whole store and changes nothing.
	Check(ctx context.Context) (CheckReport, error)
	// Close waits for what is being written.
	Close() error
}

// pairStore finds and changes pairs.
type pairStore interface {
	// Filter returns the uncut pairs that a line selects; a nil line selects all.
	Filter(ctx context.Context, q *filter.Query, env Env) (Result, error)
	// Count counts what Filter would return.
	Count(ctx context.Context, q *filter.Query, env Env) (int, error)
	// Stream yields it in pieces, the newest first.
	Stream(ctx context.Context, q *filter.Query, env Env) iter.Seq2[[]assistant.Ref, error]
	// Newest returns up to n uncut pairs before a pair (0: from the end), in order.
	Newest(ctx context.Context, session string, before int64, n int) ([]int64, error)
	// IDs returns the ids of pairs in the order asked for.
	IDs(ctx context.Context, seqs []int64) ([]string, error)
	// Requests returns the requests of a pair as they were sent, oldest first.
	Requests(ctx context.Context, seq int64) ([]assistant.SentRequest, error)
	// Append adds pairs whose id is not known yet, and counts them.
	Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error)
	// Mark sets marks of many pairs and returns what Restore needs to set them back.
	Mark(ctx context.Context, seqs []int64, m Mark) (before Restored, err error)
	// Restore sets back marks, created topics and saved filters.
	Restore(ctx context.Context, to Restored) error
	// Revision grows with each change of pairs, topics and saved filters that
	// this process has made or met. It answers from memory.
	Revision() int64
	// Refresh looks whether another process has changed something.
	Refresh(ctx context.Context) (changed bool, err error)
	// Groups counts the uncut pairs of every value of a field, and how many of
	// them ended in an error, the value with the newest pair first.
	Groups(ctx context.Context, by Field) ([]Group, error)
	// MarkGroups lists the uncut pairs by their marks, in no order.
	MarkGroups(ctx context.Context) ([]MarkGroup, error)
}

// topicStore is the tree of topics. Refusals wrap ErrTopic.
type topicStore interface {
	// Topics lists all topics with their counts, sorted by path; it looks at each pair.
	Topics(ctx context.Context) ([]Topic, error)
	// TopicPaths lists their paths, sorted, and looks at no pair.
	TopicPaths(ctx context.Context) ([]string, error)
	CreateTopic(ctx context.Context, path string) error
	RenameTopic(ctx context.Context, path, newName string) error
	MoveTopic(ctx context.Context, path, to string) error
	DeleteTopic(ctx context.Context, path string) error
}

// sessionStore remembers sessions.
type sessionStore interface {
	// Touch stores what is said of a session and makes it the last of its folder.
	Touch(ctx context.Context, v Session) error
	Sessions(ctx context.Context) ([]Session, error) // the last used first
	Session(ctx context.Context, id string) (v Session, found bool, err error)
	LastSession(ctx context.Context, folder string) (v Session, found bool, err error)
	SaveQueued(ctx context.Context, session string, p assistant.Prompt) error
	Queued(ctx context.Context, session string) (p assistant.Prompt, found bool, err error)
	ClearQueued(ctx context.Context, session string) error
	SetSessionState(ctx context.Context, session string, state json.RawMessage) error
	SessionState(ctx context.Context, session string) (json.RawMessage, error)
}

// memoryStore remembers what a user has typed, chosen and saved.
type memoryStore interface {
	SaveDraft(ctx context.Context, key string, d Draft) error
	Draft(ctx context.Context, key string) (Draft, error)
	AddSent(ctx context.Context, text string) error
	Sent(ctx context.Context, n int) ([]string, error) // the newest first
	AddFilterLine(ctx context.Context, line string) error
	FilterLines(ctx context.Context) ([]string, error) // the newest first
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
	SaveFilter(ctx context.Context, name, line string) error
	SetFilters(ctx context.Context, lines map[string]string) error
	SavedFilters(ctx context.Context) (map[string]string, error)
}

var _ Store = (*SQLite)(nil)

// Mark is what can be set on many pairs at once. A nil field is left as it is.
type Mark struct {
	Star  *int // 0 to 3
	Flag  *bool
	Topic *string // path; what lacks of it is created
}

// Restored is how something was before a change, for Restore.
type Restored struct {
	Marks     []assistant.PairMark // of the pairs that exist; nil fields did not change
	NewTopics []string             // paths that were created, those above first
	Filters   map[string]string    // saved filters; "" is none
}

// MarkGroup is the uncut pairs with the same marks.
type MarkGroup struct {
	Star  int
	Flag  bool
	Topic string
	Seqs  []int64 // in order
}

// Field is what Groups counts by.
type Field string

// The fields.
const (
	BySession Field = "session"
	ByTopic   Field = "topic"
	ByModel   Field = "model"
	ByStar    Field = "star"
	ByFlag    Field = "flag"
	ByState   Field = "state"
)

// Group is the uncut pairs with one value of a field.
type Group struct {
	Value  string // id of the session, path, model, "0" to "3", "0" or "1", state
	Pairs  int
	Failed int   // of them
	Newest int64 // Seq
}
