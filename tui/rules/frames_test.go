package rules

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// goldenSizes are the sizes of the frames that are kept: full width below 100
// columns, and beside the conversation.
var goldenSizes = [...][2]int{{40, 20}, {78, 30}}

func golden(t *testing.T, b *bench, name string) {
	t.Helper()
	for _, s := range goldenSizes {
		frame := b.screen(s[0], s[1])
		tuitest.Exact(t, frame, s[0], s[1])
		tuitest.Golden(t, fmt.Sprintf("%s-%dx%d", name, s[0], s[1]), frame)
	}
}

func TestFrames(t *testing.T) {
	for name, prepare := range map[string]func(b *bench){
		"rules":     func(*bench) {},
		"models":    func(b *bench) { b.do("next-tab") },
		"changes":   func(b *bench) { b.do("delete-rule", "add-ignore"); b.keys("*mini*<enter>"); b.do("previous-tab") },
		"highlight": func(b *bench) { b.on("*-preview*"); b.do("pane-highlight") },
		"lit-model": func(b *bench) { b.do("show-models"); b.on("gpt-4o-audio"); b.do("pane-highlight") },
		"preview":   func(b *bench) { b.do("show-models", "add-ignore"); b.keys("<ctrl+u>*4*") },
		"refused":   func(b *bench) { b.do("add-ignore"); b.keys("gpt-3.5-turbo*") },
		"needless":  func(b *bench) { b.do("add-ignore"); b.keys("gpt*") },
		"search":    func(b *bench) { b.do("show-models", "pane-search"); b.keys("mini") },
		"selected":  func(b *bench) { b.do("show-models", "pane-select", "pane-select") },
		"import":    func(b *bench) { b.do("import-rules"); b.keys("a*, b* allow: c*") },
		"locked":    func(b *bench) { b.w.Lock(); b.show() },
		"idle":      func(b *bench) { b.SetFocus(false) },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, someEnv, someModels)
			prepare(b)
			golden(t, b, name)
		})
	}
}

func TestEmptyFrames(t *testing.T) {
	b := open(t, "", someModels)
	golden(t, b, "no-rules-no-file")
	b.do("show-changes")
	golden(t, b, "no-changes-no-file")
	none := open(t, "OPENAI_API_KEY=x-long-enough\n", nil)
	none.do("show-models")
	golden(t, none, "no-models")
	none.do("add-ignore")
	none.keys("a*")
	golden(t, none, "preview-no-models")
}

func TestEnvironmentFrame(t *testing.T) {
	b := open(t, someEnv, someModels, "IGNORE_MODELS_OPENAI=*mini*")
	golden(t, b, "environment")
	if said := b.do("add-ignore"); !strings.Contains(said, "IGNORE_MODELS_OPENAI overrides") || b.Typing() {
		t.Errorf("a rule in a fixed list: said %q, typing %v", said, b.Typing())
	}
	if said := b.do("delete-rule"); !strings.Contains(said, "IGNORE_MODELS_OPENAI overrides") {
		t.Errorf("deleting a fixed rule said %q", said)
	}
}

func TestEnvironmentWithoutRulesRefusesToo(t *testing.T) {
	b := open(t, someEnv, someModels, "IGNORE_MODELS_OPENAI=")
	if said := b.do("add-ignore"); !strings.Contains(said, "IGNORE_MODELS_OPENAI overrides") || b.Typing() {
		t.Errorf("said %q, typing %v", said, b.Typing())
	}
}

func TestDriftIsShownUntilTheNextSave(t *testing.T) {
	b := open(t, someEnv, someModels)
	var served []string // that should be
	b.shelf.drift = func(expected func(...string) []string) (models.Drift, error) {
		served = expected("openai/gpt-of-the-proxy", "openai/gpt-3.5-of-the-proxy")
		return models.Drift{Missing: []string{"openai/o3"}, Extra: []string{"openai/gpt-3.5-turbo", "openai/gpt-3.5-turbo-16k"}}, nil
	}
	b.shelf.fetch = func(string) (modelfilter.ModelList, error) {
		return modelfilter.ModelList{Provider: "openai", IDs: someModels, Source: "live"}, nil
	}
	b.do("delete-rule", "refresh-models")
	if len(served) != 11 {
		t.Errorf("expected = %q, want the 10 that the file leaves and one that the proxy alone knows", served)
	}
	golden(t, b, "drift")
	if _, err := b.w.Save(context.Background(), assistant.Basis{}); err != nil {
		t.Fatal(err)
	}
	b.show()
	if strings.Contains(b.screen(78, 30), "restart it") {
		t.Error("old drift is shown after a save")
	}
	if b.do("refresh-models"); !strings.Contains(b.screen(78, 30), "restart it") {
		t.Error("drift that is found after a save is not shown")
	}
}

func TestNewModelsFrame(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.shelf.fetch = func(string) (modelfilter.ModelList, error) {
		return modelfilter.ModelList{Provider: "openai", IDs: append([]string{"openai/gpt-6"}, someModels...), New: []string{"openai/gpt-6"}, Source: "live"}, nil
	}
	if said := b.do("refresh-models"); !strings.Contains(said, "openai: 14 models from the provider, 1 new") {
		t.Errorf("refreshing said %q", said)
	}
	golden(t, b, "new-rules")
	b.do("show-models")
	golden(t, b, "new-models")
	b.do("pane-first", "pane-highlight")
	if len(b.shelf.seen) != 1 || strings.Contains(ansi.Strip(b.screen(60, 20)), "NEW") {
		t.Errorf("seen = %q, frame:\n%s", b.shelf.seen, ansi.Strip(b.screen(60, 20)))
	}
}

// hostileIDs are what a provider may send to break a frame.
var hostileIDs = []string{
	"openai/界界界界界界界界界界界界界界界界界界界界", "openai/👩\u200d👩\u200d👧\u200d👦-family", "openai/\x1b[31mred\x1b]0;title\a", "openai/e\u0301\u0301\u0301\u0301",
	"openai/\u202egnp.exe", "openai/" + strings.Repeat("x", 200), "openai/\x80\xff\xfe", "openai/🇩🇪🇩🇪🇩", "openai/a\tb\nc\rd", "openai/\u0301\u0301", "openai/\U000e0041tag",
	"openai/" + strings.Repeat("👍🏽", 40), "界/界", "/", "openai/", "openai/\u2028\u2029\u0085", "openai/ﷺﷺﷺ", "openai/ก็็็็็็็็็็",
}

func TestEveryFrameIsExact(t *testing.T) {
	env := "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI='界*,*👩*," + strings.Repeat("long", 60) + "*'\n"
	unicode := style.New(style.Options{Dark: true, Unicode: true})
	for name, prepare := range map[string]func(b *bench){
		"rules":   func(b *bench) { b.do("show-rules", "pane-highlight") },
		"models":  func(b *bench) { b.do("show-models", "pane-select", "pane-highlight") },
		"changes": func(b *bench) { b.do("show-rules", "delete-rule", "show-changes") },
		"pattern": func(b *bench) {
			b.do("show-models", "add-ignore")
			b.keys("<ctrl+u>界*👩\u200d👩e\u0301\u202e*<left><left>")
		},
		"search": func(b *bench) { b.do("show-models", "pane-search"); b.keys("界\u0301") },
		"import": func(b *bench) { b.do("import-rules"); b.keys(strings.Repeat("界,", 80)) },
		"locked": func(b *bench) { b.w.Lock(); b.show() },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, env, hostileIDs)
			for _, st := range []style.Styles{unicode, style.New(style.Options{Profile: style.NoColor})} {
				b.SetStyles(st)
				prepare(b)
				for _, w := range []int{20, 21, 27, 34, 61, 200} {
					for _, h := range []int{4, 5, 7, 12, 60} {
						for range 5 {
							frame := b.screen(w, h)
							tuitest.Exact(t, frame, w, h)
							safe(t, frame)
							b.Do("pane-down")
						}
						b.Do("pane-first")
					}
				}
			}
			for w := range 20 { // below what is promised it may say little, but never more than fits
				for h := range 6 {
					if lines := b.Lines(w, h); len(lines) != h {
						t.Errorf("Lines(%d, %d) = %d lines", w, h, len(lines))
					} else if h > 0 {
						tuitest.Exact(t, strings.Join(lines, "\n"), w, h)
					}
				}
			}
		})
	}
}

// safe fails the test when a frame holds a sequence other than a colour, or a
// character that hides.
func safe(t *testing.T, frame string) {
	t.Helper()
	for _, r := range ansi.Strip(frame) {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || strings.ContainsRune("\u200d\u202e\u2028\u2029", r) || r >= 0xe0000 && r < 0xe0080 {
			t.Fatalf("the frame holds %U: %q", r, frame)
		}
	}
	if strings.Contains(frame, "\x1b]") {
		t.Fatalf("the frame holds a command to the terminal: %q", frame)
	}
}

func TestFrameIsKeptUntilSomethingChanges(t *testing.T) {
	b := open(t, someEnv, someModels)
	first := b.Lines(60, 20)
	first[0] = "spoilt" // the caller may do with it what it likes
	drawn := b.frame.lines
	if again := b.Lines(60, 20); &b.frame.lines[0] != &drawn[0] || again[0] == "spoilt" {
		t.Error("the same frame was drawn twice, or is the caller's")
	}
	for name, change := range map[string]func(){
		"cursor": func() { b.Do("pane-down") }, "tab": func() { b.Do("next-tab") }, "focus": func() { b.SetFocus(false) },
		"window": func() { b.w.Lock(); b.show() }, "line": func() { b.w.Unlock(); b.show(); b.Do("add-allow") },
		"key": func() { b.Key("", "x") }, "escape": func() { b.Do("pane-search"); b.Escape() }, "style": func() { b.SetStyles(style.New(style.Options{})) },
	} {
		drawn = b.frame.lines
		change()
		if b.Lines(60, 20); &b.frame.lines[0] == &drawn[0] {
			t.Errorf("%s: the old frame is shown", name)
		}
	}
}

func TestFrameCostsTheSameWithManyModels(t *testing.T) {
	allocs := func(n int) float64 {
		b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=*-0000*\n", many(n))
		b.do("show-models")
		return testing.AllocsPerRun(20, func() {
			b.version++
			b.Lines(78, 30)
		})
	}
	if few, lots := allocs(100), allocs(10_000); lots > few*1.2 {
		t.Errorf("a frame of 10,000 models makes %v allocations, one of 100 makes %v", lots, few)
	}
}
