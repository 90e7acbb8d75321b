package checkpoint

import (
	"encoding/json"
	"time"

	"winnow/checkpoint/jsondelta"
)

// Record is one record of a journal, as Replay reads it. Op is its name in the file.
type Record struct {
	Seq           int64
	Time          time.Time
	User, Session string // who wrote it, as Options.Author named them
	Op            Op
	Checkpoint    *Checkpoint // of an edit, the start of a turn or of a session
	For           string      // id of the checkpoint of the turn
	Tools         []ToolSummary
	Rollback      *Intent
	Before, After jsondelta.Document // the state; the zero Document when it is not known
	Other         string             // a state that is not After, such as the one in the file
}

// Replay calls each with the records of the journal, oldest first, from memory.
func (j *Journal) Replay(each func(Record)) {
	j.mu.RLock()
	records := j.index.records // only ever appended to
	j.mu.RUnlock()
	var state jsondelta.Document
	for _, r := range records {
		before := state
		switch r.kind {
		case payloadFull:
			state, _ = jsondelta.Parse([]byte(r.payload)) // after damage the next full state is the first that is known
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
