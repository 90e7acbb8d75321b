package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that the program must not hold. What they initialise runs
// before main, at every start; and one that reaches methods by their names, as
// text/template does, has the linker keep every method of every type.
var heavy = []string{
	"charm.land/glamour/v2/ansi",             // both, by what it imports: 11 ms and 6 MB
	"github.com/alecthomas/chroma/v2/styles", // reads seventy themes
	"github.com/microcosm-cc/bluemonday",     // compiles sixty expressions
	"html/template",
}

func TestNothingHeavyIsLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "winnow/cmd/winnow").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/alecthomas/chroma/v2/lexers") {
		t.Fatal("go list does not tell what the program holds")
	}
	for _, p := range heavy {
		if slices.Contains(deps, p) {
			t.Errorf("the program holds %s", p)
		}
	}
}
