package pane

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// turnCodes are the codes that assistant can end a turn with: the constants Kind…
// of llm/model.go and Code… of pair.go.
func turnCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	for file, prefix := range map[string]string{"llm/model.go": "Kind", "pair.go": "Code"} {
		f, err := parser.ParseFile(token.NewFileSet(), "../../assistant/"+file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := len(codes)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[spec.Names[0].Name] = code
			return true
		})
		if len(codes) == found {
			t.Fatalf("%s declares no constant %s…", file, prefix)
		}
	}
	return codes
}

func TestEveryErrorOfATurnHasAdvice(t *testing.T) {
	defaults := Keys(func(action string) string {
		return map[string]string{"retry": "r", "re-ask": "e", "models": "ctrl+l"}[action]
	})
	bound := Keys(func(action string) string {
		return map[string]string{"retry": "ctrl+y", "re-ask": "E", "models": "alt+m"}[action]
	})
	for name, code := range turnCodes(t) {
		text := bound.Advice(code)
		if !strings.HasSuffix(text, ".") || strings.ContainsAny(text, "{}") || strings.Contains(text, ". ") {
			t.Errorf("%s: %q is not one sentence with keys", name, text)
		}
		if !strings.Contains(text, "(ctrl+y)") && !strings.Contains(text, "(E)") && !strings.Contains(text, "(alt+m)") {
			t.Errorf("%s: %q names no key", name, text)
		}
		const room = 74 // of 80: without the frame, the gutter and the indent
		if text := defaults.Advice(code); len(text) > room {
			t.Errorf("%s: %q does not fit on one line", name, text)
		}
		if text := Keys(nil).Advice(code); text == "" || strings.ContainsAny(text, "(){}") {
			t.Errorf("%s without keys: %q", name, text)
		}
	}
	if text := bound.Advice("of another program"); text != "" {
		t.Errorf("an unknown code: %q", text)
	}
}
