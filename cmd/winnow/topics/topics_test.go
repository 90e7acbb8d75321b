package topics

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/filter"
	"winnow/assistant/glob"
	"winnow/tui/composer"
	"winnow/tui/keymap"
)

func testFacts(t *testing.T, rebinds ...keymap.Rebind) Facts {
	t.Helper()
	keys, err := keymap.Uses(false, rebinds)
	if err != nil {
		t.Fatal(err)
	}
	h, err := config.HomeAt("/h")
	if err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "winnow"}
	root.AddCommand(&cobra.Command{Use: "ask [MESSAGE…]", Short: "Ask one thing", Run: func(*cobra.Command, []string) {}})
	return Facts{
		Keys: keys, Settings: config.All([]string{"dusk"}), Flags: []string{"log-level"}, Home: h, Config: "/elsewhere/config.toml",
		Exits: []Exit{{0, "done"}, {130, "cancelled"}}, Root: root,
	}
}

// text returns a page with its words separated by single spaces, however they are aligned and wrapped.
func text(t *testing.T, name string, f Facts) string {
	t.Helper()
	i := slices.IndexFunc(All(), func(topic Topic) bool { return topic.Name == name })
	if i < 0 {
		t.Fatalf("there is no topic %s", name)
	}
	return strings.Join(strings.Fields(strings.Join(All()[i].Lines(f), " ")), " ")
}

func TestThePageOfCommandsHasThemAll(t *testing.T) {
	page := text(t, "input", testFacts(t))
	for _, c := range keymap.Commands(false) {
		if !strings.Contains(page, c.Usage()+" "+c.Help) {
			t.Errorf("%s is missing", c.Usage())
		}
	}
}

func TestPagesArePlainAndFitEightyColumns(t *testing.T) {
	pages := map[string][]string{"the list": List()}
	for _, topic := range All() {
		pages[topic.Name] = topic.Lines(testFacts(t))
	}
	for name, lines := range pages {
		if len(lines) < 3 || lines[0] == "" || lines[len(lines)-1] == "" {
			t.Errorf("%s: %q", name, lines)
		}
		for i, line := range lines {
			if ansi.StringWidth(line) > Width || strings.ContainsAny(line, "\x1b\t\n") || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: line %d is %q", name, i+1, line)
			}
			if i > 0 && line == "" && lines[i-1] == "" {
				t.Errorf("%s: lines %d and %d are both empty", name, i, i+1)
			}
		}
	}
}

func TestTheListNamesEveryTopic(t *testing.T) {
	list := strings.Join(List(), "\n")
	for _, topic := range All() {
		if !strings.Contains(list, "\n  "+topic.Name+" ") || !strings.Contains(list, topic.Short) {
			t.Errorf("the list lacks %s:\n%s", topic.Name, list)
		}
	}
}

func TestKeysAreThoseThatAreBound(t *testing.T) {
	f := testFacts(t)
	page := text(t, "keys", f)
	for _, u := range f.Keys {
		if u.Line[0] != "" && !strings.Contains(page, u.Line[0]+" "+u.Action+" "+u.Line[1]) {
			t.Errorf("the page lacks %s (%s)", u.Line[0], u.Action)
		}
	}
	for _, want := range []string{"0 1 2 3 star-0 stars", "alt+1 … alt+9", "anywhere esc escape", "VIEW, PANE, HUD : palette-colon"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if n := strings.Count(page, " escape "); n != 1 {
		t.Errorf("an action of all modes is listed %d times, want once", n)
	}
	page = text(t, "keys", testFacts(t, keymap.Rebind{Mode: "view", Action: "fold", Keys: []string{"W", "Z"}}))
	if !strings.Contains(page, "W Z fold ") || strings.Contains(page, "space fold ") {
		t.Errorf("the page does not follow the settings:\n%s", page)
	}
}

func TestAttachHasTheLimitsThatAreChecked(t *testing.T) {
	t.Chdir(t.TempDir())
	page := text(t, "attach", testFacts(t))
	refused := func(name string, data []byte) string {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := composer.Attach(assistant.Prompt{}, []string{name})
		if err == nil {
			t.Fatalf("%s is attached", name)
		}
		return err.Error()
	}
	_, most, _ := strings.Cut(refused("a.txt", make([]byte, composer.MaxAttachment+1)), "larger than ")
	_, picture, _ := strings.Cut(refused("a.png", make([]byte, attachment.MaxPictureBytes+1)), "larger than ")
	picture, _, _ = strings.Cut(picture, ":")
	_, kinds, _ := strings.Cut(refused("b.png", []byte("text")), "convert it to ")
	for _, want := range []string{"at most " + most + ".", kinds, "at most " + picture + " and ", fmt.Sprintf("%d pixels per side, up to %d per message", attachment.MaxPictureSide, attachment.MaxPictures), " i has attachments", "tab accepts"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, e := range MentionExamples {
		if got := (composer.MentionSource{}).Files(e.Text); !slices.Equal(got, e.Files) || !strings.Contains(page, e.Text) {
			t.Errorf("%q attaches %q, the page says %q", e.Text, got, e.Files)
		}
	}
	if page := text(t, "attach", testFacts(t, keymap.Rebind{Mode: "input", Action: "next-region", Keys: []string{"f9"}})); !strings.Contains(page, "f9 accepts") {
		t.Errorf("the page does not follow the settings:\n%s", page)
	}
}

func TestTheFilterPageHoldsTheWholeLanguage(t *testing.T) {
	page := text(t, "filter", Facts{})
	for _, c := range slices.Concat(filter.Complete("", 0, filter.Sources{}), filter.Complete(":", 1, filter.Sources{})) {
		if c.Help == "" || !strings.Contains(page, c.Help) {
			t.Errorf("the page lacks %s: %q", c.Text, c.Help)
		}
	}
	for _, e := range Examples {
		if _, err := filter.Parse(e.Line); err != nil {
			t.Errorf("the example %q: %v", e.Line, err)
		}
	}
	if want := ":delete [--base] [--force] [--dry-run] [--no-confirm] delete the messages"; !strings.Contains(page, want) {
		t.Errorf("the page lacks %q:\n%s", want, page)
	}
}

func TestPatternsMatchAsThePageSays(t *testing.T) {
	page := text(t, "rules", Facts{})
	for _, e := range PatternExamples {
		if got := glob.Compile(e.Pattern).MatchID(e.ID); got != e.Matches {
			t.Errorf("%s matches %s: %v, the page says %v", e.Pattern, e.ID, got, e.Matches)
		}
		if !strings.Contains(page, e.Pattern) {
			t.Errorf("the page lacks %s", e.Pattern)
		}
	}
}

func TestSettingsTellTypeDefaultVariableAndFlag(t *testing.T) {
	f := testFacts(t)
	page := text(t, "settings", f)
	for _, s := range f.Settings {
		for _, want := range []string{s.Key + " " + s.Type(), s.Env(), s.Help} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", s.Key, want)
			}
		}
	}
	for _, want := range []string{
		"max_iterations number from 1 to 100, default 5 WINNOW_MAX_ITERATIONS rounds",
		"mouse true or false, default false WINNOW_MOUSE use",
		"idle_timeout time, default 2m0s", "log_level text, default info WINNOW_LOG_LEVEL, --log-level how", "/elsewhere/config.toml",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestFilesNamesTheSettingsInUse(t *testing.T) {
	page := text(t, "files", testFacts(t))
	if !strings.Contains(page, "/elsewhere/config.toml the settings") || strings.Contains(page, "/h/config/config.toml") {
		t.Errorf("the page is\n%s", page)
	}
}
