package answer

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/tui/lines"
)

func printer(out io.Writer) *Printer {
	return &Printer{
		Out: out, Part: lines.NewRaw, Print: func(string, ...any) {},
		Answer: func(string, bool) error { return nil },
	}
}

// written notes each write.
type written struct{ lines []string }

func (w *written) Write(p []byte) (int, error) {
	w.lines = append(w.lines, string(p))
	return len(p), nil
}

// TestAPieceIsWrittenBeforeTheNext is waited for.
func TestAPieceIsWrittenBeforeTheNext(t *testing.T) {
	out := &written{}
	words := []string{"one", " two", " three"}
	err := printer(out).Turn(func(yield func(assistant.Event) bool) {
		for i, word := range words {
			if len(out.lines) != i || !yield(assistant.TextDelta{Text: word}) {
				t.Errorf("before %q: %q is written", word, out.lines)
			}
		}
	}, nil)
	if err != nil || !slices.Equal(out.lines, append(words, "\n")) {
		t.Errorf("written: %q, %v", out.lines, err)
	}
}

func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string // "|" is the border of a part
		want   string
	}{
		"plain":                 {[]string{"Hello", " you"}, "Hello you\n"},
		"ends once":             {[]string{"Hello\n", "\n\n"}, "Hello\n"},
		"nothing":               {[]string{"\n\n"}, ""},
		"parts":                 {[]string{"one", "|", "two"}, "one\n\ntwo\n"},
		"parts with ends":       {[]string{"one\n\n", "|", "\n\n", "|", "\n\ntwo"}, "one\n\ntwo\n"},
		"blank lines in a part": {[]string{"a\n", "\n\n\n", "b"}, "a\n\n\n\nb\n"},
		"escape over a border":  {[]string{"a\x1b", "[2Jb"}, "ab\n"},
	} {
		var all []assistant.Event
		for _, p := range c.pieces {
			if p == "|" {
				all = append(all, assistant.ToolStart{})
			} else {
				all = append(all, assistant.TextDelta{Text: p})
			}
		}
		var b strings.Builder
		if err := printer(&b).Turn(slices.Values(all), nil); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s: %s = %q, want %q", name, fmt.Sprint(c.pieces), b.String(), c.want)
		}
	}
}

// A question is answered by Yes, by the user, or by nobody.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		yes  bool
		ask  func(string) bool
		want string
		err  error
	}{
		"yes":    {true, nil, "true", nil},
		"user":   {false, func(q string) bool { return q == "Run save_changes?" }, "+ a true", nil},
		"nobody": {false, nil, "save_changes needs --yes here: the rules stay staged; winnow rules diff shows them, winnow rules save saves them false", ErrUnconfirmed},
	} {
		var said []string
		p := printer(io.Discard)
		p.Yes, p.Ask = c.yes, c.ask
		p.Print = func(format string, args ...any) {
			if line := fmt.Sprintf(format, args...); line != "" {
				said = append(said, line)
			}
		}
		p.Answer = func(_ string, yes bool) error {
			said = append(said, fmt.Sprint(yes))
			return nil
		}
		err := p.Turn(slices.Values([]assistant.Event{assistant.ConfirmRequest{ID: "1", Tool: "save_changes", Diff: "+ a\n"}, assistant.Complete{}}), nil)
		if got := strings.Join(said, " "); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
}

// failing fails each write.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A turn that nobody reads is stopped once, and read to its end.
func TestAFailedWriteStopsTheTurn(t *testing.T) {
	word := assistant.TextDelta{Text: "word "}
	all, read, stopped := []assistant.Event{word, word, word, assistant.Error{Code: assistant.CodeInterrupted}}, 0, 0
	err := printer(failing{}).Turn(func(yield func(assistant.Event) bool) {
		for _, e := range all {
			read++
			if !yield(e) {
				return
			}
		}
	}, func() { stopped++ })
	if !errors.Is(err, io.ErrClosedPipe) || stopped != 1 || read != len(all) {
		t.Errorf("%v, stopped %d times, %d events read", err, stopped, read)
	}
}

// printed is what a turn of events prints: the answer, the lines beside it, its error.
func printed(p *Printer, all ...assistant.Event) (out string, beside []string, err error) {
	var b strings.Builder
	p.Out = &b
	p.Print = func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); line != "" {
			beside = append(beside, line)
		}
	}
	err = p.Turn(slices.Values(all), nil)
	return b.String(), beside, err
}

func TestWhatIsPrintedBesideTheAnswer(t *testing.T) {
	start := assistant.ToolStart{Index: 1, Input: []byte(`{"rule":"` + strings.Repeat("x", 2*maxInput) + `"}`)}
	long := "✓ add_rule " + strings.Repeat("x", maxInput-1) + "… — added"
	for name, c := range map[string]struct {
		events []assistant.Event
		beside string
		err    string // "" is none
	}{
		"a call": {[]assistant.Event{start, assistant.ToolComplete{Index: 1, Tool: "add_rule", Success: true, Message: "added\nmore"}}, long, ""},
		"a call that failed": {
			[]assistant.Event{assistant.ToolComplete{Tool: "add_rule", ErrorCode: "io"}}, "✗ add_rule", "",
		},
		"a locked window": {
			[]assistant.Event{assistant.ToolComplete{Tool: "add_rule", ErrorCode: assistant.CodeLocked, Message: "held by another"}}, "✗ add_rule", "locked: held by another",
		},
		"a save that failed": {
			[]assistant.Event{assistant.ToolComplete{Tool: saveTool, ErrorCode: "io", Message: "full"}}, "✗ save_changes", "the rules were not saved: full",
		},
		"a save that was declined": {
			[]assistant.Event{assistant.ToolComplete{Tool: saveTool, ErrorCode: assistant.CodeDeclined, Message: "no"}}, "✗ save_changes — no", "",
		},
		"a save":      {[]assistant.Event{assistant.ToolComplete{Tool: saveTool, Success: true}}, "✓ save_changes", ""},
		"a new try":   {[]assistant.Event{assistant.Retrying{Reason: "busy"}}, "trying again: busy", ""},
		"trimmed":     {[]assistant.Event{assistant.ContextTrimmed{Sent: 1, Visible: 5}}, "the request was too long: 1 pair of 5 sent, the oldest left out", ""},
		"a notice":    {[]assistant.Event{assistant.Complete{Payload: assistant.ResponsePayload{Notice: "cut"}}}, "cut", ""},
		"a failure":   {[]assistant.Event{assistant.Error{Code: "io", Message: "broken"}}, "", "io: broken"},
		"a cancelled": {[]assistant.Event{assistant.Cancelled{}}, "", "context canceled"},
		"a question": {
			[]assistant.Event{assistant.ConfirmRequest{Tool: "edit_file", Diff: "+ a"}}, "edit_file needs --yes here: + a", ErrUnconfirmed.Error(),
		},
	} {
		_, beside, err := printed(printer(nil), c.events...)
		if got := strings.Join(beside, "|"); got != c.beside || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: prints %q, %v; want %q, %q", name, got, err, c.beside, c.err)
		}
		p := printer(nil)
		p.JSON = true
		if out, beside, _ := printed(p, c.events...); beside != nil || strings.Count(out, "\n") != len(c.events) {
			t.Errorf("%s: for a program it prints %q, and %q beside", name, out, beside)
		}
	}
}

// The error of a turn says whether a tool had changed the window before.
func TestAFailureSaysWhetherSomethingChanged(t *testing.T) {
	for _, changed := range []bool{false, true} {
		all := []assistant.Event{assistant.Error{Code: "io"}}
		if changed {
			all = append([]assistant.Event{assistant.CheckpointCreated{}}, all...)
		}
		_, _, err := printed(printer(nil), all...)
		var failed *FailedError
		if !errors.As(err, &failed) || failed.Changed != changed {
			t.Errorf("changed %v: %+v", changed, failed)
		}
	}
}

// The marker that a tool leaves in the text is not printed; one that the model writes is.
func TestMarkersOfTools(t *testing.T) {
	text := []assistant.Event{
		assistant.TextDelta{Text: "one"},
		assistant.ToolStart{Index: 3},
		assistant.ToolComplete{Index: 3, Tool: "x", Success: true},
		assistant.TextDelta{Text: "[[tool:3]]"},
		assistant.TextDelta{Text: `two \[[tool:3]]`},
	}
	if out, _, err := printed(printer(nil), text...); out != "one\n\ntwo [[tool:3]]\n" || err != nil {
		t.Errorf("it prints %q, %v", out, err)
	}
}

// A program reads events, which a terminal shows without harm.
func TestEventsAreSafeToShow(t *testing.T) {
	p := printer(nil)
	p.JSON = true
	out, _, err := printed(p, assistant.TextDelta{Text: "a\u202e\u009b2J"})
	if !strings.Contains(out, `a\u202e\u009b2J`) || strings.Count(out, "\n") != 1 || err != nil {
		t.Errorf("it prints %q, %v", out, err)
	}
}

// The text before a line beside it is written first.
func TestTextComesBeforeTheLineBesideIt(t *testing.T) {
	out, p := &written{}, printer(nil)
	p.Out = out
	p.Print = func(format string, args ...any) { out.lines = append(out.lines, "beside") }
	err := p.Turn(slices.Values([]assistant.Event{assistant.TextDelta{Text: "text"}, assistant.Retrying{}, assistant.TextDelta{Text: " on"}}), nil)
	if got := strings.Join(out.lines, "|"); got != "text|beside| on|\n" || err != nil {
		t.Errorf("written: %q, %v", got, err)
	}
}
