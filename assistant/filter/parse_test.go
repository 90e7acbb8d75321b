package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

func pat(parts ...string) Pattern { return Pattern{parts} }

func topic(deep bool, levels ...string) Topic {
	t := Topic{Deep: deep}
	for _, l := range levels {
		t.Path = append(t.Path, newPattern(strings.Split(l, "*")))
	}
	return t
}

func TestParse(t *testing.T) {
	s2, r3, b := Stars{Equal, 2}, Recent{3}, Flag{true}
	for line, want := range map[string]Expr{
		"":                       nil,
		"  ":                     nil,
		"t'AI'":                  topic(false, "AI"),
		`t"AI > Agents"`:         topic(false, "AI", "Agents"),
		"t'AI>Agents'":           topic(false, "AI", "Agents"),
		"t'AI...'":               topic(true, "AI"),
		"t'AI > Agents ...'":     topic(true, "AI", "Agents"),
		"t'AI > ...'":            topic(true, "AI"),
		"t'*neural*...'":         topic(true, "*neural*"),
		"t'10'":                  topic(false, "10"),
		"t'a**b'":                topic(false, "a*b"),
		`t'a\*b'`:                Topic{Path: []Pattern{pat("a*b")}},
		"t":                      TopicSelected{},
		"t10":                    TopicLast{10},
		"s2":                     s2,
		"s=2":                    s2,
		"s<2":                    Stars{Less, 2},
		"s <= 2":                 Stars{LessEqual, 2},
		"s>0":                    Stars{Greater, 0},
		"s>=3":                   Stars{GreaterEqual, 3},
		"r 007":                  Recent{7},
		"b":                      b,
		"g":                      Flag{false},
		"m'gpt*'":                Model{pat("gpt", "")},
		"m":                      Model{},
		"u":                      Author{},
		"u 'anna*'":              Author{pat("anna", "")},
		"d<7d":                   Age{Less, 7, Days},
		"d7":                     Age{Less, 7, Days},
		"d7d":                    Age{Less, 7, Days},
		"d>2w":                   Age{Greater, 2, Weeks},
		"d<=3mo":                 Age{LessEqual, 3, Months},
		"d<3min":                 Age{Less, 3, Minutes},
		"d>=12h":                 Age{GreaterEqual, 12, Hours},
		"d>1y":                   Age{Greater, 1, Years},
		"d<3m":                   And{[]Expr{Age{Less, 3, Days}, Model{}}},
		"d<7 b":                  And{[]Expr{Age{Less, 7, Days}, b}},
		"d2026-03-04":            Day{Equal, 2026, time.March, 4},
		"d=26-3-4":               Day{Equal, 2026, time.March, 4},
		"d<2024-02-29":           Day{Less, 2024, time.February, 29},
		"d>=2026-12-31":          Day{GreaterEqual, 2026, time.December, 31},
		"c'two words'":           Content{[]string{"two words"}},
		"c'a*b*'":                Content{[]string{"a", "b"}},
		`c'a\*b?'`:               Content{[]string{"a*b?"}},
		"c'*'":                   Content{nil},
		`c"it's \"so\"\n\t\r\\"`: Content{[]string{"it's \"so\"\n\t\r\\"}},
		`c/a\/b\d|:/`:            Regexp{`a/b\d|:`},
		"e":                      Failed{},
		"i":                      Attachments{},
		"x":                      SessionCurrent{},
		"x'ab*'":                 Session{"ab*"},
		"o":                      Boundary{},
		"o5":                     Boundary{5},
		"o0":                     Boundary{},
		"@my-filter_2":           Saved{"my-filter_2"},
		"s2r3":                   And{[]Expr{s2, r3}},
		"s2 & r3":                And{[]Expr{s2, r3}},
		"s2|r3":                  Or{[]Expr{s2, r3}},
		"s2+r3":                  Or{[]Expr{s2, r3}},
		"b s2 | r3":              Or{[]Expr{And{[]Expr{b, s2}}, r3}},
		"b & (s2 | r3)":          And{[]Expr{b, Or{[]Expr{s2, r3}}}},
		"!b s2":                  And{[]Expr{Not{b}, s2}},
		"!(b s2)":                Not{And{[]Expr{b, s2}}},
		"!!b":                    Not{Not{b}},
		"((b (s2)) r3)":          And{[]Expr{b, s2, r3}},
		"(b|s2)|r3":              Or{[]Expr{b, s2, r3}},
		"bxoei":                  Word{"bxoei"},
		"bug":                    Word{"bug"},
		"Mini gpt-5.1_x s2":      And{[]Expr{Word{"Mini"}, Word{"gpt-5.1_x"}, s2}},
		"!bug | (time r3)":       Or{[]Expr{Not{Word{"bug"}}, And{[]Expr{Word{"time"}, r3}}}},
		"überall":                Word{"überall"},
		"हिन्दी":                 Word{"हिन्दी"},
		"bo":                     And{[]Expr{b, Boundary{}}},
		"s2bug":                  And{[]Expr{s2, Word{"bug"}}},
		"d<7dbug":                And{[]Expr{Age{Less, 7, Days}, Word{"bug"}}},
		"b&u&g":                  And{[]Expr{b, Author{}, Flag{false}}},
		"d'2026-03-04'":          Day{Equal, 2026, time.March, 4},
		`d<"2026-03-04"`:         Day{Less, 2026, time.March, 4},
		"b x o e i":              And{[]Expr{b, SessionCurrent{}, Boundary{}, Failed{}, Attachments{}}},
		"c':delete' ":            Content{[]string{":delete"}},
	} {
		q, err := Parse(line)
		if err != nil {
			t.Errorf("Parse(%q): %v", line, err)
			continue
		}
		if !reflect.DeepEqual(q.Expr, want) {
			t.Errorf("Parse(%q) = %#v, want %#v", line, q.Expr, want)
		}
		checkRoundTrip(t, q)
	}
}

// checkRoundTrip prints q and reads it again.
func checkRoundTrip(t *testing.T, q *Query) {
	t.Helper()
	line := Print(q)
	again, err := Parse(line)
	if err != nil {
		t.Fatalf("Parse(Print) of %#v: %q: %v", q.Expr, line, err)
	}
	if !reflect.DeepEqual(again.Expr, q.Expr) || !reflect.DeepEqual(again.Command, q.Command) {
		t.Fatalf("printed as %q:\n%#v %+v\nread again:\n%#v %+v", line, q.Expr, q.Command, again.Expr, again.Command)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		found  string
		want   string // part of it
	}{
		{"s2 z", 4, "z", "a word of three letters or more, or a term: t s r"},
		{"ab", 1, "ab", "a word of three letters or more"},
		{"s2 Ж3", 4, "Ж3", "a term"},
		{"S2", 1, "S2", "a term"},
		{"(s2 r3", 7, "the end of the line", ") for the ( in column 1"},
		{"(s2 :delete", 5, ":", ") for the ( in column 1"},
		{"s2)", 3, ")", "a matching ( before this )"},
		{"()", 2, ")", "a term"},
		{"s2 &", 5, "the end of the line", "a term"},
		{"s2 |", 5, "the end of the line", "a term"},
		{"& s2", 1, "&", "a term"},
		{"!", 2, "the end of the line", "a term"},
		{"b c'open", 4, "an unclosed quote", "' at its end"},
		{`c"open`, 2, "an unclosed quote", `" at its end`},
		{"c/open", 2, "an unclosed /", "/ at the end"},
		{`c'a\qb'`, 4, `\qb`, "one of"},
		{"c//", 2, "//", "a regular expression"},
		{"c/(/", 2, "/(/", "RE2 regular expression: missing closing ): ("},
		{"c''", 2, "''", "text to search for"},
		{"c", 2, "the end of the line", "c'word'"},
		{"d2026-02-30", 2, "2026-02-30", "a valid date"},
		{"d2026-13-01", 2, "2026-13-01", "a valid date"},
		{"d202-01-01", 2, "202-01-01", "a valid date"},
		{"d2026-01", 9, "the end of the line", "- and a day"},
		{"d2026-x", 7, "x", "a valid date"},
		{"d'2026-02-30'", 2, "'2026-02-30'", "a valid date"},
		{"d<'7d'", 3, "'7d'", "a valid date"},
		{"bug'x'", 4, "'x'", "a term"},
		{"d=7d", 2, "=", "< > <= or >="},
		{"d", 2, "the end of the line", "an age or a day"},
		{"d<7 d", 6, "the end of the line", "an age or a day"},
		{"s5", 2, "5", "from 0 to 3"},
		{"s", 2, "the end of the line", "from 0 to 3"},
		{"s>=x", 4, "x", "from 0 to 3"},
		{"r", 2, "the end of the line", "as in r10"},
		{"r>5", 2, ">", "as in r10"},
		{"r9999999999", 2, "999999999…", "at most 9 digits"},
		{"b'x'", 2, "'x'", "nothing more after b"},
		{"b 5", 3, "5", "nothing more after b"},
		{"e<3", 2, "<", "nothing more after e"},
		{"r10'x'", 4, "'x'", "nothing more after r (last N messages: r10)"},
		{"t''", 2, "''", "a topic"},
		{"t'a > > b'", 2, "'a > > b'", "a topic"},
		{"t'...'", 2, "'...'", "a topic"},
		{"m''", 2, "''", "a model"},
		{"x''", 2, "''", "a session"},
		{"@", 2, "the end of the line", "the name of a saved filter"},
		{"s2 \x1b", 4, `"\x1b"`, "a term"},
		{"日本 s5", 1, "日本", "a term"},
		{"c'日本' s5", 8, "5", "from 0 to 3"},
		{strings.Repeat("(", 300), 201, "(", "fewer nested"},
	} {
		q, err := Parse(c.line)
		var at *Error
		if !errors.As(err, &at) || q != nil {
			t.Errorf("Parse(%q) = %v, %v, want an *Error", c.line, q, err)
			continue
		}
		if at.Column != c.column || at.Found != c.found || !strings.Contains(at.Want, c.want) {
			t.Errorf("Parse(%q): %v\nwant column %d: found %s, want …%s…", c.line, at, c.column, c.found, c.want)
		}
		if text := at.Error(); !strings.Contains(text, fmt.Sprintf("column %d", c.column)) || !strings.Contains(text, c.found) {
			t.Errorf("the sentence says less: %s", text)
		}
	}
}

// someExpr makes a random expression, as Parse would.
func someExpr(r *rand.Rand, depth int) Expr {
	text := func() string {
		const signs = `ab*'"\/ >.:` + "\n日"
		all := []rune(signs)
		out := "x"
		for range r.IntN(4) {
			out += string(all[r.IntN(len(all))])
		}
		return out + "y"
	}
	level := func() Pattern {
		p := []string{strings.NewReplacer(">", "", ".", "").Replace(text())}
		if r.IntN(2) == 0 {
			p = append(p, "z*")
		}
		return Pattern{p}
	}
	if depth > 0 && r.IntN(3) > 0 {
		terms := []Expr{someExpr(r, depth-1), someExpr(r, depth-1), someExpr(r, depth-1)}[:2+r.IntN(2)]
		switch r.IntN(3) {
		case 0:
			return Not{terms[0]}
		case 1:
			for i, x := range terms {
				if _, same := x.(And); same {
					terms[i] = Failed{}
				}
			}
			return And{terms}
		default:
			for i, x := range terms {
				if _, same := x.(Or); same {
					terms[i] = Failed{}
				}
			}
			return Or{terms}
		}
	}
	o := Op(r.IntN(5))
	return []Expr{
		Topic{[]Pattern{level(), level()}[:1+r.IntN(2)], r.IntN(2) == 0},
		TopicSelected{},
		TopicLast{r.IntN(5)},
		Stars{o, r.IntN(4)},
		Recent{r.IntN(9)},
		Flag{r.IntN(2) == 0},
		Model{level()},
		Model{},
		Author{level()},
		Author{},
		Age{1 + Op(r.IntN(4)), r.IntN(50), units[r.IntN(len(units))]},
		Day{o, 2026, time.Month(1 + r.IntN(12)), 1 + r.IntN(28)},
		Content{[]string{text(), text()}[:1+r.IntN(2)]},
		Regexp{"a/b" + `\d\\`},
		Failed{},
		Attachments{},
		Session{text()},
		SessionCurrent{},
		Boundary{r.IntN(3)},
		Saved{"a-b_1"},
		Word{"bug"},
		Word{"Gpt-5.1_x."},
	}[r.IntN(22)]
}

func TestPrintedExpressionsReadTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		checkRoundTrip(t, &Query{Expr: someExpr(r, 4)})
	}
}

func FuzzFilter(f *testing.F) {
	for _, line := range []string{
		"bug mini-5.1 !time", "d'2026-03-04'", "s2r3", "t'AI > Agents...' & (b | !g)", `c'a\*b*c' c/x\/y/`, "d<3mo d2026-02-28", "@a | o5 :export md 'x y'",
		":topic AI > Agents --base", "s5", "(((", "t'", ":delete --force", "x'ab' :save a-b", "!(!(o)) :star 3 --dry-run",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		n := len([]rune(line))
		Complete(line, n/2, Sources{Topics: []string{"A"}, Saved: []string{"s"}})
		for _, c := range Complete(line, n, Sources{Topics: []string{"A"}, Saved: []string{"s"}}) {
			if c.From < 0 || c.From > c.To || c.To > n {
				t.Fatalf("Complete(%q) replaces %d…%d", line, c.From, c.To)
			}
		}
		q, err := Parse(line)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Column < 1 || at.Column > n+1 || at.Found == "" || at.Want == "" {
				t.Fatalf("Parse(%q): %#v", line, err)
			}
			return
		}
		checkRoundTrip(t, q)
		x, err := Expand(q, nil)
		if err != nil && !strings.Contains(line, "@") {
			t.Fatalf("Expand(%q): %v", line, err)
		}
		if sql, args := Where(x, Source{Dialect: plainDialect{}}); strings.Count(sql, "?") != len(args) {
			t.Fatalf("Where(%q) = %s with %d arguments", line, sql, len(args))
		}
	})
}
