package llm_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"winnow/assistant/llm"
)

func TestPrice(t *testing.T) {
	for usd, want := range map[float64]string{2.3: "2.30", 0: "0.00", 2.5: "2.50", 0.075: "0.075", 10: "10.00", 1e6: "1000000.00", 0.30000000000000004: "0.30", -1: "", 1e7: "", math.Inf(1): ""} {
		if got := llm.PriceOf(usd).String(); got != want {
			t.Errorf("PriceOf(%v) = %q, want %q", usd, got, want)
		}
	}
	if p := llm.PriceOf(math.NaN()); p.Known {
		t.Errorf("NaN is the price %v", p)
	}
}

func TestAnUnknownPriceIsNotZero(t *testing.T) {
	for _, p := range []llm.Price{{}, llm.PriceOf(0), llm.PriceOf(0.1)} {
		text, err := json.Marshal(p)
		var back llm.Price
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != p {
			t.Errorf("%+v becomes %s, and that %+v, %v", p, text, back, err)
		}
	}
	if text, _ := json.Marshal(llm.Facts{}); string(text) != "{}" {
		t.Errorf("facts of which nothing is known are %s", text)
	}
	if (llm.Facts{PriceIn: llm.PriceOf(0)}).Or(llm.Facts{PriceIn: llm.PriceOf(3)}).PriceIn != llm.PriceOf(0) {
		t.Error("a price of 0 is replaced by another source's price")
	}
}

func FuzzFactsOfAFile(f *testing.F) {
	f.Add(`{"price_in":1,"family":"gpt","released":"2025-01","status":"active","input_modalities":"image,text","vision":"yes"}`)
	f.Add(`{"price_in":-4,"max_output_tokens":-1,"family":"\u001b[2J","kind":"a b","tool_calls":"perhaps","output_modalities":"\u202e"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var read llm.Facts
		if json.Unmarshal([]byte(text), &read) != nil {
			return
		}
		got := read.Valid()
		if got != got.Valid() {
			t.Fatalf("Valid changes what it returned: %+v", got)
		}
		for _, word := range []string{got.Inputs, got.Outputs, got.Family, got.Released, got.Cutoff, string(got.Status), got.Kind} {
			if strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Fatalf("%q in %+v", word, got)
			}
		}
		if got.MaxAnswer < 0 || got.PriceIn.USD < 0 {
			t.Fatalf("%+v", got)
		}
	})
}
