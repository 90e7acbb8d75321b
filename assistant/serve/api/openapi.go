package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/windowlock"
)

const (
	mediaJSON   = "application/json"
	eventStream = "text/event-stream"
	schemas     = "#/components/schemas/"
)

// setUpHuma sets huma's global variables: the type of a problem, and the case sensitivity of field names.
var setUpHuma = sync.OnceFunc(func() { huma.NewError, huma.ValidateStrictCasing = checkFailed, true })

// needed describes which roles may call an operation, by the lowest of these roles.
var needed = map[assistant.Role]string{
	assistant.RoleMetrics: "Requires the metrics role or the admin role.",
	assistant.RoleRead:    "Requires the read role or a higher one.",
	assistant.RolePropose: "Requires the propose role or a higher one.",
	assistant.RoleWrite:   "Requires the write role or a higher one.",
	assistant.RoleSave:    "Requires the save role or the admin role.",
	assistant.RoleAdmin:   "Requires the admin role.",
}

// describe creates the routes and describes them.
func (s *Server) describe() error {
	setUpHuma()
	registry := huma.NewMapRegistry(schemas, schemaName)
	s.mux = http.NewServeMux()
	s.api = humago.New(s.mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{
				Title: "winnow", Version: s.opts.Version,
				Description: "Sessions of winnow: messages, their typed events, and the window that they change.\n\n" + pagesText,
			},
			Servers: []*huma.Server{s.server()},
			Components: &huma.Components{
				Schemas:         registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}},
			},
			Security: []map[string][]string{{"token": {}}},
		},
		Formats:       map[string]huma.Format{mediaJSON: jsonFormat, "json": jsonFormat}, // huma looks up the format of problem+json as json
		DefaultFormat: mediaJSON, RejectUnknownQueryParameters: true,
	})
	s.api.UseMiddleware(s.strict)
	if err := addEvents(registry); err != nil {
		return err
	}
	s.register()
	for _, path := range s.api.OpenAPI().Paths {
		for _, o := range []*huma.Operation{path.Get, path.Post, path.Delete} {
			if o == nil {
				continue
			}
			role, known := roles[o.OperationID]
			if !known {
				return fmt.Errorf("the operation %s has no role", o.OperationID)
			}
			describeKey(o)
			if addProblems(o); role != "" {
				o.Description = needed[role]
			}
		}
	}
	for name, schema := range registry.Map() {
		if t := registry.TypeFromRef(schemas + name); t != nil {
			describeFields(name, schema, t)
		}
	}
	s.document = sync.OnceValues(func() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", "  ") })
	return nil
}

// server returns the address at which clients reach the server.
func (s *Server) server() *huma.Server {
	switch {
	case s.opts.PublicURL != nil:
		return &huma.Server{URL: strings.TrimSuffix(s.opts.PublicURL.String(), "/")}
	case s.opts.Address == "":
		return &huma.Server{URL: "http://127.0.0.1:7777", Description: "winnow serve --http 127.0.0.1:7777"}
	case s.opts.Cert != nil:
		return &huma.Server{URL: "https://" + s.opts.Address}
	}
	return &huma.Server{URL: "http://" + s.opts.Address}
}

// schemaName returns the name of a type in the document.
func schemaName(t reflect.Type, hint string) string {
	switch t {
	case reflect.TypeFor[assistant.Thought]():
		return "Thought"
	case reflect.TypeFor[attachment.File]():
		return "Attachment"
	case reflect.TypeFor[windowlock.Change]():
		return "WindowChanged"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// windowChanged is the type of the event that reports a change to the window.
const windowChanged = "window_changed"

// addEvents describes the types of all frames, and Event, the union of these types.
func addEvents(registry huma.Registry) error {
	union := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	add := func(name string, t reflect.Type) {
		schema := registry.Schema(t, false, "")
		schema.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}, Description: "the type of the event"}
		schema.Required = append([]string{"type"}, schema.Required...)
		ref := schemas + schemaName(t, "")
		union.OneOf = append(union.OneOf, &huma.Schema{Ref: ref})
		union.Discriminator.Mapping[name] = ref
	}
	for _, e := range assistant.Events() {
		raw, err := assistant.EncodeEvent(e)
		var head struct{ Type string }
		if err == nil {
			err = json.Unmarshal(raw, &head)
		}
		if err != nil {
			return err
		}
		add(head.Type, reflect.TypeOf(e))
	}
	add(windowChanged, reflect.TypeFor[windowlock.Change]())
	registry.Map()["Event"] = union
	return nil
}

// streamSchema returns a schema for the frames of a stream.
func streamSchema() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeArray, Description: "server-sent events, represented as an array; the stream begins with the field retry",
		Items: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"id", "event", "data"},
			Properties: map[string]*huma.Schema{
				"id":    {Type: huma.TypeInteger, Description: "the number of the event, for Last-Event-ID; increases by one"},
				"event": {Type: huma.TypeString, Description: "the type of the event, as in data"},
				"data":  {Ref: schemas + "Event"},
			},
		},
	}
}

// addProblems describes the problems that an operation can return, by status.
func addProblems(o *huma.Operation) {
	codes, _ := o.Metadata[codesKey].([]string)
	codes = append(codes, "wrong_host", "wrong_origin", "invalid")
	if o.Security == nil {
		codes = append(codes, "unauthorized", assistant.CodeForbidden, codeLimit)
	}
	if o.RequestBody != nil {
		codes = append(codes, "json", "body", "media_type", "too_large")
	}
	byStatus := map[int][]Cause{}
	for _, c := range causes {
		if slices.Contains(codes, c.Code) {
			byStatus[c.Status] = append(byStatus[c.Status], c)
		}
	}
	content := func(schema *huma.Schema) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{mediaProblem: {Schema: schema}}
	}
	for status, list := range byStatus {
		var means []string
		code := &huma.Schema{Type: huma.TypeString}
		for _, c := range list {
			means = append(means, c.Code+": "+c.Meaning)
			code.Enum = append(code.Enum, c.Code)
		}
		if slices.Contains(codes, codeOfTool) && status == http.StatusUnprocessableEntity {
			means = append(means, "any other code: the tool failed with this code")
			code.Enum, code.Examples = nil, code.Enum
		}
		o.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: strings.Join(means, "; "),
			Content:     content(&huma.Schema{AllOf: []*huma.Schema{{Ref: schemas + "Problem"}}, Properties: map[string]*huma.Schema{"code": code}}),
		}
	}
	o.Responses["default"] = &huma.Response{
		Description: fmt.Sprintf("another problem, such as %s", codeInternal), Content: content(&huma.Schema{Ref: schemas + "Problem"}),
	}
}

// describeFields adds a description to each property of a type's schema that has none in its tag. It also allows null
// for a pointer to a type with its own schema, unless the field has the option omitempty.
func describeFields(name string, schema *huma.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		property := schema.Properties[field]
		if property == nil {
			property = schema.Properties[f.Name] // the field has no JSON tag, so the property has the name of the field
			field = f.Name
		}
		if property == nil {
			continue
		}
		if property.Description == "" {
			property.Description = fieldText(name, field)
		}
		if f.Type.Kind() == reflect.Pointer && property.Ref != "" && !strings.Contains(options, "omitempty") {
			property.OneOf, property.Ref = []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}, ""
		}
	}
}
