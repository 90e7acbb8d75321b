package usecase_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// cmdOf is the type tea.Cmd.
func (s *source) cmdOf(t *testing.T) types.Type {
	t.Helper()
	cmd, err := s.named("charm.land/bubbletea/v2", "Cmd")
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// blinks is the package whose commands let a cursor blink that is not drawn: the terminal has
// its own.
const blinks = "charm.land/bubbles/v2/textarea"

// dropped are the calls of a package whose tea.Cmd is not used: nothing runs it. A function
// that only ever returns nil may be called for what it shows.
func (s *source) dropped(c *checked, cmd types.Type) (all []string) {
	nothing := c.returnsNil(cmd)
	report := func(call *ast.CallExpr) {
		if fn := c.callee(call); fn != nil && (nothing[fn] || fn.Pkg() != nil && fn.Pkg().Path() == blinks) {
			return
		}
		if returns(c.info.TypeOf(call), cmd) {
			at := s.fset.Position(call.Pos())
			all = append(all, fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line))
		}
	}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt:
				if call, ok := n.X.(*ast.CallExpr); ok {
					report(call)
				}
			case *ast.DeferStmt:
				report(n.Call)
			case *ast.GoStmt:
				report(n.Call)
			case *ast.AssignStmt:
				c.blanks(n, cmd, report)
			}
			return true
		})
	}
	return all
}

// blanks reports a call whose tea.Cmd is assigned to the blank identifier.
func (c *checked) blanks(n *ast.AssignStmt, cmd types.Type, report func(*ast.CallExpr)) {
	for i, left := range n.Lhs {
		if id, ok := left.(*ast.Ident); !ok || id.Name != "_" {
			continue
		}
		right, of := n.Rhs[0], i
		if len(n.Rhs) == len(n.Lhs) {
			right, of = n.Rhs[i], 0
		}
		call, ok := right.(*ast.CallExpr)
		if !ok {
			continue
		}
		typ := c.info.TypeOf(call)
		if tuple, ok := typ.(*types.Tuple); ok {
			typ = tuple.At(of).Type()
		}
		if typ != nil && types.Identical(typ, cmd) {
			report(call)
		}
	}
}

// returns reports whether a call of this type returns a tea.Cmd.
func returns(t, cmd types.Type) bool {
	tuple, ok := t.(*types.Tuple)
	if !ok {
		return t != nil && types.Identical(t, cmd)
	}
	for v := range tuple.Variables() {
		if types.Identical(v.Type(), cmd) {
			return true
		}
	}
	return false
}

// callee is the function that a call names; nil: it is a value.
func (c *checked) callee(call *ast.CallExpr) *types.Func {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		fn, _ := c.info.Uses[fun].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := c.info.Uses[fun.Sel].(*types.Func)
		return fn
	}
	return nil
}

// returnsNil are the functions of a package that return no tea.Cmd but nil.
func (c *checked) returnsNil(cmd types.Type) map[*types.Func]bool {
	bodies, nothing := map[*types.Func]*ast.BlockStmt{}, map[*types.Func]bool{}
	for _, f := range c.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			obj := c.info.Defs[fn.Name].(*types.Func)
			if results := obj.Signature().Results(); results.Len() == 1 && types.Identical(results.At(0).Type(), cmd) {
				bodies[obj], nothing[obj] = fn.Body, true // until a return says otherwise
			}
		}
	}
	for again := true; again; {
		again = false
		for fn, body := range bodies {
			if nothing[fn] && !c.nilOnly(body, nothing) {
				nothing[fn], again = false, true
			}
		}
	}
	return nothing
}

// nilOnly reports whether all returns of a body return nil, or what such a function returns.
func (c *checked) nilOnly(body *ast.BlockStmt, nothing map[*types.Func]bool) bool {
	only := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its returns are its own
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				only = false
				return false
			}
			call, isCall := n.Results[0].(*ast.CallExpr)
			switch {
			case c.info.Types[n.Results[0]].IsNil():
			case isCall && c.callee(call) != nil && nothing[c.callee(call)]:
			default:
				only = false
			}
		}
		return true
	})
	return only
}

// toDo are the types by which a part of the screen asks for something to be done: the screen
// makes a tea.Cmd of what a pane, an overlay or a child answers.
var toDo = [][2]string{{"charm.land/bubbletea/v2", "Cmd"}, {"winnow/tui/pane", "Action"}, {"winnow/tui/overlay", "Outcome"}, {"winnow/tui", "intent"}}

// toDoIn is such a type as a package sees it: its own where it declares it; nil: it sees none.
func (s *source) toDoIn(t *testing.T, c *checked, path, name string) types.Type {
	t.Helper()
	if c.path == path {
		return c.pkg.Scope().Lookup(name).Type()
	}
	if !token.IsExported(name) {
		return nil
	}
	typ, err := s.named(path, name)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// Nothing that a part of the screen asks for is lost.
func TestNoCommandIsDropped(t *testing.T) {
	s := loadSource(t)
	for _, l := range s.packages {
		c, err := s.check(l, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range toDo {
			typ := s.toDoIn(t, c, what[0], what[1])
			if typ == nil {
				continue
			}
			for _, at := range s.dropped(c, typ) {
				t.Errorf("%s: %s drops a %s", l.ImportPath, at, what[1])
			}
		}
	}
}

// What a pane or an overlay answers is found where it is dropped, too.
func TestADroppedAnswerIsSeen(t *testing.T) {
	s := loadSource(t)
	for name, planted := range map[string]struct {
		in, source string
		what       int // index of toDo
	}{
		"a pane's":           {"winnow/tui", `func (m *Model) planted() { m.pane.Do(keymap.Save) }`, 1},
		"an overlay's":       {"winnow/tui", `func (m *Model) planted() { m.overlay.Key("enter", "") }`, 2},
		"a list's in a card": {"winnow/tui/connectcard", `func (c *Card) planted() { c.list.Click(1) }`, 2},
		"in the pane":        {"winnow/tui/rules", `func (p *Pane) planted() { _ = p.submitInput() }`, 1},
		"a child's":          {"winnow/tui", `func (m *Model) planted() { m.command.walk(1) }`, 3},
		"in the overlay":     {"winnow/tui/overlay", `func (p *Picker) planted() { p.queryChanged() }`, 2},
	} {
		l := s.find(t, planted.in)
		c, err := s.check(l, "package "+l.ImportPath[strings.LastIndexByte(l.ImportPath, '/')+1:]+"\nimport \"winnow/tui/keymap\"\nvar _ keymap.Key\n"+planted.source)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := s.dropped(c, s.toDoIn(t, c, toDo[planted.what][0], toDo[planted.what][1])); len(found) != 1 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// The test above finds what is planted.
func TestADroppedCommandIsSeen(t *testing.T) {
	s := loadSource(t)
	cmd := s.cmdOf(t)
	for name, planted := range map[string]struct {
		source string
		want   int
	}{
		"a call":           {`func (m *Model) planted() { m.resize(1, 1); m.loadMissing() }`, 2},
		"the blank":        {`func (m *Model) planted() { _ = m.loadMissing() }`, 1},
		"the blank of two": {`func (m *Model) planted() { _, ok := m.onPairOutcome(nil); _ = ok }`, 1},
		"deferred":         {`func (m *Model) planted() { defer m.loadMissing() }`, 1},
		"what is returned": {`func (m *Model) planted() tea.Cmd { return m.loadMissing() }`, 0},
		"a notice":         {`func (m *Model) planted() { m.info("text"); m.fail(nil) }`, 0},
		"a child's":        {`func (m *Model) planted() { m.follower.Wait(true) }`, 1},
	} {
		c, err := s.check(s.find(t, "winnow/tui"), "package tui\nimport tea \"charm.land/bubbletea/v2\"\nvar _ tea.Cmd\n"+planted.source)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := s.dropped(c, cmd); len(found) != planted.want {
			t.Errorf("%s: found %v, want %d", name, found, planted.want)
		}
	}
}
