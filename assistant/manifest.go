package assistant

import (
	"context"
	"fmt"
	"slices"

	"winnow/assistant/budget"
	"winnow/assistant/nearest"
)

// manifest is the part of the system prompt that lists the payloads of the
// visible pairs. The model fetches a payload with get_payload. The manifest
// does not depend on the boundary, because the boundary depends on the size
// of the system prompt.
type manifest struct {
	pairs []Pair // the pairs that have payloads, oldest first, as returned by PayloadStore
	lines []string
	older int // payloads left out of lines for lack of room
}

// payloadPiece is the number of pairs that are read at once from a store that
// is not a PayloadStore.
const payloadPiece = 500

// readManifest reads the payloads of refs. Like the window's context, the list
// may take up to a quarter of the model's limit; older payloads are left out.
func (s *Session) readManifest(ctx context.Context, refs []Ref, p budget.Params, limit budget.Limit) (m manifest, err error) {
	if m.pairs, err = s.payloadsOf(ctx, seqsOf(refs)); err != nil {
		return m, fmt.Errorf("the history could not be read: %w", err)
	}
	room := limit.ML() / 4
	for i := range slices.Backward(m.pairs) {
		for _, payload := range slices.Backward(m.pairs[i].Payloads) {
			line := fmt.Sprintf("\n- [%s] %s", payload.ID, payload.Summary)
			if payload.Decision != "" {
				line += " (" + payload.Decision + " by the user)"
			}
			if room -= p.Estimate(line); room < 0 {
				m.older++
			} else {
				m.lines = append(m.lines, line)
			}
		}
	}
	slices.Reverse(m.lines)
	return m, nil
}

func (s *Session) payloadsOf(ctx context.Context, seqs []int64) (out []Pair, err error) {
	if store, ok := s.opts.Store.(PayloadStore); ok {
		return store.Payloads(ctx, seqs)
	}
	for piece := range slices.Chunk(seqs, payloadPiece) {
		pairs, err := s.opts.Store.Load(ctx, piece)
		if err != nil {
			return nil, err
		}
		for i := range pairs {
			if len(pairs[i].Payloads) > 0 {
				p := Pair{Seq: pairs[i].Seq, Payloads: pairs[i].Payloads}
				for n := range p.Payloads {
					p.Payloads[n].Data = nil
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func seqsOf(refs []Ref) []int64 {
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	return seqs
}

// text returns the list for the system prompt; "" if there are no payloads.
func (m manifest) text() string {
	intro := "AVAILABLE PAYLOADS (use the get_payload tool to retrieve the full data):"
	if m.older > 0 {
		intro = fmt.Sprintf("AVAILABLE PAYLOADS, without the oldest %d (use the get_payload tool to retrieve the full data):", m.older)
	}
	return withIntro(intro, m.lines)
}

// tool returns get_payload, which fetches a payload by its id, listed or not.
func (m manifest) tool(store Store) Tool {
	type args struct {
		PayloadID string `json:"payload_id" jsonschema:"the id in brackets in the list of payloads"`
	}
	return NewTool("get_payload", "Fetch the full data of a payload listed under CONVERSATION DATA.",
		func(ctx context.Context, a args) (ToolResult, error) {
			var ids []string
			for _, p := range m.pairs {
				has := func(p Payload) bool { return p.ID == a.PayloadID }
				if slices.ContainsFunc(p.Payloads, has) {
					pairs, err := store.Load(ctx, []int64{p.Seq})
					if err != nil || len(pairs) == 0 {
						return Fail(CodeFailed, "the payload %q can no longer be read", a.PayloadID), err
					}
					if i := slices.IndexFunc(pairs[0].Payloads, has); i >= 0 {
						return OK(pairs[0].Payloads[i].Summary, pairs[0].Payloads[i].Data), nil
					}
				}
				for _, have := range p.Payloads {
					ids = append(ids, have.ID)
				}
			}
			return Fail(CodeFailed, "there is no payload %q.%s", a.PayloadID, nearest.Hint(a.PayloadID, ids)), nil
		})
}

// tokens returns how many tokens the manifest adds to the system prompt.
func (m manifest) tokens(p budget.Params) int {
	if len(m.pairs) == 0 {
		return 0
	}
	return p.Estimate("\n\n"+dataHeading+"\n\n"+m.text()) + specCost(m.tool(nil).Spec(), p)
}

// recountPayloads calls countPayloads after a change, even if ctx has ended; if that fails, the old estimate stays.
func (s *Session) recountPayloads(ctx context.Context) {
	if err := s.countPayloads(context.WithoutCancel(ctx)); err != nil {
		s.log.Warn("payloads not counted", "error", err)
	}
}

// countPayloads measures what the payloads of the visible pairs add to the system prompt.
func (s *Session) countPayloads(ctx context.Context) error {
	s.mu.Lock()
	refs, made, params, limit := slices.Clone(s.view.refs), s.view.made, s.opts.Settings.Budget, s.limit()
	s.mu.Unlock()
	m, err := s.readManifest(ctx, refs, params, limit)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, now := &s.view, m.tokens(params); v.made == made && now != v.payloads {
		v.setSystem(v.system-v.payloads+now, now)
		v.tracker.Dirty()
	}
	return nil
}
