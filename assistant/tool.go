package assistant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// DefaultToolTimeout is the timeout of tools that do not set one.
const DefaultToolTimeout = 30 * time.Second

// Error codes of a ToolResult.
const (
	CodeTimeout          = "timeout"
	CodePanic            = "panic"
	CodeUnknownTool      = "unknown_tool"
	CodeInvalidArguments = "invalid_arguments"
	CodeDeclined         = "declined"
	CodeLocked           = "locked"
	CodeFailed           = "failed"
	CodePlanChanged      = "plan_changed" // the call would do something other than what was confirmed
)

// Tool is an action that the model can take.
type Tool struct {
	Name        string
	Title       string // shown to people; "" means Name
	Description string
	Category    string // groups tools for people; may be ""
	// Global offers a tool registered with Pages on every page. Otherwise it is
	// offered only on pages that list it by name. A tool of Window.Tools is
	// always offered.
	Global bool

	// Write marks tools that change the window: a checkpoint is made before the first one
	// runs in a turn. Changes by other tools cannot be undone.
	Write bool
	// NoOp reports that a call to a write tool would change nothing, so that no checkpoint
	// is needed. nil means that every call may change something.
	NoOp func(args json.RawMessage) bool
	// Lasting marks tools whose effect no checkpoint can undo, such as writing
	// a file. The user is asked first, unless Preview or the ConfirmPolicy says
	// that this is unnecessary.
	Lasting bool
	// Preview describes what a call would do, for the user who is asked to
	// confirm it. If it is nil, the user is shown the arguments.
	Preview func(ctx context.Context, args json.RawMessage) (Preview, error)
	// Server names the program that runs the calls, if not this one, such as an MCP server.
	// The effects of the calls cannot be undone here: such a tool cannot have Write set, and
	// a call is stored as soon as it has run.
	Server      string
	Destructive bool // may remove or overwrite something, not only add
	Idempotent  bool // repeating a call has no further effect
	OpenWorld   bool // reaches outside this window, for example to a provider

	Timeout time.Duration      // 0 means DefaultToolTimeout
	Schema  *jsonschema.Schema // JSON schema of the arguments, an object; nil means no arguments
	Run     ToolFunc
}

// Preview describes what a tool call would do.
type Preview struct {
	// Text is what the user confirms, in lines that front ends show unchanged. Foreign
	// strings in it pass through safetext.Visible once, so that calls that would do
	// different things have different texts.
	Text   safetext.Text
	Ask    bool   // false if the user need not be asked
	Digest string // identifies what would be done; "" means the digest of Text
}

// ToolFunc runs a call. args are valid for the tool's schema. ctx ends after the timeout
// and when the turn is cancelled; pass ctx to Report.
type ToolFunc func(ctx context.Context, args json.RawMessage) ToolResult

// ToolResult is the result of a call. A failure is a result, not a Go error:
// the model reads it and decides what to do.
type ToolResult struct {
	Success   bool   `json:"success"`
	Message   string `json:"message"`
	Data      any    `json:"data,omitempty"` // must encode to JSON
	ErrorCode string `json:"error_code,omitempty"`
	Hint      string `json:"hint,omitempty"` // advice for the model
	// Payload is for the user; the model gets only its summary. The session
	// sets its ID and Summary. In a session with Pages its type must be
	// registered there with Source FromTool or FromBoth; otherwise the result
	// becomes a failure.
	Payload *Payload `json:"payload,omitempty"`

	stack string // stack trace of a panic, for the log
}

// OK returns a successful result.
func OK(message string, data any) ToolResult {
	return ToolResult{Success: true, Message: message, Data: data}
}

// Fail returns a failed result with a code: one of the Code constants or one
// defined by the tool. The model reads both code and message.
func Fail(code, format string, args ...any) ToolResult {
	return ToolResult{Message: fmt.Sprintf(format, args...), ErrorCode: code}
}

// NewTool returns a tool whose schema is derived from the Go struct A: field
// names come from json tags, descriptions from jsonschema tags, and fields
// without omitempty are required. It panics if A has no JSON Schema, which is a
// bug in the program. run may return a ToolResult or a string. An error becomes
// a failure with CodeFailed and its text, which the model reads. A write tool
// that fails must leave no change that its checkpoint cannot undo.
func NewTool[A any, R ToolResult | string](name, description string, run func(ctx context.Context, args A) (R, error)) Tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("assistant: tool %s: %v", name, err))
	}
	dropNull(schema)
	return Tool{Name: name, Description: description, Schema: schema, Run: func(ctx context.Context, raw json.RawMessage) ToolResult {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return Fail(CodeInvalidArguments, "%v", err)
		}
		result, err := run(ctx, args)
		if err != nil {
			return Fail(CodeFailed, "%v", err)
		}
		if text, ok := any(result).(string); ok {
			return OK(text, nil)
		}
		return any(result).(ToolResult)
	}}
}

// dropNull removes the type null from a schema; jsonschema.For adds it to Go
// slices, for example. Not every endpoint supports properties with several
// types. A null argument counts as omitted.
func dropNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(types) == 1 {
		s.Type, s.Types = types[0], nil
	}
	for _, p := range s.Properties {
		dropNull(p)
	}
	dropNull(s.Items)
}

// Progress is the progress of a running call.
type Progress struct {
	Stage   string
	Message string
	Done    float64 // 0 to 1
	Data    any     // must encode to JSON
}

type progressKey struct{}

// Report reports the progress of a call. Outside a tool's ctx it does nothing.
func Report(ctx context.Context, p Progress) {
	if report, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		p.Done = min(max(p.Done, 0), 1)
		report(p)
	}
}

// ArgumentLines returns the arguments of a call as the user confirms them: indented
// JSON with hidden characters made visible. Numbers and repeated names stay as the model
// wrote them.
func ArgumentLines(args json.RawMessage) safetext.Text {
	var indented bytes.Buffer
	if json.Indent(&indented, bytes.TrimSpace(args), "", "  ") != nil {
		return safetext.Visible(string(args))
	}
	var lines []safetext.Text
	for line := range strings.SplitSeq(indented.String(), "\n") {
		lines = append(lines, safetext.Visible(line))
	}
	return safetext.Join(lines, "\n")
}

// schema returns the schema of the arguments. By default only an empty object is accepted.
func (t Tool) schema() *jsonschema.Schema {
	return cmp.Or(t.Schema, &jsonschema.Schema{Type: "object"})
}

// Spec returns the tool's description for a model.
func (t Tool) Spec() llm.ToolSpec {
	raw, err := PlainJSON(t.schema())
	if err != nil {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	return llm.ToolSpec{Name: t.Name, Description: t.Description, Parameters: raw}
}

// graceAfterCancel is how long a tool may take to return after its ctx has ended. It is
// short, so that a cancelled turn ends within a tenth of a second, whatever the tool does.
const graceAfterCancel = 50 * time.Millisecond

// Call runs a valid call with the tool's timeout; a panic becomes a result. A tool that
// does not return after the end of its ctx is left running.
func (t Tool) Call(ctx context.Context, args json.RawMessage, report func(Progress)) ToolResult {
	timeout := cmp.Or(t.Timeout, DefaultToolTimeout)
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done, progress := make(chan ToolResult, 1), make(chan Progress)
	relay := func(p Progress) {
		p.Data, _ = encodeData(p.Data) // data that cannot be encoded is dropped
		select {
		case progress <- p:
		case <-bounded.Done():
		}
	}
	go func() { done <- t.runRecovered(context.WithValue(bounded, progressKey{}, relay), args) }()
	var grace <-chan time.Time
	over := bounded.Done()
	for {
		select {
		case r := <-done:
			if r.Success || bounded.Err() == nil {
				return r
			}
		case p := <-progress:
			report(p)
			continue
		case <-over:
			over, grace = nil, time.After(graceAfterCancel)
			continue
		case <-grace:
		}
		if ctx.Err() != nil {
			return Fail(CodeCancelled, "%s was cancelled while it was running", t.Name)
		}
		return Fail(CodeTimeout, "%s took longer than %s and was cancelled", t.Name, timeout)
	}
}

// runRecovered runs the tool's function and turns a panic into a result. The data is
// encoded here so that the tool cannot change it afterwards.
func (t Tool) runRecovered(ctx context.Context, args json.RawMessage) (r ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			r = Fail(CodePanic, "%s panicked: %v", t.Name, p)
			r.stack = string(debug.Stack())
		}
	}()
	r = t.Run(ctx, args)
	data, err := encodeData(r.Data)
	if err != nil {
		r.Hint = "The data of this result could not be encoded and was left out."
	}
	r.Data = data
	return r
}

// encodeData returns v as a json.RawMessage, or nil if v encodes to null.
func encodeData(v any) (any, error) {
	raw, err := PlainJSON(v)
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return raw, nil
}

// preview asks the tool what a call would do. A panic becomes an error.
func (t Tool) preview(ctx context.Context, args json.RawMessage) (shown Preview, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", t.Name, p)
		}
		shown.Digest = cmp.Or(shown.Digest, Digest(t.Name, nil, string(shown.Text)))
	}()
	if t.Preview == nil {
		return Preview{Text: ArgumentLines(args), Ask: true}, nil
	}
	return t.Preview(ctx, args)
}

type shownKey struct{}

// withShown returns ctx for a call whose preview with this digest was confirmed.
func withShown(ctx context.Context, digest string) context.Context {
	return context.WithValue(ctx, shownKey{}, digest)
}

// CallInWords describes a call by the tool and the values of its arguments, which are in the
// order of their names: "dim lamp 40, kitchen". It is for a call that has no result yet.
func CallInWords(name string, args json.RawMessage) string {
	text := strings.ReplaceAll(name, "_", " ")
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil {
		return text
	}
	for i, name := range slices.Sorted(maps.Keys(object)) {
		var value string
		if json.Unmarshal(object[name], &value) != nil {
			value = string(object[name])
		}
		if i > 0 {
			text += ","
		}
		text += " " + value
	}
	return string(safetext.Line(text, maxCallCells))
}

// maxCallCells limits the width of CallInWords.
const maxCallCells = 80

// ShownDigest returns the digest of the Preview that the user confirmed for this call; ""
// if the user was not asked. A tool that would now do something else must return
// CodePlanChanged; the user is then asked again.
func ShownDigest(ctx context.Context) string {
	digest, _ := ctx.Value(shownKey{}).(string)
	return digest
}
