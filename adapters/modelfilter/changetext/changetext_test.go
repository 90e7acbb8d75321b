package changetext_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/changetext"
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

func (lists) Seen(string) error { return nil }

func TestDescribe(t *testing.T) {
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
		"one rule":            {none, `{"provider":"openai","rules":{"openai":{"ignore":["gpt*"]}}}`, "hid 2 models · ignore rule gpt*"},
		"one model":           {none, `{"provider":"openai","rules":{"openai":{"ignore":["o3"]}}}`, "hid 1 model · ignore rule o3"},
		"a rule deleted":      {`{"provider":"openai","rules":{"openai":{"ignore":["gpt*"]}}}`, none, "showed 2 models · deleted ignore rule gpt*"},
		"a rule for nothing":  {none, `{"provider":"openai","rules":{"openai":{"whitelist":["gpt*"]}}}`, "added allow rule gpt*"},
		"hidden and shown":    {`{"rules":{"openai":{"ignore":["gpt*"]}}}`, `{"rules":{"openai":{"ignore":["o3*","*-mini"]}}}`, "hid 2 models, showed 1 model · added 2 rules, deleted 1 rule"},
		"two providers":       {none, `{"rules":{"openai":{"ignore":["o3"]},"anthropic":{"ignore":["*3"]}}}`, "hid 2 models · added 2 rules"},
		"what is allowed":     {none, `{"rules":{"anthropic":{"ignore":["*"]}}}`, "hid 1 model · ignore rule *"}, // the environment allows claude-4
		"the order":           {`{"rules":{"openai":{"ignore":["a","b"]}}}`, `{"rules":{"openai":{"ignore":["b","a"]}}}`, ""},
		"unknown provider":    {none, `{"rules":{"nobody":{"ignore":["*"]}}}`, "added ignore rule *"},
		"invisible in a rule": {none, `{"rules":{"openai":{"ignore":["zz\u001b[31m*"]}}}`, "added ignore rule zz*"},
		"not a state":         {none, `[`, ""},
	} {
		if got := changetext.Describe(w, json.RawMessage(c.before), json.RawMessage(c.after)); got != c.want {
			t.Errorf("%s: Describe = %q, want %q", name, got, c.want)
		}
	}
}
