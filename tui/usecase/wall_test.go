package usecase_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// behind are the types that only Commands, line mode and the wiring may know: the workspace,
// its session, the stores and the windows.
var behind = []string{
	"winnow/assistant/workspace.Workspace", "winnow/assistant.Session", "winnow/checkpoint.Journal",
	"winnow/assistant/serve.Session", "winnow/assistant/serve.Hub",
	"winnow/assistant/history.Store", "winnow/assistant/history.Notifier", "winnow/assistant/history.WindowLog", "winnow/assistant/history.PairReader",
	"winnow/assistant.Store", "winnow/assistant.RequestStore", "winnow/assistant.PictureStore", "winnow/assistant.PayloadStore", "winnow/assistant.SessionStore", "winnow/assistant.CancelledStore", "winnow/assistant.BranchStore",
	"winnow/assistant.Window", "winnow/assistant.Saver", "winnow/assistant.Refresher", "winnow/assistant.Watcher", "winnow/assistant.Log", "winnow/assistant.Actor",
	"winnow/assistant.Budgeter", "winnow/assistant.Positioned", "winnow/assistant.Dirtier", "winnow/assistant.Pager", "winnow/assistant.Snapshotter",
	"winnow/adapters/modelfilter.Window", "winnow/adapters/history.Window",
}

// outside are the packages that may: the wall itself, line mode, and what opens a screen.
var outside = []string{"winnow/tui/usecase", "winnow/tui/plain", "winnow/tui/sshserver", "winnow/tui/tuitest"}

// functions are the fields of Options that hold one: a closure over a workspace would hide
// there. None of these may call it.
var functions = []string{
	"Options.Start", "Options.StoreSetting", "Options.Now", "Options.Clipboard", "Options.TmuxBuffer", "Options.Redact",
	"Parts.Editor", "Parts.OfferConnect",
}

// wall are the types behind the wall.
func (s *source) wall(t *testing.T) (all []types.Type) {
	t.Helper()
	for _, name := range behind {
		dot := strings.LastIndexByte(name, '.')
		typ, err := s.named(name[:dot], name[dot+1:])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, typ)
	}
	return all
}

// breaches are the uses of such types in a package, as "file: Type.Method".
func (s *source) breaches(c *checked, wall []types.Type) map[string]bool {
	found := map[string]bool{}
	report := func(n ast.Node, what string) {
		file := filepath.Base(s.fset.Position(n.Pos()).Filename)
		found[fmt.Sprintf("%s/%s: %s", strings.TrimPrefix(c.path, "winnow/"), file, what)] = true
	}
	isBehind := func(t types.Type) (name string, ok bool) {
		if p, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
			t = p.Elem()
		}
		for _, w := range wall {
			if types.Identical(t, w) {
				return w.(*types.Named).Obj().Pkg().Name() + "." + w.(*types.Named).Obj().Name(), true
			}
		}
		return "", false
	}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // a call, a method value, a field
				if sel := c.info.Selections[n]; sel != nil {
					if name, ok := isBehind(sel.Recv()); ok {
						report(n, name+"."+n.Sel.Name)
					}
				}
			case *ast.Ident: // a field, a parameter, an assertion
				if obj, ok := c.info.Uses[n].(*types.TypeName); ok {
					if name, ok := isBehind(obj.Type()); ok {
						report(n, name)
					}
				}
			case *ast.InterfaceType: // what a workspace or a window fits behind
				if name := fits(c.info.TypeOf(n), wall); name != "" {
					report(n, "an interface for "+name)
				}
			}
			return true
		})
	}
	return found
}

// fits is a type behind the wall that has all methods of an interface; "" is none.
func fits(t types.Type, wall []types.Type) string {
	iface, ok := t.(*types.Interface)
	if !ok || iface.NumMethods() == 0 {
		return ""
	}
	for _, w := range wall {
		if _, isInterface := w.Underlying().(*types.Interface); !isInterface && types.Implements(types.NewPointer(w), iface) {
			return w.(*types.Named).Obj().Pkg().Name() + "." + w.(*types.Named).Obj().Name()
		}
	}
	return ""
}

// Nothing of the screen but Commands knows the workspace, its session, a store or a window,
// also not behind an interface.
func TestTheWallHolds(t *testing.T) {
	s := loadSource(t)
	wall := s.wall(t)
	found := map[string]bool{}
	for _, l := range s.packages {
		if slices.Contains(outside, l.ImportPath) {
			continue
		}
		c, err := s.check(l, "")
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(found, s.breaches(c, wall))
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		t.Error(what, "is behind the wall: make it a use case of Commands, or read the state")
	}
}

// The fields of Options that hold a function are these.
func TestNoFunctionOfOptionsHidesTheWorkspace(t *testing.T) {
	s := loadSource(t)
	for _, name := range []string{"Options", "Parts"} {
		typ, err := s.named("winnow/tui", name)
		if err != nil {
			t.Fatal(err)
		}
		fields := typ.Underlying().(*types.Struct)
		for i := range fields.NumFields() {
			f := fields.Field(i)
			if _, isFunction := f.Type().Underlying().(*types.Signature); isFunction && !slices.Contains(functions, name+"."+f.Name()) {
				t.Errorf("%s.%s is a function: a use case belongs in Commands", name, f.Name())
			}
		}
	}
}

// The test above finds what is planted.
func TestTheWallIsSeen(t *testing.T) {
	s := loadSource(t)
	wall := s.wall(t)
	for name, planted := range map[string]struct{ in, source, want string }{
		"a call": {"winnow/tui", `package tui
			func (m *Model) planted() { m.opts.Work.Cancel() }`, "workspace.Workspace.Cancel"},
		"an interface that is not named": {"winnow/tui", `package tui
			func planted(w interface{ Cancel() }) { w.Cancel() }`, "an interface for workspace.Workspace"},
		"a field": {"winnow/tui/overlay", `package overlay
			import "winnow/assistant/workspace"
			type planted struct{ w *workspace.Workspace }`, "workspace.Workspace"},
		"a method value": {"winnow/tui/overlay", `package overlay
			import "winnow/assistant/workspace"
			func planted(w *workspace.Workspace) func() { return w.Cancel }`, "workspace.Workspace.Cancel"},
		"an interface": {"winnow/tui/overlay", `package overlay
			import ("context"; "winnow/assistant/history")
			type planted interface{ SaveDraft(context.Context, history.Draft) error }`, "an interface for workspace.Workspace"},
		"a pane": {"winnow/tui/pane", `package pane
			import "winnow/adapters/modelfilter"
			type planted struct{ window *modelfilter.Window }`, "modelfilter.Window"},
		"a store": {"winnow/tui/pane", `package pane
			import ("context"; "winnow/assistant/history")
			func planted(s history.Store) { s.Draft(context.Background(), "") }`, "history.Store.Draft"},
	} {
		l := s.find(t, planted.in)
		c, err := s.check(l, planted.source)
		if err != nil {
			t.Fatal(name, err)
		}
		want := strings.TrimPrefix(planted.in, "winnow/") + "/planted.go: " + planted.want
		if found := s.breaches(c, wall); !found[want] {
			t.Errorf("%s is not found: %v", name, found)
		}
	}
}
