package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/assistant/attachment"
	"winnow/assistant/budget"
	"winnow/assistant/safetext"
)

// Model is an endpoint that answers requests: an OpenAI-compatible server, the offline
// model, or a script in a test.
//
// Stream sends req and yields the parts of the answer as they arrive. A complete answer has
// exactly one End, as its last part. An answer that breaks off yields an error instead: a
// *RequestError, or ctx.Err() if ctx has ended; nothing follows an error. Cancelling ctx
// ends the stream and its connection at once. Stream may be called from any goroutine.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// ModelFunc is a function used as a Model.
type ModelFunc func(ctx context.Context, req Request) iter.Seq2[Part, error]

// Stream implements Model.
func (f ModelFunc) Stream(ctx context.Context, req Request) iter.Seq2[Part, error] {
	return f(ctx, req)
}

// Encoder is a Model that can return the exact body it would send.
type Encoder interface {
	// Encode returns the JSON document for req without sending it.
	Encode(req Request) (json.RawMessage, error)
}

// ImageModel is a Model that can also generate images.
type ImageModel interface {
	// Image generates one image from a prompt.
	Image(ctx context.Context, model, prompt string) (Image, error)
}

// Image is a generated image.
type Image struct {
	Data     []byte // content of the image file
	MIMEType string // for example "image/png"; "" if unknown
	Revised  string // the prompt as changed by the endpoint; "" if unchanged
}

// Request is what is sent to a model for one response.
type Request struct {
	Model    string // the endpoint's name for the model, without the provider prefix
	Messages []Message
	Tools    []ToolSpec
	Sampling Sampling `json:",omitzero"`
}

// Abbreviated returns the request as it is stored and shown, without the Data of its
// pictures.
func (r Request) Abbreviated() Request {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		r.Messages[i].Pictures = attachment.Stripped(m.Pictures)
	}
	return r
}

// Sampling sets how a model generates its answer. The zero value uses the endpoint's
// defaults.
type Sampling struct {
	Temperature     *float64 // nil means the endpoint's default
	MaxTokens       int      // limit on the answer; 0 means the endpoint's default
	ReasoningEffort string   // "low", "medium" or "high"; "" means the endpoint's default
	Seed            *int64   // nil sends none
}

// Role is the author of a message.
type Role string

// The roles of the chat completions protocol.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is a message of the chat completions protocol: tool calls and their
// results are separate messages.
type Message struct {
	Role     Role
	Content  string
	Pictures []attachment.File `json:",omitempty"` // only for a user message
	Calls    []Call            // only for an assistant message; in the order in which the model made them
	CallID   string            // only for a tool message: the id of the call it answers
}

// Call is a tool call made by a model.
type Call struct {
	ID   string
	Name string
	// Arguments is the JSON text as received, complete but not validated; the engine, not
	// the Model, decides whether the call may run.
	Arguments string
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
}

// Part is a piece of an answer: a Text, Reasoning, Wait, Retry, Unreadable or End.
//
//sumtype:decl
type Part interface{ part() }

type (
	// Text is visible answer text.
	Text struct{ Text safetext.Text }

	// Reasoning is the model's reasoning, in any of the three forms in which endpoints send
	// it.
	Reasoning struct{ Text safetext.Text }

	// Wait reports how long the endpoint has sent nothing useful.
	Wait struct{ For time.Duration }

	// Retry reports that the request failed before any content and will be sent again.
	Retry struct {
		Attempt int           // 1 for the first retry
		Reason  string        // one sentence, sanitised
		After   time.Duration // delay before the request is sent again
	}

	// Unreadable reports a part of the answer that could not be parsed and was dropped.
	Unreadable struct{ Reason string }

	// End ends a complete answer.
	End struct {
		Calls  []Call // in index order; nil if no tool is called
		Finish string // FinishStop or another constant below, or the endpoint's own finish_reason; "" if none was sent
		// Damaged says why the calls must not run although the answer is complete: part of
		// it was lost, repeated or mixed up. It is "" if the answer is sound.
		Damaged string
		Usage   *Usage      // nil if the endpoint did not report it
		Limits  *RateLimits // nil if the endpoint did not report them
	}
)

func (Text) part()       {}
func (Reasoning) part()  {}
func (Wait) part()       {}
func (Retry) part()      {}
func (Unreadable) part() {}
func (End) part()        {}

// Known values of End.Finish.
const (
	FinishStop   = "stop"
	FinishCalls  = "tool_calls"
	FinishLength = "length"         // cut off at the length limit
	FinishFilter = "content_filter" // stopped by the provider's filter
)

// Cut reports whether the endpoint stopped the answer before the model had finished. Tool
// calls of an answer that was cut off never run.
func (e End) Cut() bool { return e.Finish == FinishLength || e.Finish == FinishFilter }

// CutReason says why an answer was cut off, as a clause that follows "the answer was".
func (e End) CutReason() string {
	if e.Finish == FinishFilter {
		return "stopped by the provider's content filter"
	}
	return "cut off at its length limit"
}

// CallsRefused returns why the calls must not run: Damaged, or a finish reason that does
// not guarantee complete calls. It is "" if they may run.
func (e End) CallsRefused() string {
	switch {
	case e.Damaged != "", e.Finish == FinishStop, e.Finish == FinishCalls:
		return e.Damaged
	case e.Finish == "":
		return "it has no finish_reason"
	}
	return fmt.Sprintf("its finish_reason is %q", e.Finish)
}

// Usage counts tokens as reported by the endpoint.
type Usage struct {
	Prompt, Completion, Reasoning, Cached int
}

// Plus returns the sum of two usages. If one of them is nil, it returns the other.
func (u *Usage) Plus(other *Usage) *Usage {
	if u == nil || other == nil {
		return cmp.Or(u, other)
	}
	return &Usage{u.Prompt + other.Prompt, u.Completion + other.Completion, u.Reasoning + other.Reasoning, u.Cached + other.Cached}
}

// RateLimits are the quotas that an endpoint reports in its headers. In the zero value
// nothing is left; UnknownLimits returns the value for unknown quotas.
type RateLimits struct {
	RequestsPerMinute, TokensPerMinute int           // 0 if unknown
	RequestsLeft, TokensLeft           int           // -1 if unknown
	RequestsReset, TokensReset         time.Duration // until the whole quota is available again; 0 if unknown
}

// UnknownLimits returns RateLimits with every field unknown.
func UnknownLimits() RateLimits { return RateLimits{RequestsLeft: -1, TokensLeft: -1} }

// Ability says whether a model can do something.
type Ability string

// The abilities. The zero value means unknown.
const (
	Able   Ability = "yes"
	Unable Ability = "no"
)

// AbilityOf converts a boolean from a model's description.
func AbilityOf(able bool) Ability {
	if able {
		return Able
	}
	return Unable
}

// ModelInfo describes an available model.
type ModelInfo struct {
	ID        string  // "provider/name"
	Context   int     // tokens; 0 if unknown
	TPM       int     // tokens per minute; 0 if unknown
	Known     bool    // Context is known, from the endpoint, an error, the catalogue or the config
	Gone      bool    // the endpoint no longer lists the model; Retrieved is when it last did
	Tools     bool    // can call tools
	Reasons   bool    // can reason
	Images    bool    // can generate images
	Vision    Ability // accepts pictures
	Source    string  // source of the description: "live", "proxy", "cache", "catalogue", "config"
	NoChat    bool    // an embedding, speech or other model that cannot chat
	Retrieved time.Time
	// ContextFrom says where Context comes from, for display; "" if unknown.
	ContextFrom string
	Facts       Facts // for people who choose a model
}

// Values of ModelInfo.ContextFrom, in addition to an endpoint's error.
const (
	FromEndpoint  = "its endpoint"
	FromCatalogue = "the catalogue"
	FromSettings  = "the settings"
)

// LimitFrom says where the smaller of Context and TPM comes from, for display; "" means the
// model's description.
func (m ModelInfo) LimitFrom() string {
	switch {
	case m.TPM > 0 && m.Limit().ML() == m.TPM && m.TPM != m.Context:
		return "its tokens-per-minute limit"
	case m.Context == 0:
		return "assumed"
	}
	return m.ContextFrom
}

// Limit returns the model's limits for the budget.
func (m ModelInfo) Limit() budget.Limit {
	return budget.Limit{Context: m.Context, TPM: m.TPM, Known: m.Known}
}

// Kind says why a request failed, as a label for the user.
type Kind string

// The kinds of failures.
const (
	KindAuth        Kind = "auth"
	KindQuota       Kind = "quota"
	KindNet         Kind = "net"
	KindModel       Kind = "model"
	KindOverflow    Kind = "overflow"
	KindInterrupted Kind = "interrupted" // the answer broke off
	KindUnknown     Kind = "unknown"
)

// RequestError reports a request that was rejected, not answered, or not answered
// completely.
type RequestError struct {
	Kind    Kind
	Status  int           // HTTP status; 0 without a response
	Message string        // what happened, in the provider's words if it sent any; sanitised and redacted
	Matched string        // the code or phrase that identified an overflow; otherwise ""
	Limit   int           // the model's limit in tokens, if an overflow error contained it
	After   time.Duration // Retry-After, if sent
	Limits  *RateLimits   // the quotas, or nil if the response did not report them
	Err     error         // the cause; may be nil
}

// Error returns the kind, the status unless the message contains it, and the message.
func (e *RequestError) Error() string {
	if e.hidesStatus() {
		return fmt.Sprintf("%s: %s", e.Kind, e.Text())
	}
	return fmt.Sprintf("%s: %d %s", e.Kind, e.Status, e.Text())
}

// Sentence returns the message, with the status added unless the message contains it.
func (e *RequestError) Sentence() string {
	if e.hidesStatus() {
		return e.Text()
	}
	return fmt.Sprintf("%s (status %d)", strings.TrimSuffix(e.Text(), "."), e.Status)
}

// hidesStatus reports whether there is no status, or the message contains it.
func (e *RequestError) hidesStatus() bool {
	return e.Status == 0 || strings.Contains(e.Text(), strconv.Itoa(e.Status))
}

// Text returns Message, or the text of the cause if Message is empty.
func (e *RequestError) Text() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// KindOf returns the kind of err: KindUnknown for an error that is not a
// *RequestError, "" for nil.
func KindOf(err error) Kind {
	var re *RequestError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &re):
		return re.Kind
	}
	return KindUnknown
}
