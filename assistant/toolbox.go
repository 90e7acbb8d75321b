package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// toolbox is the set of tools that one turn may use.
type toolbox struct {
	byName map[string]Tool
	names  []string // in the order they were offered
}

// newToolbox refuses two tools of one name and a tool without a function.
func newToolbox(tools []Tool) (*toolbox, error) {
	b := &toolbox{byName: map[string]Tool{}}
	for _, t := range tools {
		if _, taken := b.byName[t.Name]; taken || t.Name == "" || t.Run == nil {
			return nil, &ConfigError{"tools", fmt.Sprintf("tool %q is there twice, or has no name or function", t.Name)}
		}
		b.byName[t.Name] = t
		b.names = append(b.names, t.Name)
	}
	return b, nil
}

func (b *toolbox) specs() []ToolSpec {
	out := make([]ToolSpec, len(b.names))
	for i, name := range b.names {
		out[i] = b.byName[name].Spec()
	}
	return out
}

// retryHint is what a model is told beside the reason of an invalid call.
const retryHint = "Please review the tool schema and retry."

// check tells whether a call may run. When it may not, the result says why and
// what was probably meant; args are the arguments as JSON otherwise.
func (b *toolbox) check(c Call) (t Tool, args json.RawMessage, invalid *ToolResult) {
	t, ok := b.byName[c.Name]
	if !ok {
		return t, nil, invalidCall(CodeUnknownTool, "Unknown tool: '%s'.%s", c.Name, didYouMean(c.Name, b.names))
	}
	args = json.RawMessage(strings.TrimSpace(c.Arguments))
	if len(args) == 0 {
		args = json.RawMessage("{}") // how some endpoints say: no arguments
	}
	if problem := t.problem(args); problem != "" {
		return t, nil, invalidCall(CodeInvalidArguments, "%s", problem)
	}
	return t, args, nil
}

func invalidCall(code, format string, args ...any) *ToolResult {
	r := Fail(code, format, args...)
	r.Hint = retryHint
	return &r
}

// problem is the exact reason why args do not fit the tool; "" when they do.
func (t Tool) problem(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(args, &fields); err != nil || fields == nil {
		return fmt.Sprintf("Invalid arguments for '%s': they must be one complete JSON object.", t.Name)
	}
	var known, required []string
	if t.Schema != nil {
		known, required = sortedKeys(t.Schema.Properties), t.Schema.Required
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(known, name) && (t.Schema == nil || len(known) > 0 || t.Schema.AdditionalProperties != nil) {
			return fmt.Sprintf("Invalid parameter: '%s' is not a valid parameter.%s", name, didYouMean(name, known))
		}
	}
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			return "Missing required parameter: " + name
		}
	}
	if t.Schema == nil {
		return ""
	}
	if err := validate(t.Schema, args); err != nil {
		return fmt.Sprintf("Invalid arguments for '%s': %s", t.Name, schemaReason(err))
	}
	return ""
}

// schemaReason leaves out what the validator says of itself.
func schemaReason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		text = strings.TrimPrefix(text[i:], "validating ")
	}
	return strings.TrimPrefix(text, "root: ")
}

// didYouMean names the nearest of the known names, if one is near.
func didYouMean(name string, known []string) string {
	best, distance := "", 1+max(2, len(name)/3)
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf(" Did you mean '%s'?", best)
	case len(known) > 0:
		return " There is: " + strings.Join(known, ", ") + "."
	}
	return ""
}

// editDistance counts the insertions, deletions and substitutions from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// graceAfterCancel is how long a cancelled tool may take to notice. It keeps
// Esc under a tenth of a second whatever the tool does.
const graceAfterCancel = 50 * time.Millisecond

// run carries out a valid call: with its timeout, and with a panic turned into
// a result. A tool that does not heed its ctx is left behind.
func (t Tool) run(ctx context.Context, args json.RawMessage, report func(Progress)) ToolResult {
	timeout := t.Timeout
	if timeout == 0 {
		timeout = DefaultToolTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan ToolResult, 1)
	progress := make(chan Progress)
	go func() { done <- t.guarded(withProgress(bounded, relay(bounded, progress)), args) }()
	for running := true; running; {
		select {
		case r := <-done:
			return r
		case p := <-progress:
			report(p)
		case <-bounded.Done():
			running = false
		}
	}
	grace := time.NewTimer(graceAfterCancel)
	defer grace.Stop()
	select {
	case r := <-done:
		return r
	case <-grace.C:
	}
	if ctx.Err() != nil {
		return Fail(CodeCancelled, "%s was cancelled while it ran", t.Name)
	}
	return Fail(CodeTimeout, "%s took longer than %s and was given up", t.Name, timeout)
}

// relay hands progress to the one who waits for the tool, and drops it once
// nobody waits any more.
func relay(ctx context.Context, to chan<- Progress) func(Progress) {
	return func(p Progress) {
		select {
		case to <- p:
		case <-ctx.Done():
		}
	}
}

// guarded runs the tool's function and turns a panic into a result.
func (t Tool) guarded(ctx context.Context, args json.RawMessage) (r ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			r = Fail(CodePanic, "%s broke down: %v", t.Name, p)
			r.stack = string(debug.Stack())
		}
	}()
	return t.Run(ctx, args)
}
