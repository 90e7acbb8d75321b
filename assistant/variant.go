package assistant

import (
	"context"
	"errors"
	"slices"
	"time"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// ErrNoVariant is returned for an answer that a pair does not have.
var ErrNoVariant = errors.New("the message has no such answer")

// Variant is one answer to a pair's message: the fields of Pair that the assistant
// produced. The chosen answer is in the fields of the Pair itself, and only that one is
// shown, sent, counted and searched.
type Variant struct {
	// ID is unique among the answers of a pair; the first answer has "".
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at,omitzero"` // when the answer was requested; zero means when the message was sent

	Model         string        `json:"model,omitempty"`
	AssistantText safetext.Text `json:"assistant_text,omitempty"`
	Reasoning     safetext.Text `json:"reasoning,omitempty"`
	State         PairState     `json:"state,omitempty"`
	ErrorCode     string        `json:"error_code,omitempty"`
	ErrorMessage  safetext.Text `json:"error_message,omitempty"`
	ToolCalls     []ToolCall    `json:"tool_calls,omitempty"`
	Payloads      []Payload     `json:"payloads,omitempty"`
	Page          string        `json:"page,omitempty"`
	ReasoningFor  time.Duration `json:"reasoning_for,omitempty"`
	Thoughts      []Thought     `json:"thoughts,omitempty"`
	Took          time.Duration `json:"took,omitempty"`
	Usage         *llm.Usage    `json:"usage,omitempty"`
	Price         *float64      `json:"price,omitempty"`
	Suggested     *Suggested    `json:"suggested,omitempty"`
	Notice        safetext.Text `json:"notice,omitempty"`
	InvalidRounds int           `json:"invalid_rounds,omitempty"`
}

// Answer returns the pair's chosen answer.
func (p *Pair) Answer() Variant {
	return Variant{
		ID: p.AnswerID, At: p.AnsweredAt, Model: p.Model, AssistantText: p.AssistantText, Reasoning: p.Reasoning,
		State: p.State, ErrorCode: p.ErrorCode, ErrorMessage: p.ErrorMessage, ToolCalls: p.ToolCalls, Payloads: p.Payloads,
		Page: p.Page, ReasoningFor: p.ReasoningFor, Thoughts: p.Thoughts, Took: p.Took, Usage: p.Usage, Price: p.Price,
		Suggested: p.Suggested, Notice: p.Notice, InvalidRounds: p.InvalidRounds,
	}
}

func (p *Pair) setAnswer(v Variant) {
	p.AnswerID, p.AnsweredAt, p.Model, p.AssistantText, p.Reasoning = v.ID, v.At, v.Model, v.AssistantText, v.Reasoning
	p.State, p.ErrorCode, p.ErrorMessage, p.ToolCalls, p.Payloads = v.State, v.ErrorCode, v.ErrorMessage, v.ToolCalls, v.Payloads
	p.Page, p.ReasoningFor, p.Thoughts, p.Took, p.Usage, p.Price = v.Page, v.ReasoningFor, v.Thoughts, v.Took, v.Usage, v.Price
	p.Suggested, p.Notice, p.InvalidRounds = v.Suggested, v.Notice, v.InvalidRounds
}

// Answers returns all answers of the pair, oldest first, and the index of the chosen one.
func (p *Pair) Answers() (all []Variant, chosen int) {
	chosen = min(max(p.Chosen, 0), len(p.Variants))
	return slices.Insert(slices.Clone(p.Variants), chosen, p.Answer()), chosen
}

// PairAnswer adds an answer to a stored pair, or chooses one.
type PairAnswer struct {
	Seq int64
	ID  string   // ID of the answer
	Add *Variant // the answer to add, or to replace if the pair has one with the same ID; nil to use the stored answer
	// Choose makes the answer the pair's chosen one; otherwise the chosen answer
	// does not change.
	Choose bool
}

// Apply changes the answers of p. It returns ErrNoVariant if p has no answer with this ID.
func (a PairAnswer) Apply(p *Pair) error {
	all, chosen := p.Answers()
	at := slices.IndexFunc(all, func(v Variant) bool { return v.ID == a.ID })
	switch {
	case a.Add != nil && at < 0:
		at = len(all)
		all = append(all, *a.Add)
	case a.Add != nil:
		all[at] = *a.Add
	case at < 0:
		return ErrNoVariant
	}
	if a.Choose {
		chosen = at
	}
	p.setAnswer(all[chosen])
	p.Variants, p.Chosen = slices.Delete(all, chosen, chosen+1), chosen
	return nil
}

// Interrupt marks a pair as interrupted if it is still in state sending: its program ended
// before the turn did.
func (p *Pair) Interrupt() {
	if p.State == PairSending {
		p.State, p.ErrorCode, p.ErrorMessage = PairError, CodeInterrupted, "the session ended before the answer was complete"
	}
}

// Choose makes one of a pair's answers the chosen one, by its index in Answers, and returns
// the pair. Window and checkpoints are not changed. It returns ErrBusy while a turn is
// running.
func (s *Session) Choose(ctx context.Context, seq int64, answer int) (*Pair, error) {
	release, err := s.acquireWork(false)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.checkOwner(ctx, seq); err != nil {
		return nil, err
	}
	p, err := s.pair(ctx, seq)
	if err != nil {
		return nil, err
	}
	all, _ := p.Answers()
	if answer < 0 || answer >= len(all) {
		return nil, ErrNoVariant
	}
	choice := PairAnswer{Seq: seq, ID: all[answer].ID, Choose: true}
	if err := s.opts.Store.Commit(ctx, &Batch{Answers: []PairAnswer{choice}}); err != nil {
		return nil, err
	}
	if err := choice.Apply(p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.updates.addStale(seq)
	if _, visible := s.view.find(seq); visible {
		s.view.frozen = false
		s.view.put(PairRef(p, s.opts.Settings.Budget.CPT()))
	}
	s.mu.Unlock()
	s.recountPayloads(ctx)
	return p, nil
}

// loadRegenerate makes a pair from the message to answer again, without its old answer. The
// stored pair keeps the old answer until the new one is complete.
func (t *turn) loadRegenerate() error {
	old, err := t.storedPair(t.prompt.Regenerate)
	if err != nil {
		return err
	}
	if old.State == PairSending {
		return &TurnError{Code: string(llm.KindUnknown), Message: "the message is still being answered"}
	}
	t.before = PairRef(old, t.settings.Budget.CPT())
	now := t.now()
	old.setAnswer(Variant{ID: NewID(now), At: now, Model: t.modelID, State: PairSending})
	t.pair = old
	return nil
}

// answerBatch returns a batch that stores the turn's result so far as an answer of its
// pair. It becomes the chosen answer when it is complete. An unfinished answer is stored
// as interrupted, because the program may crash before the next commit.
func (t *turn) answerBatch() *Batch {
	p := *t.pair
	p.Interrupt()
	v := p.Answer()
	return &Batch{Answers: []PairAnswer{{Seq: p.Seq, ID: v.ID, Add: &v, Choose: v.State == PairComplete}}}
}

// empty reports whether the turn has produced nothing worth keeping.
func (t *turn) empty() bool {
	return t.pair.AssistantText == "" && t.pair.Reasoning == "" && len(t.pair.ToolCalls) == 0
}

// showStored updates the pair in the view to its stored form, with the chosen answer.
func (t *turn) showStored() {
	ref := t.before
	if p, err := t.s.pair(context.WithoutCancel(t.ctx), t.pair.Seq); err == nil {
		ref = PairRef(p, t.settings.Budget.CPT())
	} else {
		t.log.Warn("pair not read after its turn", "error", err)
	}
	t.s.mu.Lock()
	t.progress = nil
	t.s.updates.addStale(t.pair.Seq)
	t.s.view.put(ref)
	t.s.mu.Unlock()
	t.s.recountPayloads(t.ctx)
}
