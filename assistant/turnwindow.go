package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"winnow/assistant/budget"
	"winnow/checkpoint"
)

// defaultContextTokens bounds what a window tells of itself: enough for a
// thousand models with their status, a fifth of a window of 80,000.
const defaultContextTokens = 16_000

// system takes the window's context and writes the system prompt. pairs are
// the ones that the request holds.
func (t *turn) system(pairs []Pair) (string, error) {
	parts := promptParts{}
	var tools []Tool
	if w := t.s.opts.Window; w != nil {
		if b, ok := w.(Budgeter); ok {
			b.SetContextBudget(t.contextBudget())
		}
		raw, err := t.takeContext(w)
		if err != nil {
			return "", fmt.Errorf("the window could not be read: %w", err)
		}
		parts.window, parts.context, tools = w.Prompt(), raw, w.Tools()
	}
	t.place = t.s.available(tools)
	parts.page, parts.place = t.place.Page, t.s.where()
	parts.payloads = t.place.Payloads
	for i := range pairs {
		parts.manifest = append(parts.manifest, pairs[i].Payloads...)
	}
	all := t.place.Tools
	if len(parts.manifest) > 0 {
		all = append(all, t.getPayload(parts.manifest))
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

// contextMemory is what the model was last told about the window.
type contextMemory struct {
	hash string
	json json.RawMessage
	mark int64 // of the window's change log
}

// takeContext returns the window's context as the model is told it, with what
// changed since it was told the last time.
func (t *turn) takeContext(w Window) (json.RawMessage, error) {
	next, err := readContext(w)
	if err != nil {
		return nil, err
	}
	last, changes := t.told, []Change{}
	if log, ok := w.(ChangeLog); ok {
		var found []Change
		found, next.mark = log.Changes(last.mark)
		changes = append(changes, found...)
	} else if last.json != nil && last.hash != next.hash {
		changes = append(changes, t.s.plainChange(last.json, next.json))
	}
	if last.json == nil {
		changes = changes[:0] // the first message: everything is new
	}
	t.told = next
	return addField(next.json, "changes_since_last_message", changes)
}

func readContext(w Window) (contextMemory, error) {
	value, err := w.Context()
	if err != nil {
		return contextMemory{}, err
	}
	raw, err := PlainJSON(value)
	return contextMemory{hash: w.StateHash(), json: raw}, err
}

// remember keeps what the model knows of the window, now that it has answered.
// A request that failed told it nothing.
func (t *turn) remember() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.context = t.told
}

// rememberOwn makes what the assistant's tools changed no news: the next
// message tells what the user did.
func (t *turn) rememberOwn() error {
	w := t.s.opts.Window
	if w == nil {
		return nil
	}
	if _, ok := w.(ChangeLog); ok {
		return nil // it knows who did what
	}
	now, err := readContext(w)
	if err != nil {
		return fmt.Errorf("the window could not be read: %w", err)
	}
	t.told = now
	t.remember()
	return nil
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
	raw, err := PlainJSON(value)
	if err != nil {
		return nil, err
	}
	body := strings.TrimSuffix(text, "}")
	if strings.TrimSpace(body) != "{" {
		body += ","
	}
	return json.RawMessage(fmt.Sprintf("%s%q:%s}", body, name, raw)), nil
}

// getPayload is the tool that fetches a payload of an earlier turn, or of this one.
func (t *turn) getPayload(offered []Payload) Tool {
	type args struct {
		PayloadID string `json:"payload_id" jsonschema:"the id in brackets of the list of payloads"`
	}
	return NewTool("get_payload", "Fetch the full data of a payload listed under CONVERSATION DATA.",
		func(_ context.Context, a args) (ToolResult, error) {
			var ids []string
			for _, p := range offered {
				if p.ID == a.PayloadID {
					return OK(p.Summary, p.Data), nil
				}
				ids = append(ids, p.ID)
			}
			return Fail(CodeFailed, "there is no payload %q.%s", a.PayloadID, didYouMean(a.PayloadID, ids)), nil
		})
}
