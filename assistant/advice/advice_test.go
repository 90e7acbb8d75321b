package advice

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
)

// turnCodes are the codes that assistant can end a turn with: the constants Kind…
// of llm/model.go and Code… of pair.go.
func turnCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	for file, prefix := range map[string]string{"llm/model.go": "Kind", "pair.go": "Code"} {
		f, err := parser.ParseFile(token.NewFileSet(), "../"+file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := len(codes)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[spec.Names[0].Name] = code
			return true
		})
		if len(codes) == found {
			t.Fatalf("%s declares no constant %s…", file, prefix)
		}
	}
	return codes
}

func TestEveryErrorOfATurnHasAdvice(t *testing.T) {
	defaults := func(action string) string {
		return map[string]string{"retry": "r", "re-ask": "e", "models": "ctrl+l"}[action]
	}
	bound := func(action string) string {
		return map[string]string{"retry": "ctrl+y", "re-ask": "E", "models": "alt+m"}[action]
	}
	for name, code := range turnCodes(t) {
		text := ForCode(code, bound)
		if !strings.HasSuffix(text, ".") || strings.ContainsAny(text, "{}") || strings.Contains(text, ". ") {
			t.Errorf("%s: %q is not one sentence with keys", name, text)
		}
		if !strings.Contains(text, "(ctrl+y)") && !strings.Contains(text, "(E)") && !strings.Contains(text, "(alt+m)") {
			t.Errorf("%s: %q names no key", name, text)
		}
		const room = 74 // of 80: without the frame, the gutter and the indent
		if text := ForCode(code, defaults); len(text) > room {
			t.Errorf("%s: %q does not fit on one line", name, text)
		}
		if text := ForCode(code, nil); text == "" || strings.ContainsAny(text, "(){}") {
			t.Errorf("%s without keys: %q", name, text)
		}
	}
	if text := ForCode("of another program", bound); text != "" {
		t.Errorf("an unknown code: %q", text)
	}
}

// Every error of the workspace that has a way out names it as the front end has it, and
// is a whole sentence without it.
func TestErrorsNameWhatToDo(t *testing.T) {
	keys := func(action string) string {
		return map[string]string{"escape": "esc", "models": "ctrl+l", "re-ask": "e"}[action]
	}
	gone := fmt.Errorf("the model test/gone: %w", llm.ErrModelGone)
	for _, c := range []struct {
		err         error
		cause, next string
	}{
		{assistant.ErrBusy, "the assistant is working", "esc cancels"},
		{assistant.ErrNoModel, "no model is selected", "ctrl+l chooses one"},
		{gone, gone.Error(), "ctrl+l chooses another"},
		{llm.ErrNoVision, llm.ErrNoVision.Error(), "ctrl+l chooses another"},
		{workspace.ErrNotLast, workspace.ErrNotLast.Error(), "e edits and asks again"},
		{workspace.ErrNoHistory, "there is only this session, because no history is stored", ""},
		{fmt.Errorf("write: %w", fs.ErrExist), "write: file already exists", ""},
		{fmt.Errorf("read: %w", context.Canceled), "cancelled", ""},
		{&windowlock.LockedError{Holder: windowlock.Holder{User: "anna"}}, "anna's assistant is working", "try again when it has finished"},
		{errors.New("strange"), "strange", ""},
	} {
		if cause, next := ForError(c.err, keys); cause != c.cause || next != c.next {
			t.Errorf("%v: %q, %q; want %q, %q", c.err, cause, next, c.cause, c.next)
		}
		none := func(string) string { return "" }
		if cause, next := ForError(c.err, none); cause != c.cause || strings.Contains(next, "chooses") {
			t.Errorf("%v without keys: %q, %q", c.err, cause, next)
		}
	}
	for _, known := range byError {
		if known.action != "" && known.does == "" {
			t.Errorf("%v: %s does nothing", known.err, known.action)
		}
	}
}

// A user is not told the name of a package.
func TestTextNamesNoPackage(t *testing.T) {
	for text, want := range map[string]string{
		"dotenv: /srv/.env is read-only":         "/srv/.env is read-only",
		"history: checkpoint: read: no file":     "read: no file",
		"read /srv/history: no such file":        "read /srv/history: no such file",
		"historyless: nothing":                   "historyless: nothing",
		"openai returned 401: history: not here": "openai returned 401: history: not here",
	} {
		if got := Text(errors.New(text)); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
		if cause, _ := ForError(errors.New(text), func(string) string { return "" }); cause != want {
			t.Errorf("the cause of %q is %q, want %q", text, cause, want)
		}
	}
}
