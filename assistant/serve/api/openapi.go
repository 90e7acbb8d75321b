package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant"
	"winnow/assistant/share"
)

// schema is the schema of a Go type.
type schema struct {
	name     string
	raw      *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// anyJSON is the schema of a document that is passed on as it is.
var anyJSON = map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}

// schemaOf is the schema of T; nil for none. It panics when T has no schema, which is a
// mistake of this package.
func schemaOf[T any]() *schema {
	t := reflect.TypeFor[T]()
	if t == reflect.TypeFor[none]() {
		return nil
	}
	return newSchema(t, nil)
}

// newSchema is the schema of t with other properties.
func newSchema(t reflect.Type, other map[string]*jsonschema.Schema) *schema {
	raw, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: anyJSON})
	if err != nil {
		panic(err)
	}
	for name, property := range other {
		if raw.Properties == nil {
			raw.Properties = map[string]*jsonschema.Schema{}
		}
		raw.Properties[name] = property
		raw.PropertyOrder = append([]string{name}, raw.PropertyOrder...)
		raw.Required = append([]string{name}, raw.Required...)
	}
	resolved, err := raw.Resolve(nil)
	if err != nil {
		panic(err)
	}
	return &schema{t.Name(), raw, resolved}
}

// windowChanged is the type of the event that reports a change in the window.
const windowChanged = "window_changed"

// eventSchemas are the schemas of all frames, by type.
func eventSchemas() (map[string]*schema, error) {
	out := map[string]*schema{}
	add := func(name string, t reflect.Type) {
		var constant any = name
		out[name] = newSchema(t, map[string]*jsonschema.Schema{"type": {Const: &constant}})
	}
	for _, e := range assistant.Events() {
		raw, err := assistant.EncodeEvent(e)
		var head struct{ Type string }
		if err == nil {
			err = json.Unmarshal(raw, &head)
		}
		if err != nil {
			return nil, err
		}
		add(head.Type, reflect.TypeOf(e))
	}
	add(windowChanged, reflect.TypeFor[share.Change]())
	return out, nil
}

type object = map[string]any

// document is the OpenAPI document of routes.
func document(version string) ([]byte, error) {
	components, err := eventSchemas()
	if err != nil {
		return nil, err
	}
	var union []object
	for _, name := range slices.Sorted(maps.Keys(components)) {
		union = append(union, reference(name))
	}
	failure := schemaOf[problem]()
	components[failure.name] = failure
	paths := map[string]object{}
	for _, r := range routes() {
		for _, s := range []*schema{r.in, r.out} {
			if s != nil {
				components[s.name] = s
			}
		}
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path][strings.ToLower(r.method)] = r.operation(union)
	}
	schemas := object{}
	for name, s := range components {
		schemas[name] = s.raw
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info":    object{"title": "winnow", "version": version, "description": "Sessions of winnow: messages, their typed events, and the window they change."},
		"paths":   paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []object{{"token": []string{}}},
	}, "", "  ")
}

func reference(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// operation describes a route. union are the schemas of all frames.
func (r route) operation(union []object) object {
	op := object{"summary": r.summary}
	if r.public {
		op["security"] = []object{}
	}
	var parameters []object
	for segment := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, q := range r.query {
		parameters = append(parameters, object{"name": q.name, "in": "query", "description": q.means, "schema": object{"type": q.kind}})
	}
	content := object{}
	success := object{"description": "done"}
	switch {
	case r.media == eventStream:
		if r.method == "GET" {
			parameters = append(parameters, object{"name": "Last-Event-ID", "in": "header", "description": "the id of the last event that was read", "schema": object{"type": "integer"}})
		}
		content[r.media] = object{"schema": object{"type": "string", "contentMediaType": "application/json", "contentSchema": object{"oneOf": union}}}
	case r.out != nil:
		content[r.media] = object{"schema": reference(r.out.name)}
	case r.status != 204:
		content[r.media] = object{}
	}
	if len(content) > 0 {
		success["content"] = content
	}
	op["responses"] = object{
		fmt.Sprint(r.status): success,
		"default":            object{"description": "a problem", "content": object{"application/problem+json": object{"schema": reference("problem")}}},
	}
	if r.in != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": reference(r.in.name)}}}
	}
	if r.media == eventStream && r.in != nil {
		op["responses"].(object)["202"] = object{"description": "the message is queued"}
	}
	if len(parameters) > 0 {
		op["parameters"] = parameters
	}
	return op
}
