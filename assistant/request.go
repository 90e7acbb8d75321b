package assistant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant/attachment"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/checkpoint/jsondelta"
)

// includedPairs returns the included pairs. It also copies the visible pairs
// and the boundary into the turn, as the user sees them now. All three leave
// out the pair that is being retried, answered again or replaced.
func (t *turn) includedPairs() []Ref {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	v := &t.s.view
	t.boundary = v.tracker.Boundary()
	refs := slices.DeleteFunc(slices.Clone(v.refs), func(r Ref) bool {
		return r.Seq == t.prompt.Retry || r.Seq == t.prompt.Regenerate || r.Seq == t.prompt.Replaces
	})
	if len(refs) != len(v.refs) {
		t.boundary = budget.Predict(costsOf(refs), t.s.limit(), t.boundary.SYS, t.settings.Budget)
	}
	t.visible = refs
	return slices.DeleteFunc(slices.Clone(refs[t.boundary.First:]), func(r Ref) bool { return !r.Contributes })
}

// assemble loads the included pairs and builds the message list and the attempt.
func (t *turn) assemble(included []Ref) error {
	pairs, err := t.s.load(t.ctx, seqsOf(included))
	if err != nil {
		return fmt.Errorf("the history could not be read: %w", err)
	}
	payloads, err := t.s.readManifest(t.ctx, t.visible, t.settings.Budget, t.info.Limit())
	if err != nil {
		return err
	}
	system, err := t.system(payloads)
	if err != nil {
		return err
	}
	t.list = &message.List{&message.Agent{Text: system}}
	var costs []budget.Cost
	historyTokens := 0
	for i := range pairs {
		messages := PairMessages(&pairs[i])
		if len(messages) == 0 {
			continue // another process has changed it since includedPairs ran
		}
		cost := PairCost(&pairs[i], t.settings.Budget.CPT())
		*t.list = append(*t.list, messages...)
		t.spans = append(t.spans, len(messages))
		costs = append(costs, budget.Cost{Tokens: cost, Contributes: true})
		historyTokens += cost
		t.selectedSeqs = append(t.selectedSeqs, pairs[i].Seq)
		t.selection = append(t.selection, budget.Selected{ID: pairs[i].ID, Model: pairs[i].Model, Tokens: cost})
	}
	if t.earlier != nil {
		*t.list = append(*t.list, t.earlier...)
	} else {
		*t.list = append(*t.list, &message.Text{Text: string(t.pair.UserText), Role: llm.RoleUser, Pictures: attachment.Pictures(t.pair.Attachments)})
	}
	if err := t.loadPictures(); err != nil {
		return err
	}
	sys := t.systemCost(system)
	boundary := t.boundary // the boundary that the user saw, but with the sizes of the loaded pairs
	boundary.First, boundary.SYS, boundary.Usable, boundary.HistoryTokens = 0, sys, boundary.ML-sys, historyTokens
	t.attempt = budget.NewAttempt(boundary, costs, t.settings.Budget.Estimate(string(t.pair.UserText))+attachment.Tokens(t.pair.Attachments), sys, t.settings.Budget)
	if t.earlier != nil && !t.attempt.TooLarge() {
		t.attempt.Continue(t.addedTokens())
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.view.setSystem(sys, payloads.tokens(t.settings.Budget))
	return nil
}

// systemCost returns SYS: the size of the system prompt and the tool schemas.
func (t *turn) systemCost(system string) int {
	sum := t.settings.Budget.Estimate(system)
	for _, spec := range t.tools.specs() {
		sum += specCost(spec, t.settings.Budget)
	}
	return sum
}

func specCost(s llm.ToolSpec, p budget.Params) int {
	return p.Estimate(s.Name + s.Description + string(s.Parameters))
}

// addedTokens returns the size of what the turn has added after the user's
// message.
func (t *turn) addedTokens() int {
	added := Pair{State: PairComplete, AssistantText: t.pair.AssistantText, ToolCalls: t.pair.ToolCalls}
	return PairCost(&added, t.settings.Budget.CPT())
}

// trimmedRequest returns the next request: the system prompt, the included
// pairs that were not trimmed, and the whole running turn.
func (t *turn) trimmedRequest() llm.Request {
	messages, skip := *t.list, 1
	for _, n := range t.spans[:t.attempt.DroppedCount()] {
		skip += n
	}
	return t.requestOf(append(message.List{messages[0]}, messages[skip:]...))
}

// nextRequest implements requester. A request of a turn that executes proposals
// is not sent to an endpoint, and is neither counted nor stored.
func (t *turn) nextRequest() llm.Request {
	req := t.trimmedRequest()
	r := t.attempt.Record()
	t.outgoing = &outgoing{t.model, req, SentRequest{
		Answer: t.pair.AnswerID, Response: t.response, Attempt: r.AttemptsUsed + 1, Model: t.modelID, At: t.now(), Trimmed: t.attempt.DroppedCount(),
	}}
	if t.decided != nil {
		return req
	}
	t.registry.Spend(t.modelID, r.AttemptTotalTokens+r.Budget.MaxContext-r.Budget.MaxUsableRaw, t.now())
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.unstored = append(t.unstored, *t.outgoing)
	return req
}

// Request returns the exact request that Begin would send now for this text. The
// body is the JSON document for the selected endpoint if its llm.Model is an
// llm.Encoder. It returns ErrBusy while a turn is running.
func (m Telemetry) Request(ctx context.Context, text string) (llm.Request, json.RawMessage, error) {
	s := m.session
	release, err := s.acquireWork(false)
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
	if err := t.assemble(t.includedPairs()); err != nil {
		return llm.Request{}, nil, err
	}
	o := outgoing{model: t.model, req: t.trimmedRequest()}
	sent, err := o.encode()
	return o.req, sent.Body, err
}

// defaultContextTokens is the default limit on the context of a window. That
// is enough for a thousand models with their status, and a fifth of an
// 80,000-token context window.
const defaultContextTokens = 16_000

// system reads the window's context and builds the system prompt.
func (t *turn) system(payloads manifest) (string, error) {
	parts := promptParts{identity: t.s.opts.identity(), location: t.s.location(), manifest: payloads, rounds: t.iterations}
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
		parts.window, parts.context, tools = w.Describe(), raw, w.Tools()
	}
	var err error
	if t.available, err = t.s.available(tools); err != nil {
		return "", err
	}
	parts.page, parts.payloads, tools = t.available.Page, t.available.Payloads, t.available.Tools
	if len(payloads.pairs) > 0 {
		tools = append(tools, payloads.tool(t.s.opts.Store))
	}
	box, err := newToolbox(tools)
	if err != nil {
		return "", err
	}
	t.tools, t.payloadTypes, t.pair.Page = box, begun(parts.payloads, t.s.opts.Window), parts.location.Page
	return parts.build(), nil
}

// location returns what is open in the window.
func (s *Session) location() Location {
	if p, ok := s.opts.Window.(Pager); ok {
		return p.Where()
	}
	return Location{}
}

// available returns what the location offers: what its page lists, the window's
// tools and Options.Tools, and the payload types that every session supports.
func (s *Session) available(window []Tool) (out Available, err error) {
	if pages := s.opts.Pages; pages != nil {
		if out, err = pages.At(s.location()); err != nil {
			return out, err
		}
	}
	out.Tools = append(out.Tools, window...)
	if s.opts.Tools != nil {
		out.Tools = append(out.Tools, s.opts.Tools()...)
	}
	out.Payloads = append(out.Payloads, suggestedValues())
	if len(out.Page.ClientActions) > 0 {
		out.Payloads = append(out.Payloads, suggestedActions(out.Page.ClientActions))
	}
	return out, nil
}

// contextMemory is what the model knows about the window.
type contextMemory struct {
	json    json.RawMessage // the context as last sent; nil if not sent in this run
	mark    int64           // position in the window's change log
	resumed bool            // the model was sent the window in an earlier run
	pending []Entry         // changes not sent yet; stored with the session
}

// contextWithChanges returns the window's context for the model, with the
// changes since it was last sent.
func (t *turn) contextWithChanges(w Window) (json.RawMessage, error) {
	next, err := readContext(w)
	if err != nil {
		return nil, err
	}
	last := t.context
	changes := append([]Entry{}, last.pending...)
	if log, ok := w.(Log); ok {
		var found []Entry
		found, next.mark = log.Changes(last.mark)
		changes = append(changes, found...)
	} else if last.json != nil && !bytes.Equal(last.json, next.json) {
		changes = append(changes, contextChanged(t.now(), last.json, next.json))
	}
	if last.json == nil && !last.resumed {
		changes = changes[:0] // first message: everything is new
	}
	t.context = next
	return addField(next.json, "changes_since_last_message", changes)
}

// contextChanged returns an Entry with the paths that differ between two
// values.
func contextChanged(at time.Time, before, after json.RawMessage) Entry {
	c := NewEntry("context_changed", at, nil)
	from, err := jsondelta.Parse(before)
	to, afterErr := jsondelta.Parse(after)
	if errors.Join(err, afterErr) == nil {
		c["delta"] = jsondelta.Diff(from, to)
	}
	return c
}

func readContext(w Window) (contextMemory, error) {
	value, err := w.Context()
	if err != nil {
		return contextMemory{}, err
	}
	raw, err := PlainJSON(value)
	if err == nil && !bytes.HasPrefix(raw, []byte("{")) {
		err = fmt.Errorf("its context is not a JSON object but %T", value)
	}
	return contextMemory{json: raw}, err
}

// remember stores what the model knows about the window. It is called once the
// model has answered: a failed request does not count.
func (t *turn) remember() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.current.context = t.context
}

// rememberOwnChanges keeps the changes by the turn's own tool calls out of the
// changes that the next message reports.
func (t *turn) rememberOwnChanges() error {
	w := t.s.opts.Window
	if _, ok := w.(Log); ok || w == nil {
		return nil // the log records who made each change
	}
	now, err := readContext(w)
	if err != nil {
		return err
	}
	t.context = now
	t.remember()
	return nil
}

// addField adds a field at the end of a JSON object. Other JSON is returned
// unchanged.
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

// SentRequest is one request of a turn, as sent to the endpoint.
type SentRequest struct {
	Answer   string          `json:"answer,omitempty"` // Pair.AnswerID of the answer that came back
	Response int             `json:"response"`         // index of the response within the turn, from 0
	Attempt  int             `json:"attempt"`          // number of the attempt for this response, from 1; above 1 if pairs were trimmed
	Model    string          `json:"model"`            // "provider/name"
	At       time.Time       `json:"at"`
	Trimmed  int             `json:"trimmed"` // number of pairs trimmed so far
	Body     json.RawMessage `json:"body"`    // the JSON document without headers, byte for byte except for the Data of pictures
}

// outgoing is a request that was sent but is not encoded yet.
type outgoing struct {
	model llm.Model
	req   llm.Request
	meta  SentRequest // everything except the body
}

// encode returns the request with its body, which the model encodes if it is an
// llm.Encoder. It is called after sending: sending does not wait for it, and the
// body lacks the fields that the client dropped because the endpoint rejected them.
func (o outgoing) encode() (sent SentRequest, err error) {
	sent = o.meta
	req := o.req.Abbreviated()
	if e, ok := o.model.(llm.Encoder); ok {
		sent.Body, err = e.Encode(req)
	} else {
		sent.Body, err = PlainJSON(req)
	}
	return sent, err
}

// SentRequests returns the requests for the chosen answer of a pair as they
// were sent, oldest first. For the running pair these are the requests so far.
// It returns nil, nil if there are none; with an error it returns the requests
// that could be read.
func (m Telemetry) SentRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	s := m.session
	var unstored []outgoing
	s.mu.Lock()
	if t := s.running; t != nil && t.seq == seq && seq != 0 {
		unstored = slices.Clone(t.unstored)
	}
	s.mu.Unlock()
	pairs, err := s.Pairs(ctx, []int64{seq})
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	all, err := s.storedRequests(ctx, seq)
	all = slices.DeleteFunc(all, func(r SentRequest) bool { return r.Answer != pairs[0].AnswerID })
	for _, o := range unstored {
		if sent, encodeErr := o.encode(); encodeErr != nil {
			err = encodeErr
		} else if !slices.ContainsFunc(all, func(r SentRequest) bool { // it may have been stored in the meantime
			return r.Response == sent.Response && r.Attempt == sent.Attempt && r.At.Equal(sent.At) && string(r.Body) == string(sent.Body)
		}) {
			all = append(all, sent)
		}
	}
	return all, err
}

func (s *Session) storedRequests(ctx context.Context, seq int64) ([]SentRequest, error) {
	if store, ok := s.opts.Store.(RequestStore); ok {
		return store.Requests(ctx, seq)
	}
	return nil, nil
}

// position returns the position of the turn in its window, or "" if it is
// unknown.
func (t *turn) position() string {
	p, ok := t.s.opts.Window.(Positioned)
	if !ok {
		return ""
	}
	raw, _ := p.Position() // after an error the position is unknown
	return string(raw)
}
