package usecase_test

import (
	"fmt"
	"go/types"
	"testing"
)

// children are the parts of the screen that have their own state.
var children = []string{"conversation", "input", "commandLine", "turn", "parts", "saving", "discarding", "rollingBack", "topicList", "requestList"}

// reaches are the ways by which a child could do more than return what it asks for: to the
// root, to the use cases, to a function or an interface behind which either may hide.
func reaches(c *checked, child string) (ways []string) {
	seen := map[types.Type]bool{}
	var walk func(path string, t types.Type)
	walk = func(path string, t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			switch obj := t.Obj(); {
			case obj.Pkg() == nil:
				return
			case obj.Pkg() == c.pkg && obj.Name() == "Model", obj.Pkg().Path() == wallPath && obj.Name() == "Commands":
				ways = append(ways, path+" is a "+obj.Name())
				return
			case obj.Pkg() != c.pkg: // which cannot know the root
				return
			}
			walk(path, t.Underlying())
		case *types.Pointer:
			walk(path, t.Elem())
		case *types.Slice:
			walk(path+"[]", t.Elem())
		case *types.Map:
			walk(path+"[]", t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				walk(path+"."+f.Name(), f.Type())
			}
		case *types.Signature, *types.Interface:
			ways = append(ways, path+" is a "+fmt.Sprintf("%T", t))
		}
	}
	walk(child, c.pkg.Scope().Lookup(child).Type())
	return ways
}

// A child of the screen knows neither the root nor the use cases.
func TestChildrenDoNotKnowTheRoot(t *testing.T) {
	s := loadSource(t)
	c, err := s.check(s.find(t, "winnow/tui"), `package tui
		import tea "charm.land/bubbletea/v2"
		type plantedRoot struct{ common *struct{ root *Model } }
		type plantedClosure struct{ do []func() tea.Cmd }
		type plantedInterface struct{ root interface{ Update(tea.Msg) (tea.Model, tea.Cmd) } }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		for _, way := range reaches(c, child) {
			t.Error(way, "- pass a value, and return an intent")
		}
	}
	for _, planted := range []string{"plantedRoot", "plantedClosure", "plantedInterface"} {
		if len(reaches(c, planted)) != 1 {
			t.Errorf("%s is not found", planted)
		}
	}
}
