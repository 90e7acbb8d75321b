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

	"winnow/assistant"
)

// errNotSent ends a request that is only built to be looked at.
var errNotSent = errors.New("not sent")

// Encode returns the body that Stream would send for req, byte for byte. It is
// taken from the request itself, right before it would leave.
func (c *Client) Encode(req assistant.Request) (json.RawMessage, error) {
	var body []byte
	look := func(r *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return nil, errNotSent
	}
	err := c.complete(context.Background(), req, look)
	if !errors.Is(err, errNotSent) {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return body, nil
}

// complete builds the request and gives it to the middleware through, which
// sends it or not. What comes back is for through to keep.
func (c *Client) complete(ctx context.Context, req assistant.Request, through option.Middleware) error {
	params, err := c.completionParams(req)
	if err != nil {
		return err
	}
	if c.noUsage.Load() {
		params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{}
	}
	var ignored *http.Response
	completions := sdk.NewChatCompletionService(c.options...)
	logged := func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		if c.log.Enabled(r.Context(), slog.LevelDebug) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			c.log.Debug("request", "provider", c.name, "body", c.secrets.Redact(string(body)))
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		return next(r)
	}
	_, err = completions.New(ctx, params,
		option.WithJSONSet("stream", true),
		option.WithHeader("Accept", "text/event-stream, application/json"),
		option.WithResponseBodyInto(&ignored),
		option.WithMiddleware(logged, through))
	return err
}

// completionParams puts req into the words of openai-go. A key of ours in the
// text, pasted or read by a tool, does not leave.
func (c *Client) completionParams(req assistant.Request) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{
		Model:         req.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
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
	params.ReasoningEffort = shared.ReasoningEffort(req.Sampling.ReasoningEffort)
	for i, m := range req.Messages {
		message, err := c.messageParam(m)
		if err != nil {
			return params, fmt.Errorf("message %d: %w", i, err)
		}
		params.Messages = append(params.Messages, message)
	}
	for _, t := range req.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return params, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		params.Tools = append(params.Tools, tool)
	}
	setSampling(&params, req.Sampling)
	return params, nil
}

// setSampling sends only what is set: many endpoints refuse parameters they do
// not know.
func setSampling(params *sdk.ChatCompletionNewParams, s assistant.Sampling) {
	if s.Temperature != nil {
		params.Temperature = sdk.Float(*s.Temperature)
	}
	if s.MaxTokens > 0 {
		params.MaxCompletionTokens = sdk.Int(int64(s.MaxTokens))
	}
	if s.ReasoningEffort != "" {
		params.ReasoningEffort = sdk.ReasoningEffort(s.ReasoningEffort)
	}
	if s.Seed != nil {
		params.Seed = sdk.Int(*s.Seed)
	}
}

func (c *Client) messageParam(m assistant.WireMessage) (sdk.ChatCompletionMessageParamUnion, error) {
	m.Content = c.ours.Redact(m.Content)
	switch m.Role {
	case assistant.RoleSystem:
		return sdk.SystemMessage(m.Content), nil
	case assistant.RoleUser:
		return sdk.UserMessage(m.Content), nil
	case assistant.RoleTool:
		return sdk.ToolMessage(m.Content, m.CallID), nil
	case assistant.RoleAssistant:
		return c.assistantParam(m), nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("role %q is unknown", m.Role)
}

func (c *Client) assistantParam(m assistant.WireMessage) sdk.ChatCompletionMessageParamUnion {
	var p sdk.ChatCompletionAssistantMessageParam
	if m.Content != "" || len(m.Calls) == 0 {
		p.Content.OfString = sdk.String(m.Content)
	}
	for _, call := range m.Calls {
		p.ToolCalls = append(p.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       call.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: c.ours.Redact(call.Arguments)},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &p}
}

func toolParam(t assistant.ToolSpec) (sdk.ChatCompletionToolUnionParam, error) {
	f := shared.FunctionDefinitionParam{Name: t.Name}
	if t.Description != "" {
		f.Description = sdk.String(t.Description)
	}
	if len(t.Parameters) > 0 {
		if err := json.Unmarshal(t.Parameters, &f.Parameters); err != nil {
			return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("parameters: %w", err)
		}
	}
	return sdk.ChatCompletionFunctionTool(f), nil
}
