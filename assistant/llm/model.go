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
)

// Model is one endpoint that answers requests: an OpenAI-compatible server,
// the offline model behind the same protocol, or a script in a test.
//
// Stream sends req and yields the parts of the answer as they arrive. The last
// part of a whole answer is exactly one End. An answer that stops before its
// end yields an error instead (a *RequestError, of kind KindInterrupted when
// parts had arrived); nothing follows an error. Cancelling ctx ends the stream
// and its connection at once. Stream may be called from any goroutine.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// ModelFunc is a function as a Model: its Stream.
type ModelFunc func(ctx context.Context, req Request) iter.Seq2[Part, error]

// Stream implements Model.
func (f ModelFunc) Stream(ctx context.Context, req Request) iter.Seq2[Part, error] {
	return f(ctx, req)
}

// Encoder is a Model that can show the exact body it would send.
type Encoder interface {
	// Encode returns the JSON document of req, without sending it.
	Encode(req Request) (json.RawMessage, error)
}

// ImageModel is a Model that can also draw.
type ImageModel interface {
	// Image draws what prompt asks for, one image.
	Image(ctx context.Context, model, prompt string) (Image, error)
}

// Image is a drawn picture.
type Image struct {
	Data     []byte // the decoded file
	MIMEType string // for example "image/png"; "" when the endpoint gave none
	Revised  string // the prompt as the endpoint changed it; "" when it did not
}

// Request is what a model is sent for one response.
type Request struct {
	Model    string // the name the endpoint knows, without the provider prefix
	Messages []Message
	Tools    []ToolSpec
	Sampling Sampling `json:",omitzero"`
}

// Abbreviated returns the request as it is stored and shown: the Data of its pictures is
// left out.
func (r Request) Abbreviated() Request {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		r.Messages[i].Pictures = attachment.Stripped(m.Pictures)
	}
	return r
}

// Sampling is how a model chooses its answer. The zero value leaves everything
// to the endpoint.
type Sampling struct {
	Temperature     *float64 // nil is the endpoint's default
	MaxTokens       int      // of the answer; 0 is the endpoint's default
	ReasoningEffort string   // "low", "medium" or "high"; "" is the endpoint's default
	Seed            *int64   // nil for none
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
	Pictures []attachment.File `json:",omitempty"` // of a user message
	Calls    []Call            // of an assistant message, in the order the model made them
	CallID   string            // of a tool message: the call it answers
}

// Call is a tool call that a model has made.
type Call struct {
	ID   string
	Name string
	// Arguments is the JSON text as received, whole but not yet validated;
	// the engine, not the Model, decides whether it may run.
	Arguments string
}

// ToolSpec is the description of a tool for a model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of one object
}

// Part is a piece of an answer: one of Text, Reasoning, Wait, Retry, Unreadable, End.
//
//sumtype:decl
type Part interface{ part() }

type (
	// Text is visible answer text, sanitised.
	Text struct{ Text string }

	// Reasoning is the model's thinking in any of the three forms in which
	// endpoints send it, sanitised.
	Reasoning struct{ Text string }

	// Wait reports that the endpoint has sent nothing useful for this long.
	Wait struct{ For time.Duration }

	// Retry reports that the request failed before its first content and will
	// be sent again.
	Retry struct {
		Attempt int           // 1 for the first retry
		Reason  string        // one sanitised sentence
		After   time.Duration // the delay before it is sent
	}

	// Unreadable reports that a part of the answer could not be understood and was left out.
	Unreadable struct{ Reason string }

	// End closes a whole answer.
	End struct {
		Calls  []Call // in index order; nil when the answer calls no tool
		Finish string // FinishStop or another of these; else the endpoint's own finish_reason; "" for none
		// Damaged is why the calls must not run although the answer has its
		// end: a part of it was lost, repeated or mixed up. "" when it is sound.
		Damaged string
		Usage   *Usage // nil when the endpoint did not report it
		Limits  *RateLimits
	}
)

func (Text) part()       {}
func (Reasoning) part()  {}
func (Wait) part()       {}
func (Retry) part()      {}
func (Unreadable) part() {}
func (End) part()        {}

// The values of End.Finish that the program knows.
const (
	FinishStop   = "stop"
	FinishCalls  = "tool_calls"
	FinishLength = "length"         // cut at its length limit
	FinishFilter = "content_filter" // stopped by the provider
)

// Cut reports whether the endpoint stopped the answer before the model had
// said everything. Tools of a cut answer never run.
func (e End) Cut() bool { return e.Finish == FinishLength || e.Finish == FinishFilter }

// CutReason says why an answer is cut: a clause that follows "the answer was".
func (e End) CutReason() string {
	if e.Finish == FinishFilter {
		return "stopped by the provider's content filter"
	}
	return "cut at its length limit"
}

// CallsRefused is why the calls must not run: Damaged, or an end that is not known to
// come after whole calls. It is "" when they may.
func (e End) CallsRefused() string {
	switch {
	case e.Damaged != "", e.Finish == FinishStop, e.Finish == FinishCalls:
		return e.Damaged
	case e.Finish == "":
		return "it has no finish_reason"
	}
	return fmt.Sprintf("its finish_reason is %q", e.Finish)
}

// Usage counts tokens as the endpoint did.
type Usage struct {
	Prompt, Completion, Reasoning, Cached int
}

// Plus returns the sum of two usages; nil means unknown.
func (u *Usage) Plus(other *Usage) *Usage {
	if u == nil || other == nil {
		return cmp.Or(u, other)
	}
	return &Usage{u.Prompt + other.Prompt, u.Completion + other.Completion, u.Reasoning + other.Reasoning, u.Cached + other.Cached}
}

// RateLimits is what an endpoint's headers say about its quotas. The zero value
// means that nothing is left; UnknownLimits means that nothing is known.
type RateLimits struct {
	RequestsPerMinute, TokensPerMinute int           // 0 is unknown
	RequestsLeft, TokensLeft           int           // -1 is unknown
	RequestsReset, TokensReset         time.Duration // until the whole quota is available again; 0 is unknown
}

// UnknownLimits are limits of which nothing is known.
func UnknownLimits() RateLimits { return RateLimits{RequestsLeft: -1, TokensLeft: -1} }

// Ability is whether a model can do something.
type Ability string

// The abilities. The zero value is unknown.
const (
	Able   Ability = "yes"
	Unable Ability = "no"
)

// AbilityOf is what a description says that mentions an ability.
func AbilityOf(able bool) Ability {
	if able {
		return Able
	}
	return Unable
}

// ModelInfo describes a model that can be chosen.
type ModelInfo struct {
	ID        string  // "provider/name"
	Context   int     // tokens; 0 is unknown
	TPM       int     // tokens a minute; 0 is unknown
	Known     bool    // Context is known: from the endpoint, the catalogue or the config
	Gone      bool    // its endpoint no longer lists it; Retrieved is when it last did
	Tools     bool    // can call tools
	Reasons   bool    // can reason
	Images    bool    // can draw
	Vision    Ability // can see pictures
	Source    string  // where the description comes from: "live", "proxy", "cache", "catalogue", "config"
	NoChat    bool    // an embedding, speech or other model that cannot chat
	Retrieved time.Time
	// ContextFrom is what names Context, for display; "" when nothing does.
	ContextFrom string
	Facts       Facts // what people choose it by
}

// The values of ModelInfo.ContextFrom, besides an error of the endpoint.
const (
	FromEndpoint  = "its endpoint"
	FromCatalogue = "the catalogue"
	FromSettings  = "the settings"
)

// LimitFrom is what names the smaller one of Context and TPM, for display; "" is the
// description of the model.
func (m ModelInfo) LimitFrom() string {
	switch {
	case m.TPM > 0 && m.Limit().ML() == m.TPM && m.TPM != m.Context:
		return "its tokens a minute"
	case m.Context == 0:
		return "assumed"
	}
	return m.ContextFrom
}

// Limit is what the budget needs to know of the model.
func (m ModelInfo) Limit() budget.Limit {
	return budget.Limit{Context: m.Context, TPM: m.TPM, Known: m.Known}
}

// Kind says why a request failed: a label for the user.
type Kind string

// The kinds of failures.
const (
	KindAuth        Kind = "auth"
	KindQuota       Kind = "quota"
	KindNet         Kind = "net"
	KindModel       Kind = "model"
	KindOverflow    Kind = "overflow"
	KindInterrupted Kind = "interrupted"
	KindUnknown     Kind = "unknown"
)

// RequestError is a failed request: refused, not answered, or not answered whole.
type RequestError struct {
	Kind    Kind
	Status  int           // HTTP status; 0 without a response
	Message string        // what happened, in the provider's own words if it sent any; sanitised and redacted
	Matched string        // the code or phrase that made it an overflow; "" otherwise
	Limit   int           // tokens that the model takes, when an overflow named them
	After   time.Duration // Retry-After, when it was given
	Limits  *RateLimits   // the quotas, if the response reported them; else nil
	Err     error         // the cause; may be nil
}

// Error is the kind, the status and the message.
func (e *RequestError) Error() string {
	if e.hidesStatus() {
		return fmt.Sprintf("%s: %s", e.Kind, e.Words())
	}
	return fmt.Sprintf("%s: %d %s", e.Kind, e.Status, e.Words())
}

// Sentence is the message, with the status unless the message contains it.
func (e *RequestError) Sentence() string {
	if e.hidesStatus() {
		return e.Words()
	}
	return fmt.Sprintf("%s (status %d)", strings.TrimSuffix(e.Words(), "."), e.Status)
}

// hidesStatus reports whether there is no status, or the message contains it.
func (e *RequestError) hidesStatus() bool {
	return e.Status == 0 || strings.Contains(e.Words(), strconv.Itoa(e.Status))
}

// Words returns Message, or the text of the cause if Message is empty.
func (e *RequestError) Words() string {
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
