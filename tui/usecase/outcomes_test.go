package usecase_test

import (
	"go/ast"
	"go/types"
	"slices"
	"testing"
)

const wallPath = "winnow/tui/usecase"

// outcomes are the types of a package that implement usecase.Outcome, by name. Reply is what
// the others embed.
func outcomes(c *checked) (names []string) {
	outcome := c.pkg.Scope().Lookup("Outcome").Type().Underlying().(*types.Interface)
	for _, name := range c.pkg.Scope().Names() {
		typ, ok := c.pkg.Scope().Lookup(name).(*types.TypeName)
		if ok && name != "Reply" && !types.IsInterface(typ.Type()) && types.Implements(typ.Type(), outcome) {
			names = append(names, name)
		}
	}
	return names
}

// shown are the outcomes that a package has a case for, or asserts.
func shown(c *checked) map[string]bool {
	names := map[string]bool{}
	add := func(x ast.Expr) {
		if named, ok := c.info.TypeOf(x).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == wallPath {
			names[named.Obj().Name()] = true
		}
	}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, x := range n.List {
					add(x)
				}
			case *ast.TypeAssertExpr:
				if n.Type != nil {
					add(n.Type)
				}
			}
			return true
		})
	}
	return names
}

// The screen has a case for each outcome: one without a case would end a command in silence.
func TestTheScreenHandlesEveryOutcome(t *testing.T) {
	s := loadSource(t)
	root, err := s.check(s.find(t, "winnow/tui"), "")
	if err != nil {
		t.Fatal(err)
	}
	handled := shown(root)
	for planted, want := range map[string][]string{"": nil, "package usecase\ntype Planted struct{ Reply }": {"Planted"}} {
		c, err := s.check(s.find(t, wallPath), planted)
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(outcomes(c), func(name string) bool { return handled[name] })
		if !slices.Equal(missing, want) {
			t.Errorf("package tui has no case for %q, want %q", missing, want)
		}
	}
}
