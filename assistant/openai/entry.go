package openai

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"winnow/assistant"
)

// The members of a model's entry that say the same, in the order in which they
// are believed: those of OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio,
// Together, Mistral, LiteLLM and the enriched list of LLM-API-Key-Proxy.
var (
	idNames      = []string{"id", "name", "model"}
	modeNames    = []string{"mode", "type"}
	contextNames = []string{
		"context_window", "max_context_length", "meta.n_ctx", "context_length", "max_model_len", "max_input_tokens",
		"top_provider.context_length", "limits.max_context_window_tokens", "meta.n_ctx_train",
	}
	toolNames   = []string{"function_calling", "tool_use", "tool_calling", "tools"}
	reasonNames = []string{"reasoning", "thinking", "include_reasoning"}
)

// readEntry reads an element of a list of models, leniently: what it cannot
// use it skips. A plain string is taken as an id. id is "" when there is none.
func readEntry(v gjson.Result, provider string, now time.Time) (info assistant.ModelInfo, id string) {
	if v.Type == gjson.String {
		id = v.Str
	} else if v.IsObject() {
		id = firstString(v, idNames)
	}
	mode := firstString(v, modeNames)
	info = assistant.ModelInfo{
		ID: provider + "/" + id, Source: "live", Retrieved: now,
		PriceIn:  price(v, "pricing.prompt", "input_cost_per_token", "pricing.input"),
		PriceOut: price(v, "pricing.completion", "output_cost_per_token", "pricing.output"),
		Images:   containsAny(strings.ToLower(id), imageIDs),
	}
	for _, name := range contextNames {
		if n := counted(v.Get(name)); n > 0 {
			info.Context, info.Known = n, true
			break
		}
	}
	parameters := words(v.Get("supported_parameters"))
	abilities := words(v.Get("capabilities"))
	info.Reasons = anyTrue(abilities, reasonNames) || anyTrue(parameters, reasonNames)
	info.Images = info.Images || abilities["image_generation"]
	chats, known := abilities["completion_chat"]
	info.NoChat = known && !chats || noChat(id, mode)
	for _, name := range []string{"architecture.output_modalities", "supported_output_modalities"} {
		if out := words(v.Get(name)); len(out) > 0 {
			info.Images = info.Images || out["image"]
			info.NoChat = info.NoChat || !out["text"]
		}
	}
	// An endpoint that says nothing about tools is asked, not doubted.
	info.Tools = !info.NoChat && !noTools(abilities) && (len(parameters) == 0 || parameters["tools"])
	return info, id
}

// firstString returns the first of these members that is a string and not empty.
func firstString(v gjson.Result, names []string) string {
	for _, name := range names {
		if s := v.Get(name); s.Type == gjson.String && s.Str != "" {
			return s.Str
		}
	}
	return ""
}

// words reads a list of words, or an object of flags.
func words(v gjson.Result) map[string]bool {
	out := map[string]bool{}
	switch {
	case v.IsArray():
		for _, word := range v.Array() {
			out[word.String()] = true
		}
	case v.IsObject():
		v.ForEach(func(name, flag gjson.Result) bool {
			if flag.IsBool() {
				out[name.Str] = flag.Bool()
			}
			return true
		})
	}
	return out
}

func anyTrue(words map[string]bool, names []string) bool {
	for _, name := range names {
		if words[name] {
			return true
		}
	}
	return false
}

// noTools reports whether a flag says that the model calls no tools.
func noTools(abilities map[string]bool) bool {
	said := false
	for _, name := range toolNames {
		can, known := abilities[name]
		if can {
			return false
		}
		said = said || known
	}
	return said
}

// million: two of the members give a price per token, the last one, of Together,
// the price per million tokens, as we do.
const million = 1e6

// price reads the first of the members that is a price, in dollars per million
// tokens. A token that costs more than a dollar is not believed.
func price(v gjson.Result, perToken, alsoPerToken, perMillion string) float64 {
	for _, p := range []struct {
		name   string
		factor float64
	}{{perToken, million}, {alsoPerToken, million}, {perMillion, 1}} {
		if n, _ := number(v.Get(p.name)); n > 0 && n*p.factor <= million {
			return n * p.factor
		}
	}
	return 0
}

// The parts of ids that tell what a model is when its entry does not.
var (
	imageIDs = []string{"dall-e", "gpt-image", "imagen", "stable-diffusion", "flux"}
	otherIDs = []string{"embed", "tts", "whisper", "moderation", "transcribe", "rerank", "sora", "veo-", "text-to-speech", "speech-to-text", "davinci-002", "babbage-002", "gpt-3.5-turbo-instruct"}
	// The modes of models that do something else than chat. An unknown mode may chat.
	otherModes = []string{"embed", "image", "audio", "speech", "tts", "stt", "transcri", "moderation", "rerank", "video", "realtime", "ocr"}
)

// noChat reports whether a model with this id and mode cannot chat.
func noChat(id, mode string) bool {
	id = strings.ToLower(id)
	return containsAny(strings.ToLower(mode), otherModes) || containsAny(id, otherIDs) || containsAny(id, imageIDs)
}

// sendable reports whether id can be both shown and sent.
func sendable(id string) bool {
	return utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	})
}
