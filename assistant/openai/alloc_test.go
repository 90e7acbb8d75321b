//go:build !race

package openai

import "testing"

// TestDecodeAllocates holds the cost of a token: it may not grow with the
// answer, and stays at the few allocations that a part is made of.
func TestDecodeAllocates(t *testing.T) {
	perToken := func(n int) float64 {
		body := tokens(n)
		return testing.AllocsPerRun(3, func() {
			a := &answer{Client: &Client{}}
			for rest := body; len(rest) > 0; {
				k := min(300, len(rest))
				if _, _, err := a.write(rest[:k]); err != nil {
					t.Fatal(err)
				}
				rest = rest[k:]
			}
		}) / float64(n)
	}
	short, long := perToken(500), perToken(20_000)
	if long > short*1.1 || long > maxTokenAllocs {
		t.Errorf("%.2f allocations per token in a short answer, %.2f in a long one; want at most %d, not growing", short, long, maxTokenAllocs)
	}
}

// maxTokenAllocs: the text, the part that holds it, the copy that the cleaner
// makes of text that is not ASCII, and a little slack.
const maxTokenAllocs = 4
