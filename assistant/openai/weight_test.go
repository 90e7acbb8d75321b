package openai

import (
	"reflect"
	"strings"
	"testing"
)

// A field of openai-go's Client would have the linker keep every service it
// knows, with all their types: sixteen megabytes that nobody calls.
func TestClientHoldsNoService(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		if seen[of] {
			return
		}
		seen[of] = true
		if strings.HasPrefix(of.PkgPath(), "github.com/openai/openai-go/") && strings.HasSuffix(of.Name(), "Service") {
			t.Errorf("%s is a %s", path, of)
		}
		switch of.Kind() {
		case reflect.Struct:
			for i := range of.NumField() {
				walk(of.Field(i).Type, path+"."+of.Field(i).Name)
			}
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(of.Elem(), path)
		default:
		}
	}
	walk(reflect.TypeFor[Client](), "Client")
}
