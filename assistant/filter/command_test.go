package filter

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	for line, want := range map[string]Command{
		":export":                         {Verb: Export, Format: "json"},
		"s3 :export md":                   {Verb: Export, Format: "md"},
		":export notes.html":              {Verb: Export, Format: "html", Path: "notes.html"},
		":export notes":                   {Verb: Export, Format: "json", Path: "notes"},
		`:export txt "my notes.md"`:       {Verb: Export, Format: "txt", Path: "my notes.md"},
		":export md '--force' --force":    {Verb: Export, Format: "md", Path: "--force", Force: true},
		":export --base --dry-run json x": {Verb: Export, Format: "json", Path: "x", Base: true, DryRun: true},
		":topic":                          {Verb: SetTopic},
		`:topic "AI > Agents"`:            {Verb: SetTopic, Topic: "AI > Agents"},
		":topic AI>Agents two --base":     {Verb: SetTopic, Topic: "AI > Agents two", Base: true},
		"r5 :star 2 --no-confirm":         {Verb: Star, Stars: 2, NoConfirm: true},
		":star 0":                         {Verb: Star},
		":flag":                           {Verb: FlagOn},
		": UNFLAG ":                       {Verb: FlagOff},
		"e :delete --force --dry-run":     {Verb: Delete, Force: true, DryRun: true},
		"s3 :save best-of_3":              {Verb: Save, Name: "best-of_3"},
		":forget best":                    {Verb: Forget, Name: "best"},
		":filters":                        {Verb: Filters},
	} {
		q, err := Parse(line)
		if err != nil {
			t.Errorf("Parse(%q): %v", line, err)
			continue
		}
		if q.Command == nil || !reflect.DeepEqual(*q.Command, want) {
			t.Errorf("Parse(%q) = %+v, want %+v", line, q.Command, want)
		}
		if (q.Expr != nil) != !strings.HasPrefix(strings.TrimSpace(line), ":") {
			t.Errorf("Parse(%q) has the expression %v", line, q.Expr)
		}
		checkRoundTrip(t, q)
	}
}

func TestCommandErrors(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		found  string
		want   string
	}{
		{"s2 :exprot", 5, "exprot", "export?"},
		{"s2 :zzzzz", 5, "zzzzz", "export topic star"},
		{"s2 :", 5, "the end of the line", "export topic"},
		{":delete --forc", 9, "--forc", "--force?"},
		{":delete everything", 9, "everything", "no argument: :delete has no arguments"},
		{":flag --force", 7, "--force", "a flag"},
		{":filters --base", 10, "--base", "has no flags"},
		{":star", 6, "the end of the line", "from 0 to 3"},
		{":star 4", 7, "4", "from 0 to 3"},
		{":star 1 2", 9, "2", "nothing after"},
		{":save", 6, "the end of the line", "a name"},
		{":save a.b", 7, "a.b", "a name"},
		{":save ''", 7, "", "a name"},
		{":export pdf x", 9, "pdf", "a format"},
		{":export mdd x", 9, "mdd", "md?"},
		{":export md x y", 14, "y", "nothing after"},
		{":export ''", 9, "an empty path", "the path"},
		{":topic 'a > '", 8, "a topic path", "a topic"},
		{":export 'x", 9, "an unclosed quote", "'"},
		{":flag!", 6, "!", "a space"},
	} {
		_, err := Parse(c.line)
		var at *Error
		if !errors.As(err, &at) {
			t.Errorf("Parse(%q): %v, want an *Error", c.line, err)
			continue
		}
		if at.Column != c.column || !strings.HasPrefix(at.Found, c.found) || at.Found == "" || !strings.Contains(at.Want, c.want) {
			t.Errorf("Parse(%q): %v\nwant column %d: found %s, want …%s…", c.line, at, c.column, c.found, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	from := Sources{
		Topics: []string{"AI", "AI > Agents", "Cooking", "O'Reilly"}, Models: []string{"openai/gpt-5", "anthropic/claude"},
		Sessions: []string{"ab12", "cd34"}, Saved: []string{"best", "worst"},
		Authors: []string{"anna", "Bob O'Neil"},
	}
	for _, c := range []struct {
		line   string // | is the cursor
		first  string // the line after taking the first
		number int
	}{
		{"s2 t|", "s2 t'AI'", 4},
		{"s2 t'ag|' b", "s2 t'AI > Agents' b", 1},
		{"t'ag|", "t'AI > Agents'", 1},
		{"t're|", `t'O\'Reilly'`, 1},
		{"m'gpt|'", "m'openai/gpt-5'", 1},
		{`t"ag|" b`, "t'AI > Agents' b", 1},
		{"r10m\"cl|", "r10m'anthropic/claude'", 1},
		{"x'c|", "x'cd34'", 1},
		{"u'an|' s1", "u'anna' s1", 1},
		{"u'o|", `u'Bob O\'Neil'`, 1},
		{"s1 u|", "s1 u'anna'", 2},
		{"(b | @b|)", "(b | @best)", 1},
		{"@|", "@best", 2},
		{"|", "t", len(termStarts())},
		{"s2 |", "s2 t", len(termStarts())},
		{"s2|", "", 0},
		{"d<7|", "", 0},
		{"c'te|", "", 0},
		{"c|", "", 0},
		{"c/x:|", "", 0},
		{"s2 :|", "s2 :export", len(verbs)},
		{"s2 :de|", "s2 :delete", 1},
		{"s2 :delete --f|", "s2 :delete --force", 1},
		{":export h|", ":export html", 1},
		{":forget w|", ":forget worst", 1},
		{":topic \"ag|", ":topic 'AI > Agents'", 1},
		{":filters |", "", 0},
		{":nosuch |", "", 0},
	} {
		// Cut at the last | as lines may hold others.
		at := strings.LastIndex(c.line, "|")
		line := c.line[:at] + c.line[at+1:]
		list := Complete(line, at, from)
		if len(list) != c.number {
			t.Errorf("Complete(%q) gives %d, want %d: %v", c.line, len(list), c.number, list)
			continue
		}
		if c.number > 0 {
			taken := line[:list[0].From] + list[0].Text + line[list[0].To:]
			if taken != c.first {
				t.Errorf("Complete(%q) makes %q, want %q", c.line, taken, c.first)
			}
		}
	}
	if list := Complete("t", 99, from); len(list) != 4 {
		t.Errorf("a cursor beyond the line: %v", list)
	}
}

func TestHints(t *testing.T) {
	topics := []string{"AI > Agents", "Cooking"}
	sessions := []string{"abcd1234"}
	for line, want := range map[string]string{
		"t'AI'":              "",
		"t'agents'":          "",
		"t'cook*'":           "",
		"t'Agnets'":          "no topic 'Agnets'; nearest: AI > Agents",
		"t'Coking...' | s2":  "no topic 'Coking'; nearest: Cooking",
		"!t'Something else'": "no topic 'Something else'",
		"x'abcd'":            "",
		"x'abdc1234'":        "no session 'abdc1234'; nearest: abcd1234",
		"s2 r3":              "",
	} {
		q, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range Hints(q.Expr, topics, sessions) {
			got += h.String()
		}
		if got != want {
			t.Errorf("Hints(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	for verb, want := range map[Verb]string{
		Export: ":export [json|md|txt|html] [PATH]: write the messages to a file",
		FlagOn: ":flag: flag the messages",
		"fly":  "",
	} {
		if got := Usage(verb); got != want {
			t.Errorf("Usage(%s) = %q, want %q", verb, got, want)
		}
	}
}

func TestCompleteOffersWhatACommandBeginsWithOnce(t *testing.T) {
	for line, want := range map[string]string{
		":export ":       "json md txt html",
		":export h":      "html",
		":export md ":    "",
		":star ":         "3 2 1 0",
		":star 2 ":       "",
		":star --base ":  "3 2 1 0",
		":export md --d": "--dry-run",
	} {
		var got []string
		for _, c := range Complete(line, len(line), Sources{}) {
			got = append(got, c.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Complete(%q) = %q, want %q", line, got, want)
		}
	}
	if c := Complete(":export m", 9, Sources{}); len(c) != 2 || c[0].Help == "" {
		t.Errorf("formats without a word about them: %+v", c)
	}
}
