package assistant

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 pairs", 1: "1 pair", 2: "2 pairs", 100000: "100000 pairs"} {
		if got := Counted(n, "pair"); got != want {
			t.Errorf("Counted(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTokensAndPricesAsPeopleReadThem(t *testing.T) {
	for n, want := range map[int]string{1: "1 token", 999: "999 tokens", 1000: "1.0k tokens", 1349: "1.3k tokens"} {
		if got := TokenCount(n); got != want {
			t.Errorf("TokenCount(%d) = %q, want %q", n, got, want)
		}
	}
	for usd, want := range map[float64]string{0: "$0.00", 0.0001: "< $0.001", 0.0044: "$0.004", 0.5: "$0.500", 2.5: "$2.50", -1: "$0.00"} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%v) = %q, want %q", usd, got, want)
		}
	}
}
