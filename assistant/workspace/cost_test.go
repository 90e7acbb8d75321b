package workspace

import (
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func TestTheCostOfASession(t *testing.T) {
	priced := llm.Facts{PriceIn: llm.PriceOf(1), PriceOut: llm.PriceOf(10), PriceCached: llm.PriceOf(0.1)}
	answer := func(u *llm.Usage) assistant.Variant { return assistant.Variant{Usage: u} }
	var sum Cost
	if got := sum.String(); got != "no answer of this session has a usage that its endpoint reported" {
		t.Errorf("nothing: %q", got)
	}
	sum.add(answer(&llm.Usage{Prompt: 2000, Cached: 1000, Completion: 500}), priced)
	if got, want := sum.String(), "this session: 1 answer, 2.5k tokens, $0.006"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	sum.add(answer(&llm.Usage{Prompt: 10}), llm.Facts{})
	sum.add(answer(nil), priced)
	want := "this session: 2 answers, 2.5k tokens, $0.006 for the 1 whose price is known; the usage of 1 more is not known"
	if got := sum.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	kept := answer(&llm.Usage{Prompt: 1000})
	kept.Price = new(2.5)
	sum = Cost{}
	sum.add(kept, priced) // which was another then
	if want := "this session: 1 answer, 1.0k tokens, $2.50"; sum.String() != want {
		t.Errorf("%q, want %q", sum, want)
	}
}
