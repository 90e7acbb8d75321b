package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/checkpoint"
)

// visiblePairs returns the included pairs and copies the boundary, as the user
// sees them at this moment. The pair that is tried again or replaced is not
// history.
func (t *turn) visiblePairs() []Ref {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	v := &t.s.view
	t.boundary = v.tracker.Boundary()
	refs := slices.DeleteFunc(slices.Clone(v.refs), func(r Ref) bool { return r.Seq == t.prompt.Retry || r.Seq == t.prompt.Replaces })
	if len(refs) != len(v.refs) {
		t.boundary = budget.Predict(costsOf(refs), t.s.limit(), t.boundary.SYS, t.settings.Budget)
	}
	return slices.DeleteFunc(refs[t.boundary.First:], func(r Ref) bool { return !r.Sends })
}

// assemble builds the request from the visible pairs, and nothing else.
func (t *turn) assemble(visible []Ref) error {
	seqs := make([]int64, len(visible))
	for i, r := range visible {
		seqs[i] = r.Seq
	}
	pairs, err := t.s.opts.Store.Load(t.ctx, seqs)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	system, err := t.system(pairs)
	if err != nil {
		return err
	}
	t.list = &message.List{&message.Agent{Text: system}}
	var costs []budget.Cost
	history := 0
	for i := range pairs {
		messages := PairMessages(&pairs[i])
		if len(messages) == 0 {
			continue // changed by another process since visiblePairs
		}
		cost := PairCost(&pairs[i], t.settings.Budget.CPT())
		*t.list = append(*t.list, messages...)
		t.spans = append(t.spans, len(messages))
		costs = append(costs, budget.Cost{Tokens: cost, Contributes: true})
		history += cost
		t.seqs = append(t.seqs, pairs[i].Seq)
		t.selection = append(t.selection, budget.Selected{ID: pairs[i].ID, Model: pairs[i].Model, Tokens: cost})
	}
	if t.exchange != nil {
		*t.list = append(*t.list, t.exchange...)
	} else {
		*t.list = append(*t.list, &message.Text{Text: t.pair.UserText, Role: llm.RoleUser})
	}
	sys := t.systemCost(system)
	within := t.boundary // as it was seen, of the pairs as they were loaded
	within.First, within.SYS, within.Usable, within.HistoryTokens = 0, sys, within.ML-sys, history
	t.attempt = budget.NewAttempt(within, costs, t.settings.Budget.Estimate(t.pair.UserText), sys, t.settings.Budget)
	if t.exchange != nil && !t.attempt.TooLarge() {
		t.attempt.Continue(t.grown())
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.tracker.SetSystem(sys)
	return nil
}

// systemCost is SYS: the system prompt and the tool schemas.
func (t *turn) systemCost(system string) int {
	sum := t.settings.Budget.Estimate(system)
	for _, spec := range t.tools.specs {
		sum += t.settings.Budget.Estimate(spec.Name + spec.Description + string(spec.Parameters))
	}
	return sum
}

// grown is the size of what the turn has added since the user's message.
func (t *turn) grown() int {
	added := Pair{State: PairComplete, AssistantText: t.pair.AssistantText, ToolCalls: t.pair.ToolCalls}
	return PairCost(&added, t.settings.Budget.CPT())
}

// request is the next request: the system prompt, the included pairs that were
// not trimmed, and the whole running turn.
func (t *turn) request() llm.Request {
	messages := *t.list
	if t.attempt != nil {
		skip := 1
		for _, n := range t.spans[:t.attempt.DroppedCount()] {
			skip += n
		}
		messages = append(message.List{messages[0]}, messages[skip:]...)
	}
	return llm.Request{Model: t.name, Messages: messages.Wire(), Tools: t.tools.specs, Sampling: t.sampling}
}

// nextRequest is the request that leaves now. What executes a proposal goes to
// no endpoint, and is neither counted nor stored.
func (t *turn) nextRequest() llm.Request {
	req := t.request()
	if t.s == nil {
		return req
	}
	r := t.attempt.Record()
	t.out = &outgoing{t.model, req, SentRequest{
		Response: t.response, Attempt: r.AttemptsUsed + 1, Model: t.modelID, At: t.now(), Trimmed: t.attempt.DroppedCount(),
	}}
	if t.decided != nil {
		return req
	}
	t.registry.Spend(t.modelID, r.AttemptTotalTokens+r.Budget.MaxContext-r.Budget.MaxUsableRaw, t.now())
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unstored = append(t.unstored, *t.out)
	return req
}

// Request is the exact request that Send would make now for a text: what is
// seen is what is sent. The body is the JSON document of the selected
// endpoint when it can show one. It looks at the window, so while a turn runs
// it is ErrBusy.
func (s *Session) Request(ctx context.Context, text string) (llm.Request, json.RawMessage, error) {
	release, err := s.acquireWork()
	if err != nil {
		return llm.Request{}, nil, err
	}
	defer release()
	t, err := s.newTurn(ctx, Prompt{Text: text})
	if err != nil {
		return llm.Request{}, nil, err
	}
	defer t.cancel(nil)
	if err := t.loadPair(); err != nil {
		return llm.Request{}, nil, err
	}
	if err := t.assemble(t.visiblePairs()); err != nil {
		return llm.Request{}, nil, err
	}
	o := outgoing{model: t.model, req: t.request()}
	sent, err := o.sent()
	return o.req, sent.Body, err
}

// defaultContextTokens bounds the context of a window: enough for a
// thousand models with their status, a fifth of a window of 80,000.
const defaultContextTokens = 16_000

// system reads the window's context and writes the system prompt. pairs are
// those of the request.
func (t *turn) system(pairs []Pair) (string, error) {
	parts := promptParts{location: t.s.location()}
	var tools []Tool
	if w := t.s.opts.Window; w != nil {
		if b, ok := w.(Budgeter); ok {
			bound := t.settings.ContextTokens
			if bound <= 0 {
				bound = defaultContextTokens
			}
			b.SetContextBudget(min(bound, t.info.Limit().ML()/4))
		}
		raw, err := t.contextWithChanges(w)
		if err != nil {
			return "", fmt.Errorf("the window could not be read: %w", err)
		}
		parts.window, parts.context, tools = w.Prompt(), raw, w.Tools()
	}
	t.available = t.s.available(tools)
	parts.page, parts.payloads, parts.tools = t.available.Page, t.available.Payloads, t.available.Tools
	for i := range pairs {
		parts.manifest = append(parts.manifest, pairs[i].Payloads...)
	}
	if len(parts.manifest) > 0 {
		parts.tools = append(parts.tools, getPayload(parts.manifest))
	}
	box, err := newToolbox(parts.tools)
	if err != nil {
		return "", err
	}
	t.tools, t.types, t.pair.Page = box, parts.payloads, parts.location.Page
	return parts.build(), nil
}

// location is what is open in the window.
func (s *Session) location() Location {
	if p, ok := s.opts.Window.(Pager); ok {
		return p.Where()
	}
	return Location{}
}

// available resolves what the location offers. Without pages, the window's
// tools are there, and the payloads every session knows.
func (s *Session) available(window []Tool) Available {
	pages := s.opts.Pages
	if pages == nil {
		pages = &Pages{}
	}
	out := pages.At(s.location())
	for _, t := range window {
		if !slices.ContainsFunc(out.Tools, sameTool(t.Name)) {
			out.Tools = append(out.Tools, t)
		}
	}
	out.Payloads = append(out.Payloads, suggestedValues())
	if len(out.Page.ClientActions) > 0 {
		out.Payloads = append(out.Payloads, suggestedActions(out.Page.ClientActions))
	}
	return out
}

// contextMemory is what the model knows of the window.
type contextMemory struct {
	hash    string
	json    json.RawMessage // nil: nothing in this run
	mark    int64           // of the window's change log
	resumed bool            // of an earlier run
	pending []Change        // made after that, and stored with the session
}

// contextWithChanges returns the window's context for the model, with what changed
// since the model was given it last.
func (t *turn) contextWithChanges(w Window) (json.RawMessage, error) {
	next, err := readContext(w)
	if err != nil {
		return nil, err
	}
	last := t.context
	changes := append([]Change{}, last.pending...)
	if log, ok := w.(ChangeLog); ok {
		var found []Change
		found, next.mark = log.Changes(last.mark)
		changes = append(changes, found...)
	} else if last.json != nil && last.hash != next.hash {
		changes = append(changes, contextChanged(t.now(), last.json, next.json))
	}
	if last.json == nil && !last.resumed {
		changes = changes[:0] // the first message: everything is new
	}
	t.context = next
	return addField(next.json, "changes_since_last_message", changes)
}

// contextChanged is the change that tells which paths of a value differ.
func contextChanged(at time.Time, before, after json.RawMessage) Change {
	c := NewChange("context_changed", at, nil)
	if delta, err := checkpoint.Diff(before, after); err == nil {
		c["delta"] = delta
	}
	return c
}

func readContext(w Window) (contextMemory, error) {
	value, err := w.Context()
	if err != nil {
		return contextMemory{}, err
	}
	raw, err := PlainJSON(value)
	return contextMemory{hash: w.StateHash(), json: raw}, err
}

// remember stores what the model knows of the window, now that it has answered.
// A request that failed changes nothing.
func (t *turn) remember() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.current.context = t.context
}

// rememberOwn makes what the assistant's tools changed no news: the next
// message reports what the user did.
func (t *turn) rememberOwn() error {
	w := t.s.opts.Window
	if _, ok := w.(ChangeLog); ok || w == nil {
		return nil // it knows who did what
	}
	now, err := readContext(w)
	if err != nil {
		return err
	}
	t.context = now
	t.remember()
	return nil
}

// addField adds a field at the end of a JSON object; other JSON stays alone.
func addField(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	body, isObject := strings.CutSuffix(strings.TrimSpace(string(object)), "}")
	raw, err := PlainJSON(value)
	if err != nil || !isObject {
		return object, err
	}
	if strings.TrimSpace(body) != "{" {
		body += ","
	}
	return json.RawMessage(fmt.Sprintf("%s%q:%s}", body, name, raw)), nil
}

// SentRequest is one request of a turn as it went to the endpoint.
type SentRequest struct {
	Response int             `json:"response"` // of the turn, from 0
	Attempt  int             `json:"attempt"`  // of the response, from 1; more than one when pairs were trimmed
	Model    string          `json:"model"`    // "provider/name"
	At       time.Time       `json:"at"`
	Trimmed  int             `json:"trimmed"` // T of that attempt
	Body     json.RawMessage `json:"body"`    // the JSON document, byte for byte; headers are no part of it
}

// outgoing is a request that has left.
type outgoing struct {
	model llm.Model
	req   llm.Request
	head  SentRequest // all but the body
}

// sent is the request with its body, the endpoint's own when it can show one.
// The body is asked for after the request has left: the first byte does not wait
// for it, and a field that the endpoint refused and our client then left out is
// not in it.
func (o outgoing) sent() (sent SentRequest, err error) {
	sent = o.head
	if e, ok := o.model.(llm.Encoder); ok {
		sent.Body, err = e.Encode(o.req)
	} else {
		sent.Body, err = PlainJSON(o.req)
	}
	return sent, err
}

// SentRequests returns the requests of a pair as they were sent, oldest first,
// those of a running turn too. None stored is nil, nil. With an error it returns
// the ones that could be read.
func (s *Session) SentRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	var unstored []outgoing
	s.mu.Lock()
	if t := s.running; t != nil && t.seq == seq && seq != 0 {
		unstored = slices.Clone(t.unstored)
	}
	s.mu.Unlock()
	all, err := s.storedRequests(ctx, seq)
	for _, o := range unstored {
		sent, failed := o.sent()
		if failed != nil {
			err = failed
			continue
		}
		// One may have been stored meanwhile.
		if !slices.ContainsFunc(all, func(r SentRequest) bool {
			return r.Response == sent.Response && r.Attempt == sent.Attempt && r.At.Equal(sent.At) && string(r.Body) == string(sent.Body)
		}) {
			all = append(all, sent)
		}
	}
	return all, err
}

func (s *Session) storedRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	if k, ok := s.opts.Store.(RequestStore); ok {
		return k.Requests(ctx, seq)
	}
	return nil, nil
}
