package tui

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// room is a state of the screen: a mode, an overlay, a moment of a turn; with
// the keys that lead there from INPUT.
type room struct {
	name string
	keys []string
	// asks is true when a turn is begun first; it stands still after its text.
	asks  bool
	empty bool         // without a conversation
	with  func(*setup) // what else is different; nil: nothing
	shows string       // what is seen there and nowhere before
	// styled rooms are kept with the styles of their cells, all others as text: a word that
	// changes then changes no file of styles. Each shows styles that no other one does.
	styled bool
}

// gallerySizes are the sizes at which every room is drawn.
var gallerySizes = [][2]int{{80, 24}, {40, 12}, {120, 40}, {200, 50}}

// galleryStyles are the looks in which every room is drawn: dark, light, without colours.
var galleryStyles = []style.Options{{Dark: true, Unicode: true}, {Unicode: true}, {Dark: true, Unicode: true, Profile: style.NoColor}}

// moreStyles are further looks of styled rooms.
var moreStyles = []style.Options{{Dark: true, Unicode: true, Profile: style.ANSI256}}

// rooms are every mode and overlay.
var rooms = []room{
	{name: "welcome", empty: true, shows: "What would you like to change?"},
	{name: "input", shows: "Five models are now hidden.", styled: true},
	{name: "draft", keys: []string{"two", "enter", "lines"}, shows: "lines"},
	{name: "view", keys: []string{"tab"}, shows: "VIEW", styled: true},
	{name: "view-open", keys: []string{"tab", "z"}, shows: "▾"},
	{name: "view-raw", keys: []string{"tab", "k", "v"}, shows: "VIEW"},
	{name: "search", keys: []string{"tab", "/", "preview"}, shows: " VIEW  / preview", styled: true},
	{name: "filtered", keys: []string{"tab", "f", "&s2", "enter"}, shows: "s2", styled: true},
	{name: "picture", with: withPicture, shows: "diagram.png"},
	{name: "wide", with: withWideNames, shows: "日本語"},
	{name: "wide-models", with: withWideNames, keys: []string{"ctrl+l"}, shows: "─ Model ─"},
	{name: "command", keys: []string{"tab", "f", "&s2"}, shows: " COMMAND  : x &s2"},
	{name: "command-wrong", keys: []string{"tab", "f", "&q"}, shows: " COMMAND  : x &q", styled: true},
	{name: "pane-rules", keys: []string{"shift+tab"}, shows: "PANE", styled: true},
	{name: "pane-models", keys: []string{"shift+tab", "]"}, shows: "›Models", styled: true},
	{name: "pane-changes", keys: []string{"shift+tab", "x", "]", "]"}, shows: "›Changes", styled: true},
	{name: "pane-all", keys: []string{"shift+tab", "x", "["}, shows: "›All"},
	{name: "pane-pattern", keys: []string{"shift+tab", "h", "gpt-5*"}, shows: "gpt-5*"},
	{name: "commands", keys: []string{"/mo"}, shows: "/model [NAME]"},
	{name: "files", keys: []string{"see @"}, shows: "plan.txt"},
	{name: "working", asks: true, shows: "half of an answer", styled: true},
	{name: "queued", asks: true, keys: []string{"and then", "send"}, shows: "queued: and then"},

	{name: "help", keys: []string{"f1"}, shows: "─ Keys ─"},
	{name: "palette", keys: []string{"ctrl+p"}, shows: "─ Commands ─"},
	{name: "models", keys: []string{"ctrl+l"}, shows: "─ Model ─", styled: true},
	{name: "connect", with: withConnector, keys: []string{"f6"}, shows: "─ Connect a model ─"},
	{name: "checkpoints", keys: []string{"shift+tab", "x", "ctrl+g"}, shows: "─ Checkpoints ─"},
	{name: "topics", keys: []string{"ctrl+t"}, shows: "─ Topic of new messages ─"},
	{name: "topic-name", keys: []string{"ctrl+t", "alt+n"}, shows: "─ New topic ─"},
	{name: "sessions", keys: []string{"ctrl+p", "Sessions", "enter"}, shows: "─ Sessions ─"},
	{name: "settings", keys: []string{"ctrl+p", "Settings", "enter"}, shows: "─ Settings ─"},
	{name: "hud", keys: []string{"f2"}, shows: "─ Context ─"},
	{name: "hud-docked", keys: []string{"f5", "hide the rest"}, shows: "context "},
	{name: "hud-focused", keys: []string{"f5", "shift+tab", "j"}, shows: " HUD ", styled: true},
	{name: "request", keys: []string{"tab", "x"}, shows: "─ the request that"},
	{name: "save", keys: []string{"shift+tab", "x", "ctrl+s"}, shows: "─ Save these changes? ─", styled: true},
	{name: "confirm", keys: []string{"tab", "g", "d"}, shows: "─ Delete this message and its answer for good? ─"},
	{name: "quit", keys: []string{"shift+tab", "x", "ctrl+q"}, shows: "─ There are unsaved rules ─"},
	{name: "provider", keys: []string{"shift+tab", "p"}, shows: "─ Provider ─"},
	{name: "queued-card", asks: true, keys: []string{"and then", "send", "alt+q"}, shows: "─ Queued: "},
}

// visitor is a program in a bubble that is led from room to room.
type visitor struct {
	workCounter
	gate *at.Gate
}

// visit opens the program of a room and leads there.
func visit(t *testing.T, r room, o style.Options, f setup) *visitor {
	t.Helper()
	v := &visitor{gate: at.NewGate()}
	if r.empty {
		f.pairs = nil
	}
	if r.with != nil {
		r.with(&f)
	}
	reached := v.gate.Reached
	if len(f.answers) > 0 {
		for _, step := range f.answers[0] {
			if stop, ok := step.(at.Stop); ok {
				reached = stop.At.Reached
			}
		}
	}
	change := f.change
	f.change = func(options *Options) {
		options.Style = o
		if change != nil {
			change(options)
		}
	}
	if f.answers == nil {
		f.answers = []at.Answer{{at.Think("hm"), at.Say("half of an answer"), at.Stop{At: v.gate}}}
	}
	m, d := newProgram(t, f)
	v.bench, v.fixture, v.answers = bench{Model: m, msgs: make(chan tea.Msg, 4096)}, d, map[string]int{}
	v.run(m.Init())
	v.run(m.resize(f.w, f.h))
	if r.asks {
		v.keys("go on", "send")
		<-reached()
		time.Sleep(time.Second) // in the bubble: what has streamed is shown
		v.run(nil)
	}
	v.keys(r.keys...)
	if got := plainFrame(v.View().Content); !strings.Contains(got, r.shows) {
		t.Errorf("%v does not lead to %q, which shows %q:\n%s", r.keys, r.name, r.shows, got)
	}
	return v
}

// leave ends what still runs in the bubble.
func (v *visitor) leave() {
	v.opts.Work.Session().Cancel()
	v.run(nil)
	time.Sleep(time.Minute) // in the bubble: the timers
	v.run(nil)
}

// gallery is a history in which everything has something to show.
func gallery(w, h int) setup {
	pairs := longTalk()
	for i := range pairs {
		pairs[i].Session, pairs[i].Model, pairs[i].Flag, pairs[i].State = "s1", "test/script", true, assistant.PairComplete
	}
	pairs[0].Star, pairs[0].Topic = 2, "AI > Agents"
	elsewhere := told("elsewhere?", "not here")
	elsewhere.Session = "s0"
	return setup{
		w: w, h: h, path: "/home/gateway/.env", pairs: append([]assistant.Pair{elsewhere}, append(pairs, failed("and the others"))...),
		history: func(s history.Store) error {
			for _, topic := range []string{"AI > Agents", "Home"} {
				if err := s.CreateTopic(context.Background(), topic); err != nil {
					return err
				}
			}
			return s.Touch(context.Background(), history.Session{ID: "s0", Folder: "/home/gateway", Model: "test/other"})
		},
	}
}

// withPicture adds a pair that has a picture attached.
func withPicture(f *setup) {
	pair := told("what is on @diagram.png?", "A proxy between two clients and three providers.")
	pair.Attachments = []assistant.Attachment{{Name: "diagram.png", Type: "image/png", Size: 48_230, Hash: "ab", Width: 1024, Height: 768}}
	f.pairs = append(f.pairs, pair)
}

// withWideNames has a long model name, and texts whose characters take two cells.
func withWideNames(f *setup) {
	f.known = []llm.ModelInfo{
		{ID: "test/accounts/fireworks/models/llama-v3p1-405b-instruct-long-context-preview", Context: 131_072, Known: true, Tools: true, Reasons: true, Facts: llm.Facts{PriceIn: llm.PriceOf(3), PriceOut: llm.PriceOf(3)}},
		{ID: "test/日本語モデル-🚀-大規模言語モデル-プレビュー版", Tools: true},
	}
	f.pairs = append(f.pairs, told("日本語のモデルだけを表示してください 👩‍👩‍👧‍👦", "日本語のモデルは**一つ**だけです。🚀 ほかのモデルはすべて隠れています。"))
}

// withConnector can connect a model.
func withConnector(f *setup) {
	f.change = func(o *Options) { o.Connect = &connector{pick: func(string) error { return nil }} }
}

// exhibits goes to a folder whose files the list of files shows, and whose name
// is the same on every machine as far as the screen shows it.
func exhibits(t *testing.T, files ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("the plan\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// TestGoldenGallery draws every mode and overlay at all sizes, in a dark and a light
// palette and without colours, and compares the text, and in styled rooms the looks, with
// the files of testdata.
func TestGoldenGallery(t *testing.T) {
	for _, r := range rooms {
		t.Run(r.name, func(t *testing.T) {
			here := r.name == "files" // shows names of the folder
			if !here {
				t.Parallel()
			}
			frames, looks, write := map[[2]int][]string{}, galleryStyles, worded
			if r.styled {
				looks, write = slices.Concat(galleryStyles, moreStyles), painted
			}
			for _, look := range looks {
				synctest.Test(t, func(t *testing.T) {
					f := gallery(gallerySizes[0][0], gallerySizes[0][1])
					if here {
						exhibits(t, "plan.txt", "notes.md")
					}
					v := visit(t, r, look, f)
					defer v.leave()
					for _, size := range gallerySizes {
						v.run(v.resize(size[0], size[1]))
						frame := v.View().Content
						tuitest.Exact(t, frame, size[0], size[1])
						frames[size] = append(frames[size], frame)
					}
				})
			}
			text := ""
			for _, size := range gallerySizes {
				text += write(frames[size], size[0], size[1])
			}
			tuitest.Golden(t, r.name, text)
		})
	}
}

// painted is one frame in several looks as text: what it says in the first, then the
// looks as runs of letters, and what each letter is in each of them. Cells that look
// alike in all have one letter; one with another content in a look names it.
func painted(frames []string, w, h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d\n%s", w, h, plainFrame(frames[0]))
	cells := make([][]uv.Line, len(frames))
	for i, frame := range frames {
		cells[i] = cellsOf(frame, w, h)
	}
	letters, legend, names := map[string]string{}, []string{}, map[uv.Style]string{}
	for y := range h {
		last, n := "", 0
		flush := func() {
			if n > 0 {
				fmt.Fprintf(&b, "%s%d ", last, n)
			}
		}
		for x := range w {
			look := ""
			for i := range cells {
				c := cells[i][y][x]
				if look += " | " + lookOf(c, names); c.Content != cells[0][y][x].Content {
					look += " " + c.Content
				}
			}
			letter, known := letters[look]
			if !known {
				letter = letterOf(len(letters))
				letters[look] = letter
				legend = append(legend, letter+look[2:])
			}
			if letter != last {
				flush()
				last, n = letter, 0
			}
			n++
		}
		flush()
		b.WriteString("\n")
	}
	return b.String() + strings.Join(legend, "\n") + "\n\n"
}

// worded is one frame in several looks as text: what it says in the first, then each line
// of another look, by its number, that says something else.
func worded(frames []string, w, h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d\n%s", w, h, plainFrame(frames[0]))
	first := strings.Split(plainFrame(frames[0]), "\n")
	for i, frame := range frames[1:] {
		for y, line := range strings.Split(plainFrame(frame), "\n") {
			if line != first[y] {
				fmt.Fprintf(&b, "look %d, line %d: %s\n", i+2, y+1, line)
			}
		}
	}
	return b.String() + "\n"
}

// letterOf names the n-th look: a, b, …, z, aa, ab, ….
func letterOf(n int) string {
	if n < 26 {
		return string(rune('a' + n))
	}
	return letterOf(n/26-1) + string(rune('a'+n%26))
}

func cellsOf(frame string, w, h int) []uv.Line {
	buffer := uv.NewScreenBuffer(w, h)
	buffer.Method = ansi.GraphemeWidth
	uv.NewStyledString(frame).Draw(buffer, buffer.Bounds())
	return buffer.Lines
}

// lookOf is the style of a cell in words, which it adds to names. The cells after a wide
// rune have none of their own.
func lookOf(c uv.Cell, names map[uv.Style]string) string {
	if c.Width == 0 {
		return "-"
	}
	name, known := names[c.Style]
	if !known {
		name = styleName(c.Style)
		names[c.Style] = name
	}
	return name
}

func styleName(s uv.Style) string {
	words := []string{hexOf(s.Fg), "on " + hexOf(s.Bg)}
	for _, a := range []struct {
		bit  uint8
		name string
	}{
		{uv.AttrBold, "bold"},
		{uv.AttrFaint, "faint"},
		{uv.AttrItalic, "italic"},
		{uv.AttrReverse, "reverse"},
		{uv.AttrStrikethrough, "struck"},
		{uv.AttrBlink, "blinks"},
		{uv.AttrConceal, "hidden"},
	} {
		if s.Attrs&a.bit != 0 {
			words = append(words, a.name)
		}
	}
	if s.Underline != 0 {
		words = append(words, "underlined")
	}
	return strings.Join(words, " ")
}

func hexOf(c color.Color) string {
	if c == nil {
		return "default"
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
