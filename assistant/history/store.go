package history

import (
	"context"
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

// Store contains the pairs and the state that a user interface remembers. It is composed of smaller interfaces; a
// consumer should accept only the interfaces it uses. Its methods may be called from any goroutine. Each method that
// changes the store is one transaction: when it returns nil, its changes are durable; if it fails, nothing has changed.
type Store interface {
	Pairs
	Searcher
	Marks
	Topics
	Sessions
	Drafts
	Sent
	FilterHistory
	Settings
	Health
	// Redact removes secrets from a text; secrets are never stored or exported.
	Redact(text string) string
	// Close waits for any write in progress and closes the store.
	Close() error
}

// Pairs stores pairs, their requests, pictures and payloads.
type Pairs interface {
	// Commit performs the parts of a batch in this order: deletions, uncuts, cuts, puts, the cancelled answer, changes to
	// answers, removing the queued message, marks, and adding requests. A new pair whose ID is already stored replaces the
	// pair with that ID; an empty ID is filled in. If the Intent was committed before, nothing changes. If a pair does not
	// exist, the error names who deleted it, if known; a deleted pair that is put is stored again. A pair in state sending
	// belongs to this store: if the process dies, the next Open marks the pair as interrupted.
	//
	// A picture is stored under its hash: once or, in a shared history, once for each author. It is deleted with the last
	// pair that has it.
	//
	// Load also returns cut pairs. A damaged pair has the Notice DamagedPair.
	assistant.Store
	assistant.RequestStore
	assistant.PictureStore
	assistant.PayloadStore
	assistant.CancelledStore
	// Append adds, in order, the pairs whose IDs are not yet in the store, and returns their number.
	Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error)
	// Revision increases with each change to pairs, topics and saved filters that this process has made or noticed. It
	// does not access the database.
	Revision() int64
	// Refresh updates Revision and reports whether another process has changed the store.
	Refresh(ctx context.Context) (changed bool, err error)
}

// Searcher evaluates filter lines, and lists the names that can occur in them.
type Searcher interface {
	Evaluator
	SavedFilters
	Facets
}

// Evaluator evaluates filter lines.
type Evaluator interface {
	// Filter returns the uncut pairs that a line matches; a nil line matches all. The error is a *filter.Error if a saved
	// filter in the line cannot be used; otherwise it is the error of ctx or of the database.
	Filter(ctx context.Context, q *filter.Query, env Env) (Result, error)
	// Count returns how many pairs Filter would return.
	Count(ctx context.Context, q *filter.Query, env Env) (int, error)
	// Stream yields the result of Filter in pieces, newest piece first, and ends after an error.
	Stream(ctx context.Context, q *filter.Query, env Env) iter.Seq2[[]assistant.Ref, error]
}

// SavedFilters stores filter lines under names.
type SavedFilters interface {
	// SaveFilter stores a line under a name; an empty line removes the name. If the line cannot be evaluated, for
	// example because it refers to itself, the error is a *filter.Error.
	SaveFilter(ctx context.Context, name, line string) error
	SavedFilters(ctx context.Context) (map[string]string, error)
}

// Facets lists the models and authors of pairs.
type Facets interface {
	// Models counts the uncut pairs of every model, most used first.
	Models(ctx context.Context) ([]ModelCount, error)
	// Authors lists the authors of pairs, sorted; the SQLite engine lists only the authors of the newest pairs.
	Authors(ctx context.Context) ([]string, error)
}

// Marks sets the marks of pairs: stars, flags and topics.
type Marks interface {
	// Mark sets marks on pairs and returns the Snapshot that Restore needs to undo the change. Like Commit, it fails with
	// assistant.ErrNoPair if one of the pairs does not exist.
	Mark(ctx context.Context, seqs []int64, m Mark) (before Snapshot, err error)
	// Restore restores topics, saved filters, and the marks of pairs that still exist. It removes each topic in NewTopics
	// that has no pairs, not even cut ones, and no topics below it.
	Restore(ctx context.Context, to Snapshot) error
	// MarkGroups lists the uncut pairs grouped by their marks, in no particular order.
	MarkGroups(ctx context.Context) ([]MarkGroup, error)
}

// Topics reads and changes the tree of topics.
type Topics interface {
	TopicReader
	TopicWriter
}

// TopicReader lists topics.
type TopicReader interface {
	// Topics lists all topics with their counts, sorted by path.
	Topics(ctx context.Context) ([]Topic, error)
	// TopicPaths lists the paths of all topics, sorted, without counts.
	TopicPaths(ctx context.Context) ([]string, error)
}

// TopicWriter changes the tree of topics.
type TopicWriter interface {
	// CreateTopic creates a topic and its missing parents. If the change is invalid, the error wraps ErrTopic, as do the
	// errors of MoveTopic and DeleteTopic.
	CreateTopic(ctx context.Context, path string) error
	// MoveTopic moves a topic and everything below it to another path.
	MoveTopic(ctx context.Context, path, to string) error
	// DeleteTopic removes a topic. Its pairs and the topics below it move to its parent, where topics with the same
	// path are merged.
	DeleteTopic(ctx context.Context, path string) error
}

// Sessions stores sessions, their queued messages and their state.
type Sessions interface {
	assistant.SessionStore
	// Touch stores Folder, Window, Model and Page of v, unless they are empty, and makes the session the most recently used
	// one; an unknown ID creates a session. A zero Used means now. Started is stored only for a new session, Title only if v
	// is Named, Branch only if the stored session does not branch from another yet.
	Touch(ctx context.Context, v Session) error
	// SetTitle names a session with the TitleLine of title; "" restores its first message as the title. If the session
	// does not exist, the error wraps ErrNoSession.
	SetTitle(ctx context.Context, id, title string) error
	// Branch copies the parent's folder, window, model and page to the new session. If the parent does not exist, the
	// error wraps ErrNoSession.
	assistant.BranchStore
	SessionReader
}

// SessionReader finds sessions.
type SessionReader interface {
	Sessions(ctx context.Context) ([]Session, error) // most recently used first
	Session(ctx context.Context, id string) (v Session, found bool, err error)
	LastSession(ctx context.Context, folder string) (v Session, found bool, err error)
}

// Drafts stores what a user has typed but not sent.
type Drafts interface {
	// SaveDraft stores a draft under a key; an empty draft removes the key.
	SaveDraft(ctx context.Context, key string, d Draft) error
	Draft(ctx context.Context, key string) (Draft, error)
}

// Sent stores what a user has sent.
type Sent interface {
	// AddSent stores a message as the newest one; only the newest MaxSent messages are kept.
	AddSent(ctx context.Context, text string) error
	Sent(ctx context.Context, n int) ([]string, error) // newest first
}

// FilterHistory stores the filter lines that a user has entered.
type FilterHistory interface {
	// AddFilterLine stores a line as the newest one; only the newest MaxFilterLines lines are kept.
	AddFilterLine(ctx context.Context, line string) error
	FilterLines(ctx context.Context) ([]string, error) // newest first
}

// Settings stores the program's settings as keys and values.
type Settings interface {
	// Set stores a value under a key; "" removes the key.
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
}

// Health describes where a store is and whether it is intact.
type Health interface {
	// Report returns what opening the store found and did.
	Report() Report
	// Path returns the location of the store, for display.
	Path() string
	// Check reads the whole store without changing it. The report contains any damage.
	Check(ctx context.Context) (CheckReport, error)
}

// Notifier is implemented by stores that are notified of changes by other programs.
type Notifier interface {
	// Changes delivers changes by other programs soon after they have been committed; several changes may be delivered
	// as one. The channel is never closed.
	Changes() <-chan Change
}

// WindowLog is implemented by stores that also contain the change logs of served windows.
type WindowLog interface {
	// AddWindowChanges adds changes from the journal of the window at path on host. Changes that are already in the log
	// stay unchanged.
	AddWindowChanges(ctx context.Context, host, path string, changes []checkpoint.Change) error
	// WindowChanges returns the changes to all windows whose number in the log is higher than after, oldest first. If there
	// are more than limit, it returns only the most recent ones by time. newest is the highest number in the log.
	WindowChanges(ctx context.Context, after int64, limit int) (changes []WindowChange, newest int64, err error)
}

// WindowChange is a change to a window. Host and Path are "" if the window is known from the context.
type WindowChange struct {
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	checkpoint.Change
}

// Change describes changes that other programs have made to pairs, marks, topics or filters.
type Change struct {
	Deleted map[int64]string // the user who deleted each pair, by Seq
}

// maxName is the maximum width, in cells, of an author's name in a sentence.
const maxName = 120

// DeletionsIn returns how many of the pairs in view each user deleted, such as "anna deleted 2 messages", or "" if nobody
// deleted any.
func (c Change) DeletionsIn(view []assistant.Ref) safetext.Text {
	count := map[string]int{}
	for _, ref := range view {
		if by := c.Deleted[ref.Seq]; by != "" {
			count[by]++
		}
	}
	var sentences []safetext.Text
	for _, by := range slices.Sorted(maps.Keys(count)) {
		sentences = append(sentences, safetext.Sprintf("%s deleted %s", safetext.Line(by, maxName), assistant.Counted(count[by], "message")))
	}
	return safetext.Join(sentences, " · ")
}

// Env contains everything that the result of a line depends on, except the pairs.
type Env struct {
	// The embedded Env contains the time and the selected topic, model and session. A nil Saved selects the saved filters
	// of the store.
	filter.Env
	// CharsPerToken is used to compute Ref.Cost; 0 means 3.5.
	CharsPerToken float64
	// Fits returns how many of the newest pairs in base fit in a request; the filter term o matches those pairs. A Search
	// calls Fits with more and more of the newest pairs until not all of them fit. A nil Fits means that all pairs fit.
	Fits func(base []assistant.Ref) int
}

// EnvOf returns the Env for a filter line that the user of a session enters at the time now, in the local time zone.
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
	Hints []filter.Hint   // hints for unknown names in the line
}

// Mark contains marks to set on many pairs at once. A nil field leaves that mark unchanged.
type Mark struct {
	Star  *int // the rating, 0 to 3
	Flag  *bool
	Topic *string // path of a topic, which is created if it is missing
}

// Snapshot contains the values that a change replaced; Restore undoes the change with it.
type Snapshot struct {
	Marks     []assistant.PairMark // nil fields were not changed
	Topics    []string             // paths that must exist
	NewTopics []string             // paths that were created, parents first
	Filters   map[string]string    // lines of saved filters by name; "" if the name was not in use
}

// MarkGroup contains the uncut pairs that have the same marks.
type MarkGroup struct {
	Star  int
	Flag  bool
	Topic string
	Seqs  []int64 // in order
}

// ModelCount contains the number of uncut pairs of a model.
type ModelCount struct {
	Model         string // "provider/name"
	Pairs, Failed int    // Failed counts the pairs in state error
}

// Report describes what opening a store found and did.
type Report struct {
	Repaired    []string // a sentence for each file and folder that other users could read
	Interrupted int      // pairs that a dead process left in state sending
	// InterruptedIn is the session of the newest interrupted pair; "" if there is none, and always in a shared history,
	// where the pair may be another user's.
	InterruptedIn string
	Migrated      int      // the schema version before a migration; 0 if there was no migration
	Backup        string   // path of the copy made before migrating, or ""
	Salvage       *Salvage // nil if there was no damage
	// LostWAL means that the -wal file of a process that died is missing or empty, so the last commits may be lost.
	LostWAL bool
	// ReadOnly is the reason why the store cannot write, or nil.
	ReadOnly error
	// Notices are sentences about the database that the user should see once.
	Notices []string
}

// Salvage describes the recovery of a damaged database.
type Salvage struct {
	Reason   string // the damage found
	SetAside string // new path of the damaged file, which was renamed with its -wal file
	Foreign  bool   // true if the file contains no winnow pairs or nothing could be read
	Salvaged int    // pairs in the new database
	Lost     int    // pairs missing in the new database, or UnknownLost
	Altered  int    // salvaged pairs that are damaged, have only their texts left or got a new id
}

// UnknownLost is the value of Salvage.Lost if the original number of pairs is unknown.
const UnknownLost = -1

// CheckReport is the result of Check.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests is the number of stored requests, DamagedRequests the number of those that are damaged.
	Requests, DamagedRequests int
	// Problems contains a sentence for each inconsistency; it is empty if there is no damage.
	Problems []string
	// Damaged means that the file itself is damaged. Closing and reopening the store salvages what is readable.
	Damaged bool
}

// Limits on the texts that a store remembers between runs.
const (
	MaxSent        = 500 // sent messages
	MaxFilterLines = 100 // valid filter lines
	// MaxTitle is the maximum length of a session's title in runes, more than fits on a screen line.
	MaxTitle = 200
)

// DamagedPair is the Notice of a damaged pair.
const DamagedPair = "This message is damaged on disk and cannot be read."

// Session is a conversation: the pairs that were sent under one id.
type Session struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"` // the folder that winnow ran in
	Window  string    `json:"window"` // name of the window, such as the path of its file
	Model   string    `json:"model"`  // "provider/name" of the model chosen last
	Page    string    `json:"page"`   // name of the page that was open
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"` // when it was opened last or, if later, when its last message was sent or answered

	Title  string           `json:"title"` // chosen by the user if Named
	Named  bool             `json:"named,omitempty"`
	Branch assistant.Branch `json:"branch,omitzero"` // zero if the session does not branch from another session

	// Pairs and First are set only by Sessions. If the session is not Named, Sessions also sets Title: to the beginning of
	// the session's own first message or, if it has no message of its own, to the title of its parent.
	Pairs int   `json:"pairs"` // number of uncut pairs, including inherited ones
	First int64 `json:"-"`     // Seq of the first of these pairs
}

// TitleLine returns the stored form of a title: one line of at most MaxTitle runes.
func TitleLine(title string) string {
	title = strings.Join(strings.Fields(string(safetext.Clean(title))), " ")
	if runes := []rune(title); len(runes) > MaxTitle {
		title = string(runes[:MaxTitle])
	}
	return title
}

// Draft is the text in an input box and the texts stashed from it.
type Draft struct {
	Text  string
	Stash []string // newest last
}
