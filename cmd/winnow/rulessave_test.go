package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
)

// warningWindow is a window that saves with a warning.
type warningWindow struct{ *assistanttest.Window }

const saveWarning = "The file was saved, but not yet durably."

func (warningWindow) Dirty() bool { return true }

func (warningWindow) PlanSave(context.Context, string) (assistant.SavePlan, error) {
	return assistant.SavePlan{}, nil
}

func (warningWindow) Save(context.Context, assistant.Basis) (assistant.Saved, error) {
	return assistant.Saved{Written: true, Message: "Saved 1 rule.", Warning: saveWarning}, nil
}

func (warningWindow) PlanDiscard(string) assistant.SavePlan { return assistant.SavePlan{} }

func (warningWindow) Discard(assistant.Basis) ([]assistant.Change, error) { return nil, nil }

// Every command that saves prints the warning of the save, also with --json.
func TestEverySaveSaysItsWarning(t *testing.T) {
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{Window: warningWindow{assistanttest.NewWindow("ant")}})
	if err != nil {
		t.Fatal(err)
	}
	ws := workspace.New(workspace.Options{Session: session})
	for name, save := range map[string]func(a *app) error{
		"rules save":        func(a *app) error { saved, _, err := a.saveOwn(t.Context(), ws); _ = a.printSaved(saved); return err },
		"rules save --plan": func(a *app) error { return a.saveShown(t.Context(), ws, "digest") },
		"rules add --save":  func(a *app) error { _, _, err := a.saveStaged(t.Context(), ws, nil); return err },
	} {
		for _, json := range []bool{false, true} {
			var out, beside bytes.Buffer
			a := &app{stdout: &out, stderr: &beside, redactor: &safetext.Redactor{}}
			a.flags.json = json
			if err := save(a); err != nil || strings.Count(beside.String(), saveWarning) != 1 {
				t.Errorf("%s: %q, %v", name, beside.String(), err)
			}
		}
	}
}
