package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
)

// ifNoneMatchKey is the context key of a request's If-None-Match header.
type ifNoneMatchKey struct{}

// withCondition returns a context that passes the header If-None-Match to the handler.
func withCondition(ctx huma.Context) huma.Context {
	if tags := ctx.Header("If-None-Match"); tags != "" {
		return huma.WithValue(ctx, ifNoneMatchKey{}, tags)
	}
	return ctx
}

// tagged is a response with an ETag.
type tagged[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"identifies the response; for If-None-Match"`
	Body   encoded[T]
}

// encoded is a value that has already been encoded.
type encoded[T any] struct{ raw json.RawMessage }

// MarshalJSON implements json.Marshaler.
func (e encoded[T]) MarshalJSON() ([]byte, error) { return e.raw, nil }

// Schema implements huma.SchemaProvider.
func (encoded[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// tag returns a response with a value, or a response with status 304 if the client already has the value.
func tag[T any](ctx context.Context, value T) (*tagged[T], error) {
	raw, err := assistant.PlainJSON(value)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	out := &tagged[T]{Status: http.StatusOK, ETag: quoted(hex.EncodeToString(sum[:16])), Body: encoded[T]{raw}}
	given, _ := ctx.Value(ifNoneMatchKey{}).(string)
	if hasTag(given, out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

// hasTag reports whether a list of tags contains a tag; * contains every tag. hasTag ignores the prefix of weak tags,
// because a proxy that compresses a response makes its tag weak.
func hasTag(list, tag string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(given string) bool {
		given = strings.TrimPrefix(strings.TrimSpace(given), "W/")
		return given == tag || given == "*"
	})
}

func quoted(tag string) string { return `"` + tag + `"` }

// describeCondition adds the header If-None-Match and the response 304 to the description of an operation.
func describeCondition(o *huma.Operation) {
	o.Parameters = append(o.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "the ETag of an earlier response; if nothing has changed since, the server responds with 304 and no body",
	})
	o.Responses["304"] = &huma.Response{Description: "nothing has changed since the response with this ETag"}
}

// Matching contains the header that identifies what was shown to the user. It is exported because huma reads only
// exported fields.
type Matching struct {
	IfMatch string `header:"If-Match" doc:"the ETag of what was shown to the user, in place of the field in the body; if it has changed since, the response is a problem with the code precondition_failed"`
}

// basis returns the identifier of what was shown to the user, from the header or the body.
func (m Matching) basis(body *string) (string, error) {
	if m.IfMatch == "" {
		if body == nil {
			return "", newProblem("no_basis", "the request must identify what was shown to the user: with If-Match, or with digest or newest in the body")
		}
		return *body, nil
	}
	given, open := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(m.IfMatch), "W/"), `"`)
	given, closed := strings.CutSuffix(given, `"`)
	text := ""
	switch {
	case !open || !closed || strings.Contains(given, `"`):
		text = "expected a single ETag"
	case body != nil && *body != given:
		text = "differs from the value in the body"
	default:
		return given, nil
	}
	return "", notMatching(text)
}

// notMatching returns the problem for an invalid If-Match header.
func notMatching(text string) *problem {
	p := newProblem("invalid", "header.If-Match: %s", text)
	p.Errors = []fieldError{{"header.If-Match", text}}
	return p
}

// failed returns the error of a save, discard or rollback. If the header names a plan that has changed, the error has
// status 412.
func (m Matching) failed(err error) error {
	if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok && m.IfMatch != "" {
		p := newProblem(codePrecondition, "%s", err)
		p.newPlan(changed)
		return p
	}
	return err
}
