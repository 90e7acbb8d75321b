package checkpoint

import (
	"encoding/json"
	"time"

	"winnow/checkpoint/jsondelta"
)

// Record is one record of a journal, as Replay passes it to its callback.
type Record struct {
	Seq           int64
	Time          time.Time
	User, Session string // as returned by Options.Author
	Op            Op
	Checkpoint    *Checkpoint // the checkpoint of an edit, or of the start of a turn or session
	For           string      // id of the turn's checkpoint
	Tools         []ToolSummary
	Rollback      *Intent
	Before, After jsondelta.Document // the state; the zero Document if unknown, as after damage
	Other         string             // a state other than After, such as the state in the file
}

// Replay calls f with every record of the journal in memory, oldest first.
func (j *Journal) Replay(f func(Record)) {
	j.mu.RLock()
	records := j.index.records // safe to read without the lock: records are only appended
	j.mu.RUnlock()
	var state jsondelta.Document
	var sum string // the stateSum of state
	for _, r := range records {
		if r.before() != sum { // an earlier record is lost
			state = jsondelta.Document{}
		}
		before := state
		state, sum = r.after(before), r.Sum
		out := Record{
			Seq: r.Seq, Time: r.Time, User: r.User, Session: r.Author, Op: r.Op, For: r.For,
			Checkpoint: r.Checkpoint, Tools: r.Tools, Rollback: r.Rollback, Before: before, After: state,
		}
		if r.kind == payloadOther {
			out.Other = r.payload
		}
		f(out)
	}
}

// after returns the state after the record, or the zero Document if that is unknown.
func (r *record) after(before jsondelta.Document) (state jsondelta.Document) {
	switch {
	case r.kind == payloadFull:
		state, _ = jsondelta.Parse([]byte(r.payload)) // returns the zero Document with an error
	case r.kind != payloadDelta:
		return before
	case before.Text() != "":
		var d jsondelta.Delta
		if json.Unmarshal([]byte(r.payload), &d) == nil {
			state, _ = before.Apply(d)
		}
	}
	return state
}
