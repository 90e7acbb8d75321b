package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/llm"
	"winnow/assistant/nearest"
)

// toolbox is the set of tools available to one turn.
type toolbox struct {
	byName map[string]Tool
	names  []string              // tool names, in the order given to newToolbox
	specs  func() []llm.ToolSpec // returns the schemas, which are encoded at the first call
}

// maxToolName is the longest tool name that every endpoint accepts.
const maxToolName = 64

// toolName reports whether every endpoint accepts this tool name. A regular expression
// would cost hundreds of allocations at each start of the program.
func toolName(name string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return name != "" && len(name) <= maxToolName && !strings.ContainsFunc(name, odd)
}

// newToolbox returns a toolbox with these tools. It rejects duplicate names, names that
// some endpoints reject, and tools without a Run function.
func newToolbox(tools []Tool) (*toolbox, error) {
	b := &toolbox{byName: map[string]Tool{}}
	for _, t := range tools {
		wrong := ""
		switch _, taken := b.byName[t.Name]; {
		case taken:
			wrong = "is registered twice"
		case t.Run == nil:
			wrong = "has no Run function"
		case !toolName(t.Name):
			wrong = "needs a name of 1 to 64 letters, digits, _ and -"
		}
		if wrong != "" {
			return nil, &llm.ConfigError{Field: "tools", Reason: fmt.Sprintf("tool %q %s", t.Name, wrong)}
		}
		b.byName[t.Name] = t
		b.names = append(b.names, t.Name)
	}
	b.specs = sync.OnceValue(func() (all []llm.ToolSpec) {
		for _, name := range b.names {
			all = append(all, b.byName[name].Spec())
		}
		return all
	})
	return b, nil
}

// retryHint is appended to the reason why a call is invalid.
const retryHint = "Please review the tool schema and retry."

// check returns the tool and arguments of a call that may run, or a result that says why it
// may not.
func (b *toolbox) check(c llm.Call) (t Tool, args json.RawMessage, invalid *ToolResult) {
	t, ok := b.byName[c.Name]
	args = json.RawMessage(strings.TrimSpace(c.Arguments))
	if len(args) == 0 {
		args = json.RawMessage("{}") // some endpoints send "" for no arguments
	}
	args = withoutNulls(args)
	r := Fail(CodeUnknownTool, "Unknown tool: '%s'.%s", c.Name, nearest.Hint(c.Name, b.names))
	if ok {
		problem := t.Problem(args)
		if problem == "" {
			return t, args, nil
		}
		r = Fail(CodeInvalidArguments, "%s", problem)
	}
	r.Hint = retryHint
	return t, nil, &r
}

// withoutNulls removes arguments that are null; some models send null for omitted ones.
func withoutNulls(args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if !bytes.Contains(args, []byte("null")) || json.Unmarshal(args, &fields) != nil || fields == nil {
		return args
	}
	n := len(fields)
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	if len(fields) == n {
		return args
	}
	out, err := PlainJSON(fields)
	if err != nil {
		return args
	}
	return out
}

// Problem returns the reason why args do not match the tool's schema; "" if they do.
func (t Tool) Problem(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(args, &fields); err != nil || fields == nil {
		return fmt.Sprintf("Invalid arguments for '%s': they must be one complete JSON object.", t.Name)
	}
	schema := t.schema()
	known := slices.Sorted(maps.Keys(schema.Properties))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) && !acceptsMore(schema) {
			return fmt.Sprintf("Invalid parameter: '%s' is not a valid parameter.%s", name, nearest.Hint(name, known))
		}
	}
	for _, name := range schema.Required {
		if _, ok := fields[name]; !ok {
			return "Missing required parameter: " + name
		}
	}
	if err := validate(schema, args); err != nil {
		reason := err.Error()
		if i := strings.LastIndex(reason, "validating "); i >= 0 { // the validator prefixes the reason with each step of its path
			reason = reason[i+len("validating "):]
		}
		return fmt.Sprintf("Invalid arguments for '%s': %s", t.Name, strings.TrimPrefix(reason, "root: "))
	}
	return ""
}

// acceptsMore reports whether a schema accepts parameters that it does not name. By default
// it does not, so that a misspelt name is an error.
func acceptsMore(s *jsonschema.Schema) bool {
	more := s.AdditionalProperties
	return (more != nil && more.Not == nil) || len(s.PatternProperties) > 0
}

// validate checks raw against schema.
func validate(schema *jsonschema.Schema, raw json.RawMessage) error {
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}
