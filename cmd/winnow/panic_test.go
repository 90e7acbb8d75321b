package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/terminal"
)

// clumsy is a model that panics at one place.
type clumsy struct{ where string }

type goMsg struct{}

func (c clumsy) Init() tea.Cmd {
	if c.where == "init" {
		panic("in init")
	}
	return func() tea.Msg { return goMsg{} }
}

func (c clumsy) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(goMsg); !ok {
		return c, nil
	}
	broken := func() tea.Msg { panic("in " + c.where) }
	switch c.where {
	case "update":
		panic("in update")
	case "command":
		return c, broken
	case "batch":
		return c, tea.Batch(func() tea.Msg { return nil }, broken)
	case "view":
		return clumsy{"drawn"}, nil
	}
	return c, tea.Quit
}

func (c clumsy) View() tea.View {
	if c.where == "drawn" {
		panic("in view")
	}
	return tea.NewView("fine")
}

// standardError is file descriptor 2. With -json, package testing points os.Stderr at standard output.
var standardError = os.Stderr

// runUnseen runs a model on two files that are not terminals, and returns what was written to the screen.
func runUnseen(t *testing.T, a *app, model tea.Model) (screen []byte, err error) {
	t.Helper()
	in, typed, err := os.Pipe() // without input
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typed.Close()
	out, err := os.CreateTemp(t.TempDir(), "screen")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer func(before *os.File) { os.Stderr = before }(os.Stderr)
	os.Stderr = standardError
	// After a panic, Bubble Tea does not wait for the goroutine that reads the input, and cancelling the read of a
	// file would race with it. So the input is not a file.
	err = a.runModel(terminal.New(model, strings.NewReader(""), out, a.environ), in, out, func(error) {})
	screen, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return screen, err
}

// checkPanic runs a model that panics with a text. Nothing of the text may reach the terminal, the user must learn
// where to look, and the log must contain it without keys and without anything that a terminal interprets.
func checkPanic(t *testing.T, a *app, model tea.Model, text string) {
	t.Helper()
	shown, err := runUnseen(t, a, model)
	if err == nil || !strings.Contains(err.Error(), "winnow crashed") {
		t.Errorf("%s: runModel = %v, want a failure", text, err)
	}
	if bytes.Contains(shown, []byte("goroutine")) || bytes.Contains(shown, []byte(text)) {
		t.Errorf("%s: the screen got %q", text, shown)
	}
	h, err := a.folders()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(h.Log())
	if err != nil || !bytes.Contains(log, []byte(text)) || !bytes.Contains(log, []byte("goroutine")) {
		t.Errorf("%s: the log holds %q, %v", text, log, err)
	}
	if info, err := os.Stat(h.Log()); err != nil {
		t.Error(err)
	} else if info.Mode().Perm() != 0o600 {
		t.Errorf("the log has mode %v, want 0600", info.Mode())
	}
}

func TestAPanicEndsTheProgramInOrder(t *testing.T) {
	for _, where := range []string{"init", "update", "command", "batch", "view"} {
		checkPanic(t, testApp(t), clumsy{where}, "in "+where)
	}
}

// panics is a model that panics with its text.
type panics string

func (p panics) Init() tea.Cmd                       { panic(string(p)) }
func (p panics) Update(tea.Msg) (tea.Model, tea.Cmd) { return p, nil }
func (p panics) View() tea.View                      { return tea.NewView("") }

func TestAPanicIsLoggedCleanAndWithoutKeys(t *testing.T) {
	a := testApp(t)
	const key = "sk-very-secret-key"
	a.redactor.Add(key)
	checkPanic(t, a, panics("before \x1b]52;c;aGk=\x07\x1b[31m"+key+"\u202e"), "before ")
	h, err := a.folders()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(h.Log())
	if err != nil || bytes.Contains(log, []byte(key)) || bytes.ContainsAny(log, "\x1b\x07\u202e") || !bytes.Contains(log, []byte("[key]")) {
		t.Errorf("the log holds %q, %v", log, err)
	}
}
