package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"winnow/assistant/llm"
)

// errNotSent ends a request that is only encoded.
var errNotSent = errors.New("not sent")

// Encode returns the body that Stream would send for req, byte for byte.
func (c *Client) Encode(req llm.Request) (json.RawMessage, error) {
	var body []byte
	capture := func(r *http.Request, _ option.MiddlewareNext) (_ *http.Response, err error) {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return nil, errNotSent
	}
	if err := c.complete(context.Background(), req, capture); !errors.Is(err, errNotSent) {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return body, nil
}

// complete builds the request and passes it to sender, the middleware that sends the request
// and receives the response.
func (c *Client) complete(ctx context.Context, req llm.Request, sender option.Middleware) error {
	params, err := c.completionParams(req)
	if err != nil {
		return err
	}
	var ignored *http.Response
	completions := sdk.NewChatCompletionService(c.request...)
	_, err = completions.New(ctx, params,
		option.WithJSONSet("stream", true),
		option.WithHeader("Accept", "text/event-stream, application/json"),
		option.WithResponseBodyInto(&ignored),
		option.WithMiddleware(c.logRequest, sender))
	return err
}

// logRequest is a middleware that logs the body of a request at DEBUG level.
func (c *Client) logRequest(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	if c.opts.Log.Enabled(r.Context(), slog.LevelDebug) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.opts.Log.Debug("request", "provider", c.opts.Name, "body", c.secrets.Redact(string(body)))
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return next(r)
}

// completionParams converts req to the types of openai-go. It redacts the endpoint's own
// key, which a user may have pasted or a tool may have read. Sampling parameters are sent
// only if they are set: many endpoints reject parameters they do not know.
func (c *Client) completionParams(req llm.Request) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{
		Model:           req.Model,
		ReasoningEffort: shared.ReasoningEffort(req.Sampling.ReasoningEffort),
	}
	if !c.noUsage.Load() {
		params.StreamOptions.IncludeUsage = sdk.Bool(true)
	}
	if t := req.Sampling.Temperature; t != nil {
		params.Temperature = sdk.Float(*t)
	}
	if n := req.Sampling.MaxTokens; n > 0 {
		params.MaxCompletionTokens = sdk.Int(int64(n))
	}
	if seed := req.Sampling.Seed; seed != nil {
		params.Seed = sdk.Int(*seed)
	}
	for i, m := range req.Messages {
		message, err := c.messageParam(m)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i, err)
		}
		params.Messages = append(params.Messages, message)
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = sdk.String(t.Description)
		}
		if len(t.Parameters) > 0 {
			if err := json.Unmarshal(t.Parameters, &f.Parameters); err != nil {
				return params, fmt.Errorf("parameters of tool %s: %w", t.Name, err)
			}
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return params, nil
}

func (c *Client) messageParam(m llm.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	content := c.outgoing.Redact(m.Content)
	switch m.Role {
	case llm.RoleSystem:
		return sdk.SystemMessage(content), nil
	case llm.RoleUser:
		if len(m.Pictures) == 0 {
			return sdk.UserMessage(content), nil
		}
		parts := []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(content)}
		for _, f := range m.Pictures {
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: f.URL()}))
		}
		return sdk.UserMessage(parts), nil
	case llm.RoleTool:
		return sdk.ToolMessage(content, m.CallID), nil
	case llm.RoleAssistant:
	default:
		return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("role %q is unknown", m.Role)
	}
	var p sdk.ChatCompletionAssistantMessageParam
	if content != "" || len(m.Calls) == 0 {
		p.Content.OfString = sdk.String(content)
	}
	for _, call := range m.Calls {
		p.ToolCalls = append(p.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       call.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: c.outgoing.Redact(call.Arguments)},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &p}, nil
}
