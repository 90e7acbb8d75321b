package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

func listOf(t *testing.T, body string) ([]llm.ModelInfo, error) {
	t.Helper()
	s := assistanttest.NewServer(t).Models(assistanttest.Respond(http.StatusOK, body))
	return newRig(t, s).Models(t.Context())
}

func TestModels(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"a list":                {`{"object":"list","data":[{"id":"a"},{"id":"b/c"}]}`, "test/a test/b/c"},
		"doubles":               {`{"data":[{"id":"a"},{"id":"a"},{"id":"b"}]}`, "test/a test/b"},
		"odd elements":          {`{"data":[null,7,[],{"id":null},{"id":{}},"plain",{"name":"named"},{"id":"a","created":"x","owned_by":[]}]}`, "test/plain test/named test/a"},
		"under models":          {`{"models":[{"model":"a"}]}`, "test/a"},
		"a bare array":          {` [{"id":"a"}]`, "test/a"},
		"a byte order mark":     {"\ufeff" + `{"data":[{"id":"a"}]}`, "test/a"},
		"other things around":   {`{"x":{"data":[{"id":"no"}]},"data":[{"id":"a"}],"y":[1]}`, "test/a"},
		"escape sequences":      {`{"data":[{"id":"a\u001b[2Jb"},{"id":"c\nd"},{"id":"\u009b1m"},{"id":"ok"}]}`, "test/ok"},
		"a very long id":        {`{"data":[{"id":"` + strings.Repeat("x", maxModelID+1) + `"},{"id":"ok"}]}`, "test/ok"},
		"invisible, but honest": {`{"data":[{"id":"a\u200bb"}]}`, "test/a\u200bb"},
	} {
		t.Run(name, func(t *testing.T) {
			models, err := listOf(t, test.body)
			var ids []string
			for _, m := range models {
				ids = append(ids, m.ID)
			}
			if got := strings.Join(ids, " "); got != test.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestNoModels(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"an empty list":     {`{"data":[]}`, "returned an empty list of models"},
		"null, from Ollama": {`{"data":null}`, "returned an empty list of models"},
		"an object":         {`{"data":{"id":"a"}}`, `no "data" list`},
		"nothing":           {``, "the answer is empty"},
		"no list":           {`{"ok":true}`, `no "data" list`},
		"a page":            {`<html><title>Login</title>`, `answered with a web page, "Login"`},
		"text":              {`hello`, "returned no usable list of models: hello"},
		"half a list":       {`{"data":[{"id":"a"},{"id"`, "not valid JSON"},
		"only odd elements": {`{"data":[1,2,{}]}`, "no entry of the list has a valid id"},
		"an error, as 200":  {`{"error":{"message":"no key","code":"invalid_api_key"}}`, "auth: no key"},
	} {
		t.Run(name, func(t *testing.T) {
			models, err := listOf(t, test.body)
			if models != nil || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("got %d models, %v; want an error with %q", len(models), err, test.want)
			}
		})
	}
	s := assistanttest.NewServer(t).Models(assistanttest.Respond(401, `{"error":"who are you, `+testKey+`?"}`))
	if _, err := newRig(t, s).Models(t.Context()); fmt.Sprint(err) != "auth: 401 who are you, [key]?" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newRig(t, s).Models(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancellation", err)
	}
}

func TestLongLists(t *testing.T) {
	list := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"data":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":"model-%d"}`, i)
		}
		return b.String() + "]}"
	}
	if models, err := listOf(t, list(100_000)); len(models) != 100_000 || err != nil || models[99_999].ID != "test/model-99999" {
		t.Errorf("100,000 entries give %d models, %v", len(models), err)
	}
	if models, err := listOf(t, list(maxModels+1)); models != nil || !strings.Contains(fmt.Sprint(err), "more than 200000") {
		t.Errorf("too long a list gives %d models, %v", len(models), err)
	}
}

func TestEntries(t *testing.T) {
	for name, test := range map[string]struct {
		entry string
		want  llm.ModelInfo
	}{
		"OpenAI":      {`{"id":"gpt-5","object":"model","owned_by":"system"}`, llm.ModelInfo{Tools: true}},
		"vLLM":        {`{"id":"q","max_model_len":32768}`, llm.ModelInfo{Context: 32768, Known: true, Tools: true}},
		"llama.cpp":   {`{"id":"q","meta":{"n_ctx_train":131072,"n_ctx":4096}}`, llm.ModelInfo{Context: 4096, Known: true, Tools: true}},
		"LM Studio":   {`{"id":"q","type":"llm","max_context_length":8192}`, llm.ModelInfo{Context: 8192, Known: true, Tools: true}},
		"Groq":        {`{"id":"q","context_window":131072}`, llm.ModelInfo{Context: 131072, Known: true, Tools: true}},
		"Mistral":     {`{"id":"q","max_context_length":32000,"capabilities":{"completion_chat":true,"function_calling":false}}`, llm.ModelInfo{Context: 32000, Known: true}},
		"Together":    {`{"id":"q","type":"chat","context_length":8192,"pricing":{"input":0.5,"output":1.5}}`, llm.ModelInfo{Context: 8192, Known: true, Tools: true, Facts: llm.Facts{PriceIn: llm.PriceOf(0.5), PriceOut: llm.PriceOf(1.5)}}},
		"OpenRouter":  {`{"id":"q","context_length":1000,"pricing":{"prompt":"0.000003","completion":"0.000015"},"supported_parameters":["tools","reasoning"],"architecture":{"output_modalities":["text"]}}`, llm.ModelInfo{Context: 1000, Known: true, Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(3), PriceOut: llm.PriceOf(15)}}},
		"a drawer":    {`{"id":"q","architecture":{"output_modalities":["image"]},"supported_parameters":[]}`, llm.ModelInfo{Images: true, NoChat: true}},
		"the proxy":   {`{"id":"q","input_cost_per_token":1e-6,"output_cost_per_token":2e-6,"max_input_tokens":9000,"context_window":10000,"mode":"chat","capabilities":{"function_calling":true,"reasoning":true},"supported_output_modalities":["text"]}`, llm.ModelInfo{Context: 10000, Known: true, Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(1), PriceOut: llm.PriceOf(2)}}},
		"only input":  {`{"id":"q","max_input_tokens":9000}`, llm.ModelInfo{Context: 9000, Known: true, Tools: true}},
		"a bad size":  {`{"id":"q","context_window":-5,"max_model_len":"many","context_length":{}}`, llm.ModelInfo{Tools: true}},
		"an embedder": {`{"id":"q","mode":"embedding"}`, llm.ModelInfo{NoChat: true}},
	} {
		t.Run(name, func(t *testing.T) {
			models, err := listOf(t, `{"data":[`+test.entry+`]}`)
			if err != nil {
				t.Fatal(err)
			}
			got := models[0]
			if got.Source != "live" || got.Retrieved.IsZero() {
				t.Errorf("source %q, retrieved %v", got.Source, got.Retrieved)
			}
			want := test.want
			want.ID, want.Source, want.Retrieved = got.ID, got.Source, got.Retrieved
			if want.Known {
				want.ContextFrom = llm.FromEndpoint
			}
			got.Facts = llm.Facts{PriceIn: got.Facts.PriceIn, PriceOut: got.Facts.PriceOut} // TestFacts reads the others
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestNoChat(t *testing.T) {
	for id, want := range map[string]bool{
		"text-embedding-3-small": true, "tts-1-hd": true, "whisper-1": true, "dall-e-3": true, "omni-moderation-latest": true,
		"gpt-image-1": true, "gpt-4o-transcribe": true, "gemini-embedding-001": true, "babbage-002": true, "rerank-v3": true,
		"gpt-4o": false, "claude-opus-4": false, "llama-3-instruct": false, "o3": false, "qwen3-coder": false,
	} {
		if got := noChat(id, ""); got != want {
			t.Errorf("noChat(%q) = %v", id, got)
		}
	}
}

// Whether a model sees pictures, in the words of the endpoints; unknown where none says it.
func TestWhatAListSaysOfVision(t *testing.T) {
	for entry, want := range map[string]llm.Ability{
		`"architecture":{"input_modalities":["text","image"]}`: llm.Able,
		`"architecture":{"input_modalities":["text"]}`:         llm.Unable,
		`"capabilities":{"vision":false,"tools":true}`:         llm.Unable,
		`"capabilities":{"vision":true}`:                       llm.Able,
		`"capabilities":["completion","multimodal"]`:           llm.Able,
		`"capabilities":["completion"]`:                        "",
		`"supports_vision":false`:                              llm.Unable,
		`"supports_vision":true`:                               llm.Able,
		`"x":1`:                                                "",
	} {
		if got, err := listOf(t, `{"data":[{"id":"a",`+entry+`}]}`); err != nil || got[0].Vision != want {
			t.Errorf("%s is read as %v, %v; want %q", entry, got, err, want)
		}
	}
}

// A provider is named in the options of its client and nowhere else.
func TestAProviderIsNamedOnce(t *testing.T) {
	server := assistanttest.NewServer(t).Models(assistanttest.Respond(http.StatusOK, `{"data":[{"id":"openai/small"}]}`))
	client := newRig(t, server) // whose options name it test
	registry := &llm.Registry{}
	if err := registry.Add(client.Provider()); err != nil {
		t.Fatal(err)
	}
	if failed := registry.Refresh(context.Background()); len(failed) != 0 {
		t.Fatal(failed)
	}
	models := registry.Models()
	if len(models) != 1 || models[0].ID != "test/openai/small" {
		t.Fatalf("models %+v", models)
	}
	if model, name, _, err := registry.Open(models[0].ID); err != nil || model == nil || name != "openai/small" {
		t.Errorf("opened %v as %q: %v", model, name, err)
	}
}
