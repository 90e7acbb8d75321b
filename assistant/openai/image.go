package openai

import (
	"context"
	"encoding/base64"
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
	"winnow/assistant/safetext"
)

// maxImage bounds the answer that carries a picture, in base64.
const maxImage = 64 << 20

// Image draws one picture; see assistant.ImageModel. A picture that the endpoint
// only gives an address of is an error: nothing is fetched from elsewhere.
func (c *Client) Image(ctx context.Context, model, prompt string) (assistant.Image, error) {
	params := sdk.ImageGenerateParams{Prompt: prompt, Model: model, N: sdk.Int(1)}
	if strings.HasPrefix(model, "dall-e") { // newer models always send it and refuse to be asked
		params.ResponseFormat = sdk.ImageGenerateParamsResponseFormatB64JSON
	}
	limit := &assistant.RequestError{
		Kind: assistant.KindNet, Err: errTimeout,
		Message: fmt.Sprintf("%s has not drawn the picture within %s", c.host, span(c.timeouts.FirstByte)),
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeouts.FirstByte, limit)
	defer cancel()
	var res *http.Response
	images := sdk.NewImageService(c.options...)
	_, err := images.Generate(ctx, params, option.WithResponseBodyInto(&res),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			return c.answered(next(r))
		}))
	var image assistant.Image
	if err == nil {
		defer res.Body.Close()
		image, err = c.readImage(res.Body)
	}
	switch {
	case err == nil:
		return image, nil
	case errors.Is(context.Cause(ctx), limit):
		return assistant.Image{}, limit
	case ctx.Err() != nil:
		return assistant.Image{}, ctx.Err()
	}
	return assistant.Image{}, c.netError(err)
}

func (c *Client) readImage(body io.Reader) (assistant.Image, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxImage+1))
	if err != nil {
		return assistant.Image{}, err
	}
	if len(text) > maxImage {
		return assistant.Image{}, broken(assistant.KindUnknown, "the picture is larger than 64 MiB", "", nil)
	}
	if !json.Valid(text) {
		return assistant.Image{}, broken(assistant.KindUnknown, c.base.Host+" answered with something else than a picture", "does the model draw?", nil)
	}
	if said := readFailure(gjson.GetBytes(text, "error")); said != nil {
		return assistant.Image{}, c.failed(0, *said, nil)
	}
	picture := gjson.GetBytes(text, "data.0")
	return c.decodeImage(picture.Get("b64_json").Str, picture.Get("url").Str, picture.Get("revised_prompt").Str)
}

// decodeImage takes the picture out of its base64, which may be a data URL.
func (c *Client) decodeImage(encoded, address, revised string) (assistant.Image, error) {
	if head, data, found := strings.Cut(address, ";base64,"); found && encoded == "" && strings.HasPrefix(head, "data:") {
		encoded = data
	}
	if encoded == "" {
		why := " sent no picture"
		if address != "" {
			why = " sent only the address of the picture, and nothing is fetched from elsewhere"
		}
		return assistant.Image{}, broken(assistant.KindUnknown, c.base.Host+why, "", nil)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return assistant.Image{}, broken(assistant.KindUnknown, "the picture that "+c.base.Host+" sent is not valid base64", tryAgain, err)
	}
	mime := http.DetectContentType(data)
	if !strings.HasPrefix(mime, "image/") {
		mime = ""
	}
	return assistant.Image{Data: data, MIMEType: mime, Revised: safetext.Clean(revised)}, nil
}
