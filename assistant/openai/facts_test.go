package openai

import (
	"os"
	"testing"

	"winnow/assistant/llm"
)

func TestFactsOfTheProxysEnrichedList(t *testing.T) {
	raw, err := os.ReadFile("testdata/proxy_models.json")
	if err != nil {
		t.Fatal(err)
	}
	models, err := listOf(t, string(raw))
	if err != nil || len(models) != 15 {
		t.Fatalf("%d models, %v", len(models), err)
	}
	of := map[string]llm.ModelInfo{}
	for _, m := range models {
		of[m.ID] = m
	}
	chat := llm.Facts{MaxAnswer: 16384, Structured: llm.Unable, Reasoning: llm.Unable, Inputs: "text", Outputs: "text", Kind: "chat"}
	for id, want := range map[string]llm.Facts{
		"test/openai/gpt-4o": with(chat, func(f *llm.Facts) {
			f.PriceIn, f.PriceOut, f.ToolCalls, f.Inputs = llm.PriceOf(2.5), llm.PriceOf(10), llm.Able, "image,text"
			f.Family, f.Released, f.Status = "gpt", "2024-01-15", llm.StatusDeprecated
		}),
		"test/openai/gpt-4o-mini": with(chat, func(f *llm.Facts) { // free of charge, status not stated
			f.PriceIn, f.PriceOut, f.ToolCalls, f.Family, f.Released = llm.PriceOf(0), llm.PriceOf(0), llm.Unable, "gpt", "2025-02-15"
		}),
		"test/openai/gpt-5-mini": with(chat, func(f *llm.Facts) { // an entry that was not enriched
			f.MaxAnswer, f.ToolCalls = 0, of["test/openai/gpt-5-mini"].Facts.ToolCalls
		}),
	} {
		if got := of[id].Facts; got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", id, got, want)
		}
	}
	if got := of["test/openai/text-embedding-3-large"].Facts.Kind; got != "embedding" {
		t.Errorf("the kind of an embedding model is %q", got)
	}
}

func with(f llm.Facts, change func(*llm.Facts)) llm.Facts {
	change(&f)
	return f
}

func TestFactsOfOneMember(t *testing.T) {
	for entry, want := range map[string]llm.Facts{
		`"pricing":{"prompt":"0","completion":"-1"}`:         {PriceIn: llm.PriceOf(0)}, // OpenRouter's price of a router is -1
		`"pricing":{"prompt":2,"completion":null}`:           {},                        // two dollars a token
		`"pricing":{"input_cache_read":"0.0000005"}`:         {PriceCached: llm.PriceOf(0.5)},
		`"input_cost_per_token":9.999999999999999e-08`:       {PriceIn: llm.PriceOf(0.1)},
		`"release_date":"2025-01-31T00:00:00Z"`:              {Released: "2025-01-31"},
		`"release_date":"2025-13"`:                           {},
		`"knowledge_cutoff":"2024-10"`:                       {Cutoff: "2024-10"},
		`"family":"\u001b[31mGPT"`:                           {},
		`"family":" GPT-5 "`:                                 {Family: "gpt-5"},
		`"family":7`:                                         {Family: "7"},
		`"status":"Beta"`:                                    {Status: llm.StatusPreview},
		`"status":"on fire"`:                                 {},
		`"mode":"image_generation"`:                          {Kind: "image"},
		`"mode":"audio_transcription"`:                       {Kind: "audio"},
		`"mode":"rerank"`:                                    {Kind: "rerank"},
		`"mode":"<b>"`:                                       {},
		`"input_modalities":["text","\u202e","audio"]`:       {Inputs: "audio,text"},
		`"capabilities":{"structured_output":true}`:          {Structured: llm.Able},
		`"capabilities":["completion","tools","thinking"]`:   {ToolCalls: llm.Able, Reasoning: llm.Able},
		`"max_output_tokens":-1,"max_completion_tokens":"x"`: {},
	} {
		got, err := listOf(t, `{"data":[{"id":"q",`+entry+`}]}`)
		if err != nil || got[0].Facts != want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", entry, got[0].Facts, err, want)
		}
	}
}
