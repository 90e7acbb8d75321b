package history

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/safetext"
)

// states lists the states of pairs; the database stores their indexes.
var states = []assistant.PairState{
	assistant.PairIdle, assistant.PairSending, assistant.PairComplete, assistant.PairError, assistant.PairPartial,
}

// StateError is the stored number of assistant.PairError.
const StateError = 3

func stateNumber(p *assistant.Pair) int { return max(slices.Index(states, p.State), 0) }

// MaxStar is the highest rating.
const MaxStar = 3

// pairJSON is the JSON form of a pair in exports. The column more contains a part of this form: see moreJSON.
type pairJSON struct {
	*assistant.Pair
	Attachments []assistant.Attachment `json:"attachments"`
	ToolCalls   []callJSON             `json:"tool_calls"`
	Variants    []variantJSON          `json:"variants,omitempty"`
}

// variantJSON is the JSON form of an answer that is not chosen.
type variantJSON struct {
	*assistant.Variant
	ToolCalls []callJSON `json:"tool_calls,omitempty"`
}

// callJSON is the JSON form of a tool call. Its arguments need not be valid JSON. Result is raw, so that numbers keep
// all their digits.
type callJSON struct {
	assistant.ToolCall
	Arguments     json.RawMessage `json:"arguments,omitempty"`
	ArgumentsText *string         `json:"arguments_text,omitempty"` // the exact text, used instead of Arguments
	ArgumentsRaw  []byte          `json:"arguments_raw,omitempty"`  // used instead of Arguments and ArgumentsText if the arguments are not UTF-8
	Result        json.RawMessage `json:"result,omitempty"`
}

// newPairJSON returns the JSON form of p: if asText is set, the form for a database, with arguments byte for byte as
// text and attachments without their data; otherwise the form for exports, in which arguments that are valid JSON are
// part of the document.
func newPairJSON(p *assistant.Pair, asText bool) (form pairJSON, err error) {
	form = pairJSON{Pair: p, Attachments: append([]assistant.Attachment{}, p.Attachments...)}
	if asText { // pictures are stored separately
		form.Attachments = attachment.Stripped(form.Attachments)
	}
	for i := range p.Variants {
		v := variantJSON{Variant: &p.Variants[i]}
		if v.ToolCalls, err = encodeCalls(v.Variant.ToolCalls, asText); err != nil {
			return form, err
		}
		form.Variants = append(form.Variants, v)
	}
	form.ToolCalls, err = encodeCalls(p.ToolCalls, asText)
	return form, err
}

func encodeCalls(calls []assistant.ToolCall, asText bool) ([]callJSON, error) {
	encoded := []callJSON{}
	for _, c := range calls {
		call := callJSON{ToolCall: c}
		text := string(c.Arguments)
		switch {
		case c.Arguments == nil:
		case !utf8.ValidString(text):
			call.ArgumentsRaw = c.Arguments
		case asText || !json.Valid(c.Arguments):
			call.ArgumentsText = &text
		default:
			call.Arguments = c.Arguments
		}
		if c.Result != nil {
			raw, err := assistant.PlainJSON(c.Result)
			if err != nil {
				return nil, fmt.Errorf("the result of %s: %w", c.Name, err)
			}
			call.Result = raw
		}
		encoded = append(encoded, call)
	}
	return encoded, nil
}

// EncodePair returns the JSON form of a pair as used in exports.
func EncodePair(p *assistant.Pair) ([]byte, error) {
	form, err := newPairJSON(p, false)
	if err != nil {
		return nil, err
	}
	return assistant.PlainJSON(form)
}

// DecodePair decodes the JSON form of a pair into p. It leaves fields that are missing from raw unchanged.
func DecodePair(raw []byte, p *assistant.Pair) (err error) {
	form := pairJSON{Pair: p}
	if err := json.Unmarshal(raw, &form); err != nil {
		return err
	}
	if len(form.Attachments) > 0 {
		p.Attachments = form.Attachments
	}
	for _, v := range form.Variants {
		var answer assistant.Variant
		if v.Variant != nil { // the form may be {}
			answer = *v.Variant
		}
		if answer.ToolCalls, err = decodeCalls(v.ToolCalls); err != nil {
			return err
		}
		p.Variants = append(p.Variants, answer)
	}
	calls, err := decodeCalls(form.ToolCalls)
	p.ToolCalls = append(p.ToolCalls, calls...)
	if err != nil {
		return err
	}
	return dropThoughts(raw, p)
}

// dropThoughts removes the thoughts of each answer in p whose texts in raw, the JSON form of p, are not clean.
func dropThoughts(raw []byte, p *assistant.Pair) error {
	if len(p.Thoughts) == 0 && !slices.ContainsFunc(p.Variants, func(v assistant.Variant) bool { return len(v.Thoughts) > 0 }) {
		return nil
	}
	var stored struct {
		storedAnswer
		Variants []storedAnswer `json:"variants"`
	}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return err
	}
	p.Thoughts = thoughtsOf(p.Thoughts, stored.storedAnswer)
	first := len(p.Variants) - len(stored.Variants)
	for i, v := range stored.Variants {
		p.Variants[first+i].Thoughts = thoughtsOf(p.Variants[first+i].Thoughts, v)
	}
	return nil
}

func decodeCalls(encoded []callJSON) (calls []assistant.ToolCall, err error) {
	for _, c := range encoded {
		call := c.ToolCall
		switch {
		case c.ArgumentsText != nil:
			call.Arguments = json.RawMessage(*c.ArgumentsText)
		case c.ArgumentsRaw != nil:
			call.Arguments = c.ArgumentsRaw
		default:
			call.Arguments = c.Arguments
		}
		if call.Result, err = decodeResult(c.Result); err != nil {
			return nil, fmt.Errorf("the result of %s: %w", c.Name, err)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// decodeResult decodes the result of a tool call. Data stays a json.RawMessage, so that numbers keep all their digits.
func decodeResult(raw json.RawMessage) (*assistant.ToolResult, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var form struct {
		assistant.ToolResult
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, err
	}
	r := form.ToolResult
	if form.Data != nil {
		r.Data = form.Data
	}
	return &r, nil
}

// moreJSON contains the fields of a pair that have no column; it is stored in the column more of the table body. Its
// fields of type any are never set: they hide the fields of Pair that have a column. A new field of Pair is therefore
// stored without a change to this type.
type moreJSON struct {
	*assistant.Pair
	ID            any                    `json:"id,omitempty"`
	Session       any                    `json:"session,omitempty"`
	Topic         any                    `json:"topic,omitempty"`
	Model         any                    `json:"model,omitempty"`
	UserText      any                    `json:"user_text,omitempty"`
	AssistantText any                    `json:"assistant_text,omitempty"`
	Reasoning     any                    `json:"reasoning,omitempty"`
	Star          any                    `json:"star,omitempty"`
	Flag          any                    `json:"flag,omitempty"`
	State         any                    `json:"state,omitempty"`
	ErrorCode     any                    `json:"error_code,omitempty"`
	ErrorMessage  any                    `json:"error_message,omitempty"`
	CreatedAt     any                    `json:"created_at,omitempty"`
	Attachments   []assistant.Attachment `json:"attachments,omitempty"`
	ToolCalls     []callJSON             `json:"tool_calls,omitempty"`
	Variants      []variantJSON          `json:"variants,omitempty"`
}

// encodeMore encodes the fields of p that have no column; it returns "" if all are empty.
func encodeMore(p *assistant.Pair) (string, error) {
	form, err := newPairJSON(p, true)
	if err != nil {
		return "", err
	}
	raw, err := assistant.PlainJSON(moreJSON{Pair: p, Attachments: form.Attachments, ToolCalls: form.ToolCalls, Variants: form.Variants})
	if string(raw) == "{}" {
		return "", err
	}
	return string(raw), err
}

// storedTexts returns the texts that the checksums of older versions cover.
func (r *Row) storedTexts() []string {
	return []string{r.UserText, r.AssistantText, r.Reasoning, r.ErrorCode, r.ErrorMessage, r.More}
}

// checksum returns the checksum stored with r. It covers the texts, and the fields that change only together with the
// texts, but not the marks.
func (r *Row) checksum() int64 {
	return textSum(append(r.storedTexts(), r.ID, r.Session, r.Model, string(states[stateNumber(&r.Pair)]), r.CreatedAt.Format(time.RFC3339Nano))...)
}

// Row is a pair as an engine stores it. UserText, AssistantText, Reasoning and ErrorMessage are byte for byte those of
// the database, because the checksum covers them; they hide the fields of Pair with the same names, which Decode sets.
// Most of the other columns are fields of Pair.
type Row struct {
	assistant.Pair
	UserText, AssistantText, Reasoning, ErrorMessage string // redacted

	StateNumber int    // number of State; StateError is the number of PairError
	Parts       []byte // see Cost
	More        string // JSON of the fields that have no column
	Sum         sql.NullInt64
}

// NewRow returns the row for p, with redacted texts.
func NewRow(p *assistant.Pair, redact func(string) string) (Row, error) {
	more, err := encodeMore(p)
	r := Row{Pair: *p, StateNumber: stateNumber(p), Parts: partRunes(p), More: redact(more)}
	r.UserText, r.AssistantText, r.Reasoning, r.ErrorMessage = string(p.UserText), string(p.AssistantText), string(p.Reasoning), string(p.ErrorMessage)
	for _, text := range r.texts() {
		*text = redact(*text)
	}
	r.Sum = sql.NullInt64{Int64: r.checksum(), Valid: true}
	return r, err
}

// texts returns the texts of the pair that have their own columns.
func (r *Row) texts() [5]*string {
	return [5]*string{&r.UserText, &r.AssistantText, &r.Reasoning, &r.ErrorCode, &r.ErrorMessage}
}

// ExactTexts encodes the texts byte for byte, for an engine whose columns cannot store all bytes. It returns nil if
// storable leaves every text unchanged.
func (r *Row) ExactTexts(storable func(string) string) ([]byte, error) {
	var exact [5][]byte
	changed := false
	for i, text := range r.texts() {
		exact[i] = []byte(*text)
		changed = changed || storable(*text) != *text
	}
	if !changed {
		return nil, nil
	}
	return json.Marshal(exact)
}

// SetExactTexts restores the texts that ExactTexts encoded; nil changes nothing.
func (r *Row) SetExactTexts(exact []byte) error {
	var texts [5][]byte
	if exact == nil {
		return nil
	}
	if err := json.Unmarshal(exact, &texts); err != nil {
		return fmt.Errorf("history: message %d: %w", r.Seq, err)
	}
	for i, text := range r.texts() {
		*text = string(texts[i])
	}
	return nil
}

// Decode completes Pair after the columns have been read: it sets the state from StateNumber, the cleaned texts, and the
// fields in More. If the pair is damaged, Decode decodes what it can and sets Notice to DamagedPair.
func (r *Row) Decode() (damaged bool, err error) {
	r.State = states[min(max(r.StateNumber, 0), len(states)-1)]
	damaged = !r.intact()
	if r.More != "" {
		if err := DecodePair([]byte(r.More), &r.Pair); err != nil && !damaged {
			return false, fmt.Errorf("history: message %d: %w", r.Seq, err)
		}
	}
	p := &r.Pair
	p.UserText, p.ErrorMessage = safetext.Clean(r.UserText), safetext.Clean(r.ErrorMessage)
	p.AssistantText, p.Reasoning = safetext.Clean(r.AssistantText), safetext.Clean(r.Reasoning)
	p.Thoughts = thoughtsOf(p.Thoughts, storedAnswer{r.AssistantText, r.Reasoning})
	if damaged {
		r.Notice = DamagedPair
	}
	return damaged, nil
}

// storedAnswer contains the texts of an answer as stored, before they are cleaned.
type storedAnswer struct {
	AssistantText string `json:"assistant_text"`
	Reasoning     string `json:"reasoning"`
}

// thoughtsOf returns the thoughts of an answer, or nil if its stored texts were not clean, because the offsets of the
// thoughts refer to the stored texts.
func thoughtsOf(thoughts []assistant.Thought, stored storedAnswer) []assistant.Thought {
	unclean := func(text string) bool { return string(safetext.Clean(text)) != text }
	if len(thoughts) > 0 && (unclean(stored.AssistantText) || unclean(stored.Reasoning)) {
		return nil
	}
	return thoughts
}

// intact reports whether r matches its checksum; a pair without a checksum always does. Checksums of older versions
// cover only the texts.
func (r *Row) intact() bool {
	return !r.Sum.Valid || r.Sum.Int64 == r.checksum() || r.Sum.Int64 == textSum(r.storedTexts()...)
}

// castagnoli is the CRC-32 polynomial with hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// textSum returns the checksum of the texts and their lengths.
func textSum(texts ...string) int64 {
	sum := crc32.New(castagnoli)
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:", len(t))
		sum.Write([]byte(t))
	}
	return int64(sum.Sum32())
}

// tokenPart is added to a packed part that counts the tokens of pictures instead of runes.
const tokenPart = 1 << 48

// partRunes packs the length in runes of each part that p adds to a request, and the tokens of its pictures, so that
// the cost for any charsPerToken can be computed without the texts.
func partRunes(p *assistant.Pair) []byte {
	packed := []byte{}
	if tokens := attachment.Tokens(p.Attachments); tokens > 0 {
		packed = binary.AppendUvarint(packed, tokenPart+uint64(tokens))
	}
	for _, part := range assistant.PairParts(p) {
		packed = binary.AppendUvarint(packed, uint64(utf8.RuneCountInString(part)))
	}
	return packed
}

// Cost returns the estimated tokens of packed parts: the runes of each text divided by charsPerToken, rounded up, plus
// the tokens of pictures.
func Cost(packed []byte, charsPerToken float64) int {
	sum := 0
	for len(packed) > 0 {
		runes, n := binary.Uvarint(packed)
		if n <= 0 {
			return sum
		}
		if runes < tokenPart {
			sum += int(math.Ceil(float64(runes) / charsPerToken))
		} else {
			sum += int(runes - tokenPart)
		}
		packed = packed[n:]
	}
	return sum
}

// Instant returns the time that is stored as Unix seconds, nanoseconds and a UTC offset in seconds.
func Instant(sec, nsec int64, zone int) time.Time {
	t := time.Unix(sec, nsec)
	if zone == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", zone))
}
