package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/tidwall/gjson"

	"winnow/assistant"
)

// The bounds of a list of models: its entries, its bytes, and those of an id.
const (
	maxModels    = 200_000
	maxModelList = 128 << 20
	maxModelID   = 512
)

// Models asks the endpoint which models it serves, in its order, each once. A
// list that is empty, null or no list at all is an error that says so; odd
// elements among good ones are left out and logged.
func (c *Client) Models(ctx context.Context) ([]assistant.ModelInfo, error) {
	limit := &assistant.RequestError{
		Kind: assistant.KindNet, Err: errTimeout,
		Message: fmt.Sprintf("%s has not sent its list of models within %s", c.host, span(c.timeouts.List)),
		Advice:  tryAgain,
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeouts.List, limit)
	defer cancel()
	var res *http.Response
	api := sdk.Client{Options: c.options}
	err := api.Get(ctx, "models", nil, &res, option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		return c.answered(next(r))
	}))
	var list []assistant.ModelInfo
	if err == nil {
		defer res.Body.Close()
		list, err = c.readModels(res.Body)
	}
	switch {
	case err == nil:
		return list, nil
	case errors.Is(context.Cause(ctx), limit):
		return nil, limit
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, c.netError(err)
}

// readModels reads a list: {"data":[…]}, {"models":[…]} or […].
func (c *Client) readModels(body io.Reader) ([]assistant.ModelInfo, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxModelList+1))
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
	switch {
	case len(text) > maxModelList:
		return nil, broken(assistant.KindUnknown, "the list of models is longer than 128 MiB", "", nil)
	case len(text) == 0:
		return nil, c.noList("the answer is empty")
	case text[0] != '{' && text[0] != '[':
		said := c.told(0, parseFailure(text[:min(len(text), maxErrorBody)]))
		return nil, c.noList("it answered with " + strings.TrimPrefix(said, c.host+" answered with "))
	case !json.Valid(text):
		return nil, c.noList("its list ends in the middle or is not JSON")
	}
	list := gjson.ParseBytes(text)
	if list.IsObject() {
		if f := readFailure(list.Get("error")); f != nil {
			return nil, c.failed(0, *f, nil)
		}
		named := list.Get("data")
		if !named.Exists() {
			named = list.Get("models")
		}
		list = named
	}
	if !list.IsArray() {
		return nil, c.noList(`there is no "data" list in the answer`)
	}
	return c.readEntries(list)
}

func (c *Client) readEntries(list gjson.Result) ([]assistant.ModelInfo, error) {
	var (
		models []assistant.ModelInfo
		seen   = map[string]bool{}
		odd    int // entries that are no model
		all    int
	)
	list.ForEach(func(_, v gjson.Result) bool {
		info, id := readEntry(v, c.name, c.now())
		switch {
		case id == "" || len(id) > maxModelID || !sendable(id):
			odd++
		case !seen[id]:
			seen[id] = true
			models = append(models, info)
		}
		all++
		return all <= maxModels
	})
	switch {
	case all > maxModels:
		return nil, broken(assistant.KindUnknown, fmt.Sprintf("%s lists more than %d models", c.host, maxModels), "", nil)
	case all == 0:
		return nil, c.noList("the list is empty")
	case len(models) == 0:
		return nil, c.noList(fmt.Sprintf("none of the %d entries has an id", all))
	}
	if odd > 0 {
		c.log.Warn("models left out", "provider", c.name, "entries", odd)
	}
	return models, nil
}

// noList is the error of an endpoint that sends no list of models.
func (c *Client) noList(why string) error {
	return &assistant.RequestError{
		Kind: assistant.KindUnknown, Message: c.host + " sends no list of models: " + c.words(why), Advice: c.versionHint(),
	}
}
