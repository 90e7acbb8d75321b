package history

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"winnow/assistant"
)

// states are the numbers of the states in the database. The order is part of
// its form.
var states = []assistant.PairState{assistant.PairIdle, assistant.PairSending, assistant.PairComplete, assistant.PairError}

const (
	stateSending = 1
	stateError   = 3
)

// maxStar is the best rating.
const maxStar = 3

// checkPair refuses what could not come back as it was.
func checkPair(p *assistant.Pair) error {
	switch {
	case p.State != "" && !slices.Contains(states, p.State):
		return fmt.Errorf("history: pair %s: unknown state %q", p.ID, p.State)
	case p.Star < 0 || p.Star > maxStar:
		return fmt.Errorf("history: pair %s: %d stars; want 0 to %d", p.ID, p.Star, maxStar)
	case p.CreatedAt.Year() < 0 || p.CreatedAt.Year() > 9999:
		return fmt.Errorf("history: pair %s: the year %d cannot be written as RFC 3339", p.ID, p.CreatedAt.Year())
	}
	return nil
}

// stateNumber is the number of a state; "" is idle.
func stateNumber(s assistant.PairState) int { return max(slices.Index(states, s), 0) }

// columned are the JSON names of the fields of a pair that have a column or
// table. What is left goes to body.more, so that a field added to Pair is kept
// without a change here.
var columned = []string{
	"id", "session", "topic", "model", "user_text", "assistant_text", "reasoning", "star", "flag", "state",
	"error_code", "error_message", "created_at", "attachments", "tool_calls", "payloads",
}

// moreOf encodes the fields of p that have no column; "" when all are zero.
func moreOf(p *assistant.Pair) (string, error) {
	rest := *p
	rest.UserText, rest.AssistantText, rest.Reasoning = "", "", ""
	rest.Attachments, rest.ToolCalls, rest.Payloads = nil, nil, nil
	raw, err := json.Marshal(&rest)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return "", err
	}
	for _, name := range columned {
		delete(fields, name)
	}
	if len(fields) == 0 {
		return "", nil
	}
	raw, err = json.Marshal(fields)
	return string(raw), err
}

// partRunes packs the length in runes of each part that p adds to a request.
// With them the cost at any charsPerToken is known without the texts.
func partRunes(p *assistant.Pair) []byte {
	packed := []byte{}
	for _, part := range assistant.PairParts(p) {
		packed = binary.AppendUvarint(packed, uint64(utf8.RuneCountInString(part)))
	}
	return packed
}

// cost is the sum over packed parts of their runes divided by charsPerToken, rounded up.
func cost(packed []byte, charsPerToken float64) int {
	sum := 0
	for len(packed) > 0 {
		runes, n := binary.Uvarint(packed)
		if n <= 0 {
			return sum
		}
		sum += int(math.Ceil(float64(runes) / charsPerToken))
		packed = packed[n:]
	}
	return sum
}

// castagnoli is the polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bodySum tells later whether the texts are still those that were written.
func bodySum(texts ...string) int64 {
	sum := crc32.New(castagnoli)
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:", len(t))
		sum.Write([]byte(t))
	}
	return int64(sum.Sum32())
}

// resultForm is a ToolResult whose data stays the JSON it was.
type resultForm struct {
	Success   bool               `json:"success"`
	Message   string             `json:"message"`
	Data      json.RawMessage    `json:"data,omitempty"`
	ErrorCode string             `json:"error_code,omitempty"`
	Hint      string             `json:"hint,omitempty"`
	Payload   *assistant.Payload `json:"payload,omitempty"`
}

// decodeResult reads a result back. Data is a json.RawMessage, so that no
// number loses a digit.
func decodeResult(raw []byte) (*assistant.ToolResult, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var f resultForm
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	r := &assistant.ToolResult{Success: f.Success, Message: f.Message, ErrorCode: f.ErrorCode, Hint: f.Hint, Payload: f.Payload}
	if f.Data != nil {
		r.Data = f.Data
	}
	return r, nil
}

func encodeResult(r *assistant.ToolResult) (any, error) {
	if r == nil {
		return nil, nil // NULL, not an empty blob
	}
	text, err := assistant.PlainJSON(r)
	if err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// blob is NULL for a nil value, so that nil comes back as nil.
func blob(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return []byte(raw)
}

// instant rebuilds a time with the offset it was written with.
func instant(sec, nsec int64, zone int) time.Time {
	t := time.Unix(sec, nsec)
	if zone == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", zone))
}
