package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// document is the OpenAPI document as a client reads it. It checks what is sent and
// answered with another validator than the server's.
type document struct {
	*parsed

	mu   sync.Mutex
	seen map[string]bool // "operation code", "Schema.field"
}

// parsed is what a document says. All rigs share it, because reading it and its schemas takes
// longer than most tests.
type parsed struct {
	OpenAPI    string
	Paths      map[string]map[string]*described
	Components struct{ Schemas map[string]any }

	resolved sync.Map // *jsonschema.Resolved, by schema
}

// theDocument is the document of all rigs; theirs differ in the address only.
var theDocument = sync.OnceValues(func() (*parsed, error) {
	raw, err := Document("test")
	if err != nil {
		return nil, err
	}
	p := &parsed{}
	return p, json.Unmarshal(raw, p)
})

// described is an operation of a document.
type described struct {
	OperationID string
	Parameters  []parameter
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}
	Security []map[string][]string
}

type parameter struct{ Name, In, Description string }

type media struct{ Schema any }

// definitionsOf is a schema with references as a validator of JSON Schema resolves them.
func definitionsOf(schema any) string {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // it was JSON
	}
	return strings.ReplaceAll(string(raw), schemas, "#/$defs/")
}

// operation is the operation of a request; nil when there is none.
func (d *document) operation(r *http.Request) *described {
	for path, item := range d.Paths {
		want, have := strings.Split(path, "/"), strings.Split(r.URL.Path, "/")
		fits := len(want) == len(have)
		for i := range want {
			fits = fits && (want[i] == have[i] || strings.HasPrefix(want[i], "{"))
		}
		if o := item[strings.ToLower(r.Method)]; fits && o != nil {
			return o
		}
	}
	return nil
}

// answer checks an answer, except for the events of a stream.
func (d *document) answer(r *http.Request, resp *http.Response, body []byte) error {
	o := d.operation(r)
	if o == nil {
		return nil // no_route or method
	}
	content, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	described, ok := o.Responses[fmt.Sprint(resp.StatusCode)]
	if !ok && resp.StatusCode >= http.StatusBadRequest {
		described, ok = o.Responses["default"]
	}
	kind, has := described.Content[content]
	switch {
	case !ok, !has && len(body)+len(described.Content) > 0:
		return fmt.Errorf("%s answers %d %s, which is not described", o.OperationID, resp.StatusCode, content)
	case content == mediaProblem:
		var p problem
		if err := json.Unmarshal(body, &p); err != nil {
			return err
		}
		if _, specific := o.Responses[fmt.Sprint(p.Status)]; !specific && p.Code != codeInternal {
			return fmt.Errorf("%s answers %d %s, which is not described", o.OperationID, resp.StatusCode, p.Code)
		}
		d.note(o.OperationID + " " + p.Code)
	case content != mediaJSON:
		return nil
	}
	return d.fits(kind.Schema, body)
}

// request notes the fields of the body of a request that succeeded.
func (d *document) request(r *http.Request, body []byte) error {
	o := d.operation(r)
	if o == nil || o.RequestBody == nil {
		return nil
	}
	return d.fits(o.RequestBody.Content[mediaJSON].Schema, body)
}

// event checks an event.
func (d *document) event(data string) error {
	var head struct{ Type string }
	if err := json.Unmarshal([]byte(data), &head); err != nil {
		return err
	}
	kinds, _ := d.Components.Schemas["Event"].(map[string]any)["discriminator"].(map[string]any)
	kind, ok := kinds["mapping"].(map[string]any)[head.Type]
	if !ok {
		return fmt.Errorf("%.300s is not in the document", data)
	}
	return d.fits(map[string]any{"$ref": kind}, []byte(data))
}

// fits checks a value against a schema.
func (d *document) fits(schema any, raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	r, err := d.resolve(schema)
	if err != nil {
		return err
	}
	if err := r.Validate(value); err != nil {
		return fmt.Errorf("%.300s does not fit the document: %w", raw, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mark("", schema, value)
	return nil
}

func (d *parsed) resolve(schema any) (*jsonschema.Resolved, error) {
	key := fmt.Sprint(schema)
	if r, ok := d.resolved.Load(key); ok {
		return r.(*jsonschema.Resolved), nil
	}
	whole := maps.Clone(schema.(map[string]any))
	used := map[string]any{}
	d.use(schema, used)
	whole["$defs"] = used
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(definitionsOf(whole)), &s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(nil)
	if err == nil {
		d.resolved.Store(key, r)
	}
	return r, err
}

// use adds to used the named schemas that a part of the document refers to, directly or through others: the validator
// takes longer to resolve all of them than to check most values.
func (d *parsed) use(part any, used map[string]any) {
	switch v := part.(type) {
	case []any:
		for _, item := range v {
			d.use(item, used)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, schemas)
			if _, known := used[name]; !known {
				used[name] = d.Components.Schemas[name]
				d.use(used[name], used)
			}
		}
		for _, item := range v {
			d.use(item, used)
		}
	}
}

func (d *document) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[what] = true
}

// mark notes the fields of a value that fits a schema. The caller has locked d.
func (d *document) mark(name string, schema, value any) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		name = strings.TrimPrefix(ref, schemas)
		d.mark(name, d.Components.Schemas[name], value)
	}
	for _, of := range []string{"oneOf", "allOf"} {
		list, _ := s[of].([]any)
		for _, one := range list {
			d.mark(name, one, value)
		}
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			d.mark(name, s["items"], item)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for key, item := range v {
			if property, ok := properties[key]; ok {
				d.seen[name+"."+key] = true
				d.mark(name, property, item)
			}
		}
	}
}

// missing are what was not seen, of what should be.
func (d *document) missing(want []string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range want {
		if !d.seen[w] {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

// fields are all fields of all schemas.
func (d *document) fields() (out []string) {
	for name, schema := range d.Components.Schemas {
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		for field := range maps.Keys(properties) {
			out = append(out, name+"."+field)
		}
	}
	return out
}

// codes are the codes of all operations, as "operation code".
func (d *document) codes() (out []string) {
	for _, item := range d.Paths {
		for _, o := range item {
			for _, r := range o.Responses {
				schema, _ := r.Content[mediaProblem].Schema.(map[string]any)
				properties, _ := schema["properties"].(map[string]any)
				code, _ := properties["code"].(map[string]any)
				for _, of := range []string{"enum", "examples"} {
					list, _ := code[of].([]any)
					for _, name := range list {
						out = append(out, fmt.Sprint(o.OperationID, " ", name))
					}
				}
			}
		}
	}
	return out
}
