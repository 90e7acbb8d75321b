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

// Store contains pairs and what a user interface remembers. It is composed of smaller interfaces; a consumer should
// accept only the interfaces it uses. Its methods may be called from any goroutine. Each is one transaction, which is
// durable when it returns nil and changes nothing if it fails.
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
	Condition
	// Redact removes secrets, which are never stored or exported, from a text.
	Redact(text string) string
	// Close closes the store after any write in progress.
	Close() error
}

// Pairs stores pairs, their requests, pictures and payloads.
type Pairs interface {
	// Commit performs, in this order: deletions, uncuts, cuts, puts, the cancelled answer, marks, and adding requests.
	// A new pair whose ID is already known replaces that pair; an empty ID is filled in. If the Intent was committed
	// before, nothing changes. If a pair does not exist, the error names who deleted it, if known; a deleted pair that
	// is put is stored again. A pair in state sending belongs to this store: if the process dies, the next Open ends
	// the pair as interrupted.
	//
	// A picture is stored once, under its hash, until the last pair with it is deleted.
	//
	// Load also finds cut pairs. A damaged pair has the Notice DamagedPair.
	assistant.Store
	assistant.RequestStore
	assistant.PictureStore
	assistant.PayloadStore
	assistant.CancelledStore
	// Append adds the pairs whose id is not in the store, in order.
	Append(ctx context.Context, pairs []*assistant.Pair) (added int, err error)
	// Revision increases with each change of pairs, topics and saved filters that this process has made or noticed.
	// It answers from memory.
	Revision() int64
	// Refresh updates Revision and reports whether another process has changed something.
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
	// Filter returns the uncut pairs that a line matches; a nil line matches all. The error is a *filter.Error at a
	// saved filter, the error of ctx, or an error of the database.
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
	// Authors lists the authors of pairs, sorted; an SQLite file lists only the authors of the newest pairs.
	Authors(ctx context.Context) ([]string, error)
}

// Marks sets the marks of pairs: stars, flags and topics.
type Marks interface {
	// Mark sets marks of pairs and returns what Restore needs to undo the change. Like Commit, it fails with
	// assistant.ErrNoPair if one of the pairs does not exist.
	Mark(ctx context.Context, seqs []int64, m Mark) (before Snapshot, err error)
	// Restore restores topics, saved filters, and the marks of pairs that still exist. It removes the topics in NewTopics
	// that have neither pairs, including cut ones, nor topics below them.
	Restore(ctx context.Context, to Snapshot) error
	// MarkGroups lists the uncut pairs grouped by their marks, in no particular order.
	MarkGroups(ctx context.Context) ([]MarkGroup, error)
}

// Topics is the tree of topics.
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
	// CreateTopic creates a topic and its missing parents. Errors about invalid changes, also of MoveTopic and
	// DeleteTopic, wrap ErrTopic.
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
	// Touch stores what is known about a session and makes it the most recently used one. Empty fields leave the
	// stored values unchanged; an unknown ID creates a session. The title is stored if the session is Named, and Branch if
	// the session does not branch off yet.
	Touch(ctx context.Context, v Session) error
	// SetTitle names a session; "" restores its first message as the title. A title is one
	// line of at most MaxTitle runes. If the session does not exist, the error is
	// ErrNoSession.
	SetTitle(ctx context.Context, id, title string) error
	// BranchStore copies what is known about the parent to the new session. If the parent does not exist, the error
	// is ErrNoSession.
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
	// SaveDraft stores a draft under a key; an empty draft is removed.
	SaveDraft(ctx context.Context, key string, d Draft) error
	Draft(ctx context.Context, key string) (Draft, error)
}

// Sent stores what a user has sent.
type Sent interface {
	// AddSent stores a message as the newest; the newest MaxSent messages are kept.
	AddSent(ctx context.Context, text string) error
	Sent(ctx context.Context, n int) ([]string, error) // newest first
}

// FilterHistory stores the filter lines that a user has entered.
type FilterHistory interface {
	// AddFilterLine stores a line as the newest; the newest MaxFilterLines lines are kept.
	AddFilterLine(ctx context.Context, line string) error
	FilterLines(ctx context.Context) ([]string, error) // newest first
}

// Settings stores values for the program.
type Settings interface {
	// Set stores a value under a key; "" removes the key.
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
}

// Condition describes where a store is and whether it is intact.
type Condition interface {
	// Report returns what opening the store found and did.
	Report() Report
	// Path returns the location of the store, for display.
	Path() string
	// Check reads the whole store without changing it. The report contains any damage.
	Check(ctx context.Context) (CheckReport, error)
}

// Notifier is a Store that is notified of changes by other programs.
type Notifier interface {
	// Changes delivers changes by other programs soon after they have been committed; several changes may be delivered
	// as one. The channel is never closed.
	Changes() <-chan Change
}

// WindowLog is a Store that also contains the change logs of served windows.
type WindowLog interface {
	// AddWindowChanges adds changes from the journal of the window at a path on a host. Changes that were added
	// before stay unchanged.
	AddWindowChanges(ctx context.Context, host, path string, changes []checkpoint.Change) error
	// WindowChanges returns the changes of all windows that were added after the change with the number after,
	// oldest first; if there are more than last, only the newest last of them by time. newest is the highest
	// number.
	WindowChanges(ctx context.Context, after int64, last int) (changes []WindowChange, newest int64, err error)
}

// WindowChange is a change of a window. Host and Path are "" if the window is known from the context.
type WindowChange struct {
	Host string `json:"host,omitempty"`
	Path string `json:"path,omitempty"`
	checkpoint.Change
}

// Change is a change of pairs, marks, topics or filters by other programs.
type Change struct {
	Deleted map[int64]string // the user who deleted each pair, by Seq
}

// maxName is the maximum width, in cells, of an author's name in a sentence.
const maxName = 120

// DeletedOf returns a sentence on who deleted pairs of a view, or "".
func (c Change) DeletedOf(view []assistant.Ref) string {
	count := map[string]int{}
	for _, ref := range view {
		if by := c.Deleted[ref.Seq]; by != "" {
			count[by]++
		}
	}
	var sentences []string
	for _, by := range slices.Sorted(maps.Keys(count)) {
		sentences = append(sentences, fmt.Sprintf("%s deleted by %s", assistant.Counted(count[by], "message"), safetext.Line(by, maxName)))
	}
	return strings.Join(sentences, " · ")
}

// Env contains everything except the pairs that the result of a line depends on.
type Env struct {
	// Env contains the time and the currently selected topic, model and session. A nil Saved means the saved filters
	// of the store.
	filter.Env
	// CharsPerToken is used to compute Ref.Cost; 0 means 3.5.
	CharsPerToken float64
	// Fits returns how many of the newest pairs of base fit in a request; the filter term o matches those pairs. It
	// is called with more and more of the newest pairs until they no longer all fit. nil means that all fit.
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

// Mark contains marks to set on many pairs at once. A nil field is not changed.
type Mark struct {
	Star  *int // 0 to 3
	Flag  *bool
	Topic *string // path; missing topics are created
}

// Snapshot is the part of the store that a change replaced, for Restore.
type Snapshot struct {
	Marks     []assistant.PairMark // nil fields have not changed
	Topics    []string             // paths that must exist
	NewTopics []string             // paths that were created, parents first
	Filters   map[string]string    // saved filters by name; "" if there was none
}

// MarkGroup contains the uncut pairs with the same marks.
type MarkGroup struct {
	Star  int
	Flag  bool
	Topic string
	Seqs  []int64 // in order
}

// ModelCount contains the number of uncut pairs of a model.
type ModelCount struct {
	Model         string // "provider/name"
	Pairs, Failed int
}

// Report is what opening a store found and did.
type Report struct {
	Repaired    []string // a sentence for each file and folder that other users could read
	Interrupted int      // pairs that a dead process left in state sending
	// InterruptedIn is the session of the newest interrupted pair, if all interrupted pairs belong to this user; ""
	// otherwise.
	InterruptedIn string
	Migrated      int      // the previous schema version; 0 if it was current or the store is new
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
	SetAside string // path of the damaged file, which was renamed together with its -wal
	Foreign  bool   // the file contains no pairs of winnow, or nothing could be read
	Salvaged int    // pairs in the new database
	Lost     int    // pairs missing in the new database, or UnknownLost
	Altered  int    // salvaged pairs that are damaged or have only their texts left
}

// UnknownLost is the Lost of a Salvage if the original number of pairs is unknown.
const UnknownLost = -1

// CheckReport is the result of Check.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests is the number of stored requests, DamagedRequests the number of damaged requests.
	Requests, DamagedRequests int
	// Problems contains a sentence for each inconsistency; it is empty if there is no damage.
	Problems []string
	// Damaged means that the file itself is damaged: after this store has been closed, opening it again salvages what
	// is readable.
	Damaged bool
}

// Limits on the texts that a store remembers between runs.
const (
	MaxSent        = 500 // texts of sent messages
	MaxFilterLines = 100 // filter lines that were valid
	// MaxTitle is the number of runes of the first message that form the title of a session, more than fit on a
	// screen line.
	MaxTitle = 200
)

// DamagedPair is the Notice of a damaged pair.
const DamagedPair = "This message is damaged on disk and cannot be read."

// Session is a conversation: the pairs that were sent under one id.
type Session struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"` // the folder that winnow ran in
	Window  string    `json:"window"` // the window, such as the path of its file
	Model   string    `json:"model"`  // "provider/name", last chosen
	Page    string    `json:"page"`   // the open page
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"` // for display only; sessions are ordered by revision

	Title  string           `json:"title"` // chosen by the user if Named
	Named  bool             `json:"named,omitempty"`
	Branch assistant.Branch `json:"branch,omitzero"` // zero if the session does not branch from another session

	// Set only by Sessions, which also sets Title to the beginning of the session's own first message if the session is
	// not Named, or to the title of its parent if the session has no message of its own.
	Pairs int   `json:"pairs"` // number of uncut pairs, including the parent's
	First int64 `json:"-"`     // Seq of the first of these pairs
}

// TitleLine returns the stored form of a title: one line of at most MaxTitle runes.
func TitleLine(title string) string {
	title = strings.Join(strings.Fields(safetext.Clean(title)), " ")
	if runes := []rune(title); len(runes) > MaxTitle {
		title = string(runes[:MaxTitle])
	}
	return title
}

// Draft is the text of an input box, with the texts stashed from it.
type Draft struct {
	Text  string
	Stash []string // newest last
}
