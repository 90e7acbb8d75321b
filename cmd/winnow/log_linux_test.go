package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// writes is a model that runs a function as its command and quits.
type writes func()

func (w writes) Init() tea.Cmd {
	return func() tea.Msg {
		w()
		return tea.QuitMsg{}
	}
}
func (w writes) Update(tea.Msg) (tea.Model, tea.Cmd) { return w, nil }
func (w writes) View() tea.View                      { return tea.NewView("") }

// TestNothingElseWritesOnTheTerminal checks that what a library writes to the standard logger or to file descriptor 2
// while a screen is drawn goes to the log, without keys and without anything that a terminal interprets.
func TestNothingElseWritesOnTheTerminal(t *testing.T) {
	a := testApp(t)
	const key = "sk-secret-0123456789"
	a.redactor.Add(key)
	model := writes(func() {
		log.Print("Unsolicited response with " + key + "\x1b]52;c;aGk=\x07")
		if _, err := syscall.Write(2, []byte("descriptor 2 \x1b[2Jwith "+key+"\nand a last line")); err != nil {
			t.Error(err)
		}
	})
	if screen, err := runUnseen(t, a, model); err != nil || strings.Contains(string(screen), key) {
		t.Fatalf("the screen got %q, %v", screen, err)
	}
	text, err := os.ReadFile(filepath.Join(a.flags.home, "state", "log", "winnow.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Unsolicited response", "descriptor 2", "and a last line", `"standard logger"`, `"stderr"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the log does not hold %q:\n%s", want, text)
		}
	}
	for _, bad := range []string{key, "\x1b", `\u001b`, "aGk="} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the log holds %q:\n%s", bad, text)
		}
	}
}
