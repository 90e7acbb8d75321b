package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// hostile are texts that break lines: sequences of terminals, runes of two
// cells and of none, directions, marks without a letter, words without an end.
var hostile = []string{
	"\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07 \x9b1m \x1b[2J\x1b[999;999H",
	strings.Repeat("漢字", 80),
	"👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇩🇪🇫🇷 ☃️ ❤️ ❤",
	strings.Repeat("x", 700),
	"a\tb\r\nc\rd\x00e\x08\x08f\vg\fh",
	"\u202egnp.exe\u2066 \u200b\u2060\u00ad\ufeff\U000e0041 ｆｕｌｌ ﷽ ｶﾞ",
	"e\u0301\u0327" + strings.Repeat("\u0301", 50) + " \u0301 ก็็็็็็ ཨོཾ",
	"| a |\n|---|\n| " + strings.Repeat("wide 漢 ", 30) + "|\n\n> > quote\n\n- [ ] " + strings.Repeat("item ", 30),
	"```go\n" + strings.Repeat("x := \"漢\"; ", 30) + "\n```\n\n# " + strings.Repeat("head ", 40) + "\n\n[a](http://" + strings.Repeat("b", 200) + ")",
	"\xff\xfe\xc3 broken \xed\xa0\x80 text",
	" a b　c 1️⃣ #️⃣ *️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit 2️⃣ digit" + strings.Repeat(" ", 90),
}

// oneHostile is all of them, on one line.
var oneHostile = strings.Map(func(r rune) rune {
	if r == '\n' || r == '\r' || r == 0 || r == '/' {
		return ' '
	}
	return r
}, strings.ToValidUTF8(strings.Join(hostile, " "), "?"))

// hostileRoom is a program where everything that comes from outside is hostile.
func hostileRoom(w, h int) setup {
	f := setup{w: w, h: h}
	for i, text := range hostile {
		arguments, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			panic(err)
		}
		p := told(text, "[[tool:0]]"+text)
		p.Reasoning, p.Model, p.Topic, p.Star, p.Flag, p.Notice = safetext.Text(text), text, fmt.Sprint(i, " > ", oneHostile), 3, i%2 == 0, safetext.Text(text)
		p.ToolCalls = []assistant.ToolCall{{ID: "c", Name: text, Arguments: arguments, Result: &assistant.ToolResult{Message: text, ErrorCode: text, Data: text}}}
		p.Suggested = &assistant.Suggested{Values: []assistant.SuggestedValue{{Label: safetext.Text(text), Value: safetext.Text(text)}, {Label: safetext.Text(text), Value: safetext.Text(text)}}}
		if i%3 == 1 {
			p.State, p.ErrorCode, p.ErrorMessage = assistant.PairError, text, safetext.Text(text)
		}
		f.pairs = append(f.pairs, p)
	}
	pattern := strings.NewReplacer(",", "", "\"", "", "'", "", "\\", "", "#", "", "$", "", "\x1b", "", "\x00", "", "`", "").Replace(oneHostile)
	f.env = "OPENAI_API_KEY=a\nIGNORE_MODELS_OPENAI=\"gpt-3.5*,o3*," + pattern + "\"\nWHITELIST_MODELS_OPENAI=\"漢字*,*👨‍👩‍👧‍👦*\"\n"
	f.ids = append([]string{"openai/" + pattern, "openai/漢字", "openai/👨‍👩‍👧‍👦 \u202egpj"}, testModels...)
	for i, text := range hostile {
		f.known = append(f.known, llm.ModelInfo{ID: fmt.Sprintf("test/%d%s", i, text), Context: 64_000, Known: true, Tools: true, Facts: llm.Facts{PriceIn: llm.PriceOf(1e-6), PriceOut: llm.PriceOf(1e6)}})
	}
	f.history = func(s history.Store) error {
		if err := s.CreateTopic(context.Background(), "Top > "+oneHostile); err != nil {
			return err
		}
		return s.Touch(context.Background(), history.Session{ID: "s0", Folder: "/" + oneHostile, Model: oneHostile})
	}
	f.change = func(o *Options) { o.Examples, o.Notice = hostile, oneHostile }
	return f
}

// sizes are those around which the screen is laid out anew, with the extremes;
// and all widths at one height, where everything is tried.
func sizes(all bool) [][2]int {
	var out [][2]int
	for _, w := range []int{40, 41, 67, 80, 99, 100, 101, 163, 200} {
		heights := []int{12, 13, 24, 50}
		if !all {
			heights = heights[w%2 : 3+w%2] // 12 for even widths, 50 for odd ones
		}
		for _, h := range heights {
			out = append(out, [2]int{w, h})
		}
	}
	for w := 40; w <= 200 && all; w++ {
		out = append(out, [2]int{w, 17})
	}
	return out
}

// allWidths are the rooms that together draw every part of the screen.
var allWidths = []string{"input", "view-open", "command", "pane-models", "palette"}

func TestEveryLineIsAsWideAsTheTerminal(t *testing.T) {
	names := []string{"plan.txt"}
	for i, text := range hostile {
		names = append(names, fmt.Sprint(i)+ansi.Truncate(strings.NewReplacer("/", "", "\x00", "").Replace(text), 60, ""))
	}
	for _, r := range rooms {
		t.Run(r.name, func(t *testing.T) {
			if r.name != "files" { // which changes the folder
				t.Parallel()
			}
			synctest.Test(t, func(t *testing.T) {
				if r.name == "files" {
					exhibits(t, names...)
				}
				gate := at.NewGate()
				f := hostileRoom(120, 40)
				answer := at.Answer{at.Think(hostile[2] + hostile[5])}
				for _, text := range hostile {
					answer = append(answer, at.Say(text+"\n\n"))
				}
				f.answers = []at.Answer{append(answer, at.Stop{At: gate})}
				overlaid := strings.HasPrefix(r.shows, "─")
				r.shows = ""
				v := visit(t, r, style.Options{Dark: true, Unicode: true}, f)
				defer v.leave()
				if v.overlay.Open() != overlaid {
					t.Fatalf("an overlay is open: %v", v.overlay.Open())
				}
				if r.name == "input" {
					v.input.draft.Paste(strings.Join(hostile, "\n"))
				}
				if v.mode == keymap.Command {
					v.command.line.Set(string(oneLine(oneHostile)))
					v.command.line.SetHint(oneLine(oneHostile))
				}
				for _, size := range sizes(slices.Contains(allWidths, r.name)) {
					v.run(v.resize(size[0], size[1]))
					if r.asks {
						v.parts.Turn = &assistant.TurnState{Stamp: v.parts.Turn.Stamp, Waits: true, Queued: assistant.Prompt{Text: oneHostile}}
					}
					if size[1]%2 == 1 {
						v.notice.Fail(safetext.Text(oneHostile))
					}
					frame := v.View()
					tuitest.Exact(t, frame.Content, size[0], size[1])
					onlyStyles(t, frame.Content)
					onlyStyles(t, frame.WindowTitle)
					if t.Failed() {
						break
					}
				}
			})
		})
	}
}

// styling is an escape sequence that changes how text looks, or begins or ends a link.
var styling = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;(id=[0-9]+)?;(https?://[!-~]*)?\a")

// onlyStyles fails the test if a frame contains anything but text, line breaks, styles and links:
// another escape sequence, a control character or one that is not seen.
func onlyStyles(t *testing.T, frame string) {
	t.Helper()
	for i, line := range strings.Split(styling.ReplaceAllString(frame, ""), "\n") {
		for _, r := range line {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || strings.ContainsRune("\u200b\u2060\u00ad\ufeff\U000e0041\u2028\u2029", r) {
				t.Errorf("line %d contains %U: %q", i+1, r, line)
				return
			}
		}
	}
}

// A frame measures the lines that changed: while an answer is streamed, header, footer
// and box are as before, and a frame like the last one measures nothing.
func TestUnchangedLinesAreNotMeasured(t *testing.T) {
	m, _ := newProgram(t, setup{})
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	m.Update(loadStart(m.opts.Parts)())
	var measured []string
	m.widths.Measure = func(s string) int {
		measured = append(measured, s)
		return ansi.StringWidth(s)
	}
	m.View()
	if len(measured) < 10 {
		t.Errorf("the first frame measures %d texts: the count is wrong", len(measured))
	}
	measured = nil
	m.View()
	if len(measured) != 0 {
		t.Errorf("the same frame again measures %q", measured)
	}
	m.conv.chat.StartTurn(assistant.Pair{Seq: 2, UserText: "go on", State: assistant.PairSending})
	m.View()
	for range 50 {
		measured = nil
		m.conv.chat.Apply(assistant.TextDelta{Text: "six more tokens of text "})
		m.View()
		if len(measured) != 0 {
			t.Errorf("a frame with more text measures the lines around it: %q", measured)
		}
	}
	m.notice.Info("a notice")
	m.View()
	if len(measured) == 0 {
		t.Error("a changed footer is not measured")
	}
}
