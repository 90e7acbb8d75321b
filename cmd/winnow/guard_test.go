package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// clumsy is a model that breaks down where it is told to.
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

func TestABreakdownEndsTheProgramInOrder(t *testing.T) {
	for _, where := range []string{"init", "update", "command", "batch", "view"} {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		safe := &safeModel{Model: clumsy{where}}
		p := tea.NewProgram(safe, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(&out), tea.WithoutSignalHandler())
		safe.quit = p.Quit
		_, err := p.Run()
		cancel()
		b := safe.broken()
		if err != nil || b == nil || b.value != "in "+where || len(b.stack) == 0 {
			t.Errorf("%s: Run = %v, broken = %v; want an orderly end and the panic", where, err, b != nil)
		}
		if strings.Contains(out.String(), "panic") || strings.Contains(out.String(), "goroutine") {
			t.Errorf("%s: the screen got %q", where, out.String())
		}
	}
}

func TestABreakdownIsToldCleanAndWithoutKeys(t *testing.T) {
	t.Setenv("WINNOW_HOME", t.TempDir())
	t.Setenv("SOME_API_KEY", "sk-very-secret-key")
	var stderr bytes.Buffer
	a := newApp(t.Context(), strings.NewReader(""), io.Discard, &stderr)
	defer a.stop()
	status := a.report(a.brokenDown(&breakdown{"\x1b]52;c;aGk=\x07\x1b[31m sk-very-secret-key \u202e", []byte("sk-very-secret-key")}))
	if status != statusFailed || !strings.Contains(stderr.String(), "winnow itself broke down:  [key]") {
		t.Errorf("report = %d, %q", status, stderr.String())
	}
	if strings.ContainsAny(stderr.String(), "\x1b\x07\u202e") || strings.Contains(stderr.String(), "sk-very") {
		t.Errorf("report wrote %q", stderr.String())
	}
	h, err := a.folders()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(h.log())
	if err != nil || !bytes.Contains(log, []byte("broke down")) || bytes.Contains(log, []byte("sk-very")) {
		t.Errorf("the log holds %q, %v", log, err)
	}
	if info, err := os.Stat(h.log()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log is %v, %v; want mode 0600", info.Mode(), err)
	}
}
