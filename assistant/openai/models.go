package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/tidwall/gjson"

	"winnow/assistant/llm"
)

// Limits on a list of models: entries, bytes, bytes per id.
const (
	maxModels    = 200_000
	maxModelList = 128 << 20
	maxModelID   = 512

	listTimeout = time.Minute // for the whole list, and for all of what Get reads
)

// ErrEmptyList is the cause of the error for an endpoint that serves no models.
var ErrEmptyList = errors.New("the list of models is empty")

// Models returns the models that the endpoint serves, in its order, without duplicates. A
// missing or empty list is an error, and so is one without a valid entry; invalid entries
// among valid ones are dropped and logged.
func (c *Client) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	body, err := c.fetch(ctx, wait{listTimeout, c.opts.Timeouts.Connect}, maxModelList, "its list of models", func(ctx context.Context, res **http.Response, via option.RequestOption) error {
		api := sdk.Client{Options: c.request}
		return api.Get(ctx, "models", nil, res, via)
	})
	if err != nil {
		return nil, err
	}
	return c.parseModels(bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark)))
}

// Get fetches a resource that is not part of the usual API. path is relative to the base
// URL. The body may be up to limit bytes long, and must arrive within a minute.
func (c *Client) Get(ctx context.Context, path string, limit int64) ([]byte, error) {
	return c.fetch(ctx, wait{listTimeout, c.opts.Timeouts.Connect}, limit, path, func(ctx context.Context, res **http.Response, via option.RequestOption) error {
		api := sdk.Client{Options: c.request}
		return api.Get(ctx, path, nil, res, via)
	})
}

// wait limits the total time for a body, and the time without data.
type wait struct{ whole, silent time.Duration }

// fetch makes a request that is not streamed and returns the body of the response. A body
// longer than limit bytes is an error. what names the resource in errors.
func (c *Client) fetch(
	ctx context.Context, w wait, limit int64, what string,
	request func(context.Context, **http.Response, option.RequestOption) error,
) ([]byte, error) {
	late := c.newError(llm.KindNet, errTimeout, "%s has not sent %s within %v", c.host, what, w.whole)
	ctx, cancel := context.WithTimeoutCause(ctx, w.whole, late)
	defer cancel()
	stalled := c.newError(llm.KindNet, errTimeout, "no data from %s for %v while reading %s", c.host, w.silent, what)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := time.AfterFunc(w.silent, func() { stop(stalled) })
	defer silence.Stop()
	var res *http.Response
	err := request(ctx, &res, option.WithMiddleware(c.checkStatus))
	var body []byte
	tooLong := c.newError(llm.KindUnknown, nil, "%s sent more than %d MiB for %s", c.host, limit>>20, what)
	if err == nil {
		defer res.Body.Close()
		if res.ContentLength > limit { // the length may also be unknown (-1)
			return nil, tooLong
		}
		body, err = io.ReadAll(io.LimitReader(&resetting{res.Body, silence, w.silent}, limit+1))
	}
	switch {
	case err == nil && int64(len(body)) > limit:
		return nil, tooLong
	case err == nil:
		return body, nil
	case errors.Is(context.Cause(ctx), late):
		return nil, late
	case errors.Is(context.Cause(ctx), stalled):
		return nil, stalled
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, c.netError(err)
}

// resetting is a reader that restarts a timer whenever it reads something.
type resetting struct {
	io.Reader
	timer *time.Timer
	after time.Duration
}

func (r *resetting) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.timer.Reset(r.after)
	}
	return n, err
}

// parseModels reads a list in one of the forms {"data":[…]}, {"models":[…]} or […].
func (c *Client) parseModels(text []byte) ([]llm.ModelInfo, error) {
	switch {
	case len(text) == 0:
		return nil, c.listError("the answer is empty")
	case text[0] != '{' && text[0] != '[':
		return nil, c.listError(c.failureMessage(0, parseFailure(text[:min(len(text), maxErrorBody)])))
	case !json.Valid(text):
		return nil, c.listError("the answer is not valid JSON, or was cut off")
	}
	list := gjson.ParseBytes(text)
	if list.IsObject() {
		if f := readFailure(list.Get("error")); f != nil {
			return nil, c.failureError(0, *f, nil)
		}
		named := list.Get("data")
		if !named.Exists() {
			named = list.Get("models")
		}
		list = named
	}
	if list.Type != gjson.Null && !list.IsArray() || !list.Exists() {
		return nil, c.listError(`there is no "data" list in the answer`)
	}
	var models []llm.ModelInfo
	seen := map[string]bool{}
	var members object
	invalid, all := 0, 0 // entries that are not models; all entries
	list.ForEach(func(_, v gjson.Result) bool {
		if list.Type == gjson.Null { // Ollama without models sends null
			return false
		}
		members = members.read(v)
		info, id := c.modelInfo(v, members)
		switch {
		case id == "" || len(id) > maxModelID || !sendable(id):
			invalid++
		case !seen[id]:
			seen[id] = true
			models = append(models, info)
		}
		all++
		return all <= maxModels
	})
	switch {
	case all > maxModels:
		return nil, c.newError(llm.KindUnknown, nil, "%s lists more than %d models", c.host, maxModels)
	case all == 0:
		words := appendFact(c.host+" returned an empty list of models", c.wrongVersion())
		return nil, c.newError(llm.KindUnknown, ErrEmptyList, "%s", words)
	case len(models) == 0:
		return nil, c.listError("no entry of the list has a valid id")
	case invalid > 0:
		c.opts.Log.Warn("models left out", "provider", c.opts.Name, "entries", invalid)
	}
	return models, nil
}

// listError returns the error for an endpoint that does not send a usable list of models.
func (c *Client) listError(why string) *llm.RequestError {
	return c.newError(llm.KindUnknown, nil, "%s returned no usable list of models: %s", c.host, appendFact(why, c.wrongVersion()))
}

// Each variable lists the members of an entry that have the same meaning, in order of
// preference, as sent by OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio, Together,
// Mistral, LiteLLM and the enriched list of LLM-API-Key-Proxy.
var (
	idNames      = []string{"id", "name", "model"}
	modeNames    = []string{"mode", "type"}
	contextNames = []string{
		"context_window", "max_context_length", "meta.n_ctx", "context_length", "max_model_len", "max_input_tokens",
		"top_provider.context_length", "limits.max_context_window_tokens", "meta.n_ctx_train",
	}
	outputNames = []string{"architecture.output_modalities", "supported_output_modalities"}
	inputNames  = []string{"architecture.input_modalities", "supported_input_modalities", "supported_modalities", "input_modalities", "modalities.input"}
	toolNames   = []string{"function_calling", "tool_use", "tool_calling", "tools"}
	reasonNames = []string{"reasoning", "thinking", "include_reasoning"}
	visionNames = []string{"vision", "multimodal", "image_input"}

	answerNames  = []string{"max_completion_tokens", "max_output_tokens", "top_provider.max_completion_tokens", "limits.max_output_tokens"}
	releaseNames = []string{"release_date", "released_at"}
	cutoffNames  = []string{"knowledge_cutoff", "knowledge"}
)

// modelInfo reads an element of a list of models leniently; o is its members. An element that
// is a string is an id. id is "" if the element has no id.
func (c *Client) modelInfo(v gjson.Result, o object) (info llm.ModelInfo, id string) {
	if v.Type == gjson.String {
		id = v.Str
	} else {
		id = firstString(o, idNames)
	}
	if id == "" {
		return info, id
	}
	info = llm.ModelInfo{
		ID: c.opts.Name + "/" + id, Source: "live", Retrieved: c.opts.Now(),
		Images: containsAny(strings.ToLower(id), imageIDs),
	}
	for _, name := range contextNames {
		if info.Context = count(o.get(name)); info.Context > 0 {
			info.Known, info.ContextFrom = true, llm.FromEndpoint
			break
		}
	}
	parameters, abilities := flags(o.get("supported_parameters")), flags(o.get("capabilities"))
	canReason, _ := anyFlag(abilities, reasonNames)
	acceptsReasoning, _ := anyFlag(parameters, reasonNames)
	info.Reasons = canReason || acceptsReasoning
	info.Images = info.Images || abilities["image_generation"]
	chats, known := abilities["completion_chat"]
	info.NoChat = known && !chats || noChat(id, firstString(o, modeNames))
	for _, name := range outputNames {
		if out := flags(o.get(name)); len(out) > 0 {
			info.Images = info.Images || out["image"]
			info.NoChat = info.NoChat || !out["text"]
		}
	}
	if sees, known := anyFlag(abilities, visionNames); known {
		info.Vision = llm.AbilityOf(sees)
	} else if sees := o.get("supports_vision"); sees.IsBool() {
		info.Vision = llm.AbilityOf(sees.Bool())
	}
	for _, name := range inputNames {
		if in := flags(o.get(name)); len(in) > 0 {
			info.Vision = llm.AbilityOf(in["image"])
		}
	}
	// A model is assumed to support tools if its entry does not mention them.
	calls, known := anyFlag(abilities, toolNames)
	info.Tools = !info.NoChat && (calls || !known) && (len(parameters) == 0 || parameters["tools"])
	info.Facts = modelFacts(o, abilities)
	return info, id
}

// firstString returns the first of these members that is a non-empty string, or "".
func firstString(o object, names []string) string {
	for _, name := range names {
		if s := o.get(name); s.Type == gjson.String && s.Str != "" {
			return s.Str
		}
	}
	return ""
}

// flags reads a list of words (each means true) or an object of booleans.
func flags(v gjson.Result) map[string]bool {
	if !v.Exists() {
		return nil
	}
	out := map[string]bool{}
	v.ForEach(func(name, value gjson.Result) bool {
		switch {
		case v.IsArray():
			out[value.String()] = true
		case value.IsBool():
			out[name.Str] = value.Bool()
		}
		return true
	})
	return out
}

// anyFlag reports whether one of names is set, and whether flags contains any of names.
func anyFlag(flags map[string]bool, names []string) (set, known bool) {
	for _, name := range names {
		value, there := flags[name]
		set, known = set || value, known || there
	}
	return set, known
}

// modelFacts reads the facts in an entry of a list of models.
func modelFacts(o object, abilities map[string]bool) llm.Facts {
	ability := func(names ...string) llm.Ability {
		if can, known := anyFlag(abilities, names); known {
			return llm.AbilityOf(can)
		}
		return ""
	}
	f := llm.Facts{
		PriceIn:     price(o, "pricing.prompt", "input_cost_per_token", "pricing.input"),
		PriceOut:    price(o, "pricing.completion", "output_cost_per_token", "pricing.output"),
		PriceCached: price(o, "pricing.input_cache_read", "cache_read_input_token_cost", "pricing.cached_input"),
		ToolCalls:   ability(toolNames...), Reasoning: ability(reasonNames...), Structured: ability("structured_output", "structured_outputs", "json_schema"),
		Inputs: modalities(o, inputNames), Outputs: modalities(o, outputNames),
		Family: llm.Word(o.get("family").String()), Released: llm.Date(firstString(o, releaseNames)), Cutoff: llm.Date(firstString(o, cutoffNames)),
		Status: llm.StatusOf(o.get("status").String()), Kind: llm.ModelKind(firstString(o, modeNames)),
	}
	for _, name := range answerNames {
		if f.MaxAnswer = count(o.get(name)); f.MaxAnswer > 0 {
			break
		}
	}
	return f
}

// modalities returns the first of these members that lists modalities, in the form of
// llm.Facts.
func modalities(o object, names []string) string {
	for _, name := range names {
		if words := flags(o.get(name)); len(words) > 0 {
			listed := slices.Sorted(maps.Keys(words))
			for i, word := range listed {
				listed[i] = llm.Word(word)
			}
			listed = slices.DeleteFunc(listed, func(word string) bool { return word == "" })
			return strings.Join(listed[:min(len(listed), maxModalities)], ",")
		}
	}
	return ""
}

// maxModalities limits a list of modalities; there are about five.
const maxModalities = 16

// price reads the first of three members that contains a price: the first two are per
// token, the third (from Together) is per million tokens.
func price(o object, perToken, alsoPerToken, perMillion string) llm.Price {
	const million = 1e6
	for i, name := range []string{perToken, alsoPerToken, perMillion} {
		n, ok := number(o.get(name))
		if i < 2 {
			n *= million
		}
		if p := llm.PriceOf(n); ok && p.Known {
			return p
		}
	}
	return llm.Price{}
}

// Parts of ids and modes of models that are not for chat. An unknown mode is assumed to be
// for chat.
var (
	imageIDs   = []string{"dall-e", "gpt-image", "imagen", "stable-diffusion", "flux"}
	otherIDs   = []string{"embed", "tts", "whisper", "moderation", "transcribe", "rerank", "sora", "veo-", "text-to-speech", "speech-to-text", "davinci-002", "babbage-002", "gpt-3.5-turbo-instruct"}
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
