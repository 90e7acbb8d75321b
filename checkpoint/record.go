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

// A journal is lines of text. The first is the header; every other is a record:
//
//	crc32c SP note [ TAB kind payload ] LF
//
// The checksum, 8 hexadecimal digits, covers what is between SP and LF. The note
// is a small JSON object; the payload is a state or a delta. Neither can contain
// a raw TAB or LF, so after damage the next record begins after the next LF.

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
	payloadDelta payloadKind = 'D' // from the state before the record to the one after
	payloadOther payloadKind = 'S' // a state that is not the current one
)

// Op is the event that a record stores.
type Op string

// After each op, the fields of record that it uses.
const (
	OpStart     Op = "start"    // Checkpoint; a session began
	OpResume    Op = "resume"   // Session; it was resumed
	OpAdd       Op = "add"      // Checkpoint, of a turn
	OpRecord    Op = "record"   // For, Tools; the state changed
	OpEdit      Op = "edit"     // Checkpoint; the state is the one after the user's edit
	OpSaved     Op = "saved"    // payloadOther, the state in the window's file; none: the current one
	OpIntent    Op = "intent"   // Rollback, and in payloadOther its state
	OpDone      Op = "done"     // Rollback, which is finished
	OpAbandon   Op = "abandon"  // Rollback, which was abandoned
	OpForget    Op = "forget"   // the last rollback can no longer be undone
	OpClose     Op = "close"    // a run ended with Close, and no other process had the journal open
	OpLeave     Op = "leave"    // Left; a run ended with Close, and others go on
	OpCompacted Op = "image"    // the first record of a compacted journal
	OpKeep      Op = "keep"     // Checkpoint, Changed; in journals that earlier versions compacted
	OpRepaired  Op = "repaired" // Lost; damage before this record was already reported
)

// record is a line of the journal. The fields with JSON names are its note.
type record struct {
	Seq int64 `json:"seq"`
	// Prev is Seq of the record before it in the file, so that a lost line is noticed.
	Prev int64     `json:"prev"`
	Op   Op        `json:"op"`
	Time time.Time `json:"time,omitzero"`
	// Base and Sum are the stateSum of the state before and after the
	// record; Base only when it differs.
	Base       string        `json:"base,omitempty"`
	Sum        string        `json:"sum,omitempty"`
	Checkpoint *Checkpoint   `json:"checkpoint,omitempty"`
	Changed    bool          `json:"changed,omitempty"`
	Session    string        `json:"session,omitempty"`
	For        string        `json:"for,omitempty"` // id of the checkpoint of the turn
	Tools      []ToolSummary `json:"tools,omitempty"`
	Rollback   *Intent       `json:"rollback,omitempty"`
	Lost       []string      `json:"lost,omitempty"`
	Left       []string      `json:"left,omitempty"` // the sessions of the run
	User       string        `json:"user,omitempty"` // who wrote it, in the session Author
	Author     string        `json:"author,omitempty"`

	kind    payloadKind
	payload string // a part of text
	text    string // the line without LF
}

// stateSum identifies a state in records: 64 bits of SHA-256 of its canonical form.
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

// headerVersion reads a header without its LF; false if it is not one.
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

// errBadRecord is returned for a line that is not a whole, unchanged record.
var errBadRecord = errors.New("checkpoint: damaged record")

// readRecord reads a line without its LF.
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

// size is the length of the line, with LF.
func (r *record) size() int64 { return int64(len(r.text)) + 1 }
