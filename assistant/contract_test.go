package assistant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// forgetful is a lamp that goes wrong where a test says so.
type forgetful struct {
	lamp
	state   string // what State returns; "": its own
	refused error  // what Apply returns
	ignored bool   // Apply does nothing right
	loses   bool   // Apply leaves the lamp off, however often it is called
	context any    // what Context returns; nil: its own
}

func (f *forgetful) State() (json.RawMessage, error) {
	if f.state != "" {
		return json.RawMessage(f.state), nil
	}
	return f.lamp.State()
}

func (f *forgetful) Apply(state json.RawMessage) error {
	if f.loses {
		f.On = false
		return nil
	}
	if f.ignored {
		f.On = !f.On
		return f.refused
	}
	return errors.Join(f.refused, f.lamp.Apply(state))
}

func (f *forgetful) Context() (any, error) {
	if f.context != nil {
		return f.context, nil
	}
	return f.lamp.Context()
}

// A window that could not be undone is found by the start of its first session.
func TestStartRefusesAWindowThatCannotGoBack(t *testing.T) {
	for name, c := range map[string]struct {
		window forgetful
		want   string // in the error; "": it starts
	}{
		"right":              {window: forgetful{}},
		"refuses":            {window: forgetful{refused: errors.New("the bulb is gone")}, want: "the bulb is gone"},
		"forgets":            {window: forgetful{ignored: true}, want: `Apply turned {"on":false} into {"on":true}`},
		"loses":              {window: forgetful{lamp: lamp{On: true}, loses: true}, want: `Apply turned {"on":true} into {"on":false}`},
		"no JSON":            {window: forgetful{state: "on"}, want: `the window's state is not JSON: "on"`},
		"encoded by mistake": {window: forgetful{state: `"eyJvbiI6ZmFsc2V9"`}, want: "cannot unmarshal string"},
	} {
		j, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		s, err := assistant.NewSession(registryOf(t, at.NewScript()), assistant.Options{Window: &c.window, Journal: j, Model: "test/script"})
		if err != nil {
			t.Fatal(err)
		}
		switch err := s.Start(t.Context()); {
		case c.want == "":
			if err != nil || len(s.Checkpoints()) != 1 {
				t.Errorf("%s: %v, %d checkpoints", name, err, len(s.Checkpoints()))
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || len(s.Checkpoints()) != 0:
			t.Errorf("%s: Start = %v, %d checkpoints; want %q", name, err, len(s.Checkpoints()), c.want)
		}
	}
}

func TestContextMustBeAnObject(t *testing.T) {
	for _, wrong := range []any{[]int{1}, "on", json.RawMessage("1"), []byte(`{"on":true}`)} {
		r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Window = &forgetful{context: wrong} })
		failed := end[assistant.Error](t, r.send("hello"))
		if !strings.Contains(failed.Message, "its context is not a JSON object") || len(r.script.Requests()) != 0 {
			t.Errorf("context %v: %q, %d requests", wrong, failed.Message, len(r.script.Requests()))
		}
	}
}

func TestLostNamesWhatAWrapperHides(t *testing.T) {
	type whole struct{ *deskLamp }
	type bare struct{ assistant.Window }
	desk := newDeskLamp(newSocket(40))
	if lost := assistant.Lost(whole{desk}, desk); len(lost) != 0 {
		t.Errorf("a wrapper of the type itself loses %v", lost)
	}
	lost := assistant.Lost(bare{desk}, desk)
	if all := windowInterfaces(t); !slices.Equal(lost, all) {
		t.Errorf("a wrapper of the interface loses %v, the comment of Window lists %v", lost, all)
	}
	if lost := assistant.Lost(desk, bare{desk}); len(lost) != 0 {
		t.Errorf("what has more loses %v", lost)
	}
}

// The interfaces that a program implements or takes are small, but for the sums of others.
func TestInterfacesAreSmall(t *testing.T) {
	for _, pattern := range []string{"*.go", "workspace/*.go", "history/*.go", "llm/*.go", "../checkpoint/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok || !spec.Name.IsExported() || spec.Name.Name == "Window" {
					return true
				}
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					methods := 0
					for _, m := range i.Methods.List {
						methods += len(m.Names)
					}
					if methods > 3 {
						t.Errorf("%s: %s has %d methods of its own", name, spec.Name.Name, methods)
					}
				}
				return true
			})
		}
	}
}

func TestTheCommentOfEventListsItsMembers(t *testing.T) {
	var types []string
	for _, e := range assistant.Events() {
		types = append(types, strings.TrimPrefix(fmt.Sprintf("%T", e), "assistant."))
	}
	if listed := listedIn(commentOf(t, "event.go", "Event")); !slices.Equal(listed, types) {
		t.Errorf("the comment of Event lists\n%v, Events returns\n%v", listed, types)
	}
}

// windowInterfaces are the interfaces that the comment of Window lists, sorted.
func windowInterfaces(t *testing.T) (names []string) {
	t.Helper()
	names = listedIn(commentOf(t, "window.go", "Window"))
	slices.Sort(names)
	return names
}

// listedIn are the names in the indented lines of a comment, in their order.
func listedIn(comment string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^\t([\w.]+) {2,}\w`).FindAllStringSubmatch(comment, -1) {
		names = append(names, m[1])
	}
	return names
}

// commentOf is the comment of a type.
func commentOf(t *testing.T, file, name string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
			return g.Doc.Text()
		}
	}
	t.Fatalf("%s has no type %s", file, name)
	return ""
}
