package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"winnow/checkpoint/jsondelta"
)

// A journal is a text file. Its first line is the header; every other line is a record:
//
//	crc32c SP note [ TAB kind payload ] LF
//
// The checksum, 8 hexadecimal digits, covers everything between SP and LF. The note is a small JSON object; the
// payload is a state or a delta. Neither can contain a raw TAB or LF, so after damage the next record starts after
// the next LF.

const (
	formatVersion = 1 // version of the format that is written
	headerWord    = "winnow-journal "
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// payloadKind is the kind of a record's payload.
type payloadKind byte

const (
	payloadNone  payloadKind = 0
	payloadFull  payloadKind = 'F' // the state after the record
	payloadDelta payloadKind = 'D' // the delta from the state before the record to the state after it
	payloadOther payloadKind = 'S' // a state other than the current one
)

// Op is the kind of event that a record stores.
type Op string

// The ops, with the fields of record that they use in parentheses.
const (
	OpStart     Op = "start"    // a session started (Checkpoint)
	OpResume    Op = "resume"   // a session was resumed (Session)
	OpAdd       Op = "add"      // a turn is about to change the window (Checkpoint)
	OpRecord    Op = "record"   // write tools of a turn have run (For, Tools), or the state changed without a step
	OpEdit      Op = "edit"     // the user made an edit (Checkpoint); the payload is the state after it
	OpSaved     Op = "saved"    // the window's file was saved with the state in payloadOther or, without a payload, the current state
	OpIntent    Op = "intent"   // a rollback was begun (Rollback); payloadOther is the state to restore
	OpDone      Op = "done"     // the rollback was carried out (Rollback)
	OpAbandon   Op = "abandon"  // the rollback was abandoned (Rollback)
	OpForget    Op = "forget"   // the last rollback can no longer be undone
	OpClose     Op = "close"    // a run ended with Close, and no other process had the journal open
	OpLeave     Op = "leave"    // a run ended with Close while other processes had the journal open (Left)
	OpCompacted Op = "image"    // the first record of a compacted journal
	OpKeep      Op = "keep"     // a checkpoint in a journal compacted by an earlier version (Checkpoint, Changed)
	OpRepaired  Op = "repaired" // damage before this record has already been reported (Lost)
)

// record is a line of the journal. The fields with JSON names form its note.
type record struct {
	Seq int64 `json:"seq"`
	// Prev is the Seq of the previous record in the file, which reveals lost lines.
	Prev int64     `json:"prev"`
	Op   Op        `json:"op"`
	Time time.Time `json:"time,omitzero"`
	// Base and Sum are the stateSum of the state before and after the record; Base is empty if they are equal.
	Base       string        `json:"base,omitempty"`
	Sum        string        `json:"sum,omitempty"`
	Checkpoint *Checkpoint   `json:"checkpoint,omitempty"`
	Changed    bool          `json:"changed,omitempty"` // the step of Checkpoint changed the window
	Session    string        `json:"session,omitempty"`
	For        string        `json:"for,omitempty"` // id of the turn's checkpoint
	Tools      []ToolSummary `json:"tools,omitempty"`
	Rollback   *Intent       `json:"rollback,omitempty"`
	Lost       []string      `json:"lost,omitempty"`
	Left       []string      `json:"left,omitempty"`   // the sessions of the run that ended
	User       string        `json:"user,omitempty"`   // the user who wrote the record
	Author     string        `json:"author,omitempty"` // id of the session that wrote the record

	kind    payloadKind
	payload string // part of text
	text    string // the line without LF
}

// stateSum identifies a state in records: the first 64 bits of the SHA-256 of its canonical form.
func stateSum(state jsondelta.Document) string {
	const size = 8
	hash := sha256.Sum256([]byte(state.Text()))
	return hex.EncodeToString(hash[:size])
}

// before returns the sum of the state before the record.
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

// headerVersion parses a header without its LF; it returns false if the text is not a header.
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

// errBadRecord means that a line is not a complete, unchanged record.
var errBadRecord = errors.New("checkpoint: damaged record")

// readRecord parses a line without its LF.
func readRecord(text string) (*record, error) {
	sum, body, _ := strings.Cut(text, " ")
	if sum != fmt.Sprintf("%08x", crc32.Checksum([]byte(body), castagnoli)) {
		return nil, errBadRecord
	}
	note, payload, found := strings.Cut(body, "\t")
	r := &record{text: text}
	if err := json.Unmarshal([]byte(note), r); err != nil || found && payload == "" {
		return nil, errBadRecord
	}
	if found {
		r.kind, r.payload = payloadKind(payload[0]), payload[1:]
	}
	return r, nil
}

// size returns the length of the line including LF.
func (r *record) size() int64 { return int64(len(r.text)) + 1 }
