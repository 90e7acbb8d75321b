package assistant

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// validate holds raw against schema.
func validate(schema *jsonschema.Schema, raw json.RawMessage) error {
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}
