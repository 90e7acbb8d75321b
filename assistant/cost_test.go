package assistant_test

import (
	"context"
	"iter"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// streaming is a model that says before, then part n times, then after.
func streaming(before safetext.Text, part llm.Part, n int, after safetext.Text) llm.Model {
	return llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
		return func(yield func(llm.Part, error) bool) {
			ok := yield(llm.Text{Text: before}, nil)
			for range n {
				ok = ok && yield(part, nil)
			}
			if ok && yield(llm.Text{Text: after}, nil) {
				yield(llm.End{Finish: "stop"}, nil)
			}
		}
	})
}

// allocated is what a turn allocates, in bytes.
func allocated(t testing.TB, m llm.Model) uint64 {
	t.Helper()
	pages, _ := notes(t)
	s, err := assistant.NewSession(registryOf(t, m), assistant.Options{Model: "test/script", Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	for range events {
		continue
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAChunkCostsTheSameHoweverLongTheAnswerIs(t *testing.T) {
	const few, many = 4000, 16_000
	for name, m := range map[string]func(n int) llm.Model{
		"text":      func(n int) llm.Model { return streaming("", llm.Text{Text: "a word "}, n, "") },
		"reasoning": func(n int) llm.Model { return streaming("x", llm.Reasoning{Text: "a word "}, n, "") },
		"payload": func(n int) llm.Model {
			return streaming(`NOTE: {"text":"`, llm.Text{Text: "a word "}, n, `"}`)
		},
		"markers": func(n int) llm.Model { return streaming("", llm.Text{Text: "[[tool:"}, n, "") },
		"braces":  func(n int) llm.Model { return streaming("", llm.Text{Text: "NOTE:{{"}, n, "") },
	} {
		short, long := allocated(t, m(few)), allocated(t, m(many))
		if per, perLong := float64(short)/few, float64(long)/many; perLong > 1.5*per {
			t.Errorf("%s: %.0f bytes a chunk in a short answer, %.0f in one four times as long", name, per, perLong)
		}
	}
}

func TestTheCoreKnowsNoTerminal(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "winnow/assistant").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, bad := range []string{"charm.land", "charmbracelet", "x/term", "winnow/tui", "winnow/adapters", "winnow/cmd", "modernc.org", "openai"} {
			// x/ansi measures the width of text, for safetext; it draws nothing.
			if strings.Contains(dep, bad) && !strings.Contains(dep, "charmbracelet/x/ansi") {
				t.Errorf("assistant depends on %s", dep)
			}
		}
		own, found := strings.CutPrefix(dep, "winnow/")
		if found && !slices.Contains([]string{"assistant", "assistant/attachment", "assistant/budget", "assistant/llm", "assistant/markup", "assistant/message", "assistant/nearest", "assistant/safetext", "assistant/windowlock", "checkpoint", "checkpoint/jsondelta", "checkpoint/privatefile"}, own) {
			t.Errorf("assistant depends on winnow/%s", own)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	s, err := assistant.NewSession(registryOf(b, streaming("", llm.Text{Text: "a word "}, b.N, "")), assistant.Options{Model: "test/script"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "go"})
	if err != nil {
		b.Fatal(err)
	}
	for range events {
		continue
	}
}

func BenchmarkTurnWithHistory(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		r := trimRig(b, 2000, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
		b.StartTimer()
		r.send("new")
	}
}

func TestUpperFirst(t *testing.T) {
	for text, want := range map[string]string{"": "", "hide": "Hide", "élan": "Élan", "überall": "Überall", "漢": "漢", "\xffx": "\ufffdx"} {
		if got := assistant.UpperFirst(text); got != want {
			t.Errorf("UpperFirst(%q) = %q, want %q", text, got, want)
		}
	}
}
