package nearest_test

import (
	"fmt"
	"testing"

	"winnow/assistant/nearest"
)

func TestDistance(t *testing.T) {
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
		if got := nearest.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestHint(t *testing.T) {
	known := []string{"add_ignore_rule", "remove_ignore_rule", "save_changes"}
	for name, want := range map[string]string{
		"add_ignore_rul": " Did you mean 'add_ignore_rule'?",
		"SAVE_CHANGE":    " Did you mean 'save_changes'?",
		"weather":        " Available: add_ignore_rule, remove_ignore_rule, save_changes.",
	} {
		if got := nearest.Hint(name, known); got != want {
			t.Errorf("Hint(%q) = %q, want %q", name, got, want)
		}
	}
	if got := nearest.Hint("x", nil); got != "" {
		t.Errorf("Hint without names = %q", got)
	}
}

func TestNames(t *testing.T) {
	known := []string{"openai", "OpenRouter", "anthropic", "gemini", "ai", "groq", "grok"}
	for name, want := range map[string]string{
		"opnai": "[openai]", "OPENAI": "[openai]", "open": "[openai OpenRouter]", "google-gemini": "[gemini]", "gro": "[groq grok]", "xyz": "[]", "": "[]", "a": "[ai openai]",
	} {
		if got := fmt.Sprint(nearest.Names(name, known, 2)); got != want {
			t.Errorf("Names(%q) = %s, want %s", name, got, want)
		}
	}
}
