package offline

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadRelease(t *testing.T) {
	for id, want := range map[string]string{
		"openai/gpt-5.6-sol":                    "[5 6] 99999999 gpt-#-sol true",
		"openai/gpt-4o-2024-08-06":              "[4] 20240806 gpt-#o true",
		"openai/gpt-4-0613":                     "[4] 613 gpt-# true",
		"openai/gpt-3.5-turbo-16k":              "[3 5] 99999999 gpt-#-turbo-16k true",
		"openai/o3-mini":                        "[3] 99999999 o#-mini true",
		"anthropic/claude-3-5-sonnet-20241022":  "[3 5] 20241022 claude-#-sonnet true",
		"anthropic/claude-3-5-sonnet-latest":    "[3 5] 99999999 claude-#-sonnet true",
		"anthropic/claude-opus-4-5-20251101":    "[4 5] 20251101 claude-opus-# true",
		"gemini/gemini-1.5-pro-002":             "[1 5] 2 gemini-#-pro true",
		"x/meta-llama/llama-3.3-70b-instruct":   "[3 3] 99999999 llama-#-70b-instruct false",
		"x/qwen3-235b-a22b":                     "[3] 99999999 qwen#-235b-a22b true",
		"deepseek/deepseek-v3.1":                "[3 1] 99999999 deepseek-v# true",
		"openai/gpt-oss-120b":                   "[] 99999999 gpt-oss-120b true",
		"openai/text-embedding-3-large":         "[3] 99999999 text-embedding-#-large false",
		"mistral/mixtral-8x7b":                  "[] 99999999 mixtral-8x7b true",
		"openai/gpt-99999999999999999999999999": "[] 99999999 gpt-99999999999999999999999999 true",
	} {
		r := readRelease(newModel(id, strings.Split(id, "/")[0]))
		if got := fmt.Sprint(r.version, r.date, " ", r.line, " ", r.chat); got != want {
			t.Errorf("readRelease(%s) = %s, want %s", id, got, want)
		}
	}
}

func TestNewestOf(t *testing.T) {
	ids := []string{
		"a/claude-3-opus-20240229", "a/claude-opus-4-5-20251101", "a/claude-opus-4-8", "a/claude-sonnet-5", "a/claude-sonnet-5-20260101",
		"a/claude-haiku-5", "a/claude-embed-9",
	}
	var ms []model
	for _, id := range ids {
		ms = append(ms, newModel(id, "a"))
	}
	for n, want := range []string{
		"[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5]", "[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5 claude-sonnet-5 claude-opus-4-8]",
	} {
		if got := fmt.Sprint(names(newestOf(ms, n))); got != want {
			t.Errorf("newestOf(%d) = %s, want %s", n, got, want)
		}
	}
	if got := newestOf(ms[6:], 0); len(got) != 1 {
		t.Errorf("with nothing for chat, newest is %v", got)
	}
}
