package composer

import (
	"slices"
	"strings"
	"testing"

	"winnow/assistant/filter"
	"winnow/tui/keymap"
)

// commands lists some commands of the screen.
var commands = slices.DeleteFunc(keymap.Commands(false), func(c keymap.SlashCommand) bool {
	return !slices.Contains([]keymap.Action{
		keymap.Help, keymap.Models, keymap.Filter, keymap.Topics, keymap.NewSession, keymap.ExactRequest, keymap.Sessions, keymap.Save,
	}, c.Action)
})

func TestCompletion(t *testing.T) {
	from := CommandSources{
		Sources: filter.Sources{Models: []string{"openai/gpt-5", "openai/o3", "azure/gpt-4o"}, Topics: []string{"AI", "AI > Agents", "ȺȺȺx"}}, // in lower case an Ⱥ is longer
		Help:    []keymap.HelpTopic{{Name: "keys", Short: "the keys"}, {Name: "filter"}},
	}
	for draft, want := range map[string]struct {
		values   []string
		selected int
	}{
		"/mo":                 {[]string{"/model "}, 0}, // an alias is not listed
		"/models":             {[]string{"/models "}, -1},
		"/MODEL":              {[]string{"/model "}, -1}, // enter runs it
		"/request":            {[]string{"/exact-request"}, 0},
		"/new":                {nil, -1},
		"/new x":              {nil, -1},
		"/etc/":               {nil, -1},
		"/usr is":             {nil, -1},
		"/model ":             {[]string{"/model openai/gpt-5", "/model openai/o3", "/model azure/gpt-4o"}, -1},
		"/model gpt":          {[]string{"/model openai/gpt-5", "/model azure/gpt-4o"}, 0},
		"/model o":            {[]string{"/model openai/gpt-5", "/model openai/o3", "/model azure/gpt-4o"}, 0},
		"/model azure/gpt-4o": {nil, -1},
		"/topic ag":           {[]string{"/topic AI > Agents"}, 0},
		"/topic x":            {[]string{"/topic ȺȺȺx"}, 0},
		"/help ":              {[]string{"/help keys", "/help filter"}, -1},
		"/filter s3 t'ag":     {[]string{"/filter s3 t'AI > Agents'"}, -1},
		"/filter s3 :fla":     {[]string{"/filter s3 :flag", "/filter s3 :unflag"}, -1},
		"two\n/mo":            {nil, -1},
		"mo":                  {nil, -1},
	} {
		entries, selected := CompleteCommand(draft, commands, from)
		var got []string
		for _, e := range entries {
			got = append(got, e.Value)
		}
		if !slices.Equal(got, want.values) || len(got) > 0 && selected != want.selected {
			t.Errorf("CompleteCommand(%q) = %q, %d, want %q, %d", draft, got, selected, want.values, want.selected)
		}
	}
	entries, _ := CompleteCommand("/", commands, from)
	does := map[keymap.Action]bool{}
	for _, c := range commands {
		does[c.Action] = true
	}
	if len(entries) != len(does) || entries[0].Text != "/help [TOPIC]" || entries[0].Extra != "Help" {
		t.Errorf("a slash offers %d of %d, first %+v", len(entries), len(does), entries[0])
	}
}

func TestStem(t *testing.T) {
	for draft, want := range map[string]string{"/": "/", "/mo": "/", "/model gp": "/model ", "/filter s3 m": "/filter s3 "} {
		if got := CommandStem(draft); got != want {
			t.Errorf("CommandStem(%q) = %q, want %q", draft, got, want)
		}
	}
}

func FuzzCommandCompletion(f *testing.F) {
	for _, s := range []string{"/help", "//", "/etc/hosts", "/filter t'AI", "/model \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, draft string) {
		entries, selected := CompleteCommand(draft, commands, CommandSources{Sources: filter.Sources{Models: []string{"a/b"}}})
		if selected >= max(1, len(entries)) {
			t.Errorf("CompleteCommand(%q) selects %d of %d", draft, selected, len(entries))
		}
		if len(entries) > 0 && !strings.HasPrefix(entries[0].Value, "/") {
			t.Errorf("CompleteCommand(%q) offers %q", draft, entries[0].Value)
		}
	})
}
