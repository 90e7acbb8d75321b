package assistant

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"winnow/assistant/attachment"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// PairState is the progress of a pair's turn.
type PairState string

// The states of a pair.
const (
	PairIdle     PairState = "idle"
	PairSending  PairState = "sending"
	PairComplete PairState = "complete"
	PairError    PairState = "error"
	// PairPartial is an answer that was cancelled before it was complete. It is
	// never sent.
	PairPartial PairState = "partial"
)

// The error codes with which a pair can end, in addition to the Kind of a
// failed request.
const (
	CodeInterrupted      = "interrupted"
	CodeCancelled        = "cancelled"
	CodeInvalidToolCalls = "invalid_tool_calls"
	CodePromptTooLarge   = "user_prompt_too_large"
	CodeOverflowTrimmed  = "context_overflow_after_trimming"
)

// Pair is one user message and everything the assistant produced for it. It is
// the unit in which history, filtering and context are counted.
type Pair struct {
	ID      string `json:"id"` // see NewID; export and import preserve it
	Seq     int64  `json:"-"`  // position in the history, assigned by the store; pairs are ordered by Seq, never by time
	Session string `json:"session"`
	Author  string `json:"author,omitempty"` // who sent it, in a shared history or window; "" is the user
	Topic   string `json:"topic"`            // topic path such as "AI > Agents"; "" is the root
	Model   string `json:"model"`            // "provider/name"

	UserText safetext.Text `json:"user_text"`
	// AssistantText is the text of all responses of the turn, with a [[tool:N]]
	// marker where the result of call N is shown.
	AssistantText safetext.Text `json:"assistant_text"`
	Reasoning     safetext.Text `json:"reasoning"`

	Star         int           `json:"star"` // 0 to 3
	Flag         bool          `json:"flag"` // true is blue, the default
	State        PairState     `json:"state"`
	ErrorCode    string        `json:"error_code"`
	ErrorMessage safetext.Text `json:"error_message"`
	CreatedAt    time.Time     `json:"created_at"`

	Attachments []Attachment `json:"attachments"`
	ToolCalls   []ToolCall   `json:"tool_calls"`
	Payloads    []Payload    `json:"payloads,omitempty"`

	Page         string        `json:"page,omitempty"`          // the page that was open
	ReasoningFor time.Duration `json:"reasoning_for,omitempty"` // how long the model reasoned, in ns
	Thoughts     []Thought     `json:"thoughts,omitempty"`      // blocks of Reasoning; nil if all of it came before the text
	Took         time.Duration `json:"took,omitempty"`          // time from send to end, in ns, without waiting for the user's answers
	Usage        *llm.Usage    `json:"usage,omitempty"`         // summed over the responses of the turn
	Price        *float64      `json:"price,omitempty"`         // price of Usage in US dollars, at the prices of that time; nil if unknown
	Suggested    *Suggested    `json:"suggested,omitempty"`
	Notice       safetext.Text `json:"notice,omitempty"` // what winnow reports about the turn
	// InvalidRounds counts the invalid rounds of tool calls at the end of the
	// turn, so that a retry after a crash does not start again at 0.
	InvalidRounds int `json:"invalid_rounds,omitempty"`

	// Variants are the other answers to the same message, oldest first. Chosen
	// is how many of them are older than the chosen answer; see Answers.
	Variants   []Variant `json:"variants,omitempty"`
	Chosen     int       `json:"chosen,omitempty"`
	AnswerID   string    `json:"answer_id,omitempty"`
	AnsweredAt time.Time `json:"answered_at,omitzero"` // see Variant.At
	// AnswerTo is set in a cancelled answer, see Batch.Cancelled: the Seq of
	// the pair that was being answered again, or 0 if the message was new.
	AnswerTo int64 `json:"answer_to,omitempty"`
}

// Thought is a block of a pair's reasoning with its place in the answer.
// Offsets are in bytes of the stored texts; blocks are in order.
type Thought struct {
	From  int           `json:"from"`           // offset in the reasoning; the block ends where the next one starts
	Place int           `json:"place"`          // offset in the answer of the text that followed the block
	Took  time.Duration `json:"took,omitempty"` // in ns
	Text  safetext.Text `json:"-"`              // without surrounding space; set only by PairThoughts
}

// PairThoughts splits the Reasoning of a pair into the blocks stored with it.
// If none are stored, or they do not match the texts, it returns one block that
// took ReasoningFor. Without reasoning, it returns nil.
func PairThoughts(p *Pair) []Thought {
	return splitThoughts(p.Reasoning, p.AssistantText, p.ReasoningFor, p.Thoughts)
}

func splitThoughts(reasoning, answer safetext.Text, took time.Duration, stored []Thought) []Thought {
	if reasoning.TrimSpace() == "" {
		return nil
	}
	whole := []Thought{{Took: took, Text: reasoning}}
	var out []Thought
	var before Thought
	for i, t := range stored {
		end := len(reasoning)
		if i+1 < len(stored) {
			end = stored[i+1].From
		}
		t.Place = min(t.Place, len(answer)) // the text may have been shortened since; reasoning never is
		ordered := (i > 0 || t.From == 0) && before.From <= t.From && t.From <= end && end <= len(reasoning) && before.Place <= t.Place
		escaped := strings.HasSuffix(string(answer[:max(t.Place, 0)]), `\`) // a marker inserted there would be escaped
		if !ordered || escaped || !startsRune(reasoning, t.From) || !startsRune(answer, t.Place) {
			return whole
		}
		before = t
		if t.Text = reasoning[t.From:end].TrimSpace(); t.Text != "" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return whole
	}
	return out
}

// startsRune reports whether at is the start of a character in text, or the end of text.
func startsRune(text safetext.Text, at int) bool {
	return at == len(text) || at < len(text) && utf8.RuneStart(text[at])
}

// Suggested is what the assistant suggests as the next step.
type Suggested struct {
	Values  []SuggestedValue  `json:"suggested_values,omitempty"`
	Actions []SuggestedAction `json:"suggested_actions,omitempty"`
}

// Attachment is a file attached to the user's message.
type Attachment = attachment.File

// ToolCall is a call made during a pair's turn, with its result.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    *ToolResult     `json:"result,omitempty"` // nil while the call runs, or if the turn ended first
	// Response is the index, from 0, of the turn's response that contained
	// the call. Calls of one response are sent back to the model as one
	// assistant message.
	Response int           `json:"response"`
	Took     time.Duration `json:"took,omitempty"` // in ns, without waiting for the user's answer
	// Silent marks an invalid call, for example to a tool that the open page
	// does not list: the model gets the result, but the user sees no card.
	Silent bool `json:"silent,omitempty"`
}

// NewID returns an identifier that sorts by creation time: 48 bits of milliseconds
// and 80 random bits, 26 lower-case characters.
func NewID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:])
	return strings.ToLower(idEncoding.EncodeToString(b[:]))
}

// idEncoding is base32 with digits before letters, so that text order is time order.
var idEncoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// PlainJSON is json.Marshal without HTML escaping, so that what is stored, sent and counted
// is the text itself. It returns the errors of Marshal.
func PlainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// cleanNames sanitises the names in a pair from another source; its texts were sanitised
// when they were decoded. Tool arguments and results are not changed.
func (p *Pair) cleanNames() {
	p.Topic, p.Author, p.Model = string(safetext.Line(p.Topic, len(p.Topic))), string(safetext.Line(p.Author, len(p.Author))), string(safetext.VisibleOnce(p.Model))
	for i := range p.ToolCalls {
		p.ToolCalls[i].Name = string(safetext.Line(p.ToolCalls[i].Name, len(p.ToolCalls[i].Name)))
	}
	for i := range p.Attachments {
		p.Attachments[i].Name = string(safetext.Visible(p.Attachments[i].Name))
	}
}
