package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/tui/tuitest"
)

// three is a fixture with three pairs, the second of which has two stars.
func three(t *testing.T, f setup) *fixture {
	t.Helper()
	second := told("pears?", "about pears")
	second.Star = 2
	f.pairs = append(f.pairs, told("apples?", "about apples"), second, told("plums?", "about plums"))
	d := startProgram(t, f)
	d.Wait("3/3")
	return d
}

// command types a line into an empty COMMAND line and applies it.
func (d *fixture) command(line string) {
	d.t.Helper()
	d.Type("f")
	d.in("COMMAND")
	d.Type(tuitest.Key("ctrl+u"), line, tuitest.Enter)
}

func TestMarksOfACommandAreSeenAtOnce(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("VIEW")
	d.command("c'apples' :star 3")
	d.says("1 message now has 3 stars · u undoes it")
	d.Type("g") // the first message
	d.Wait("★★★")
	d.command("x :star 1 --dry-run")
	d.says("would give 3 messages 1 star")
	d.command("x :topic 'New'")
	d.Wait("Move 3 messages to New.")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.says("3 messages moved to New")
	d.Until(func(frame string) bool { return strings.Count(frame, "New  ") >= 3 })
	d.command("x :unflag")
	d.says("3 messages unflagged · u undoes it")

	d.Type("u")
	d.says("undone: 3 messages unflagged")
	d.Type("u")
	d.says("undone: 3 messages moved to New")
	d.WaitGone("New  ")
	d.Type("u")
	d.says("undone: 1 message now has 3 stars")
	d.WaitGone("★★★")
	d.Type("u")
	d.says("there is no filter-line command")
	d.hold("the stars of before", func() bool {
		pairs, err := d.store.Load(t.Context(), []int64{1, 2, 3})
		return err == nil && pairs[0].Star == 0 && pairs[1].Star == 2 && pairs[2].Flag && pairs[0].Topic == ""
	})
}

func TestMarksOfACommandMovePairsOutOfTheFilter(t *testing.T) {
	d := three(t, setup{})
	d.goTo("VIEW")
	d.command("s0")
	d.Wait("2/2")
	d.command("c'plums' :star 1")
	d.Wait("1/1")
	d.WaitGone("about plums")
	d.Type("u")
	d.Wait("about plums")
	d.Wait("2/2")
}

func TestErrorOfACommandKeepsTheLine(t *testing.T) {
	for name, c := range map[string]struct {
		before     []string
		line, want string
	}{
		"a cycle":         {[]string{"s0 :save aa", "@aa :save bb"}, "@bb :save aa", "found a cycle: @bb → @aa → @bb"},
		"nothing to mark": {nil, "s3 :flag", "no message matches: there is nothing to flag"},
		"nothing to save": {nil, ":save all", "nothing to save"},
		"an unsafe line":  {nil, "r1 :delete", "r1 counts from the newest message"},
		"no such filter":  {nil, "@no", "found @no, want the name of a saved filter"},
		"unknown name":    {nil, ":forget no", "there is no saved filter @no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := three(t, setup{})
			d.goTo("VIEW")
			for _, line := range c.before {
				d.command(line)
				d.says("saved as @")
			}
			d.command(c.line)
			d.Wait(c.want)
			d.in("COMMAND")
			if got := footerOf(d.Frame()); got != " COMMAND  : "+c.line {
				t.Errorf("the line is %q", got)
			}
			lines, err := d.store.FilterLines(t.Context())
			if err != nil || len(lines) != len(c.before) {
				t.Errorf("remembered are %q, %v", lines, err)
			}
			if saved, err := d.store.SavedFilters(t.Context()); err != nil || saved["aa"] == "@bb" {
				t.Errorf("saved is %v, %v", saved, err)
			}
		})
	}
}

func TestForgottenFilterOfTheViewLeavesItAsItIs(t *testing.T) {
	d := three(t, setup{})
	d.goTo("VIEW")
	d.command("s2 :save two")
	d.says("saved as @two")
	d.command("@two")
	d.Wait("only @two")
	d.Wait("1/1")
	d.command(":forget two")
	d.says("@two is forgotten; the view is unchanged")
	d.Wait("only s2")
	d.command("x :flag")
	d.says("3 messages flagged")
	d.command(":filters")
	d.says("no saved filters")
}

func TestSavedFiltersAreListedAppliedAndForgotten(t *testing.T) {
	d := three(t, setup{})
	d.goTo("VIEW")
	d.command("s2 :save two")
	d.says("saved as @two")
	d.Type(tuitest.Key("ctrl+p"))
	d.Wait("Commands")
	d.Type("saved filters", tuitest.Enter)
	d.Wait("alt+x deletes it")
	d.Type(tuitest.Enter)
	d.Wait("only @two")
	d.command(":filters")
	d.Wait("alt+x deletes it")
	d.Type(tuitest.Key("alt+x"))
	d.says("@two is forgotten")
}

// palette takes a command of the palette.
func (d *fixture) palette(search string) {
	d.t.Helper()
	d.Type(tuitest.Key("ctrl+p"))
	d.Wait("Commands")
	d.Type(search)
	d.Wait("/ " + search)
	d.Type(tuitest.Enter)
}

func TestPaletteExportsForOneWhoDoesNotKnowTheSyntax(t *testing.T) {
	t.Chdir(t.TempDir())
	d := three(t, setup{w: 80, h: 24})
	d.palette("export")
	d.in("COMMAND")
	d.Wait("Markdown, to read and edit")
	d.Wait("winnow-messages-20260304-143200.json")
	d.Type(tuitest.Tab, tuitest.Tab)
	d.Until(func(frame string) bool { return strings.HasPrefix(footerOf(frame), " COMMAND  : x :export md") })
	d.Type(tuitest.Enter)
	d.says("3 messages exported to winnow-messages-")
	files, err := filepath.Glob("winnow-messages-*.md")
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "about pears") {
		t.Errorf("the file says %q, %v", text, err)
	}
}

func TestPaletteReachesTheCommandsOfTheFilterLine(t *testing.T) {
	for search, line := range map[string]string{
		"type a command":    "x :",
		"star the shown":    "x :star",
		"unflag the shown":  "x :unflag",
		"move the shown":    "x :topic",
		"delete the shown":  "x :delete",
		"save the filter u": "x :save",
	} {
		t.Run(search, func(t *testing.T) {
			t.Parallel()
			d := three(t, setup{})
			d.palette(search)
			d.in("COMMAND")
			if got := footerOf(d.Frame()); !strings.HasPrefix(got, " COMMAND  : "+line) {
				t.Errorf("the line is %q, want %q", got, line)
			}
		})
	}
	d := three(t, setup{})
	d.palette("previous region")
	d.in("PANE")
	d.palette("previous tab")
	d.Wait("›All")
}

func TestDeletingTheShownPairsAsks(t *testing.T) {
	d := three(t, setup{})
	d.goTo("VIEW")
	d.command("c'plums'")
	d.Wait("1/1")
	d.palette("delete the shown")
	d.in("COMMAND")
	d.Type(tuitest.Enter)
	d.Wait("Delete 1 message for good?")
	d.Wait("“plums?”")
	d.Wait("y delete")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.says("1 message deleted")
	d.hold("two pairs", func() bool { return d.texts() == "apples?=about apples pears?=about pears" })
}

func TestFilterThatCannotBeReadAnyMoreLetsCommandsAnswer(t *testing.T) {
	d := three(t, setup{history: func(h history.Store) error { return h.SaveFilter(t.Context(), "two", "s2") }})
	d.goTo("VIEW")
	d.command("@two")
	d.Wait("1/1")
	if err := d.store.SaveFilter(t.Context(), "two", ""); err != nil { // as another process would
		t.Fatal(err)
	}
	d.command("c'plums' :star 1")
	d.says("1 message now has 1 star · u undoes it · the active filter cannot be evaluated")
}

func TestManyPairsAreMarkedAndTakenBackOnTheScreenAlone(t *testing.T) {
	var pairs []assistant.Pair
	for range 120 {
		pairs = append(pairs, told("question", "answer"))
	}
	d := startProgram(t, setup{pairs: pairs})
	d.Wait("120/120")
	d.goTo("VIEW")
	d.command("x :star 2")
	d.Wait("Give 120 messages 2 stars?")
	d.Wait("y star")
	d.Wait("n don't star")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.says("120 messages now have 2 stars")
	d.Wait("★★")
	d.Type("u")
	d.WaitGone("★★")
}
