package status

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/budget"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

func testBar() Bar {
	styles := style.New(style.Options{Unicode: true})
	return Bar{Styles: &styles, Widths: &style.Cache{}}
}

// drawn is what parts show.
func drawn(parts []BarPart) (line string) {
	for _, p := range parts {
		line += p.Text
	}
	return ansi.Strip(line)
}

func TestHintsThatDoNotFitGiveWayInTheMiddle(t *testing.T) {
	hints := []KeyHint{{Key: "a", Text: "first"}, {Key: "b", Text: "second"}, {Key: "c", Text: "third"}, {Key: "z", Text: "last"}}
	for w, want := range map[int]string{
		100: " a first · b second · c third · z last",
		37:  " a first · b second · z last",
		20:  " a first · z last",
		10:  " a first",
		5:   "",
	} {
		if got := drawn(testBar().Hints(hints, w)); got != want {
			t.Errorf("the hints in %d cells = %q, want %q", w, got, want)
		}
	}
}

func TestTheHeaderGivesWayFromTheLeft(t *testing.T) {
	h := Header{Ready: true, Window: "model filter", Provider: "openai", Model: "test/one", Share: "31 % of 400k", Checkpoints: 3, Counter: "[2-1]/3", Unsaved: 2}
	for _, c := range []struct {
		w         int
		has, lost string
	}{
		{120, "winnow · model filter · openai  ,  one · 31 % of 400k · [2-1]/3 · 3 checkpoints   2 unsaved ", "test"},
		{75, "winnow · model filter · openai,one · 31 % of 400k · [2-1]/3   2 unsaved", "checkpoint"},
		{60, "winnow · model filter · openai,one · [2-1]/3   2 unsaved", "31 %"},
		{46, "winnow · openai,one · [2-1]/3   2 unsaved", "model filter"},
		{36, "winnow ,one · [2-1]/3   2 unsaved", "openai"},
		{20, "2 unsaved", "one"},
	} {
		got := drawn(testBar().Header(h, c.w))
		for _, part := range strings.Split(c.has, ",") {
			if !strings.Contains(got, part) {
				t.Errorf("the header of %d cells is %q, without %q", c.w, got, part)
			}
		}
		if ansi.StringWidth(got) > c.w || c.lost != "" && strings.Contains(got, c.lost) {
			t.Errorf("the header of %d cells is %q, with %q", c.w, got, c.lost)
		}
	}
	if got := drawn(testBar().Header(Header{}, 40)); got != " winnow" {
		t.Errorf("without a session the header is %q", got)
	}
}

func TestAClickDoesTheActionOfItsPart(t *testing.T) {
	parts, b := []BarPart{{Text: "界", Action: "wide"}, {Text: " "}, {Text: "ab", Action: "two"}}, testBar()
	for x, want := range []keymap.Action{"wide", "wide", "", "two", "two", ""} {
		if got := b.ActionAt(parts, x); got != want {
			t.Errorf("ActionAt(%d) = %q, want %q", x, got, want)
		}
	}
	if got := b.ActionAt(parts, -1); got != "" {
		t.Errorf("ActionAt(-1) = %q", got)
	}
	if got := ansi.Strip(b.Draw(parts, 4, b.Styles.Header.Bar)); got != "界 …" {
		t.Errorf("cut, the bar is %q", got)
	}
}

// styled is the part that does an action, as it is drawn.
func styled(parts []BarPart, action keymap.Action) string {
	for _, p := range parts {
		if p.Action == action {
			return p.Text
		}
	}
	return ""
}

func TestTheHeaderSaysHowThingsStand(t *testing.T) {
	b := testBar()
	for name, c := range map[string]struct {
		h         Header
		w         int
		has, lost string
	}{
		"locked":            {Header{Locked: "by another", Unsaved: 1}, 80, "by another", "saved"},
		"saved":             {Header{Saved: true}, 80, " saved", "unsaved"},
		"nothing to save":   {Header{}, 80, "no model ", "saved"},
		"no model":          {Header{}, 80, "no model ", "checkpoint"},
		"no checkpoint":     {Header{Model: "a"}, 80, " a ", "0/0"},
		"a checkpoint":      {Header{Checkpoints: 1}, 80, "· 1 checkpoint", "checkpoints"},
		"the built-in one":  {Header{Model: "offline/rules", Counter: "1/1"}, 80, "offline/rules · 1/1", ""},
		"others":            {Header{Others: "2 others"}, othersFrom, "2 others", "new session"},
		"others, narrow":    {Header{Others: "2 others"}, othersFrom - 1, "winnow", "2 others"},
		"mouse":             {Header{Mouse: true}, 80, "[new session]", ""},
		"unsafe names":      {Header{Window: "w\x9b", Provider: "p\u202e", Model: "m\u202e"}, 100, "w‹0x9B› · p‹U+202E›", "\u202e"},
		"a long model":      {Header{Window: "filter", Provider: "openai", Model: strings.Repeat("long", 20)}, 60, "winnow · filter · openai", strings.Repeat("long", 20)},
		"a long model, cut": {Header{Window: "filter", Provider: "openai", Model: strings.Repeat("long", 20)}, 60, "longlong", ""},
	} {
		c.h.Ready = true
		got := drawn(b.Header(c.h, c.w))
		if !strings.Contains(got, c.has) || c.lost != "" && strings.Contains(got, c.lost) {
			t.Errorf("%s: the header is %q, want %q in it, and not %q", name, got, c.has, c.lost)
		}
	}
	for near, style := range map[bool]string{false: b.Styles.Header.Count.Render("3/3"), true: b.Styles.Header.Unsaved.Render("3/3")} {
		if got := styled(b.Header(Header{Ready: true, Counter: "3/3", NearLimit: near}, 80), "hud"); got != style {
			t.Errorf("near the limit %v: the counter is %q, want %q", near, got, style)
		}
	}
}

func TestTheShareOfTheContext(t *testing.T) {
	for _, c := range []struct {
		tokens, context int
		known           bool
		want            string
	}{
		{0, 400_000, true, "0 % of 400k"},
		{1, 400_000, true, "1 % of 400k"},
		{124_000, 400_000, true, "31 % of 400k"},
		{1000, 32_768, false, "4 % of ~33k"},
		{300, 200, true, "150 % of 200"},
		{-5, 1_048_576, true, "0 % of 1.0M"},
		{1, 999_600, true, "1 % of 1.0M"},
		{1, 0, true, ""},
	} {
		if got := Share(budget.Boundary{HistoryTokens: c.tokens, ML: c.context, Known: c.known}); got != c.want {
			t.Errorf("Share(%d, %d, %v) = %q, want %q", c.tokens, c.context, c.known, got, c.want)
		}
	}
}
