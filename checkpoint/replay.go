package checkpoint

import (
	"encoding/json"
	"time"

	"winnow/checkpoint/jsondelta"
)

// Record is one record of a journal, as passed to the callback of Replay.
type Record struct {
	Seq           int64
	Time          time.Time
	User, Session string // as returned by Options.Author
	Op            Op
	Checkpoint    *Checkpoint // the checkpoint of an edit, or of the start of a turn or session
	For           string      // id of the turn's checkpoint
	Tools         []ToolSummary
	Rollback      *Intent
	Before, After jsondelta.Document // the state; the zero Document if unknown
	Other         string             // a state other than After, such as the state in the file
}

// Replay calls each for every record of the journal in memory, oldest first.
func (j *Journal) Replay(each func(Record)) {
	j.mu.RLock()
	records := j.index.records // safe to use: records are only appended
	j.mu.RUnlock()
	var state jsondelta.Document
	for _, r := range records {
		before := state
		switch r.kind {
		case payloadFull:
			state, _ = jsondelta.Parse([]byte(r.payload)) // after damage, the state is unknown until the next full state
		case payloadDelta:
			var d jsondelta.Delta
			_ = json.Unmarshal([]byte(r.payload), &d)
			state, _ = state.Apply(d)
		default:
		}
		out := Record{
			Seq: r.Seq, Time: r.Time, User: r.User, Session: r.Author, Op: r.Op, For: r.For,
			Checkpoint: r.Checkpoint, Tools: r.Tools, Rollback: r.Rollback, Before: before, After: state,
		}
		if r.kind == payloadOther {
			out.Other = r.payload
		}
		each(out)
	}
}
