package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the calendar tests need a zone with clock changes
)

var (
	zone = time.FixedZone("here", 2*60*60)
	now  = time.Date(2026, 3, 31, 12, 0, 0, 0, zone)
)

func savedLines(name string) (string, bool) {
	line, ok := map[string]string{"loop": "b | @loop2", "loop2": "@loop", "bad": "s9", "act": "b :delete"}[name]
	return line, ok
}

func TestSavedFilterErrors(t *testing.T) {
	for _, c := range []struct {
		line        string
		column      int
		found, want string
	}{
		{"s2 @nope", 4, "@nope", "saved filter"},
		{"b | @loop", 5, "a cycle: @loop → @loop2 → @loop", "do not refer to themselves"},
		{"@bad", 1, "@bad", "column 2"},
		{"!(x @act)", 5, "@act", "without a command"},
	} {
		q, err := Parse(c.line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Expand(q, savedLines)
		var at *Error
		if !errors.As(err, &at) || at.Column != c.column || at.Found != c.found || !strings.Contains(at.Want, c.want) {
			t.Errorf("Expand(%q): %v, want column %d: %s … %s", c.line, err, c.column, c.found, c.want)
		}
	}
}

func TestSavedFiltersThatDoubleAreRefused(t *testing.T) {
	q, err := Parse("@f0")
	if err != nil {
		t.Fatal(err)
	}
	loads := 0
	_, err = Expand(q, func(name string) (string, bool) { // each of 14 names the next one twice
		loads++
		var n int
		if _, err := fmt.Sscanf(name, "f%d", &n); err != nil || n == 14 {
			return "b", true
		}
		return fmt.Sprintf("@f%d | @f%d", n+1, n+1), true
	})
	if err == nil || loads > maxLoads {
		t.Errorf("%d saved filters were read, error %v; want at most %d and an error", loads, err, maxLoads)
	}
}

func TestAgesFollowTheCalendar(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 29, 12, 0, 0, 0, berlin) // the night before had 23 hours
	for _, c := range []struct {
		from time.Time
		n    int
		u    Unit
		want time.Time
	}{
		{at, 1, Days, time.Date(2026, 3, 28, 12, 0, 0, 0, berlin)},
		{at, 24, Hours, time.Date(2026, 3, 28, 11, 0, 0, 0, berlin)},
		{now, 1, Months, time.Date(2026, 2, 28, 12, 0, 0, 0, zone)},
		{time.Date(2024, 2, 29, 1, 0, 0, 0, zone), 1, Years, time.Date(2023, 2, 28, 1, 0, 0, 0, zone)},
	} {
		if got := (Age{N: c.n, Unit: c.u}).Instant(c.from); !got.Equal(c.want) {
			t.Errorf("%d%s before %v is %v, want %v", c.n, c.u, c.from, got, c.want)
		}
	}
}

func TestAnalysis(t *testing.T) {
	for line, want := range map[string][3]bool{ // needs text, uses the boundary, unsafe for delete
		"":              {},
		"s2 x e":        {},
		"c'a' | b":      {true, false, false},
		"!c/a/":         {true, false, false},
		"c'*'":          {},
		"b !o":          {false, true, true},
		"(s2 | o5)":     {false, true, true},
		"r5":            {false, false, true},
		"b | !(t s2)":   {false, false, true},
		"t5":            {false, false, true},
		"t'AI'":         {},
		"m d<7d":        {},
		"@good":         {false, false, true},
		"x c'a' & t'b'": {true, false, false},
	} {
		q, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		unsafe := UnsafeForDelete(q.Expr) != ""
		if got := [3]bool{NeedsText(q.Expr), UsesBoundary(q.Expr), unsafe}; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	q, _ := Parse("b (s2 | r10)")
	if reason := UnsafeForDelete(q.Expr); !strings.HasPrefix(reason, "r10 ") {
		t.Errorf("the reason does not name the term: %q", reason)
	}
}

// plainDialect writes conditions that say what they were asked for.
type plainDialect struct{}

func (plainDialect) Content(parts []string) (string, []any) {
	return "content(?)", []any{strings.Join(parts, "*")}
}
func (plainDialect) Word(text string) (string, []any) { return "word(?)", []any{text} }

func (plainDialect) Author(Author, string) (string, []any) { return "author", nil }

func (plainDialect) Regexp(source string) (string, []any) { return "regexp(?)", []any{source} }

func whereOf(t *testing.T, line string) (string, []any) {
	t.Helper()
	q, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return Where(q.Expr, Source{
		Env:    Env{Now: now, Location: zone, SelectedTopic: "AI > Agents", SelectedModel: "openai/GPT-5", Session: "s1"},
		Topics: map[int64]string{0: "", 1: "AI", 2: "AI > Agents", 3: "AI > Agents > Tools"},
		Models: map[int64]string{1: "openai/gpt-5", 2: "x"},
		Failed: 3, First: func(extra int) int64 { return int64(100 - extra) }, Dialect: plainDialect{},
	})
}

func TestWhereIsPlainSQL(t *testing.T) {
	for line, want := range map[string]string{
		"":                 "1=1",
		"s>1 b":            "((p.star > 1) AND (p.flag = 1))",
		"e | i":            "((p.state = 3) OR (p.attachments > 0))",
		"!g":               "NOT (p.flag = 0)",
		"t'agents...'":     "p.topic IN (2,3)",
		"t":                "p.topic IN (2)",
		"t'nothing'":       "1=0",
		"m":                "p.model IN (1)",
		"x":                "p.session IN (SELECT n FROM session WHERE id = ?) [s1]",
		"x'sü'":            "p.session IN (SELECT n FROM session WHERE substr(id, 1, ?) = ?) [2 sü]",
		"d2026-03-31":      fmt.Sprintf("(p.sec, p.nsec) >= (%d, 0) AND (p.sec, p.nsec) < (%d, 0)", now.Unix()-12*3600, now.Unix()+12*3600),
		"d<1h":             fmt.Sprintf("(p.sec, p.nsec) > (%d, 0)", now.Unix()-3600),
		"r0":               "1=0",
		"r3":               "p.seq >= coalesce((SELECT q.seq FROM pair q WHERE q.cut IS NULL ORDER BY q.seq DESC LIMIT 1 OFFSET 2), 0)",
		"o2":               "p.seq >= 98",
		"c'*'":             "1=1",
		"(c'A*B' | c/x/)b": "((p.flag = 1) AND (((content(?)) OR (regexp(?))))) [a*b x]", // texts last
	} {
		sql, args := whereOf(t, line)
		if len(args) > 0 {
			sql += " " + fmt.Sprint(args)
		}
		if sql != want {
			t.Errorf("Where(%s) = %s\nwant %s", line, sql, want)
		}
	}
}

// Engines bound how deep a condition may nest: a long line makes no deep one.
func TestWhereOfALongLineIsNotDeep(t *testing.T) {
	sql, args := whereOf(t, strings.Join(slices.Repeat([]string{"c'abc'"}, 3000), "|"))
	deep, most := 0, 0
	for _, r := range sql {
		switch r {
		case '(':
			deep++
		case ')':
			deep--
		}
		most = max(most, deep)
	}
	if len(args) != 3000 || strings.Count(sql, "?") != 3000 || most > 20 || deep != 0 {
		t.Errorf("%d arguments, %d deep", len(args), most)
	}
}
