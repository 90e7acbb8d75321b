package assistant_test

import (
	"testing"

	"winnow/assistant"
)

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"gpt-4o", "gpt-4o", 0},
		{"gtp-4o", "gpt-4o", 1},
		{"gpt-4", "gpt-4o", 1},
		{"gpt-4o", "gpt-4", 1},
		{"gpt-5o", "gpt-4o", 1},
		{"abcd", "badc", 2},
		{"kitten", "sitting", 3},
		{"größe", "grösse", 2},
		{"日本", "本日", 1},
		{"ca", "abc", 3},
	} {
		if got := assistant.EditDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
