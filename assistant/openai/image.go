package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/tidwall/gjson"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// maxImage is the maximum size of a response that contains a picture in base64.
const maxImage = 64 << 20

// Image generates one picture; see llm.ImageModel. A response that contains only the
// address of a picture is an error: nothing is fetched from other hosts.
func (c *Client) Image(ctx context.Context, model, prompt string) (llm.Image, error) {
	params := sdk.ImageGenerateParams{Prompt: prompt, Model: model, N: sdk.Int(1)}
	if strings.HasPrefix(model, "dall-e") { // newer models always send base64, and reject response_format
		params.ResponseFormat = sdk.ImageGenerateParamsResponseFormatB64JSON
	}
	body, err := c.fetch(ctx, wait{c.opts.Timeouts.FirstByte, c.opts.Timeouts.FirstByte}, maxImage, "the picture", func(ctx context.Context, res **http.Response, via option.RequestOption) error {
		images := sdk.NewImageService(c.request...)
		_, err := images.Generate(ctx, params, option.WithResponseBodyInto(res), via)
		return err
	})
	if err != nil {
		return llm.Image{}, err
	}
	fail := func(format string, args ...any) (llm.Image, error) {
		return llm.Image{}, c.newError(llm.KindUnknown, nil, format, args...)
	}
	if !json.Valid(body) {
		return fail("%s answered with something other than a picture", c.host)
	}
	if f := readFailure(gjson.GetBytes(body, "error")); f != nil {
		return llm.Image{}, c.failureError(0, *f, nil)
	}
	picture := gjson.GetBytes(body, "data.0")
	encoded, address := picture.Get("b64_json").Str, picture.Get("url").Str
	if head, data, found := strings.Cut(address, ";base64,"); encoded == "" && found && strings.HasPrefix(head, "data:") {
		encoded = data
	}
	switch {
	case encoded == "" && address != "":
		return fail("%s sent only the address of the picture; winnow fetches nothing from other servers", c.host)
	case encoded == "":
		return fail("%s sent no picture", c.host)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return fail("the picture that %s sent is not valid base64", c.host)
	}
	mime := http.DetectContentType(data)
	if !strings.HasPrefix(mime, "image/") {
		mime = ""
	}
	return llm.Image{Data: data, MIMEType: mime, Revised: string(safetext.Clean(picture.Get("revised_prompt").Str))}, nil
}
