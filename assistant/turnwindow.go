package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"winnow/assistant/budget"
	"winnow/checkpoint"
)

// defaultContextTokens bounds what a window tells of itself: enough for a
// thousand models with their status, a fifth of a window of 80,000.
const defaultContextTokens = 16_000

// system takes the window's context and writes the system prompt.
func (t *turn) system() (string, error) {
	parts := promptParts{}
	var tools []Tool
	if w := t.s.opts.Window; w != nil {
		if b, ok := w.(Budgeter); ok {
			b.SetContextBudget(t.contextBudget())
		}
		raw, err := t.s.takeContext(w)
		if err != nil {
			return "", fmt.Errorf("the window could not be read: %w", err)
		}
		parts.window, parts.context, tools = w.Prompt(), raw, w.Tools()
	}
	t.place = t.s.available(tools)
	parts.page, parts.place = t.place.Page, t.s.where()
	parts.payloads = t.place.Payloads
	parts.manifest = t.s.manifest()
	all := t.place.Tools
	if len(parts.manifest) > 0 {
		all = append(all, t.s.getPayload())
	}
	box, err := newToolbox(all)
	if err != nil {
		return "", err
	}
	t.tools, parts.tools = box, all
	t.pair.Page = parts.place.Page
	return parts.build(), nil
}

// contextBudget is the setting, and at most a quarter of what the model takes.
func (t *turn) contextBudget() int {
	bound := t.settings.ContextTokens
	if bound <= 0 {
		bound = defaultContextTokens
	}
	limit := budget.Limit{Context: t.info.Context, TPM: t.info.TPM, Known: t.info.Known}
	return min(bound, limit.ML()/4)
}

// where is the place that is open.
func (s *Session) where() Place {
	if p, ok := s.opts.Window.(Pager); ok {
		return p.Where()
	}
	return Place{}
}

// available resolves what the place offers. Without pages, the window's tools
// are there, and the payloads every session knows.
func (s *Session) available(window []Tool) Available {
	pages := s.opts.Pages
	if pages == nil {
		pages = &Pages{}
	}
	out := pages.At(s.where())
	for _, t := range window {
		listed := false
		for _, have := range out.Tools {
			listed = listed || have.Name == t.Name
		}
		if !listed {
			out.Tools = append(out.Tools, t)
		}
	}
	out.Payloads = append(out.Payloads, suggestedValues())
	if len(out.Page.ClientActions) > 0 {
		out.Payloads = append(out.Payloads, suggestedActions(out.Page.ClientActions))
	}
	return out
}

// llmPayloads are the types that a model may write.
func (a Available) llmPayloads() []PayloadType {
	var out []PayloadType
	for _, t := range a.Payloads {
		if t.Source == FromLLM {
			out = append(out, t)
		}
	}
	return out
}

// takeContext returns the window's context as the model is told it, with what
// changed since it was told the last time.
func (s *Session) takeContext(w Window) (json.RawMessage, error) {
	value, err := w.Context()
	if err != nil {
		return nil, err
	}
	raw, err := encodePlain(value)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	last := s.context
	s.mu.Unlock()
	next := contextMemory{hash: w.StateHash(), json: raw, mark: last.mark}
	changes := []Change{}
	if log, ok := w.(ChangeLog); ok {
		if found, mark := log.Changes(last.mark); true {
			changes, next.mark = append(changes, found...), mark
		}
	} else if last.json != nil && last.hash != next.hash {
		changes = append(changes, s.plainChange(last.json, raw))
	}
	if last.json == nil {
		changes = changes[:0] // the first message: everything is new
	}
	s.mu.Lock()
	s.context = next
	s.mu.Unlock()
	return addField(raw, "changes_since_last_message", changes)
}

// plainChange names the paths that differ, for windows that keep no log.
func (s *Session) plainChange(last, now json.RawMessage) Change {
	delta, err := checkpoint.Diff(last, now)
	if err != nil {
		return NewChange("context_changed", s.now(), nil)
	}
	return NewChange("context_changed", s.now(), map[string]any{"delta": delta})
}

// addField adds a field at the end of a JSON object; other JSON stays alone.
func addField(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	text := strings.TrimSpace(string(object))
	if !strings.HasPrefix(text, "{") {
		return object, nil
	}
	raw, err := encodePlain(value)
	if err != nil {
		return nil, err
	}
	body := strings.TrimSuffix(text, "}")
	if strings.TrimSpace(body) != "{" {
		body += ","
	}
	return json.RawMessage(fmt.Sprintf("%s%q:%s}", body, name, raw)), nil
}

// manifest lists the payloads of this conversation that can be fetched.
func (s *Session) manifest() []Payload {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Payload
	for _, id := range sortedKeys(s.offered) {
		out = append(out, s.offered[id])
	}
	return out
}

// getPayload is the tool that fetches a payload of an earlier turn.
func (s *Session) getPayload() Tool {
	type args struct {
		PayloadID string `json:"payload_id" jsonschema:"the id in brackets of the list of payloads"`
	}
	t := NewTool("get_payload", "Fetch the full data of a payload listed under CONVERSATION DATA.",
		func(_ context.Context, a args) (ToolResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			p, ok := s.offered[a.PayloadID]
			if !ok {
				return Fail(CodeFailed, "there is no payload %q.%s", a.PayloadID, didYouMean(a.PayloadID, sortedKeys(s.offered))), nil
			}
			return OK(p.Summary, p.Data), nil
		})
	t.Global, t.Category = true, "Conversation"
	return t
}

// approve asks the user where the policy says so. It waits for Answer.
func (t *turn) approve(ctx context.Context, tool Tool, args json.RawMessage) (bool, error) {
	policy := t.settings.Confirm
	always := policy == ConfirmAlways && tool.Write
	if policy == ConfirmNever || (!tool.Lasting && !always) {
		return true, nil
	}
	shown, ask := string(args), true
	if tool.Preview != nil {
		diff, lasting, err := tool.Preview(ctx, args)
		if err != nil {
			return false, err
		}
		shown, ask = diff, lasting
	}
	if !ask && !always {
		return true, nil
	}
	id, answer := t.s.open()
	t.emit(ConfirmRequest{ID: id, Tool: tool.Name, Diff: shown})
	select {
	case yes := <-answer:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// open registers a question.
func (s *Session) open() (id string, answer chan bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = NewID(s.now())
	answer = make(chan bool, 1) // Answer must not wait for the turn
	s.answers[id] = answer
	return id, answer
}

// before makes the turn's checkpoint, once, before its first write tool.
func (t *turn) before(writes []ToolCall) error {
	j := t.s.opts.Journal
	if t.checkpoint != "" || t.s.opts.Window == nil {
		return nil
	}
	if j == nil {
		return errors.New("no checkpoint can be made without a journal")
	}
	state, err := windowState(t.s.opts.Window)
	if err != nil {
		return err
	}
	meta := checkpoint.Checkpoint{Kind: checkpoint.KindTurn, Session: t.session, Position: t.pair.Seq}
	for _, c := range writes {
		meta.Tools = append(meta.Tools, checkpoint.ToolSummary{Name: c.Name, Args: string(c.Arguments)})
	}
	made, err := j.Add(meta, state)
	if err != nil {
		return fmt.Errorf("no checkpoint could be made: %w", err)
	}
	t.checkpoint = made.ID
	t.s.log.Info("checkpoint", "id", made.ID, "tools", len(meta.Tools))
	t.emit(CheckpointCreated{ID: made.ID, Description: made.Description})
	return nil
}

// after records the state that a write tool left, with its result.
func (t *turn) after(c ToolCall) error {
	w := t.s.opts.Window
	if w == nil || t.s.opts.Journal == nil {
		return nil
	}
	if c.Result.ErrorCode == CodePanic {
		t.s.log.Error("tool panicked", "tool", c.Name, "stack", c.Result.stack)
	}
	summary := checkpoint.ToolSummary{Name: c.Name, Args: string(c.Arguments), Effect: c.Result.Message, OK: c.Result.Success}
	return t.s.recordState(summary)
}

func windowState(w Window) (json.RawMessage, error) {
	value, err := w.State()
	if err != nil {
		return nil, fmt.Errorf("read the window's state: %w", err)
	}
	return encodePlain(value)
}

// telemetry reports the attempt as it stands.
func (t *turn) telemetry(message string) { t.report(t.attempt.Record(), message) }

// telemetryEnded reports the attempt that has just ended.
func (t *turn) telemetryEnded(re *RequestError) {
	message := ""
	if re != nil {
		message = re.Message
	}
	t.report(t.attempt.Ended(), message)
}

func (t *turn) report(r budget.Record, message string) {
	if t.s.opts.Telemetry == nil {
		return
	}
	r.Model, r.LastErrorMessage = t.modelID, message
	for i, id := range t.includedIDs {
		if i < t.attempt.T() {
			continue
		}
		r.Selection = append(r.Selection, id)
	}
	for _, m := range t.request().Messages {
		r.Messages = append(r.Messages, budget.Message{Role: string(m.Role), Content: m.Content})
	}
	t.s.opts.Telemetry(r)
}
