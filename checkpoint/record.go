package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

// A journal is lines of text. The first is the header; each other is a record:
//
//	crc32c SP note [ TAB kind payload ] LF
//
// The checksum, 8 hexadecimal digits, covers all between it and LF. The note
// is a small JSON object; the payload, a state or a delta, stays unread until
// it is needed. Neither can hold a raw TAB or LF, so after damage the next LF
// is where the next record begins.

// formatVersion is the version of the format that is written here.
const formatVersion = 1

const headerWord = "winnow-journal "

// sumLen is the length of a checksum in a record.
const sumLen = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// payloadKind says what the payload of a record is.
type payloadKind byte

const (
	payloadNone  payloadKind = 0
	payloadFull  payloadKind = 'F' // the state after the record
	payloadDelta payloadKind = 'D' // how the state became the one after
	payloadSide  payloadKind = 'S' // a state beside the chain of states
)

// op is what a record records.
type op string

const (
	opStart   op = "start"   // a session began: Check
	opResume  op = "resume"  // a session was taken up again: Session
	opAdd     op = "add"     // the checkpoint of a turn: Check
	opRecord  op = "record"  // the state changed: For, Tools
	opEdit    op = "edit"    // the user's edit: Check
	opSaved   op = "saved"   // the file holds the side state, else this one
	opIntent  op = "intent"  // a rollback begins: Rollback, side: its state
	opDone    op = "done"    // and is done: Rollback
	opAbandon op = "abandon" // or was not: Rollback
	opForget  op = "forget"  // the last rollback cannot be undone any more
	opClose   op = "close"   // orderly end of a run
	opKeep    op = "keep"    // a checkpoint of an older file: Check, Changed
	opImage   op = "image"   // end of what an older file held: Image
)

// record is the note of a line.
type record struct {
	Seq int64 `json:"seq"`
	// Prev is Seq of the record before it in the file: a lost line shows.
	Prev int64     `json:"prev"`
	Op   op        `json:"op"`
	Time time.Time `json:"time,omitzero"`
	// Base and Sum are stateSum before and after; Base only when different.
	Base     string        `json:"base,omitempty"`
	Sum      string        `json:"sum,omitempty"`
	Check    *Checkpoint   `json:"checkpoint,omitempty"`
	Changed  bool          `json:"changed,omitempty"`
	Session  string        `json:"session,omitempty"`
	For      string        `json:"for,omitempty"`
	Tools    []ToolSummary `json:"tools,omitempty"`
	Rollback *rollbackNote `json:"rollback,omitempty"`
	Image    *imageNote    `json:"image,omitempty"`
}

// before returns the sum of the state that the record was written upon.
func (r *record) before() string {
	if r.Base != "" {
		return r.Base
	}
	return r.Sum
}

// rollbackNote is an Intent as it is written.
type rollbackNote struct {
	ID       string   `json:"id"`
	Scope    Scope    `json:"scope"`
	Undoes   string   `json:"undoes,omitempty"`
	Target   string   `json:"target"`
	Cut      int64    `json:"cut,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
	Dropped  []string `json:"dropped,omitempty"`
}

// imageNote is what a rewritten file knows besides its records.
type imageNote struct {
	Seq     int64            `json:"seq"`
	Session string           `json:"session,omitempty"`
	Active  map[string]int64 `json:"active,omitempty"`
	Closed  bool             `json:"closed,omitempty"`
}

// stateSum identifies a state: 64 bits of SHA-256 of its canonical text.
func stateSum(v value) string {
	const size = 8
	h := sha256.New()
	var room [4096]byte // not a copy of the whole text
	for rest := v.text; rest != ""; {
		n := copy(room[:], rest)
		h.Write(room[:n])
		rest = rest[n:]
	}
	return hex.EncodeToString(h.Sum(nil)[:size])
}

// header returns the first line of a journal.
func header(version int) []byte {
	text := headerWord + strconv.Itoa(version)
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// headerVersion reads a first line without its LF; false if it is none.
func headerVersion(text []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(headerWord))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte(" "))
	n, err := strconv.Atoi(string(digits))
	if err != nil || !bytes.Equal(append(text[:len(text):len(text)], '\n'), header(n)) {
		return 0, false
	}
	return n, true
}

// appendLine appends a record as a line.
func appendLine(dst []byte, r *record, kind payloadKind, payload string) ([]byte, error) {
	note, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: write record: %w", err)
	}
	from := len(dst)
	dst = append(dst, "00000000 "...)
	dst = append(dst, note...)
	if kind != payloadNone {
		dst = append(dst, '\t', byte(kind))
		dst = append(dst, payload...)
	}
	sum := crc32.Checksum(dst[from+sumLen+1:], castagnoli)
	copy(dst[from:], fmt.Sprintf("%08x", sum))
	return append(dst, '\n'), nil
}

// errLine is returned for a line that is not a whole, unchanged record.
var errLine = errors.New("checkpoint: damaged record")

// readLine reads a line without its LF. The payload is a part of text.
func readLine(text []byte) (r record, kind payloadKind, payload []byte, err error) {
	if len(text) <= sumLen || text[sumLen] != ' ' {
		return record{}, 0, nil, errLine
	}
	body := text[sumLen+1:]
	if string(text[:sumLen]) != fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) {
		return record{}, 0, nil, errLine
	}
	note, payload, found := bytes.Cut(body, []byte("\t"))
	if found {
		if len(payload) == 0 {
			return record{}, 0, nil, errLine
		}
		kind, payload = payloadKind(payload[0]), payload[1:]
	}
	if err := json.Unmarshal(note, &r); err != nil {
		return record{}, 0, nil, errLine
	}
	return r, kind, payload, nil
}
