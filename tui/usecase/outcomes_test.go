package usecase_test

import (
	"go/ast"
	"go/types"
	"slices"
	"testing"
)

const wallPath = "winnow/tui/usecase"

// implementing are the types of a package that implement an interface of it, by name. Reply is
// what the outcomes embed.
func implementing(c *checked, what string) (names []string) {
	outcome := c.pkg.Scope().Lookup(what).Type().Underlying().(*types.Interface)
	for _, name := range c.pkg.Scope().Names() {
		typ, ok := c.pkg.Scope().Lookup(name).(*types.TypeName)
		if ok && name != "Reply" && !types.IsInterface(typ.Type()) && types.Implements(typ.Type(), outcome) {
			names = append(names, name)
		}
	}
	return names
}

// cases are the types of a package that another one has a case for, or asserts.
func cases(c *checked, of string) map[string]bool {
	names := map[string]bool{}
	add := func(x ast.Expr) {
		if named, ok := c.info.TypeOf(x).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == of {
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

// The screen has a case for each outcome, and for each intent of a child: what has no case
// would end in silence.
func TestTheScreenHandlesEveryOutcomeAndIntent(t *testing.T) {
	s := loadSource(t)
	root, err := s.check(s.find(t, "winnow/tui"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range []struct{ path, name, planted string }{
		{wallPath, "Outcome", "package usecase\ntype Planted struct{ Reply }"},
		{"winnow/tui", "intent", "package tui\ntype Planted struct{}\nfunc (Planted) intent() {}"},
	} {
		handled := cases(root, sum.path)
		for planted, want := range map[string][]string{"": nil, sum.planted: {"Planted"}} {
			c, err := s.check(s.find(t, sum.path), planted)
			if err != nil {
				t.Fatal(err)
			}
			missing := slices.DeleteFunc(implementing(c, sum.name), func(name string) bool { return handled[name] })
			if !slices.Equal(missing, want) {
				t.Errorf("package tui has no case for the %s %q, want %q", sum.name, missing, want)
			}
		}
	}
}
