package status

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

func TestLines(t *testing.T) {
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := ContextNumbers{
		State: session.State(), Boundary: budget.Boundary{ML: 8000, SYS: 120, Usable: 7880, X: 2, Y: 3}, Counter: "2/3",
		Draft:   assistant.DraftCost{AUT: 7, Total: 127},
		Focused: assistant.Pair{State: assistant.PairError, ErrorCode: "net", ErrorMessage: "no\x1b[31m route"},
	}
	lines := n.Lines(80, style.New(style.Options{Profile: style.NoColor}).Overlay)
	text := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{
		"PARAMETERS", "BUDGET", "SELECTION", "TRIMMING", "ERROR",
		"context of the model              ~8000", "the draft                         ~7", "total with the draft              ~127",
		"messages shown                    3", "of them sent                      2", "sent of shown                     2/3",
		"last request                      none yet", "net                               no route",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if acronym := regexp.MustCompile(`\([A-Z]+\)`).FindString(text); acronym != "" {
		t.Errorf("%s is in\n%s", acronym, text)
	}
	n.Focused.ErrorMessage = safetext.Text(strings.Repeat("word ", 200))
	n.Counter = strings.Repeat("n", 30)
	for _, w := range []int{60, 80, 200} {
		var values []string
		for _, line := range n.Lines(w, style.New(style.Options{Profile: style.NoColor}).Overlay) {
			if line = ansi.Strip(line); strings.Contains(line, "word ") {
				values = append(values, line)
			}
			if width := ansi.StringWidth(line); width > overlay.InnerWidth(w) {
				t.Errorf("on a screen of %d cells a line has %d cells: %q", w, width, line)
			}
		}
		if len(values) < 2 || strings.IndexFunc(values[1], unicode.IsLetter) != 2+nameWidth {
			t.Errorf("on a screen of %d cells a long value is not aligned:\n%s", w, strings.Join(values, "\n"))
		}
	}
	narrowLines := n.Lines(40, style.New(style.Options{Profile: style.NoColor}).Overlay)
	for _, line := range narrowLines {
		if ansi.StringWidth(line) > 40*4/5 {
			t.Errorf("on a narrow screen a line has %d cells: %q", ansi.StringWidth(line), ansi.Strip(line))
		}
	}
	narrowText := ansi.Strip(strings.Join(narrowLines, "\n"))
	if !strings.Contains(narrowText, "  sent of shown\n    "+n.Counter[:28]+"\n    nn") || strings.Count(narrowText, "word") != maxValueWidth/len("word ") {
		t.Errorf("a long value is not below its name, or not cut at %d cells:\n%s", maxValueWidth, narrowText)
	}
	for _, line := range n.Lines(40, style.New(style.Options{Profile: style.NoColor}).Overlay) {
		if name, _, _ := strings.Cut(ansi.Strip(line), "~8000"); strings.Contains(line, "~8000") && len(name) != 26 {
			t.Errorf("on a narrow screen a value begins in column %d:\n%s", len(name), line)
		}
	}
}
