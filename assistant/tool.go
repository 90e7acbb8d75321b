package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// DefaultToolTimeout bounds a call whose tool does not say otherwise.
const DefaultToolTimeout = 30 * time.Second

// The error codes of a ToolResult.
const (
	CodeTimeout          = "timeout"
	CodePanic            = "panic"
	CodeUnknownTool      = "unknown_tool"
	CodeInvalidArguments = "invalid_arguments"
	CodeDeclined         = "declined"
	CodeCovered          = "covered"
	CodeLocked           = "locked"
	CodeFailed           = "failed"
)

// Tool is an action that the model may take.
type Tool struct {
	Name        string
	Description string
	Category    string // groups tools for people; "" is none
	Global      bool   // offered on every page; otherwise a page lists it by name

	// Write tools change the window: a checkpoint is made before the first of a turn.
	Write bool
	// Lasting tools do what no checkpoint takes back, such as writing a file.
	// The user is asked first, unless Preview says that nothing would be lost.
	Lasting bool
	// Preview shows what a call would do, for the dialog that asks. ask is
	// false when there is nothing to ask about. nil shows the arguments.
	Preview func(ctx context.Context, args json.RawMessage) (diff string, ask bool, err error)

	Timeout time.Duration      // 0 is DefaultToolTimeout
	Schema  *jsonschema.Schema // of the arguments, an object; nil takes none
	Run     ToolFunc
}

// ToolFunc carries out a call. args are valid under the tool's schema. ctx
// ends with the timeout and when the turn is cancelled; Report works in it.
type ToolFunc func(ctx context.Context, args json.RawMessage) ToolResult

// ToolResult is what came of a call. A failure is a result, not a Go error:
// the model reads it and decides what to do.
type ToolResult struct {
	Success   bool     `json:"success"`
	Message   string   `json:"message"`
	Data      any      `json:"data,omitempty"` // encodes to JSON
	ErrorCode string   `json:"error_code,omitempty"`
	Hint      string   `json:"hint,omitempty"`    // how the model can do better
	Payload   *Payload `json:"payload,omitempty"` // for the user's eyes; the model is shown its summary

	stack string // of a panic, for the log
}

// OK returns a successful result.
func OK(message string, data any) ToolResult {
	return ToolResult{Success: true, Message: message, Data: data}
}

// Fail returns a failed result with a code, one of the Code constants.
func Fail(code, format string, args ...any) ToolResult {
	return ToolResult{Message: fmt.Sprintf(format, args...), ErrorCode: code}
}

// NewTool returns a tool whose schema is derived from the Go struct A: field
// names from json tags, descriptions from jsonschema tags, fields without
// omitempty required. It panics when A has no JSON Schema, which is a mistake
// of the program, not of its input. run may return a ToolResult, a string, or
// an error in place of a result.
func NewTool[A any, R ToolResult | string](name, description string, run func(ctx context.Context, args A) (R, error)) Tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("assistant: tool %s: %v", name, err))
	}
	return Tool{Name: name, Description: description, Schema: schema, Run: func(ctx context.Context, raw json.RawMessage) ToolResult {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return Fail(CodeInvalidArguments, "%v", err)
		}
		result, err := run(ctx, args)
		if err != nil {
			return Fail(CodeFailed, "%v", err)
		}
		switch r := any(result).(type) {
		case ToolResult:
			return r
		case string:
			return OK(r, nil)
		}
		return ToolResult{}
	}}
}

// Progress is how far a running call is.
type Progress struct {
	Stage   string
	Message string
	Done    float64 // 0 to 1
	Data    any     // encodes to JSON
}

type progressKey struct{}

// Report tells those who watch the turn how far the call is. Outside a tool's
// ctx it does nothing.
func Report(ctx context.Context, p Progress) {
	if report, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		p.Done = min(max(p.Done, 0), 1)
		report(p)
	}
}

func withProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Spec is what a model is told of the tool.
func (t Tool) Spec() ToolSpec {
	schema := t.Schema
	if schema == nil {
		schema = &jsonschema.Schema{Type: "object"}
	}
	raw, err := PlainJSON(schema)
	if err != nil {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	return ToolSpec{Name: t.Name, Description: t.Description, Parameters: raw}
}
