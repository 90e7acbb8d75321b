package modelfilter_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"winnow/adapters/modelfilter"
)

// lists are the models of two providers.
type lists struct{}

func (lists) Cached(provider string) (modelfilter.ModelList, bool) {
	ids := map[string][]string{
		"openai": {"openai/gpt-4", "openai/gpt-4-mini", "openai/o3", "openai/o3-mini"}, "anthropic": {"anthropic/claude-3", "anthropic/claude-4"},
	}[provider]
	return modelfilter.ModelList{Provider: provider, IDs: ids}, ids != nil
}

func (lists) Models(context.Context, string) (modelfilter.ModelList, error) {
	return modelfilter.ModelList{}, errors.New("the network is down")
}

func (lists) MarkSeen(string) error { return nil }

func TestDescribeChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("OPENAI_API_KEY=x\nANTHROPIC_API_KEY=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := modelfilter.Open(t.Context(), modelfilter.Options{
		EnvFile: file, Models: lists{}, Environ: func() []string { return []string{"WHITELIST_MODELS_ANTHROPIC=claude-4"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	const none = `{"provider":"openai","rules":{}}`
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":             {none, none, ""},
		"the search only":     {none, `{"provider":"openai","search":"x","rules":{}}`, ""},
		"the provider":        {none, `{"provider":"anthropic","rules":{}}`, "switched to anthropic"},
		"one rule":            {none, `{"provider":"openai","rules":{"openai":{"ignore":["gpt*"]}}}`, "hid gpt* on openai (2 models)"},
		"one model":           {none, `{"provider":"openai","rules":{"openai":{"ignore":["o3"]}}}`, "hid o3 on openai (1 model)"},
		"a rule deleted":      {`{"provider":"openai","rules":{"openai":{"ignore":["gpt*"]}}}`, none, "stopped hiding gpt* on openai (2 models shown)"},
		"allowed":             {`{"rules":{"openai":{"ignore":["gpt*"]}}}`, `{"rules":{"openai":{"ignore":["gpt*"],"whitelist":["gpt-4"]}}}`, "allowed gpt-4 on openai (1 model shown)"},
		"not allowed":         {`{"rules":{"openai":{"ignore":["gpt*"],"whitelist":["gpt-4"]}}}`, `{"rules":{"openai":{"ignore":["gpt*"]}}}`, "stopped allowing gpt-4 on openai (1 model hidden)"},
		"a rule for nothing":  {none, `{"provider":"openai","rules":{"openai":{"whitelist":["gpt*"]}}}`, "allowed gpt* on openai (changes no model)"},
		"hidden and shown":    {`{"rules":{"openai":{"ignore":["gpt*"]}}}`, `{"rules":{"openai":{"ignore":["o3*","*-mini"]}}}`, "changed 3 rules on openai (2 models hidden, 1 model shown)"},
		"many rules":          {none, `{"rules":{"openai":{"ignore":["a","b","c","d","o3"]}}}`, "hid a, b, c, 2 more on openai (1 model)"},
		"two providers":       {none, `{"rules":{"openai":{"ignore":["o3"]},"anthropic":{"ignore":["*3"]}}}`, "changed 2 rules on anthropic, openai (2 models hidden)"},
		"what is allowed":     {none, `{"rules":{"anthropic":{"ignore":["*"]}}}`, "hid * on anthropic (1 model)"}, // the environment allows claude-4
		"the order":           {`{"rules":{"openai":{"ignore":["a","b"]}}}`, `{"rules":{"openai":{"ignore":["b","a"]}}}`, ""},
		"unknown provider":    {none, `{"rules":{"unknown":{"ignore":["*"]}}}`, "hid * on unknown"},
		"invisible in a rule": {none, `{"rules":{"openai":{"ignore":["zz\u001b[31m*"]}}}`, "hid zz‹U+001B›[31m* on openai (changes no model)"},
		"not a state":         {none, `[`, ""},
	} {
		if got := w.DescribeChange(json.RawMessage(c.before), json.RawMessage(c.after)); got != c.want {
			t.Errorf("%s: DescribeChange = %q, want %q", name, got, c.want)
		}
	}
}
