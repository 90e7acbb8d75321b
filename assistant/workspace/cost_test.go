package workspace

import (
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func TestTheCostOfASession(t *testing.T) {
	priced := llm.Facts{PriceIn: llm.PriceOf(1), PriceOut: llm.PriceOf(10), PriceCached: llm.PriceOf(0.1)}
	answer := func(u *llm.Usage) assistant.Variant { return assistant.Variant{Usage: u} }
	var sum Cost
	if got := sum.String(); got != "this session has no answers yet" {
		t.Errorf("nothing: %q", got)
	}
	sum.add(answer(&llm.Usage{Prompt: 2000, Cached: 1000, Completion: 500}), priced)
	if got, want := sum.String(), "this session: 1 answer, 2.5k tokens, $0.006"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	sum.add(answer(&llm.Usage{Prompt: 10}), llm.Facts{})
	sum.add(assistant.Variant{AssistantText: "a"}, priced)
	sum.add(answer(nil), priced) // failed: no answer
	want := "this session: 3 answers, 2.5k tokens for the 2 answers whose usage was reported, $0.006 for the 1 answer whose price is known"
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
	sum = Cost{}
	sum.add(assistant.Variant{AssistantText: "a", Took: 90 * time.Second}, priced)
	if want := "this session: 1 answer in 1m30s, tokens not reported"; sum.String() != want {
		t.Errorf("%q, want %q", sum, want)
	}
	sum = Cost{}
	sum.add(answer(&llm.Usage{}), llm.Facts{}) // of the built-in rules
	if want := "this session: 1 answer, 0 tokens, $0.00"; sum.String() != want {
		t.Errorf("%q, want %q", sum, want)
	}
}
