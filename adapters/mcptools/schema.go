package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant/safetext"
)

const (
	// maxSchema is the maximum size of a tool's schema in bytes, before and after its
	// references are replaced.
	maxSchema = 32 << 10
	// maxNodes limits the number of schemas within one schema, and maxDepth their nesting.
	maxNodes = 1000
	maxDepth = 24
	// maxHelp is the maximum length of a parameter's description in characters.
	maxHelp = 500
)

// Keywords that a schema may contain, grouped by the type of their values. Others are
// dropped: a keyword that neither the core nor a provider knows is only a place to hide
// text.
var (
	plainKeywords = words("type enum const default title description format pattern minimum maximum exclusiveMinimum exclusiveMaximum " +
		"multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties required minContains maxContains")
	schemaKeywords = words("items additionalProperties not contains propertyNames if then else")
	listKeywords   = words("allOf anyOf oneOf prefixItems")
	mapKeywords    = words("properties patternProperties dependentSchemas")
	// topKeywords are not allowed at the top level by some providers. The server checks
	// them itself.
	topKeywords = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"}
)

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// boundedSchema rebuilds the schema of a tool's parameters from known keywords, and
// replaces local references with their targets. It rejects a schema that is too large,
// because the schema is sent with every request and checks the arguments of every call. Its
// errors continue a sentence that begins with "its parameters".
func boundedSchema(raw any) (*jsonschema.Schema, error) {
	if raw == nil {
		raw = map[string]any{"type": "object"}
	}
	top, ok := raw.(map[string]any)
	if !ok {
		return nil, errors.New("have a schema that is not an object")
	}
	if text, err := json.Marshal(top); err != nil || len(text) > maxSchema {
		return nil, fmt.Errorf("have a schema of more than %d KiB", maxSchema>>10)
	}
	b := rebuild{top: top}
	built, err := b.schema(top, nil, 0)
	if err != nil {
		return nil, err
	}
	out, ok := built.(map[string]any)
	if !ok {
		return nil, errors.New("have a schema that is not an object")
	}
	for _, keyword := range topKeywords {
		delete(out, keyword)
	}
	if out["type"] == nil {
		out["type"] = "object"
	}
	if out["type"] != "object" {
		return nil, errors.New("are not an object")
	}
	if properties, _ := out["properties"].(map[string]any); len(properties) == 0 && out["additionalProperties"] == nil {
		out["additionalProperties"] = true // a schema without properties accepts any property
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > maxSchema {
		return nil, fmt.Errorf("have a schema of more than %d KiB once its references are resolved", maxSchema>>10)
	}
	return resolved(text)
}

// resolved parses a schema into a form with which the core can check arguments.
func resolved(text []byte) (schema *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			schema, err = nil, fmt.Errorf("have a schema that cannot be used: %v", p)
		}
	}()
	schema = &jsonschema.Schema{}
	if err := json.Unmarshal(text, schema); err != nil {
		return nil, fmt.Errorf("have an invalid schema: %w", err)
	}
	if _, err := schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("have an invalid schema: %w", err)
	}
	return schema, nil
}

// rebuild is the state of boundedSchema.
type rebuild struct {
	top   map[string]any
	nodes int
}

// schema rebuilds a schema or subschema. within lists the references on the path to it.
func (b *rebuild) schema(node any, within []string, depth int) (any, error) {
	if b.nodes++; b.nodes > maxNodes || depth > maxDepth {
		return nil, errors.New("have a schema that is too large or too deeply nested")
	}
	fields, ok := node.(map[string]any)
	if !ok {
		if _, isBool := node.(bool); isBool {
			return node, nil
		}
		return nil, errors.New("have an invalid schema")
	}
	out := map[string]any{}
	if ref, isRef := fields["$ref"]; isRef {
		target, name, err := b.target(ref, within)
		if err != nil {
			return nil, err
		}
		built, err := b.schema(target, append(within[:len(within):len(within)], name), depth+1)
		if err != nil {
			return nil, err
		}
		if whole, isBool := built.(bool); isBool {
			return whole, nil
		}
		out = built.(map[string]any)
	}
	for keyword, value := range fields {
		built, err := b.keyword(keyword, value, within, depth)
		if err != nil {
			return nil, err
		}
		if built != nil {
			out[keyword] = built
		}
	}
	return out, nil
}

// keyword rebuilds the value of a keyword; nil drops it.
func (b *rebuild) keyword(keyword string, value any, within []string, depth int) (any, error) {
	switch {
	case value == nil && keyword != "const" && keyword != "default": // some servers write null for omitted values
		return nil, nil
	case keyword == "$dynamicRef" || keyword == "$recursiveRef":
		return nil, errors.New("have a schema that refers to itself")
	case plainKeywords[keyword]:
		return plain(keyword, value)
	case schemaKeywords[keyword]:
		if list, ok := value.([]any); ok && keyword == "items" { // from an older draft
			return b.list(list, within, depth)
		}
		return b.schema(value, within, depth+1)
	case listKeywords[keyword]:
		list, ok := value.([]any)
		if !ok {
			return nil, errors.New("have an invalid schema")
		}
		return b.list(list, within, depth)
	case mapKeywords[keyword]:
		return b.mapped(keyword, value, within, depth)
	}
	return nil, nil
}

func (b *rebuild) list(list []any, within []string, depth int) (any, error) {
	out := make([]any, 0, len(list))
	for _, item := range list {
		built, err := b.schema(item, within, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, built)
	}
	return out, nil
}

func (b *rebuild) mapped(keyword string, value any, within []string, depth int) (any, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("have an invalid schema")
	}
	out := map[string]any{}
	for name, field := range fields {
		if string(safetext.Visible(name)) != name {
			return nil, fmt.Errorf("have a name with hidden characters, %s", safetext.Visible(name))
		}
		if _, err := regexp.Compile(name); keyword == "patternProperties" && err != nil {
			continue
		}
		built, err := b.schema(field, within, depth+1)
		if err != nil {
			return nil, err
		}
		out[name] = built
	}
	return out, nil
}

// plain returns the value of one of plainKeywords; nil drops the keyword.
func plain(keyword string, value any) (any, error) {
	text, isText := value.(string)
	switch keyword {
	case "title", "description":
		return cut(string(safetext.Clean(text)), maxHelp), nil
	case "pattern":
		if !isText || !compiles(text) {
			return nil, nil // from another dialect: the server checks it itself
		}
	}
	raw, err := json.Marshal(value)
	if err == nil && string(safetext.Clean(string(raw))) != string(raw) {
		err = fmt.Errorf("have hidden characters in %s", keyword)
	}
	return value, err
}

// target returns what a local reference refers to.
func (b *rebuild) target(ref any, within []string) (target any, name string, err error) {
	name, _ = ref.(string)
	path, local := strings.CutPrefix(name, "#/")
	if !local {
		return nil, "", errors.New("have a schema that refers to another document or to itself")
	}
	for _, outer := range within {
		if outer == name {
			return nil, "", errors.New("have a schema that refers to itself")
		}
	}
	target = b.top
	for part := range strings.SplitSeq(path, "/") {
		fields, ok := target.(map[string]any)
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if target = fields[part]; !ok || target == nil {
			return nil, "", errors.New("have a schema with a broken reference")
		}
	}
	return target, name, nil
}

// compiles reports whether package regexp can compile a pattern.
func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}
