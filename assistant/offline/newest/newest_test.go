package newest

import (
	"fmt"
	"strings"
	"testing"
)

func TestNewRelease(t *testing.T) {
	for id, want := range map[string]string{
		"openai/gpt-5.6-sol":                    "[5 6] 99999999 gpt-#-sol",
		"openai/gpt-4o-2024-08-06":              "[4] 20240806 gpt-#o",
		"openai/gpt-4-0613":                     "[4] 613 gpt-#",
		"openai/gpt-3.5-turbo-16k":              "[3 5] 99999999 gpt-#-turbo-16k",
		"openai/o3-mini":                        "[3] 99999999 o#-mini",
		"anthropic/claude-3-5-sonnet-20241022":  "[3 5] 20241022 claude-#-sonnet",
		"anthropic/claude-3-5-sonnet-latest":    "[3 5] 99999999 claude-#-sonnet",
		"anthropic/claude-opus-4-5-20251101":    "[4 5] 20251101 claude-opus-#",
		"gemini/gemini-1.5-pro-002":             "[1 5] 2 gemini-#-pro",
		"x/meta-llama/llama-3.3-70b-instruct":   "[3 3] 99999999 llama-#-70b-instruct",
		"x/qwen3-235b-a22b":                     "[3] 99999999 qwen#-235b-a22b",
		"deepseek/deepseek-v3.1":                "[3 1] 99999999 deepseek-v#",
		"openai/gpt-oss-120b":                   "[] 99999999 gpt-oss-120b",
		"mistral/mixtral-8x7b":                  "[] 99999999 mixtral-8x7b",
		"openai/gpt-99999999999999999999999999": "[] 99999999 gpt-99999999999999999999999999",
	} {
		r := newRelease(strings.SplitN(id, "/", 2)[1])
		if got := fmt.Sprint(r.version, r.date, " ", r.series); got != want {
			t.Errorf("newRelease(%s) = %s, want %s", id, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	models := []string{
		"claude-3-opus-20240229", "claude-opus-4-5-20251101", "claude-opus-4-8", "claude-sonnet-5", "claude-sonnet-5-20260101",
		"claude-haiku-5", "claude-embed-9", "sonar-12",
	}
	names := func(name string) (string, string) { return "a/" + name, name }
	for n, want := range []string{
		"[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5]", "[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5 claude-sonnet-5 claude-opus-4-8]",
	} {
		if got := fmt.Sprint(Of(models, names, n, true)); got != want {
			t.Errorf("the newest %d are %s, want %s", n, got, want)
		}
	}
	if got := Of(models, names, 1, false); got[0] != "sonar-12" {
		t.Errorf("of all families the newest is %v", got)
	}
	if got := Of(models[6:7], names, 0, true); len(got) != 1 {
		t.Errorf("with nothing for chat, the newest are %v", got)
	}
}
