package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are the folders of the dependency rule, lowest first. A package may
// import its own layer and those below it.
var layers = []string{"checkpoint", "assistant", "adapters", "tui", "cmd"}

// screen lists the modules that only tui and cmd may import.
var screen = []string{"charm.land/bubbletea", "charm.land/lipgloss", "charm.land/bubbles", "charm.land/glamour"}

type listed struct {
	ImportPath string
	Imports    []string
}

// drawAdapters are the packages of the screen that draw one adapter.
var drawAdapters = []string{"winnow/tui/rules", "winnow/tui/historypane", "winnow/tui/connectcard"}

func TestArrowsPointDown(t *testing.T) {
	for _, p := range modulePackages(t) {
		from := layerOf(p.ImportPath)
		if from < 0 {
			t.Errorf("%s is in no layer; the rule knows %s", p.ImportPath, strings.Join(layers, ", "))
		}
		for _, imported := range p.Imports {
			if why := forbidden(p.ImportPath, imported); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, why)
			}
		}
	}
}

// forbidden returns why one package must not import another, or "" if it may.
func forbidden(from, imported string) string {
	layer := layerOf(from)
	switch to := layerOf(imported); {
	case to > layer:
		return "arrows point down only"
	case layer < 3 && slices.ContainsFunc(screen, func(m string) bool { return strings.HasPrefix(imported, m) }):
		return "terminal libraries live in tui"
	case strings.HasPrefix(imported, "github.com/openai/openai-go") && from != "winnow/assistant/openai":
		return "only assistant/openai talks to endpoints"
	case strings.HasPrefix(from, "winnow/checkpoint") && imported != "github.com/gofrs/flock" && strings.Contains(strings.Split(imported, "/")[0], "."):
		return "checkpoint needs the standard library and file locks alone"
	case strings.HasPrefix(from, "winnow/tui") && !slices.Contains(drawAdapters, from) && strings.HasPrefix(imported, "winnow/adapters/"):
		return "only packages that draw one adapter name it"
	}
	return ""
}

func TestForbiddenImportsAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		from, imported string
		want           bool
	}{
		"up the stairs":        {"winnow/assistant", "winnow/tui/style", true},
		"core names a window":  {"winnow/assistant", "winnow/adapters/dotenv", true},
		"down the stairs":      {"winnow/tui", "winnow/assistant", false},
		"screen in the core":   {"winnow/assistant", "charm.land/lipgloss/v2", true},
		"screen in an adapter": {"winnow/adapters/modelfilter", "charm.land/bubbletea/v2", true},
		"a second client":      {"winnow/cmd/winnow", "github.com/openai/openai-go/v3", true},
		"a leaf with a module": {"winnow/checkpoint", "golang.org/x/sys/unix", true},
		"screen names adapter": {"winnow/tui", "winnow/adapters/modelfilter", true},
		"the rules pane may":   {"winnow/tui/rules", "winnow/adapters/modelfilter", false},
	} {
		if got := forbidden(c.from, c.imported) != ""; got != c.want {
			t.Errorf("%s: forbidden(%s, %s) = %v, want %v", name, c.from, c.imported, got, c.want)
		}
	}
}

// layerOf returns the index of a package's layer, or -1 if it is not in this module.
func layerOf(importPath string) int {
	rest, ours := strings.CutPrefix(importPath, "winnow/")
	if !ours {
		return -1
	}
	return slices.Index(layers, strings.SplitN(rest, "/", 2)[0])
}

func modulePackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "winnow/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < len(layers) {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestTopLevelIsFixed(t *testing.T) {
	root := path.Join("..", "..")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	fixed := []string{"cmd", "tui", "assistant", "adapters", "checkpoint", "go.mod", "go.sum", "Taskfile.yml", "README.md"}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && name != "bin" && !slices.Contains(fixed, name) {
			t.Errorf("%s does not belong at the top level", name)
		}
	}
}

// TestOnlySafetextMakesText checks that text is cleaned before it becomes a safetext.Text: only the package itself and
// the packages of test helpers convert a string that is not a constant.
func TestOnlySafetextMakesText(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.Base(filepath.Dir(path))
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || folder == "safetext" || strings.HasSuffix(folder, "test") {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range textConversions(file) {
			t.Errorf("%s converts to safetext.Text; use a function of the package", set.Position(at))
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// keepClean is the function that converts a part of a text to the type of the text, which may be safetext.Text.
const keepClean = "UpperFirst"

// textConversions returns the conversions of anything but a constant to safetext.Text, or to a type parameter that can
// be safetext.Text.
func textConversions(file *ast.File) (found []token.Pos) {
	to := []string{"safetext.Text"}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			to = append(to[:1:1], stringParameters(n.Type.TypeParams)...)
			return n.Name.Name != keepClean
		case *ast.CallExpr:
			if len(n.Args) != 1 || !slices.Contains(to, types.ExprString(n.Fun)) {
				return true
			}
			if _, literal := n.Args[0].(*ast.BasicLit); !literal {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// stringParameters returns the type parameters whose constraint is ~string.
func stringParameters(list *ast.FieldList) (names []string) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			if types.ExprString(f.Type) == "~string" {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func TestTextConversionsAreSeen(t *testing.T) {
	for source, want := range map[string]int{
		`safetext.Text("constant")`: 0, `safetext.Clean(name)`: 0, `safetext.Text(name)`: 1, `"a" + safetext.Text(name+"b")`: 1,
		`S("constant")`: 0, `U(name)`: 0, `string(name)`: 0, `S(name)`: 1, `name + T(name+"b")`: 1,
	} {
		source = "package x\nfunc f[S, T ~string, U any](name S) any { return " + source + " }"
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(textConversions(file)); got != want {
			t.Errorf("%s: %d conversions found, want %d", source, got, want)
		}
	}
}
