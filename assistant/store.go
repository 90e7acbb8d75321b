package assistant

import (
	"context"
	"encoding/json"
	"math"
	"slices"
)

// Store stores pairs. assistant/history implements it with a database,
// MemoryStore in memory.
type Store interface {
	// Commit applies one batch completely or not at all, and is durable when it
	// returns. New pairs (Seq 0) get their Seq in the order of Put. It returns
	// ErrNoPair if a pair to delete, mark or answer does not exist, and
	// ErrNoVariant if an answer to choose does not.
	Commit(ctx context.Context, b *Batch) error
	// Load returns the pairs with these Seqs, in that order. Unknown ones are
	// skipped.
	Load(ctx context.Context, seqs []int64) ([]Pair, error)
	// Refs returns the uncut pairs of a session and of the sessions it branches
	// from, in order, with costs computed with charsPerToken. If session is "",
	// it returns the pairs of all sessions.
	Refs(ctx context.Context, session string, charsPerToken float64) ([]Ref, error)
}

// RequestStore is a Store that stores Batch.Requests.
type RequestStore interface {
	// Requests returns the requests of a pair, oldest first; nil, nil if there
	// are none. With an error it returns the requests that could be read.
	Requests(ctx context.Context, seq int64) ([]SentRequest, error)
}

// PictureStore is a Store whose pairs have attached pictures without their
// Data.
type PictureStore interface {
	// Picture returns the Data of a picture by its hash.
	Picture(ctx context.Context, hash string) ([]byte, error)
}

// PayloadStore is a Store that can read the payloads of many pairs without the
// rest of the pairs.
type PayloadStore interface {
	// Payloads returns the pairs that have payloads, in the order of seqs, with only Seq
	// and Payloads set, and the payloads without Data.
	Payloads(ctx context.Context, seqs []int64) ([]Pair, error)
}

// CancelledStore finds the cancelled answers stored with Batch.Cancelled.
type CancelledStore interface {
	// Cancelled returns the Seq of the newest cancelled answer of a session
	// that can be kept; 0 if there is none.
	Cancelled(ctx context.Context, session string) (seq int64, err error)
}

// CancelledCut returns the name of the Cut that hides the cancelled answer of a
// session.
func CancelledCut(session string) string { return "cancelled " + session }

// BranchStore stores the points at which sessions branch off from other
// sessions. For a session with a parent, Refs also returns the parent's pairs
// up to the branch.
type BranchStore interface {
	// Branch creates a session that branches off from a parent at a pair. It
	// returns ErrSessionExists if the session already exists.
	Branch(ctx context.Context, session string, from Branch) error
}

// Branch is the point at which a session branches off from another session.
type Branch struct {
	Parent string `json:"parent"` // id of the other session
	UpTo   int64  `json:"-"`      // Seq of the last pair taken from the parent
}

// SessionStore is a Store that also stores the queued message and the state of
// each session. Without it, both are lost with the Session.
type SessionStore interface {
	QueueStore
	StateStore
}

// QueueStore stores the queued message of each session.
type QueueStore interface {
	// SaveQueued stores the queued message, durably, and replaces an earlier
	// one.
	SaveQueued(ctx context.Context, session string, p Prompt) error
	// Queued returns the queued message; found is false if there is none.
	Queued(ctx context.Context, session string) (p Prompt, found bool, err error)
	// ClearQueued removes the queued message, if any.
	ClearQueued(ctx context.Context, session string) error
}

// StateStore stores the state of each session.
type StateStore interface {
	// SetSessionState stores a JSON document; nil removes it.
	SetSessionState(ctx context.Context, session string, state json.RawMessage) error
	// SessionState returns the stored state of a session, or nil.
	SessionState(ctx context.Context, session string) (json.RawMessage, error)
}

// Limits on the requests that a Store keeps. Each request repeats the history
// before it, so without limits they would soon be the largest part of the data.
const (
	KeptRequestPairs = 500      // pairs most recently sent
	KeptRequestBytes = 64 << 20 // bytes of all requests together, as stored
)

// PairRequest is a request that a Batch stores with its pair.
type PairRequest struct {
	Pair *Pair // identified by its Seq, which Put of the same batch may assign
	SentRequest
}

// Batch is what one Commit stores.
type Batch struct {
	// Put inserts the pairs that have Seq 0 and an ID that is not stored, and
	// sets their Seq. Any other pair replaces the stored pair, or is stored again
	// with its Seq if that pair has been deleted.
	Put []*Pair
	// KeepMarks keeps the stored star, flag and topic of existing pairs, and
	// copies them to the pairs of Put: a turn must not undo what the user set
	// while it ran.
	KeepMarks bool
	// Marks change user-set fields of pairs, after Put.
	Marks []PairMark
	// Requests are stored with their pairs as they were sent, after Put. A
	// store that is not a RequestStore ignores them; a RequestStore keeps no
	// more than KeptRequestPairs and KeptRequestBytes.
	Requests []PairRequest
	// Answers add or choose answers of pairs, after Put.
	Answers []PairAnswer
	// Cancelled is the answer of a cancelled turn, in state partial. It is
	// stored after Put, excluded from view, search and requests, until the user
	// keeps it: see CancelledStore. Keep names the session whose cancelled
	// answer becomes a visible pair, and Forget the session whose cancelled
	// answer is removed, if it has one; both happen before Put.
	Cancelled *Pair
	Keep      string
	Forget    string
	// Queued are the sessions whose queued messages are removed, because the
	// user has taken them from the queue. Only a SessionStore uses it.
	Queued []string
	// Delete permanently deletes pairs with their requests, before anything
	// else.
	Delete []int64
	// Cut rolls pairs back: they leave view, search and requests, but are not
	// deleted. nil cuts nothing.
	Cut *Cut
	// Uncut restores what the Cut with this name hid; "" restores nothing.
	Uncut string
	// Intent names the checkpoint intent that this batch carries out. A store
	// remembers the last intent, so that applying it twice changes nothing.
	Intent string
}

// PairMark sets the fields that a user may change on a pair at any time. Nil
// fields are not changed.
type PairMark struct {
	Seq   int64
	Star  *int    // 0 to 3
	Flag  *bool   // true is blue
	Topic *string // path; "" is the root
}

// Cut hides the uncut pairs of Sessions with Seq >= From.
type Cut struct {
	Name     string // passed to Uncut; the name of an intent
	Sessions []string
	From     int64
}

// Ref holds what the boundary and the list need to know about a pair that is
// not loaded.
type Ref struct {
	Seq         int64
	Cost        int  // estimated tokens, see PairCost
	Contributes bool // whether the pair adds messages to a request
}

// Lineage returns a session and its ancestors, each with the last pair taken
// from it.
func Lineage(session string, branches map[string]Branch) []Branch {
	all := []Branch{{session, math.MaxInt64}}
	for upTo := int64(math.MaxInt64); len(all) <= len(branches); {
		b, found := branches[session]
		if !found {
			break
		}
		session, upTo = b.Parent, min(upTo, b.UpTo)
		all = append(all, Branch{session, upTo})
	}
	return all
}

// PairRef returns the Ref of a pair.
func PairRef(p *Pair, charsPerToken float64) Ref {
	return Ref{Seq: p.Seq, Cost: PairCost(p, charsPerToken), Contributes: PairContributes(p)}
}

// clonePair copies a pair and the slices that a running turn appends to.
func clonePair(p *Pair) Pair {
	c := *p
	c.ToolCalls = slices.Clone(p.ToolCalls)
	c.Payloads = slices.Clone(p.Payloads)
	c.Attachments = slices.Clone(p.Attachments)
	c.Variants = slices.Clone(p.Variants)
	if p.Suggested != nil {
		c.Suggested = &Suggested{slices.Clone(p.Suggested.Values), slices.Clone(p.Suggested.Actions)}
	}
	if p.Usage != nil {
		c.Usage = new(*p.Usage)
	}
	return c
}
