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

// reaching are packages that reach the disk, the network or another program, with the
// functions of them that only read memory.
var reaching = map[string][]string{
	"os": {"Getenv", "LookupEnv", "Getpid", "Environ", "UserHomeDir", "IsNotExist", "IsExist", "Error", "Unwrap", "IsDir", "Name", "Mode", "IsRegular"}, "os/exec": {"Command", "CommandContext"},
	"net": {"ParseIP", "JoinHostPort", "SplitHostPort"}, "net/http": nil, "syscall": nil, "path/filepath": {"Base", "Dir", "Join", "Clean", "Ext", "IsAbs", "ToSlash", "FromSlash", "Rel", "IsLocal", "Match", "VolumeName", "SplitList", "Split"},
	"io/ioutil": nil, "github.com/atotto/clipboard": nil, "golang.org/x/sys/unix": nil,
}

// fields are functions and interfaces that the screen is given, and that reach further.
var fields = []string{"Options.Start", "Options.StoreSetting", "Options.Clipboard", "Options.TmuxBuffer", "Parts.OfferConnect", "Connector.Dismiss"}

// beside are the packages that do not run in the update loop: the wall, whose functions make
// commands, line mode, and what opens a screen and its terminal.
var beside = append([]string{"winnow/tui/terminal"}, outside...)

// ioCalls are the calls of a package that reach the disk, the network or another program, or
// sleep, other than in commands: "file:line: what", by the function that they are in.
// known are functions of the screen that do.
func (s *source) ioCalls(c *checked, known map[string]bool) map[string][]string {
	found := map[string][]string{}
	for _, f := range c.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := c.info.Defs[fn.Name].(*types.Func).FullName()
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok && runsInCommand(c.info.TypeOf(lit)) {
					return false
				}
				call, ok := n.(*ast.CallExpr)
				if what := c.reaches(call, known); ok && what != "" {
					at := s.fset.Position(call.Pos())
					found[name] = append(found[name], fmt.Sprintf("%s:%d: %s", filepath.Base(at.Filename), at.Line, what))
				}
				return true
			})
		}
	}
	return found
}

// runsInCommand reports whether a function literal has the type of a tea.Cmd, of what ends a
// program that has the terminal meanwhile, or of the work of a pane.Compute.
func runsInCommand(t types.Type) bool {
	results := t.(*types.Signature).Results()
	if results.Len() == 0 {
		return false
	}
	first := types.TypeString(results.At(0).Type(), nil)
	return first == "charm.land/bubbletea/v2.Msg" || results.Len() == 2 && first == "any"
}

// reaches is what a call reaches the disk, the network or another program by; "" is nothing.
func (c *checked) reaches(call *ast.CallExpr, known map[string]bool) string {
	if call == nil {
		return ""
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if selection := c.info.Selections[sel]; selection != nil {
			recv := selection.Recv()
			if p, isPointer := recv.(*types.Pointer); isPointer {
				recv = p.Elem()
			}
			if named, isNamed := types.Unalias(recv).(*types.Named); isNamed && slices.Contains(fields, named.Obj().Name()+"."+sel.Sel.Name) {
				return named.Obj().Name() + "." + sel.Sel.Name
			}
			if f, isField := selection.Obj().(*types.Var); isField && slices.ContainsFunc(fields, func(name string) bool { return strings.HasSuffix(name, "."+f.Name()) }) {
				return "the field " + f.Name()
			}
		}
	}
	fn := c.callee(call)
	if fn == nil || fn.Pkg() == nil {
		return ""
	}
	if pure, does := reaching[fn.Pkg().Path()]; does && !slices.Contains(pure, fn.Name()) || fn.FullName() == "time.Sleep" || known[fn.FullName()] {
		return fn.FullName()
	}
	return ""
}

// onDisk are the functions of the screen that do it themselves, for commands.
var onDisk = []string{
	"winnow/tui/composer.read", "winnow/tui/composer.Attach", "(winnow/tui/composer.MentionSource).Suggest",
}

// Nothing that the update loop runs reaches the disk, the network or another program: only
// commands do, and the functions above, which only commands call.
func TestTheUpdateLoopReachesNothingOutside(t *testing.T) {
	s := loadSource(t)
	known := map[string]bool{}
	for _, name := range onDisk {
		known[name] = true
	}
	does := map[string]bool{}
	for _, l := range s.packages {
		if slices.Contains(beside, l.ImportPath) {
			continue
		}
		c, err := s.check(l, "")
		if err != nil {
			t.Fatal(err)
		}
		for name, calls := range s.ioCalls(c, known) {
			if does[name] = true; !known[name] {
				t.Errorf("%s is no command: %s", name, strings.Join(calls, ", "))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !does[name] {
			t.Errorf("%s reaches nothing, or is gone", name)
		}
	}
}

// The test above finds what is planted.
func TestWhatReachesOutsideIsSeen(t *testing.T) {
	s := loadSource(t)
	known := map[string]bool{onDisk[2]: true}
	for name, planted := range map[string]struct{ in, source string }{
		"a file":            {"winnow/tui/rules", `import "os"; func planted() { _, _ = os.ReadFile("x") }`},
		"a file of another": {"winnow/tui", `func planted(m *Model) { m.opts.Files.Suggest("@x", nil) }`},
		"a field":           {"winnow/tui", `func planted(m *Model) { _ = m.opts.Clipboard("x") }`},
		"in a closure":      {"winnow/tui", `import "os"; func planted() int { n := func() int { _ = os.Remove("x"); return 1 }; return n() }`},
		"a pause":           {"winnow/tui/chat", `import "time"; func planted() { time.Sleep(1) }`},
		"an open file":      {"winnow/tui/overlay", `import "os"; func planted(f *os.File) { _ = f.Close() }`},
	} {
		l := s.find(t, planted.in)
		c, err := s.check(l, "package "+l.ImportPath[strings.LastIndexByte(l.ImportPath, '/')+1:]+"\n"+planted.source)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := s.ioCalls(c, known)[planted.in+".planted"]; len(found) != 1 {
			t.Errorf("%s: found %v", name, found)
		}
	}
	for name, source := range map[string]string{
		"a command":   `import ("os"; tea "charm.land/bubbletea/v2"); func planted() tea.Cmd { return func() tea.Msg { _ = os.Remove("x"); return nil } }`,
		"from memory": `import "os"; func planted() string { return os.Getenv("X") }`,
	} {
		c, err := s.check(s.find(t, "winnow/tui"), "package tui\n"+source)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := s.ioCalls(c, known)["winnow/tui.planted"]; len(found) != 0 {
			t.Errorf("%s is taken for a call of the update loop: %v", name, found)
		}
	}
}
