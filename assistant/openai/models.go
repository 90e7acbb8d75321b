package openai

import (
	"bufio"
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

// The bounds of a list of models: what one entry and the whole may weigh, and
// how many entries are taken.
const (
	maxModels    = 200_000
	maxModelList = 512 << 20
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

// readModels reads a list entry by entry, so that only what is kept of it is in memory.
func (c *Client) readModels(body io.Reader) ([]assistant.ModelInfo, error) {
	r := bufio.NewReader(&limitedReader{from: body, left: maxModelList})
	if first, err := firstByte(r); err != nil {
		return nil, c.noList("the answer is empty", err)
	} else if first != '{' && first != '[' {
		text, _ := io.ReadAll(io.LimitReader(r, maxErrorBody))
		return nil, c.noList("it answered with "+strings.TrimPrefix(c.told(0, parseFailure(text)), c.host+" answered with "), nil)
	}
	l := modelList{client: c, seen: map[string]bool{}}
	d := json.NewDecoder(r)
	if err := l.document(d); err != nil {
		return nil, err
	}
	if l.odd > 0 {
		c.log.Warn("models left out", "provider", c.name, "entries", l.odd)
	}
	return l.models, nil
}

// noList is the error of an endpoint that sends no list of models.
func (c *Client) noList(why string, cause error) error {
	var re *assistant.RequestError
	if errors.As(cause, &re) || cause != nil && !errors.Is(cause, io.EOF) && !isSyntax(cause) {
		return cause
	}
	err := &assistant.RequestError{
		Kind: assistant.KindUnknown, Err: cause,
		Message: c.base.Host + " sends no list of models: " + c.words(why),
	}
	if !versioned(c.base.Path) {
		err.Advice = "the base URL " + c.base.String() + " has no version, should it be " + c.base.String() + "/v1?"
	}
	return err
}

func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF)
}

// modelList is a list that is being read.
type modelList struct {
	client  *Client
	models  []assistant.ModelInfo
	seen    map[string]bool
	found   bool // some array of models was there
	entries int
	odd     int // entries that are no model
}

// document reads the whole answer: {"data":[…]}, {"models":[…]} or […].
func (l *modelList) document(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return l.client.noList("it is not JSON", err)
	}
	if open == json.Delim('[') {
		err = l.array(d)
	} else {
		err = l.object(d)
	}
	switch {
	case err != nil:
		return l.client.noList("its list ends in the middle or is not JSON", err)
	case !l.found:
		return l.client.noList(`there is no "data" list in the answer`, nil)
	case l.entries == 0:
		return l.client.noList("the list is empty", nil)
	case len(l.models) == 0:
		return l.client.noList(fmt.Sprintf("none of the %d entries has an id", l.entries), nil)
	}
	return nil
}

func (l *modelList) object(d *json.Decoder) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := name.(string)
		if (key == "data" || key == "models") && !l.found {
			if err := l.value(d); err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if key == "error" {
			if f := readFailure(gjson.ParseBytes(raw)); f != nil {
				return l.client.failed(0, *f, nil)
			}
		}
	}
	_, err := d.Token()
	return err
}

// value reads the value of "data"; only an array is a list.
func (l *modelList) value(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return l.array(d)
	case json.Delim('{'):
		return skipRest(d)
	}
	return nil
}

// skipRest reads on to the end of the object that has just begun.
func skipRest(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

func (l *modelList) array(d *json.Decoder) error {
	l.found = true
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if l.entries++; l.entries > maxModels {
			return &assistant.RequestError{
				Kind:    assistant.KindUnknown,
				Message: fmt.Sprintf("%s lists more than %d models", l.client.base.Host, maxModels),
			}
		}
		l.add(raw)
	}
	_, err := d.Token()
	return err
}

func (l *modelList) add(raw []byte) {
	info, id := readEntry(raw, l.client.name, l.client.now())
	if id == "" || len(id) > maxModelID || !sendable(id) {
		l.odd++
		return
	}
	if l.seen[id] {
		return
	}
	l.seen[id] = true
	l.models = append(l.models, info)
}

// firstByte finds the first byte that is not white space or a byte order mark.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n\xef\xbb\xbf", b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

// limitedReader fails after so many bytes, where io.LimitReader would pretend
// that the answer ended.
type limitedReader struct {
	from io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, broken(assistant.KindUnknown, "the list of models is longer than 512 MiB", "", nil)
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
