package composer

import (
	"maps"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"winnow/tui/style"
)

func box() *Model {
	b := New(style.New(style.Options{}).Input, nil)
	b.Focus()
	b.SetWidth(60)
	return b
}

func write(b *Model, text string) {
	for _, r := range text {
		b.Key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestClearedTextComesBack(t *testing.T) {
	b := box()
	write(b, "precious words")
	b.Clear()
	if !b.Empty() {
		t.Fatalf("Clear left %q", b.Text())
	}
	if !b.Undo() || b.Text() != "precious words" {
		t.Errorf("Undo = %q, want the words back", b.Text())
	}
}

func TestReplacedTextComesBack(t *testing.T) {
	b := box()
	write(b, "mine")
	b.Set("somebody else's")
	if b.Text() != "somebody else's" {
		t.Fatalf("Set = %q", b.Text())
	}
	if !b.Undo() || b.Text() != "mine" {
		t.Errorf("Undo = %q, want mine", b.Text())
	}
}

func TestUndoGoesByWords(t *testing.T) {
	b := box()
	write(b, "one two")
	b.Undo()
	if got := b.Text(); got != "one " {
		t.Errorf("Undo = %q, want %q", got, "one ")
	}
	b.Undo()
	if got := b.Text(); got != "" {
		t.Errorf("second Undo = %q, want nothing", got)
	}
	if b.Undo() {
		t.Error("a third Undo found something")
	}
}

func TestPasteIsOneEdit(t *testing.T) {
	b := box()
	write(b, "a ")
	b.Paste("x\r\ny\rz")
	if got, want := b.Text(), "a x\ny\nz"; got != want {
		t.Fatalf("Paste = %q, want %q", got, want)
	}
	b.Undo()
	if got := b.Text(); got != "a " {
		t.Errorf("Undo = %q, want the paste gone as a whole", got)
	}
}

func TestPasteCountsWhatCannotBeSeen(t *testing.T) {
	b := box()
	if hidden := b.Paste("safe\u202etxt\x07"); hidden != 2 {
		t.Errorf("Paste = %d hidden, want 2", hidden)
	}
	if got := b.Text(); got != "safetxt" {
		t.Errorf("Paste = %q", got)
	}
}

func TestLargePasteIsAChipWithItsWholeText(t *testing.T) {
	b := box()
	text := strings.Repeat("0123456789\n", 100_000)
	write(b, "see: ")
	b.Paste(text)
	if shown := b.area.Value(); len(shown) > 100 || !strings.Contains(shown, "[paste 1 · 1.0 MB · 100000 lines]") {
		t.Errorf("the box shows %d bytes: %.80q", len(shown), shown)
	}
	if got := b.Text(); got != "see: "+text {
		t.Errorf("Text = %d bytes, want all %d", len(got), len(text)+5)
	}
	b.Clear()
	b.Undo()
	if got := b.Text(); got != "see: "+text {
		t.Errorf("after Undo Text = %d bytes, want all of it", len(got))
	}
}

func TestAPasteOfManyLinesIsAChip(t *testing.T) {
	for lines, chip := range map[int]bool{chipLines: false, chipLines + 1: true} {
		b := box()
		text := strings.TrimSuffix(strings.Repeat("line\n", lines), "\n")
		b.Paste(text)
		if got := strings.HasPrefix(b.Shown(), "[paste 1 · "); got != chip || b.Text() != text {
			t.Errorf("%d lines: chip %v, want %v; the message has %d bytes of %d", lines, got, chip, len(b.Text()), len(text))
		}
	}
}

func TestSentMessages(t *testing.T) {
	b := box()
	b.SetEarlier([]string{"first", "second"}, nil)
	write(b, "draft")
	steps := []struct {
		move func() bool
		want string
		ok   bool
	}{
		{b.Older, "second", true},
		{b.Older, "first", true},
		{b.Older, "first", false},
		{b.Newer, "second", true},
		{b.Newer, "draft", true},
		{b.Newer, "draft", false},
	}
	for i, s := range steps {
		if ok := s.move(); ok != s.ok || b.Text() != s.want {
			t.Fatalf("step %d: %v, %q; want %v, %q", i, ok, b.Text(), s.ok, s.want)
		}
	}
}

func TestRowsFollowTheText(t *testing.T) {
	b := box()
	if got := b.Rows(); got != 1 {
		t.Errorf("Rows of nothing = %d", got)
	}
	b.Set("one\ntwo\n" + strings.Repeat("wide ", 30))
	if got := b.Rows(); got < 5 {
		t.Errorf("Rows = %d, want at least 5", got)
	}
}

func TestDeletedTextComesBack(t *testing.T) {
	for name, key := range map[string]tea.KeyPressMsg{
		"word":        {Code: 'w', Mod: tea.ModCtrl},
		"line":        {Code: 'u', Mod: tea.ModCtrl},
		"a character": {Code: tea.KeyBackspace},
	} {
		t.Run(name, func(t *testing.T) {
			b := box()
			write(b, "one")
			for range 3 {
				b.Key(key)
			}
			if b.Text() != "" {
				t.Fatalf("the box holds %q", b.Text())
			}
			if !b.Undo() || b.Text() != "one" {
				t.Errorf("Undo = %q, want one", b.Text())
			}
		})
	}
}

// The text that was cleared last comes first only until a message is sent.
func TestSentMessagesComeBeforeClearedTexts(t *testing.T) {
	b := box()
	b.SetEarlier([]string{"sent"}, nil)
	write(b, "cleared")
	b.Clear()
	for _, want := range []string{"cleared", "sent"} {
		if !b.Older() || b.Text() != want {
			t.Fatalf("Older = %q, want %q", b.Text(), want)
		}
	}
	b.AddSent("sent later")
	for _, want := range []string{"sent later", "sent", "cleared"} {
		if !b.Older() || b.Text() != want {
			t.Fatalf("Older = %q, want %q", b.Text(), want)
		}
	}
}

func TestARecalledPasteStaysFolded(t *testing.T) {
	b, long := box(), strings.Repeat("a line\n", 200)
	b.SetEarlier([]string{"before", long}, nil)
	if b.Older(); b.Text() != long || strings.Contains(b.Shown(), "\n") {
		t.Errorf("the box shows %q", b.Shown())
	}
	if b.Older(); b.Text() != "before" {
		t.Errorf("Older = %q", b.Text())
	}
}

func TestClearedTextsAreOlderMessages(t *testing.T) {
	b := box()
	b.SetEarlier([]string{"sent"}, nil)
	write(b, "precious")
	b.Clear()
	write(b, "replaced")
	b.Set("somebody else's")
	b.Reset()
	b.AddSent("somebody else's")
	for _, want := range []string{"somebody else's", "sent", "replaced", "precious"} {
		if !b.Older() || b.Text() != want {
			t.Fatalf("Older = %q, want %q", b.Text(), want)
		}
	}
	if b.Older() {
		t.Errorf("there is something older: %q", b.Text())
	}
	if got := b.Stash(); !slices.Equal(got, []string{"precious", "replaced"}) {
		t.Errorf("Stash = %q", got)
	}
	b.AddSent("precious")
	if got := b.Stash(); !slices.Equal(got, []string{"replaced"}) {
		t.Errorf("after it was sent, Stash = %q", got)
	}
}

// TestTheViewIsNeverOld draws after every kind of change in random order, twice:
// what is kept from before is what would be drawn now.
func TestTheViewIsNeverOld(t *testing.T) {
	styled := []style.Input{style.New(style.Options{Dark: true, Unicode: true}).Input, style.New(style.Options{}).Input}
	heights := []int{1, 3, 5}
	changes := map[string]func(b *Model, n int){
		"letter":      func(b *Model, n int) { write(b, string(rune('a'+n%26))) },
		"wide letter": func(b *Model, _ int) { write(b, "漢") },
		"line":        func(b *Model, _ int) { b.NewLine() },
		"left":        func(b *Model, _ int) { b.Key(tea.KeyPressMsg{Code: tea.KeyLeft}) },
		"up":          func(b *Model, _ int) { b.Key(tea.KeyPressMsg{Code: tea.KeyUp}) },
		"backspace":   func(b *Model, _ int) { b.Key(tea.KeyPressMsg{Code: tea.KeyBackspace}) },
		"paste":       func(b *Model, _ int) { b.Paste("some\npasted\nwords") },
		"set":         func(b *Model, n int) { b.Set(strings.Repeat("text ", n%40)) },
		"clear":       func(b *Model, _ int) { b.Clear() },
		"undo":        func(b *Model, _ int) { b.Undo() },
		"older":       func(b *Model, _ int) { b.Older() },
		"width":       func(b *Model, n int) { b.SetWidth(20 + n%50) },
		"look":        func(b *Model, n int) { b.SetStyles(styled[n%2]) },
		"focus":       func(b *Model, _ int) { b.Focus() },
		"blur":        func(b *Model, _ int) { b.Blur() },
		"placeholder": func(b *Model, n int) { b.SetPlaceholder(strings.Repeat("type ", n%3)) },
	}
	names := slices.Sorted(maps.Keys(changes))
	rapid.Check(t, func(rt *rapid.T) {
		b := box()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			name, n := rapid.SampledFrom(names).Draw(rt, "change"), rapid.IntRange(0, 99).Draw(rt, "n")
			changes[name](b, n)
			h := rapid.SampledFrom(heights).Draw(rt, "height")
			if got, want := b.View(h), b.area.View(); got != want || b.View(h) != want {
				rt.Fatalf("after %s the box shows\n%q\nwant\n%q", name, got, want)
			}
		}
	})
}

func TestAWordIsReplacedAsOneEdit(t *testing.T) {
	b := box()
	write(b, "hide *min")
	if got := b.Word(); got != "*min" {
		t.Fatalf("the word before the cursor is %q", got)
	}
	b.ReplaceBefore(len([]rune(b.Word())), "*mini*")
	if got := b.Text(); got != "hide *mini*" {
		t.Errorf("ReplaceBefore = %q", got)
	}
	if b.Undo(); b.Text() != "hide *min" {
		t.Errorf("Undo = %q, want the word as it was typed", b.Text())
	}
	write(b, " ")
	if got := b.Word(); got != "" {
		t.Errorf("behind a blank the word is %q", got)
	}
}

func TestArrowsLeaveTheTextAtItsEndsOnly(t *testing.T) {
	b := box()
	write(b, "one")
	b.NewLine()
	write(b, "two")
	if b.AtFirstLine() || !b.AtLastLine() {
		t.Errorf("at the end: first line %v, last line %v", b.AtFirstLine(), b.AtLastLine())
	}
	b.Key(tea.KeyPressMsg{Code: tea.KeyUp})
	if !b.AtFirstLine() || b.AtLastLine() {
		t.Errorf("after up: first line %v, last line %v", b.AtFirstLine(), b.AtLastLine())
	}
}

func TestPastedLineEndsAreOne(t *testing.T) {
	b := box()
	write(b, "a ")
	b.Paste("x\r\ny")
	if got := b.Text(); got != "a x\ny" {
		t.Fatalf("Paste = %q", got)
	}
	if b.Undo(); b.Text() != "a " {
		t.Errorf("Undo = %q, want the whole text gone", b.Text())
	}
}

func TestAMessageThatCouldNotBeSentComesBack(t *testing.T) {
	b := box()
	b.AddSent("sent")
	write(b, "draft")
	b.AddToStash("unsent")
	for _, want := range []string{"unsent", "sent"} {
		if !b.Older() || b.Text() != want {
			t.Fatalf("Older = %q, want %q", b.Text(), want)
		}
	}
	for b.Newer() {
	}
	if got := b.Text(); got != "draft" {
		t.Errorf("the draft is %q", got)
	}
	if got := b.Stash(); !slices.Equal(got, []string{"unsent"}) {
		t.Errorf("the texts that were not sent are %q", got)
	}
	b.AddSent("unsent")
	if got := b.Stash(); len(got) != 0 {
		t.Errorf("once sent, %q is still listed as cleared", got)
	}
}

func TestExchangeRestoresTheDraftAndItsUndoSteps(t *testing.T) {
	b := New(style.Input{}, nil)
	b.Paste("one ")
	b.Paste("two")
	restore := b.Exchange("for a moment")
	if b.Text() != "for a moment" {
		t.Errorf("the box shows %q", b.Text())
	}
	b.Reset()
	restore()
	if b.Text() != "one two" {
		t.Errorf("the draft is %q", b.Text())
	}
	if b.Undo(); b.Text() != "one " {
		t.Errorf("one step back the draft is %q", b.Text())
	}
	if len(b.Stash()) > 0 {
		t.Errorf("the stash holds %q", b.Stash())
	}
}

// Texts that were cleared before the earlier runs were known are newer than all of these.
func TestClearedBeforeTheEarlierRunsAreKnown(t *testing.T) {
	b := box()
	for _, text := range []string{"own", "sent", "old"} {
		b.Paste(text)
		b.Clear()
	}
	b.SetEarlier([]string{"sent"}, []string{"older", "old"})
	var got []string
	for b.Older() {
		got = append(got, b.Text())
	}
	if want := []string{"old", "sent", "own", "older"}; !slices.Equal(got, want) {
		t.Errorf("recalled are %q, want %q", got, want)
	}
}
