package history

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// Store holds pairs and what a user interface remembers. It is the sum of interfaces by
// use: what needs one of them takes that one. Its methods are safe from any goroutine.
// Each is one transaction, durable when it returns nil, and changes nothing when it fails.
type Store interface {
	Pairs
	Searcher
	Marks
	Topics
	Sessions
	Drafts
	Settings
	Condition
	// Redact removes from a text the secrets that are never stored or exported.
	Redact(text string) string
	// Close closes the store after the write in progress.
	Close() error
}

// Pairs stores pairs, their requests, pictures and payloads.
type Pairs interface {
	// Commit deletes, then uncuts, cuts, puts, marks and adds requests. A new pair
	// whose ID is known replaces that pair; an empty ID is filled in. An Intent that
	// was committed before changes nothing. Who deleted a pair that is not there is in
	// the error where it is known; a pair that is put is stored again. A pair in state
	// sending belongs to this store: when the process dies, the next Open ends it as
	// interrupted.
	//
	// A picture is stored once, under its hash, until the last pair that has it is deleted.
	//
	// Load finds cut pairs too. A pair whose stored bytes have changed has the
	// Notice DamagedPair.
	assistant.Store
	assistant.RequestStore
	assistant.PictureStore
	assistant.PayloadStore
	// Append adds the pairs whose id is not in the store, in their order.
	Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error)
	// Revision grows with each change of pairs, topics and saved filters that
	// this process has made or noticed. It answers from memory.
	Revision() int64
	// Refresh updates Revision and reports whether another process changed something.
	Refresh(ctx context.Context) (changed bool, err error)
}

// Searcher evaluates filter lines, and lists what they can name.
type Searcher interface {
	// Filter returns the uncut pairs that a line matches; a nil line matches all.
	// The error is a *filter.Error at a saved filter, ctx's, or the database's.
	Filter(ctx context.Context, q *filter.Query, env Env) (Result, error)
	// Count returns how many pairs Filter would return.
	Count(ctx context.Context, q *filter.Query, env Env) (int, error)
	// Stream yields what Filter would return in pieces, the newest piece first, and
	// ends after an error.
	Stream(ctx context.Context, q *filter.Query, env Env) iter.Seq2[[]assistant.Ref, error]
	// SaveFilter stores a line under a name; "" removes it. A line that cannot be
	// evaluated, because it refers to itself for example, is a *filter.Error.
	SaveFilter(ctx context.Context, name, line string) error
	SavedFilters(ctx context.Context) (map[string]string, error)
	// Models counts the uncut pairs of every model, the most used first.
	Models(ctx context.Context) ([]ModelCount, error)
	// Authors lists the authors of pairs, sorted; in a file those of the newest pairs.
	Authors(ctx context.Context) ([]string, error)
}

// Marks sets the marks of pairs: stars, flags and topics.
type Marks interface {
	// Mark sets marks of many pairs and returns what Restore needs to undo it. Like
	// Commit it fails with assistant.ErrNoPair when one of them is not there.
	Mark(ctx context.Context, seqs []int64, m Mark) (before Snapshot, err error)
	// Restore restores topics, saved filters and the marks of pairs that are still
	// there. It removes those of NewTopics that have no pair, cut ones included, and
	// no topic below them.
	Restore(ctx context.Context, to Snapshot) error
	// MarkGroups lists the uncut pairs by their marks, in no order.
	MarkGroups(ctx context.Context) ([]MarkGroup, error)
}

// Topics is the tree of topics.
type Topics interface {
	// Topics lists all topics with their counts, sorted by path.
	Topics(ctx context.Context) ([]Topic, error)
	// TopicPaths lists their paths, sorted, without counting.
	TopicPaths(ctx context.Context) ([]string, error)
	// CreateTopic creates a topic and its missing parents. Its refusals, and those
	// of MoveTopic and DeleteTopic, wrap ErrTopic.
	CreateTopic(ctx context.Context, path string) error
	// MoveTopic gives a topic, with all below it, another path.
	MoveTopic(ctx context.Context, path, to string) error
	// DeleteTopic removes a topic. Its pairs and the topics below it go to its
	// parent, where topics of the same path are merged.
	DeleteTopic(ctx context.Context, path string) error
}

// Sessions remembers sessions, their queued messages and their state.
type Sessions interface {
	assistant.SessionStore
	// Touch stores what is known of a session and makes it the last used. Empty
	// fields leave the stored values; an unknown ID is a new session.
	Touch(ctx context.Context, v Session) error
	Sessions(ctx context.Context) ([]Session, error) // the last used first
	Session(ctx context.Context, id string) (v Session, found bool, err error)
	LastSession(ctx context.Context, folder string) (v Session, found bool, err error)
}

// Drafts remembers what a user typed.
type Drafts interface {
	// SaveDraft stores a draft under a key; an empty one is removed.
	SaveDraft(ctx context.Context, key string, d Draft) error
	Draft(ctx context.Context, key string) (Draft, error)
	// AddSent remembers a message as the newest; the newest MaxSent are kept.
	AddSent(ctx context.Context, text string) error
	Sent(ctx context.Context, n int) ([]string, error) // the newest first
	// AddFilterLine remembers a line as the newest; the newest MaxFilterLines are kept.
	AddFilterLine(ctx context.Context, line string) error
	FilterLines(ctx context.Context) ([]string, error) // the newest first
}

// Settings remembers values of the program.
type Settings interface {
	// Set stores a value under a key; "" removes it.
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
}

// Condition says where a store is and whether it is sound.
type Condition interface {
	// Report is what opening the store found and did.
	Report() Report
	// Path says where the store is, in a form for the user.
	Path() string
	// Check reads the whole store and changes nothing. Damage is in the report.
	Check(ctx context.Context) (CheckReport, error)
}

// Notifier is a Store that hears what other programs change.
type Notifier interface {
	// Changes delivers the changes of others soon after they were committed; several
	// may be one. It is never closed.
	Changes() <-chan Change
}

// WindowLog is a Store that also has the log of the windows that programs serve.
type WindowLog interface {
	// AddWindowChanges adds changes that the journal of a window at a path on a host has.
	// Those that were added before stay as they are.
	AddWindowChanges(ctx context.Context, host, path string, changes []checkpoint.Change) error
	// WindowChanges returns those of all windows that were added after the one with the
	// number after, the newest last of them by time, oldest first; and the greatest number.
	WindowChanges(ctx context.Context, after int64, last int) (changes []WindowChange, newest int64, err error)
}

// WindowChange is a change of a window. Host and Path are "" where the window is known.
type WindowChange struct {
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	checkpoint.Change
}

// Change is what other programs have changed: pairs, marks, topics or filters.
type Change struct {
	Deleted map[int64]string // who deleted which pairs, by Seq
}

// maxName bounds, in cells, the name of an author in a sentence.
const maxName = 120

// DeletedOf says who deleted pairs of a view; "" when nobody did.
func (c Change) DeletedOf(view []assistant.Ref) string {
	count := map[string]int{}
	for _, ref := range view {
		if by := c.Deleted[ref.Seq]; by != "" {
			count[by]++
		}
	}
	var sentences []string
	for _, by := range slices.Sorted(maps.Keys(count)) {
		sentences = append(sentences, fmt.Sprintf("%s deleted by %s", assistant.Counted(count[by], "pair"), safetext.Line(by, maxName)))
	}
	return strings.Join(sentences, " · ")
}

// Env is what the result of a line depends on besides the pairs.
type Env struct {
	// Env holds the time, and the topic, model and session that are selected now.
	// A nil Saved means the saved filters of the store.
	filter.Env
	// CharsPerToken is used to compute Ref.Cost; 0 means 3.5.
	CharsPerToken float64
	// Fits returns how many of the newest pairs of base fit in a request; the
	// filter term o matches the pairs among them. It is called with more and more of
	// the newest pairs, until they do not all fit. nil means that all fit.
	Fits func(base []assistant.Ref) int
}

// EnvOf returns the Env of a filter line that the user of a session enters at the
// time now, in the local time zone.
func EnvOf(s *assistant.Session, now time.Time) Env {
	return Env{
		Env: filter.Env{
			Now: now, Location: time.Local, User: s.Author(), SelectedTopic: s.Topic(), SelectedModel: s.Model(), Session: s.ID(),
		},
		CharsPerToken: s.Settings().Budget.CPT(),
		Fits:          s.Fits(),
	}
}

// Result is the pairs that a line matches.
type Result struct {
	Refs  []assistant.Ref // in order
	Hints []filter.Hint   // names in the line that do not exist
}

// Mark is what can be set on many pairs at once. A nil field is left as it is.
type Mark struct {
	Star  *int // 0 to 3
	Flag  *bool
	Topic *string // path; missing topics are created
}

// Snapshot is the part of the store that a change replaced, for Restore.
type Snapshot struct {
	Marks     []assistant.PairMark // nil fields did not change
	Topics    []string             // paths that must exist
	NewTopics []string             // paths that were created, parents first
	Filters   map[string]string    // saved filters by name; "": there was none
}

// MarkGroup is the uncut pairs with the same marks.
type MarkGroup struct {
	Star  int
	Flag  bool
	Topic string
	Seqs  []int64 // in order
}

// ModelCount is the uncut pairs of a model.
type ModelCount struct {
	Model         string // "provider/name"
	Pairs, Failed int
}

// Report is what opening a store found and did.
type Report struct {
	Repaired    []string // a sentence for each file and folder that others could read
	Interrupted int      // pairs that a dead process left in state sending
	Migrated    int      // the version of the schema before; 0: it was current or new
	Backup      string   // path of the copy made before migrating; "" for none
	Salvage     *Salvage // nil: there was no damage
	// LostWAL says that the -wal file of a process that died is missing or empty:
	// what was committed last may be lost.
	LostWAL bool
	// ReadOnly is why nothing can be written; nil: the store can write.
	ReadOnly error
	// Notices are sentences about the database that a user should know once.
	Notices []string
}

// Salvage is what became of a damaged database.
type Salvage struct {
	Reason   string // what was found
	SetAside string // path of the damaged file, which was only renamed, with its -wal
	Foreign  bool   // it has no pairs of winnow, or nothing could be read
	Salvaged int    // pairs in the new database
	Lost     int    // pairs that were there and are not in the new database; UnknownLost: not known
	Altered  int    // salvaged pairs whose bytes have changed, or of which only the texts are left
}

// UnknownLost is the Lost of a Salvage that cannot tell how many pairs there were.
const UnknownLost = -1

// CheckReport is what Check found.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests counts the stored requests of pairs, and DamagedRequests those of
	// them whose bytes have changed.
	Requests, DamagedRequests int
	// Problems has a sentence for each inconsistency; none means no damage.
	Problems []string
	// Damaged says that the file itself is broken: opening it again after this
	// store is closed salvages what is readable.
	Damaged bool
}

// How much a store remembers between runs.
const (
	MaxSent        = 500 // texts of sent messages
	MaxFilterLines = 100 // lines of the filter that worked
	// MaxTitle is how many runes of its first message are the title of a session: more
	// than a screen is wide.
	MaxTitle = 200
)

// DamagedPair is the Notice of a pair whose stored bytes have changed.
const DamagedPair = "This pair is damaged on the disk and cannot be read."

// TopicSeparator separates the names in a topic's path.
const TopicSeparator = assistant.TopicSeparator

// Topic is a node of the tree of topics.
type Topic struct {
	Path  string // "AI > Agents"
	Pairs int    // uncut pairs of the topic itself
	Total int    // with those of its descendants
}

// Session is a conversation: the pairs that were sent under one id.
type Session struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"` // where winnow ran
	Window  string    `json:"window"` // what it worked on, such as the path of its file
	Model   string    `json:"model"`  // "provider/name", the last one chosen
	Page    string    `json:"page"`   // the page that was open
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"` // only to be shown; sessions are ordered by revision

	// Only Sessions fills in these.
	Pairs int    `json:"pairs"` // uncut
	First int64  `json:"-"`     // Seq of the first uncut pair
	Title string `json:"-"`     // the beginning of its message
}

// Draft is the text of an input box, and the texts that were stashed from it.
type Draft struct {
	Text  string
	Stash []string // newest last
}

// splitTopic returns the names of a path; none for the root.
func splitTopic(path string) []string {
	var names []string
	for n := range strings.SplitSeq(path, strings.TrimSpace(TopicSeparator)) {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// TopicPath returns a path that a user typed without empty names and extra space.
func TopicPath(typed string) string { return strings.Join(splitTopic(typed), TopicSeparator) }

// TopicChain lists the paths of a topic's ancestors, from the top, and its own.
func TopicChain(path string) []string {
	names := splitTopic(path)
	chain := make([]string, len(names))
	for i := range names {
		chain[i] = strings.Join(names[:i+1], TopicSeparator)
	}
	return chain
}

// ParentTopic returns the path of the parent, "" for the root.
func ParentTopic(path string) string { return path[:max(strings.LastIndex(path, TopicSeparator), 0)] }

// CheckFilter refuses a line that cannot be evaluated with these filters.
func CheckFilter(saved map[string]string, line string) error {
	q, err := filter.Parse(line)
	if err != nil {
		return err
	}
	if q.Command != nil {
		return fmt.Errorf("a line with :%s cannot be saved", q.Command.Verb)
	}
	_, err = filter.Expand(q, Lookup(saved))
	return err
}

// Lookup finds saved filters for filter.Expand.
func Lookup(saved map[string]string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		line, ok := saved[name]
		return line, ok
	}
}
