package usecase_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table is the package with the one table of keys.
const table = "winnow/tui/keymap"

// namesKey finds the name of a key in a text: "esc", "enter selects", "alt+r renames".
var namesKey = regexp.MustCompile(`(?:^|[ (“·\n])(?:(?:ctrl|alt|shift|super)\+\S|(?:esc|enter|pgup|pgdown|backspace|f\d+)(?:$|[ )·]))`)

// noKeys are the packages of the screen whose texts name keys that are not bound: the
// console, the rigs of tests; and the files that name a value of the setting send_key, or
// keys of ssh.
var noKeys = []string{"winnow/tui/plain", "winnow/tui/tuitest", "overlay/settings.go", "sshserver/screen.go"}

// keyLiterals are the literals of a package that name a key or an action of the table.
func (s *source) keyLiterals(c *checked, key, action types.Type) (all []string) {
	report := func(n ast.Node, what string) {
		at := s.fset.Position(n.Pos())
		all = append(all, fmt.Sprintf("%s:%d: %s", filepath.Base(at.Filename), at.Line, what))
	}
	for _, f := range c.files {
		file := filepath.Base(filepath.Dir(s.fset.Position(f.Pos()).Filename)) + "/" + filepath.Base(s.fset.Position(f.Pos()).Filename)
		ast.Inspect(f, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			switch t := c.info.TypeOf(l); {
			case err != nil || text == "" || t == nil:
			case types.Identical(t, key), types.Identical(t, action):
				report(l, l.Value)
			case namesKey.MatchString(text) && !slices.Contains(noKeys, c.path) && !slices.Contains(noKeys, file):
				report(l, l.Value)
			}
			return true
		})
	}
	return all
}

func (s *source) keyTypes(t *testing.T) (key, action types.Type) {
	t.Helper()
	key, err := s.named(table, "Key")
	if err != nil {
		t.Fatal(err)
	}
	action, err = s.named(table, "Action")
	if err != nil {
		t.Fatal(err)
	}
	return key, action
}

// Keys and actions are named by the table alone: what compares with a literal cannot be bound,
// and a text with one does not follow the binding.
func TestKeysStandInTheTable(t *testing.T) {
	s := loadSource(t)
	key, action := s.keyTypes(t)
	for _, l := range s.packages {
		if l.ImportPath == table {
			continue
		}
		c, err := s.check(l, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range s.keyLiterals(c, key, action) {
			t.Errorf("%s/%s stands outside of the key table", strings.TrimPrefix(l.ImportPath, "winnow/"), found)
		}
	}
}

// The test above finds what is planted.
func TestKeysOutsideOfTheTableAreFound(t *testing.T) {
	s := loadSource(t)
	key, action := s.keyTypes(t)
	for name, planted := range map[string]string{
		"a comparison":    `func planted(k keymap.Key) bool { return k == "x" }`,
		"a case":          `func planted(k keymap.Key) int { switch k { case "j", "down": return 1 }; return 0 }`,
		"an action":       `func planted(m *keymap.Map) bool { return m.Named("save") != nil }`,
		"a hint":          `func planted(*keymap.Map) string { return "enter selects · alt+r renames" }`,
		"a name in a map": `var planted = map[string]*keymap.Map{"ctrl+x": nil}`,
	} {
		c, err := s.check(s.find(t, "winnow/tui/overlay"), "package overlay\nimport \"winnow/tui/keymap\"\n"+planted)
		if err != nil {
			t.Fatal(name, err)
		}
		if found := s.keyLiterals(c, key, action); !strings.Contains(strings.Join(found, "\n"), "planted.go:3:") {
			t.Errorf("%s is not found: %q", name, found)
		}
	}
}
