package api

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
)

// PairPath contains the path parameters of a request to a pair of a session. It is exported because huma reads only
// exported fields.
type PairPath struct {
	ID  string `path:"id" doc:"the id of the session"`
	Seq int64  `path:"seq" doc:"the seq of the pair"`
}

// pairList is a page of pairs from the history.
type pairList struct {
	Filter   string     `json:"filter" doc:"the filter line that selects the pairs; the initial view is x, the pairs of the session"`
	Matching int        `json:"matching" doc:"how many pairs the line matches; this page may contain fewer"`
	Counter  string     `json:"counter" doc:"X/Y: the next request includes X of the Y pairs in the view"`
	Pairs    []pairInfo `json:"pairs" nullable:"false" doc:"oldest first; the next page is older"`
	PageEnd
}

// pairInfo is a message with its answer, as the API returns it.
type pairInfo struct {
	Seq      int64 `json:"seq" doc:"the position in the history"`
	Included bool  `json:"included" doc:"true if the next request includes the pair"`
	assistant.Pair
}

type listingPairs struct {
	SessionPath
	Paging
	Filter string `query:"filter" doc:"a filter line; the view does not change"`

	filtered bool // Filter was given, possibly as "", which matches all pairs
}

// Resolve implements huma.Resolver.
func (in *listingPairs) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	in.filtered = u.Query().Has("filter")
	return nil
}

func (s *Server) listPairs(ctx context.Context, in *listingPairs) (pairList, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return pairList{}, err
	}
	core := st.Session.Session()
	shown := core.Shown()
	refs := shown.Refs
	list := pairList{Filter: core.Filter(), Counter: shown.Counter, Pairs: []pairInfo{}}
	if in.filtered {
		list.Filter = in.Filter
		if refs, err = st.Match(ctx, list.Filter); err != nil {
			return pairList{}, err
		}
	}
	list.Matching = len(refs)
	page, end, err := pageOf(refs, in.Paging, true, func(ref assistant.Ref) int64 { return ref.Seq })
	if err != nil {
		return pairList{}, err
	}
	list.PageEnd = end
	seqs := make([]int64, len(page))
	for i, ref := range page {
		seqs[i] = ref.Seq
	}
	pairs, err := core.Pairs(ctx, seqs)
	included := includedIn(shown)
	for _, p := range pairs {
		list.Pairs = append(list.Pairs, pairInfo{p.Seq, included[p.Seq], p})
	}
	return list, err
}

// includedIn returns the seqs of the pairs that the next request includes.
func includedIn(shown assistant.Shown) map[int64]bool {
	included := map[int64]bool{}
	for i, ref := range shown.Refs {
		included[ref.Seq] = shown.Boundary.Includes(i) && ref.Contributes
	}
	return included
}

// answerList contains the answers to a message.
type answerList struct {
	Answers []assistant.Variant `json:"answers" nullable:"false" doc:"oldest first"`
	First   int                 `json:"first" doc:"the index of the first answer in the page, from 0"`
	Chosen  int                 `json:"chosen" doc:"the index of the answer that is shown to users and sent to the model, from 0; it may be in another page"`
	PageEnd
}

type listingAnswers struct {
	PairPath
	Paging
}

func (s *Server) listAnswers(ctx context.Context, in *listingAnswers) (answerList, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return answerList{}, err
	}
	pairs, err := st.Session.Session().Pairs(ctx, []int64{in.Seq})
	switch {
	case err != nil:
		return answerList{}, err
	case len(pairs) == 0:
		return answerList{}, assistant.ErrNoPair
	}
	all, chosen := pairs[0].Answers()
	indexes := make([]int, len(all))
	for i := range indexes {
		indexes[i] = i
	}
	page, end, err := pageOf(indexes, in.Paging, false, func(i int) int { return i })
	list := answerList{Answers: []assistant.Variant{}, Chosen: chosen, PageEnd: end}
	if len(page) > 0 {
		list.First, list.Answers = page[0], all[page[0]:page[0]+len(page)]
	}
	return list, err
}

// choice is the body of a request that chooses an answer.
type choice struct {
	Answer int `json:"answer" minimum:"0" maximum:"1000000" doc:"the index of the answer, from 0"`
}

type choosing struct {
	PairPath
	Body choice
}

func (s *Server) chooseAnswer(ctx context.Context, in *choosing) (pairInfo, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return pairInfo{}, err
	}
	p, err := st.Choose(ctx, in.Seq, in.Body.Answer)
	if err != nil {
		return pairInfo{}, err
	}
	return pairInfo{p.Seq, includedIn(st.Session.Session().Shown())[p.Seq], *p}, nil
}

// requestInfo describes the request that a message would send.
type requestInfo struct {
	Model string          `json:"model" doc:"the model, as PROVIDER/NAME"`
	Body  json.RawMessage `json:"body" doc:"the body of the request to the endpoint, without the headers"`
}

type asking struct {
	SessionPath
	Text string `query:"text" doc:"the message"`
}

func (s *Server) showRequest(ctx context.Context, in *asking) (requestInfo, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return requestInfo{}, err
	}
	req, body, err := st.Request(ctx, in.Text)
	if err == nil && body == nil {
		body, err = assistant.PlainJSON(req)
	}
	return requestInfo{st.Session.Session().Model(), body}, err
}
