package usecase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is the screen with its types: the packages below tui, without their tests.
type source struct {
	fset     *token.FileSet
	packages []listed
	export   map[string]string // by import path: the file with its types
	importer types.Importer
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// checked is a package with its types.
type checked struct {
	path  string
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

var load = sync.OnceValues(func() (*source, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "winnow/tui/...", "winnow/adapters/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	s := &source{fset: token.NewFileSet(), export: map[string]string{}}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		s.export[l.ImportPath] = l.Export
		if l.ImportPath == "winnow/tui" || strings.HasPrefix(l.ImportPath, "winnow/tui/") {
			s.packages = append(s.packages, l)
		}
	}
	s.importer = importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(s.export[path]) })
	return s, nil
})

func loadSource(t *testing.T) *source {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check checks a package with one more file, or with the files of it alone when planted is
// "".
func (s *source) check(l listed, planted string) (*checked, error) {
	c := &checked{path: l.ImportPath, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	if planted != "" {
		f, err := parser.ParseFile(s.fset, "planted.go", planted, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	var err error
	c.pkg, err = (&types.Config{Importer: s.importer}).Check(l.ImportPath, s.fset, c.files, c.info)
	return c, err
}

// named is a type by its package and name.
func (s *source) named(path, name string) (types.Type, error) {
	pkg, err := s.importer.Import(path)
	if err != nil {
		return nil, err
	}
	obj := pkg.Scope().Lookup(name)
	if obj == nil {
		return nil, fmt.Errorf("there is no %s in %s", name, path)
	}
	return obj.Type(), nil
}

// find is a package by its path.
func (s *source) find(t *testing.T, path string) listed {
	t.Helper()
	for _, l := range s.packages {
		if l.ImportPath == path {
			return l
		}
	}
	t.Fatalf("there is no package %s", path)
	return listed{}
}
