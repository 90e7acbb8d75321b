package assistant_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The core works for any window: no identifier and no text of it has a word of the model
// filter or of the file that the model filter writes.
func TestTheCoreKnowsNoWindow(t *testing.T) {
	foreign := regexp.MustCompile(`(?i)^(rules?|ruleset|ignores?|ignored|allow|allows|allowed|whitelist(s|ed)?|blacklist(s|ed)?|covered|prox(y|ies)|litellm|dotenv|glob|globs|restarts?)$`)
	// known are texts that stay, with the reason.
	known := map[string]string{
		"../checkpoint/checkpoint.go: rules": "the scope of a rollback in journals of earlier versions",
	}
	for _, dir := range []string{".", "workspace", "history", "../checkpoint", "../checkpoint/jsondelta"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, w := range wordsOf(t, path) {
				place := path + ": " + w
				if (foreign.MatchString(w) || strings.Contains(w, ".env")) && known[place] == "" {
					t.Errorf("%s is a word of one window", place)
				}
				delete(known, place)
			}
		}
	}
	if len(known) > 0 {
		t.Errorf("not found: %v", known)
	}
}

// wordsOf are the words of the identifiers and strings of a file, without comments,
// imports and what other packages declare.
func wordsOf(t *testing.T, path string) (words []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	split := regexp.MustCompile(`\.env|[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	imported := map[string]bool{}
	for _, i := range file.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		imported[filepath.Base(name)] = true
	}
	add := func(text string) { words = append(words, split.FindAllString(text, -1)...) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			if p, ok := n.X.(*ast.Ident); ok && imported[p.Name] {
				return false
			}
		case *ast.Ident:
			add(n.Name)
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(n.Value)
			}
		}
		return true
	})
	return words
}
