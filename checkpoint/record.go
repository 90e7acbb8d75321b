package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

// A journal is lines of text. The first is the header; each other is a record:
//
//	crc32c SP note [ TAB kind payload ] LF
//
// The checksum, 8 hexadecimal digits, covers all between it and LF. The note
// is a small JSON object; the payload is a state or a delta. Neither can contain
// a raw TAB or LF, so after damage the next LF is where the next record begins.

const (
	formatVersion = 1 // of the format that is written
	headerWord    = "winnow-journal "
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// payloadKind is what the payload of a record is.
type payloadKind byte

const (
	payloadNone  payloadKind = 0
	payloadFull  payloadKind = 'F' // the state after the record
	payloadDelta payloadKind = 'D' // how the state became the one after
	payloadSide  payloadKind = 'S' // a state that is not the current one
)

// op is what a record records.
type op string

const (
	opStart   op = "start"   // a session began: Check
	opResume  op = "resume"  // a session was resumed: Session
	opAdd     op = "add"     // the checkpoint of a turn: Check
	opRecord  op = "record"  // the state changed: For, Tools
	opEdit    op = "edit"    // the user's edit: Check; the state is that after it
	opSaved   op = "saved"   // the window's file contains the side state, else this one
	opIntent  op = "intent"  // a rollback begins: Rollback, side: its state
	opDone    op = "done"    // and is done: Rollback
	opAbandon op = "abandon" // or was not: Rollback
	opForget  op = "forget"  // the last rollback cannot be undone any more
	opClose   op = "close"   // orderly end of a run
	opImage   op = "image"   // the start of a compacted journal: Image
	opKeep    op = "keep"    // a checkpoint in one of earlier versions: Check, Changed
	// opRepaired: what is damaged before it was reported; Lost is gone.
	opRepaired op = "repaired"
)

// record is a line of the journal. The fields with JSON names are its note.
type record struct {
	Seq int64 `json:"seq"`
	// Prev is Seq of the record before it in the file: a lost line shows.
	Prev int64     `json:"prev"`
	Op   op        `json:"op"`
	Time time.Time `json:"time,omitzero"`
	// Base and Sum are document.sum before and after; Base only when different.
	Base     string        `json:"base,omitempty"`
	Sum      string        `json:"sum,omitempty"`
	Check    *Checkpoint   `json:"checkpoint,omitempty"`
	Changed  bool          `json:"changed,omitempty"`
	Session  string        `json:"session,omitempty"`
	For      string        `json:"for,omitempty"`
	Tools    []ToolSummary `json:"tools,omitempty"`
	Rollback *Intent       `json:"rollback,omitempty"`
	Image    *imageNote    `json:"image,omitempty"`
	Lost     []string      `json:"lost,omitempty"`

	kind    payloadKind
	payload string // a part of text
	text    string // the line without LF
}

// imageNote is what remains of the records that a compaction removed.
type imageNote struct {
	Seq     int64            `json:"seq"`
	Session string           `json:"session,omitempty"`
	Active  map[string]int64 `json:"active,omitempty"`
	Closed  bool             `json:"closed,omitempty"`
}

// before returns the sum of the state that the record was written upon.
func (r *record) before() string {
	if r.Base != "" {
		return r.Base
	}
	return r.Sum
}

// header returns the first line of a journal.
func header(version int) []byte {
	text := headerWord + strconv.Itoa(version)
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// headerVersion reads a first line without its LF; false if it is none.
func headerVersion(text string) (int, bool) {
	digits, _, _ := strings.Cut(strings.TrimPrefix(text, headerWord), " ")
	version, err := strconv.Atoi(digits)
	return version, err == nil && text+"\n" == string(header(version))
}

// encode sets the text of a record from its other fields.
func (r *record) encode() error {
	note, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("checkpoint: write record: %w", err)
	}
	if r.kind != payloadNone {
		note = append(append(note, '\t', byte(r.kind)), r.payload...)
	}
	r.text = fmt.Sprintf("%08x %s", crc32.Checksum(note, castagnoli), note)
	return nil
}

// errLine is returned for a line that is not a whole, unchanged record.
var errLine = errors.New("checkpoint: damaged record")

// readRecord reads a line without its LF.
func readRecord(text string) (*record, error) {
	sum, body, _ := strings.Cut(text, " ")
	if sum != fmt.Sprintf("%08x", crc32.Checksum([]byte(body), castagnoli)) {
		return nil, errLine
	}
	note, payload, found := strings.Cut(body, "\t")
	r := &record{text: text}
	if err := json.Unmarshal([]byte(note), r); err != nil || found && payload == "" {
		return nil, errLine
	}
	if found {
		r.kind, r.payload = payloadKind(payload[0]), payload[1:]
	}
	return r, nil
}

// size is the length of the line, with LF.
func (r *record) size() int64 { return int64(len(r.text)) + 1 }
