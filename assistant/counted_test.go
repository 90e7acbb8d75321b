package assistant

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 pairs", 1: "1 pair", 2: "2 pairs", 100000: "100000 pairs"} {
		if got := Counted(n, "pair"); got != want {
			t.Errorf("Counted(%d) = %q, want %q", n, got, want)
		}
	}
}
