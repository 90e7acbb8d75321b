package assistant

import "context"

// Store keeps pairs. assistant/history keeps them in SQLite; MemoryStore is
// for programs that need no more than the running process.
type Store interface {
	// Commit applies one batch, all of it or nothing, and is durable when it
	// returns. New pairs (Seq 0) are given their Seq, in the order of Put.
	Commit(ctx context.Context, b *Batch) error
	// Load returns the pairs with these Seqs, in the order asked for. One that
	// is unknown is left out.
	Load(ctx context.Context, seqs []int64) ([]Pair, error)
	// Refs returns the uncut pairs of one session in order, costed with
	// charsPerToken; session "" means of all sessions.
	Refs(ctx context.Context, session string, charsPerToken float64) ([]Ref, error)
}

// Batch is what one Commit does.
type Batch struct {
	// Put inserts pairs with Seq 0, setting it, and replaces the others.
	Put []*Pair
	// KeepMarks leaves star, flag and topic of the pairs that exist already as
	// the store has them, and writes them into the pairs of Put: what a user
	// set while a turn ran is not undone by the turn.
	KeepMarks bool
	// Marks change what a user set on pairs, after Put, and nothing else of them.
	Marks []PairMark
	// Requests are kept with their pairs as they were sent, after Put. A store
	// that keeps none leaves them out; one that does keeps no more than
	// KeptRequestPairs and KeptRequestBytes.
	Requests []PairRequest
	// Delete removes pairs for good, with their requests, before anything else.
	Delete []int64
	// Cut rolls pairs back: out of view, search and requests, not deleted.
	// nil cuts nothing.
	Cut *Cut
	// Uncut brings back what the Cut of this name took. "" is none.
	Uncut string
	// Intent names the checkpoint intent that this batch carries out. A store
	// remembers the last one, so that rolling it forward twice changes nothing.
	Intent string
}

// PairMark is what a user sets on a pair at any time. A nil field stays as it
// is, and so does a pair that is not there.
type PairMark struct {
	Seq   int64
	Star  *int    // 0 to 3
	Flag  *bool   // true is blue
	Topic *string // path; "" is the root
}

// Cut names the uncut pairs of Sessions with Seq >= From.
type Cut struct {
	Name     string // to be given to Uncut; an intent's name
	Sessions []string
	From     int64
}

// Ref is what the boundary and the list need to know of a pair that is not loaded.
type Ref struct {
	Seq   int64
	Cost  int  // estimated tokens, see PairCost
	Sends bool // whether the pair contributes messages to a request
}
