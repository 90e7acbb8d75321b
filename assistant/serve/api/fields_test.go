package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// filled sets everything in a value, down to some depth.
func filled(v reflect.Value, depth int) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			filled(v.Elem(), depth-1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, depth-1)
		filled(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), depth)
			}
		}
	case reflect.Interface: // what a tool returns
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf("x"))
		}
	default:
	}
}

// Each field that the document has is one of the encoding, and has a description; and the
// encoding has no other.
func TestEveryFieldIsDescribedAndOccurs(t *testing.T) {
	r := newRig(t, at.NewScript())
	registry := r.server.api.OpenAPI().Components.Schemas
	for name, schema := range r.document.Components.Schemas {
		typ := registry.TypeFromRef(schemas + name)
		if typ == nil {
			continue // Event, which is one of others
		}
		v := reflect.New(typ)
		filled(v.Elem(), 4)
		raw, err := assistant.PlainJSON(v.Interface())
		if e, ok := v.Elem().Interface().(assistant.Event); ok {
			raw, err = assistant.EncodeEvent(e)
		}
		r.must(err)
		if name == "WindowChanged" {
			raw = append([]byte(`{"type":"`+windowChanged+`",`), raw[1:]...)
		}
		if strings.Contains(name, "Token") {
			raw = []byte(strings.ReplaceAll(string(raw), `"role":"x"`, `"role":"save"`))
		}
		if name == "Target" {
			raw = []byte(strings.ReplaceAll(string(raw), `"scope":"x"`, `"scope":"both"`))
		}
		r.check(r.document.fits(map[string]any{"$ref": schemas + name}, raw))
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		for field, property := range properties {
			if text, _ := property.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
	if missing := r.document.missing(r.document.fields()); len(missing) > 0 {
		t.Errorf("described and not encoded: %q", missing)
	}
	for name, list := range fields {
		for field := range list {
			schema, _ := r.document.Components.Schemas[name].(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			if _, ok := properties[field]; !ok && name != "" {
				t.Errorf("%s.%s is described, and does not exist", name, field)
			}
		}
	}
}
