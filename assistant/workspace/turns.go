package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
)

// SendCheck lists the reasons why sending a message now may fail.
type SendCheck struct {
	Cost assistant.DraftCost
	// TooLong reports that the estimated size of text and system prompt exceeds the limit of the model. The estimate
	// may be wrong; see assistant.Prompt.Force for sending it anyway.
	TooLong bool
	// OverQuota reports that the endpoint would probably refuse the message now.
	OverQuota bool
	// ModelGone reports that the endpoint no longer offers the selected model.
	ModelGone bool
}

// CheckSend estimates, without reading the disk, whether a message can be sent.
func (w *Workspace) CheckSend(p assistant.Prompt) SendCheck {
	w.session.Boundary() // recomputes the boundary if it is out of date
	c := w.session.Draft(p)
	_, _, _, err := w.session.Registry().Open(w.session.Model())
	return SendCheck{
		Cost: c, TooLong: c.OverBudget && !p.Again(),
		OverQuota: c.OverQuota && !c.OverBudget, ModelGone: errors.Is(err, llm.ErrModelGone),
	}
}

// Queue stores a message that is sent when the running response is complete, and returns the message now waiting. If a
// message was already queued, p is added to its text, and both are sent together.
func (w *Workspace) Queue(ctx context.Context, p assistant.Prompt) (waiting assistant.Prompt, err error) {
	if err := w.session.Queue(p); err != nil {
		return assistant.Prompt{}, err
	}
	w.EndReAsk()
	if waiting, ok := w.session.Queued(); ok {
		return waiting, nil
	}
	return p, nil // the queued message has been sent in the meantime
}

// Queued returns the queued message.
func (w *Workspace) Queued() (assistant.Prompt, bool) { return w.session.Queued() }

// QueuePaused reports whether the queued message is not sent automatically, because the turn before it failed or was
// cancelled, or because an earlier run stored the message.
func (w *Workspace) QueuePaused() bool { return w.session.QueuePaused() }

// NextQueued removes and returns the message to send after a turn has ended. ok is false if no message is queued or
// if the queue is paused.
func (w *Workspace) NextQueued() (p assistant.Prompt, ok bool) {
	if w.session.QueuePaused() {
		return assistant.Prompt{}, false
	}
	return w.session.Dequeue()
}

// Dequeue removes and returns the queued message, to send it now or to edit it. The message stays stored until it has
// been sent, dropped or stored in a draft.
func (w *Workspace) Dequeue() (assistant.Prompt, bool) { return w.session.Dequeue() }

// DropQueued removes and returns the queued message, and adds it to the sent messages so that it can be recalled.
func (w *Workspace) DropQueued(ctx context.Context) (assistant.Prompt, bool, error) {
	p, ok := w.session.Dequeue()
	if !ok {
		return p, false, nil
	}
	return p, true, errors.Join(w.AddSent(ctx, p.Text), w.session.ForgetQueued(ctx))
}

// Cancel ends the running turn, if any.
func (w *Workspace) Cancel() { w.session.Cancel() }

// Answer answers a ConfirmRequest of the running turn.
func (w *Workspace) Answer(id string, yes bool) error { return w.session.Answer(id, yes) }

// Cancelled returns the received part of the most recently cancelled answer, or nil; see assistant.Session.Cancelled.
func (w *Workspace) Cancelled() *assistant.Pair { return w.session.Cancelled() }

// KeepCancelled stores the cancelled answer and returns the pair that now holds it.
func (w *Workspace) KeepCancelled(ctx context.Context) (*assistant.Pair, error) {
	return w.session.KeepCancelled(ctx)
}

// AskAgain returns the prompt that repeats the cancelled request.
func (w *Workspace) AskAgain(ctx context.Context) (assistant.Prompt, error) {
	return w.session.AskAgain(ctx)
}

// Decide accepts or rejects proposals of a pair. Accepting them starts a turn, whose events come after the returned
// version. shown contains the Effects of the proposals that were shown to the user, by payload ID; if accepting would
// now do something else, Decide returns ErrOtherEffects.
func (w *Workspace) Decide(ctx context.Context, pair int64, payloads []string, accept bool, shown map[string][]assistant.Effect) (after int64, err error) {
	if accept && len(shown) > 0 {
		p, err := w.pair(ctx, pair)
		if err != nil {
			return 0, err
		}
		for _, proposal := range p.Payloads {
			want, known := shown[proposal.ID]
			if known && slices.Contains(payloads, proposal.ID) && !reflect.DeepEqual(w.Effects(proposal), want) {
				return 0, ErrOtherEffects
			}
		}
	}
	return w.session.Decide(ctx, pair, payloads, accept)
}

// Retry contains the prompt that requests another answer for a pair.
type Retry struct {
	Prompt      assistant.Prompt // the prompt for Begin
	Regenerates bool             // a complete pair gets another answer; otherwise a failed pair is retried
}

// Effects returns what carrying out a proposal would do now. Parts that would be refused are included, with the
// reason.
func (w *Workspace) Effects(p assistant.Payload) []assistant.Effect {
	for _, t := range w.session.PayloadTypes() {
		if t.Name != p.Type || t.Effects == nil {
			continue
		}
		effects, err := t.Effects(p.Data)
		if err != nil {
			effects = append(effects, assistant.Effect{Kind: assistant.EffectAsks, Sentence: safetext.Sprintf("%v", err)})
		}
		return effects
	}
	return nil
}

// PrepareRetry prepares to retry a failed pair in its place, or to regenerate the last answer; it returns ErrNotLast for
// another complete pair. If the old answer changed the window, a confirmation is needed.
func (w *Workspace) PrepareRetry(ctx context.Context, seq int64, confirmed bool) (Retry, *Confirm, error) {
	p, err := w.pair(ctx, seq)
	switch {
	case err != nil:
		return Retry{}, nil, err
	case w.session.Busy():
		return Retry{}, nil, assistant.ErrBusy
	case p.State == assistant.PairError:
		return Retry{Prompt: assistant.Prompt{Text: string(p.UserText), Retry: seq, Attachments: p.Attachments}}, nil, nil
	}
	if last, ok := w.LastPair(); !ok || last != seq {
		return Retry{}, nil, ErrNotLast
	}
	if !confirmed && w.changedWindow(seq) {
		return Retry{}, &Confirm{Kind: ConfirmRegenerate, Text: string(p.UserText), Pairs: 1}, nil
	}
	return Retry{Prompt: assistant.Prompt{Text: string(p.UserText), Regenerate: seq, Attachments: p.Attachments}, Regenerates: true}, nil, nil
}

// changedWindow reports whether the turn of a pair made a checkpoint.
func (w *Workspace) changedWindow(seq int64) bool {
	return slices.ContainsFunc(w.session.Checkpoints(), func(c checkpoint.Checkpoint) bool {
		return c.PairSeq == seq && c.Kind == checkpoint.KindTurn
	})
}

// LastPair returns the newest visible pair.
func (w *Workspace) LastPair() (seq int64, ok bool) {
	refs := w.session.Visible()
	if len(refs) == 0 {
		return 0, false
	}
	return refs[len(refs)-1].Seq, true
}

// BeginReAsk returns the message of a pair, to be edited and sent again. If the pair failed, replaces is true, and
// the next message replaces the pair unless EndReAsk or Queue is called first.
func (w *Workspace) BeginReAsk(ctx context.Context, seq int64) (text string, replaces bool, err error) {
	p, err := w.pair(ctx, seq)
	if err != nil {
		return "", false, err
	}
	if replaces = p.State == assistant.PairError; replaces {
		w.session.ReAsk(seq)
	} else {
		w.session.ReAsk(0)
	}
	return string(p.UserText), replaces, nil
}

// EndReAsk undoes BeginReAsk, because the text is no longer in the input. The next message
// then replaces no pair.
func (w *Workspace) EndReAsk() { w.session.ReAsk(0) }

// ReAsked returns the pair that the next message replaces; 0 means none.
func (w *Workspace) ReAsked() int64 { return w.session.ReAsked() }

// Choose selects another answer of a pair; see assistant.Session.Choose.
func (w *Workspace) Choose(ctx context.Context, seq int64, answer int) (*assistant.Pair, error) {
	return w.session.Choose(ctx, seq, answer)
}

// Request returns the exact request that sending text would make now.
func (w *Workspace) Request(ctx context.Context, text string) (llm.Request, json.RawMessage, error) {
	return w.session.Request(ctx, text)
}

// Delete removes pairs permanently, with all their answers. It needs a confirmation unless all answers failed;
// confirmed is the one that the user has given. If a pair has changed since, Delete asks again.
func (w *Workspace) Delete(ctx context.Context, seqs []int64, confirmed *Confirm) (*Confirm, error) {
	if w.session.Busy() {
		return nil, assistant.ErrBusy
	}
	pairs, err := w.session.Pairs(ctx, seqs)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(pairs, answered) {
		c := Confirm{Kind: ConfirmDelete, Pairs: len(pairs), shown: digestOf(pairs)}
		c.Answers, c.Lines = answersOf(pairs)
		if len(pairs) == 1 {
			c.Text = string(pairs[0].UserText)
		}
		if ask := c.after(confirmed); ask != nil {
			return ask, nil
		}
	}
	if err := w.session.Delete(ctx, seqs...); err != nil {
		return nil, err
	}
	if slices.Contains(seqs, w.ReAsked()) {
		w.EndReAsk()
	}
	return nil, nil
}

// answered reports whether any answer of a pair, chosen or not, is without an error.
func answered(p assistant.Pair) bool {
	all, _ := p.Answers()
	return slices.ContainsFunc(all, func(a assistant.Variant) bool { return a.State != assistant.PairError })
}

// answersOf counts the answers of pairs that contain anything, and the lines of their texts.
func answersOf(pairs []assistant.Pair) (answers, lines int) {
	for _, p := range pairs {
		all, _ := p.Answers()
		for _, a := range all {
			if a.AssistantText != "" || a.Reasoning != "" || len(a.ToolCalls) > 0 {
				answers++
				lines += 1 + strings.Count(strings.TrimSpace(string(a.AssistantText)), "\n")
			}
		}
	}
	return answers, lines
}

// digestOf identifies pairs by what is lost with them: their messages and all their answers, but not their marks.
func digestOf(pairs []assistant.Pair) string {
	sum := sha256.New()
	for _, p := range pairs {
		answers, _ := p.Answers()
		fmt.Fprintf(sum, "%d %q %q\n", p.Seq, p.State, p.UserText)
		for _, a := range answers {
			fmt.Fprintf(sum, "%q %q %q %d\n", a.ID, a.State, a.AssistantText, len(a.Payloads))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// SetStars gives a pair 0 to 3 stars.
func (w *Workspace) SetStars(ctx context.Context, seq int64, n int) error {
	n = min(max(n, 0), 3)
	return w.session.Mark(ctx, assistant.PairMark{Seq: seq, Star: &n})
}

// ToggleFlag inverts the flag of a pair and returns the new value.
func (w *Workspace) ToggleFlag(ctx context.Context, seq int64) (flag bool, err error) {
	p, err := w.pair(ctx, seq)
	if err != nil {
		return false, err
	}
	flag = !p.Flag
	return flag, w.session.Mark(ctx, assistant.PairMark{Seq: seq, Flag: &flag})
}

// SetTopic gives a pair a topic, as a path; "" is the root.
func (w *Workspace) SetTopic(ctx context.Context, seq int64, path string) error {
	return w.session.Mark(ctx, assistant.PairMark{Seq: seq, Topic: &path})
}

func (w *Workspace) pair(ctx context.Context, seq int64) (*assistant.Pair, error) {
	pairs, err := w.session.Pairs(ctx, []int64{seq})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, assistant.ErrNoPair
	}
	return &pairs[0], nil
}
