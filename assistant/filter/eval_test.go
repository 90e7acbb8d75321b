package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
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

// sample is a small history, oldest first.
func sample() []Pair {
	text := func(u, a string) func() (string, string) { return func() (string, string) { return u, a } }
	return []Pair{
		{ID: "0", Session: "s-old", Topic: "AI", Model: "openai/gpt-5", Star: 3, Flag: true, CreatedAt: now.AddDate(-2, 0, 0), Text: text("Hello World", "")},
		{ID: "1", Session: "s-old", Topic: "AI > Agents", Model: "openai/gpt-5-mini", Star: 1, CreatedAt: now.AddDate(0, 0, -40), Text: text("", "what? a*b (c)")},
		{ID: "2", Session: "s-old", Topic: "AI > Agents > Tools", Model: "anthropic/claude", Flag: true, IsError: true, CreatedAt: now.AddDate(0, 0, -8)},
		{ID: "3", Session: "s-new", Topic: "Cooking", Model: "gpt-5", Star: 2, Flag: true, HasAttachments: true, CreatedAt: now.AddDate(0, 0, -7), Text: text("world hello", "WORLD\nwide")},
		{ID: "4", Session: "s-new", Topic: "10", Model: "openai/gpt-5", CreatedAt: time.Date(2026, 3, 30, 23, 30, 0, 0, time.UTC), Text: text("ünï", "a/b")},
		{ID: "5", Session: "s-new", Topic: "", Model: "openai/GPT-5", Star: 2, Flag: true, CreatedAt: now.Add(-30 * time.Minute)},
	}
}

func env() Env {
	return Env{
		Now: now, Location: zone, SelectedTopic: "AI > Agents", SelectedModel: "openai/gpt-5", Session: "s-new",
		Included: func(base []int) int { return min(2, len(base)) },
		Saved: func(name string) (string, bool) {
			line, ok := map[string]string{
				"good": "s>=2", "mine": "@good & x", "none": "", "loop": "b | @loop2", "loop2": "@loop",
				"bad": "s9", "act": "b :delete", "twice": "@twice2 @twice2", "edge": "o & b",
			}[name]
			return line, ok
		},
	}
}

func TestEval(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "012345",
		"t'ai'":                  "0",
		"t'AI...'":               "012",
		"t'agents'":              "1",
		"t'Agents...'":           "12",
		"t'AI > Agents'":         "1",
		"t'ai>agents ...'":       "12",
		"t'Agents > Tools'":      "2",
		"t'AI > Tools'":          "",
		"t'AI > * > Tools'":      "2",
		"t'*o*'":                 "23",
		"t'*gent*...'":           "12",
		"t'10'":                  "4",
		"t'nothing'":             "",
		"t":                      "1",
		"t1":                     "2",
		"t2":                     "12",
		"t9":                     "12",
		"t0":                     "",
		"s2":                     "35",
		"s<2":                    "124",
		"s<=1":                   "124",
		"s>2":                    "0",
		"s>=2":                   "035",
		"r2":                     "45",
		"r0":                     "",
		"r99":                    "012345",
		"s3 r2":                  "",
		"r4 b":                   "235",
		"b":                      "0235",
		"g":                      "14",
		"m'gpt-5'":               "0345",
		"m'OPENAI/*'":            "0145",
		"m'gpt*i*'":              "1",
		"m":                      "045",
		"d<7":                    "45",
		"d<=7d":                  "345",
		"d>7d":                   "012",
		"d>=1w":                  "0123",
		"d<30min":                "",
		"d<=30min":               "5",
		"d<1h":                   "5",
		"d<1mo":                  "2345",
		"d>1y":                   "0",
		"d2026-03-31":            "45", // 23:30 UTC is the next day here
		"d=26-03-31":             "45",
		"d<2026-03-24":           "012",
		"d<=2026-03-24":          "0123",
		"d>2026-03-24":           "45",
		"d>=2026-03-24":          "345",
		"c'hello'":               "03",
		"c'hello*world'":         "0",
		"c'world*wide'":          "3",
		"c'?'":                   "1",
		`c'a\*b'`:                "1",
		"c'a*b'":                 "14",
		"c'(c)'":                 "1",
		"c'ÜNÏ'":                 "4",
		"c'*'":                   "012345",
		"c/^w.*o/":               "3",
		`c/a\/B/`:                "4",
		"c/(?-i)WORLD/":          "3",
		"e":                      "2",
		"i":                      "3",
		"x":                      "345",
		"x's-o'":                 "012",
		"x'zzz'":                 "",
		"!x":                     "012",
		"b !e":                   "035",
		"e | i":                  "23",
		"!(e | i) g":             "14",
		"s2 | s3 r1":             "35",
		"@good":                  "035",
		"@mine":                  "35",
		"!@good":                 "124",
		"@none":                  "012345",
		"!@none":                 "",
		"e | @none":              "012345",
		"e @none":                "2",
		"o":                      "45",
		"o1":                     "345",
		"o99":                    "012345",
		"!o":                     "0123",
		"!o2":                    "01",
		"b o":                    "35",
		"b o1":                   "235",
		"b !o":                   "02",
		"o | b":                  "0235",
		"!o | b":                 "0235",
		"(o & e) | (!o & s3)":    "2",
		"!(o)":                   "0123",
		"x & @edge":              "35", // base: this session and flagged
		"s2 & o & c'world'":      "3",
		"c'hello' & c/world/ s3": "0",
	} {
		q, err := Parse(line)
		if err != nil {
			t.Fatalf("Parse(%q): %v", line, err)
		}
		got, err := Eval(q, sample(), env())
		if err != nil || digits(got) != want {
			t.Errorf("Eval(%q) = %q, %v, want %q", line, digits(got), err, want)
		}
	}
}

func digits(indices []int) string {
	var b strings.Builder
	for _, i := range indices {
		fmt.Fprint(&b, i)
	}
	return b.String()
}

func TestEvalBaseLeavesOut(t *testing.T) {
	for line, want := range map[string]string{"o": "012345", "b !o": "0235", "o | e": "2", "!(o & b)": "14", "@edge": "0235"} {
		q, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := EvalBase(q, sample(), env()); err != nil || digits(got) != want {
			t.Errorf("EvalBase(%q) = %q, %v, want %q", line, digits(got), err, want)
		}
	}
}

func TestBoundaryIsComputedOnTheBaseOnce(t *testing.T) {
	var asked [][]int
	e := env()
	e.Included = func(base []int) int { asked = append(asked, slices.Clone(base)); return 99 }
	for line, want := range map[string][][]int{"b o2 !o": {{0, 2, 3, 5}}, "b": nil} {
		asked = nil
		q, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Eval(q, sample(), e); err != nil || !reflect.DeepEqual(asked, want) {
			t.Errorf("%s: the boundary was asked for %v, want %v", line, asked, want)
		}
	}
}

func TestSavedFilterErrors(t *testing.T) {
	for _, c := range []struct {
		line        string
		column      int
		found, want string
	}{
		{"s2 @nope", 4, "@nope", "saved filter"},
		{"b | @loop", 5, "a cycle: @loop → @loop2 → @loop", "lead back"},
		{"@bad", 1, "@bad", "column 2"},
		{"!(x @act)", 5, "@act", "without a command"},
	} {
		q, err := Parse(c.line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Eval(q, sample(), env())
		var at *Error
		if !errors.As(err, &at) || at.Column != c.column || at.Found != c.found || !strings.Contains(at.Want, c.want) {
			t.Errorf("Eval(%q): %v, want column %d: %s … %s", c.line, err, c.column, c.found, c.want)
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
		if got := before(c.from, c.n, c.u); !got.Equal(c.want) {
			t.Errorf("%d%s before %v is %v, want %v", c.n, c.u, c.from, got, c.want)
		}
	}
}

func TestTextsAreReadOnlyWhenNeeded(t *testing.T) {
	reads := 0
	pairs := sample()
	for i := range pairs {
		pairs[i].Text = func() (string, string) { reads++; return "hello", "" }
	}
	for line, want := range map[string]int{
		"s2 b x":                   0,
		"c'hello' & s2":            2,
		"c'hello' | !s2":           2,
		"(c'a' | c'hello') c/l/ x": 3,
		"c'*'":                     0,
	} {
		reads = 0
		q, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Eval(q, pairs, env()); err != nil || reads != want {
			t.Errorf("%s read %d texts, want %d (%v)", line, reads, want, err)
		}
	}
}

// naive evaluates as the page on the language reads, pair by pair.
func naive(x Expr, pairs []Pair, e Env, i int, rank func(int) (int, bool)) bool {
	p := pairs[i]
	user, assistant := "", ""
	if p.Text != nil {
		user, assistant = p.Text()
	}
	switch x := x.(type) {
	case nil:
		return true
	case And:
		return !slices.ContainsFunc(x.Terms, func(t Expr) bool { return !naive(t, pairs, e, i, rank) })
	case Or:
		return slices.ContainsFunc(x.Terms, func(t Expr) bool { return naive(t, pairs, e, i, rank) })
	case Not:
		return !naive(x.X, pairs, e, i, rank)
	case Topic:
		return x.Matches(p.Topic)
	case TopicSelected:
		return p.Topic == e.SelectedTopic
	case TopicLast:
		below := func(j int) bool {
			return pairs[j].Topic == e.SelectedTopic || strings.HasPrefix(pairs[j].Topic, e.SelectedTopic+" > ")
		}
		newer := 0
		for j := i + 1; j < len(pairs); j++ {
			if below(j) {
				newer++
			}
		}
		return below(i) && newer < x.N
	case Stars:
		return map[Op]bool{Equal: p.Star == x.N, Less: p.Star < x.N, LessEqual: p.Star <= x.N, Greater: p.Star > x.N, GreaterEqual: p.Star >= x.N}[x.Op]
	case Recent:
		return len(pairs)-i <= x.N
	case Flag:
		return p.Flag == x.Blue
	case Model:
		return x.Matches(p.Model)
	case ModelSelected:
		return strings.EqualFold(p.Model, e.SelectedModel)
	case Age:
		then := before(e.Now, x.N, x.Unit)
		return map[Op]bool{Less: p.CreatedAt.After(then), LessEqual: !p.CreatedAt.Before(then), Greater: p.CreatedAt.Before(then), GreaterEqual: !p.CreatedAt.After(then)}[x.Op]
	case Day:
		have, want := p.CreatedAt.In(e.Location).Format(time.DateOnly), fmt.Sprintf("%04d-%02d-%02d", x.Year, x.Month, x.Day)
		return map[Op]bool{Equal: have == want, Less: have < want, LessEqual: have <= want, Greater: have > want, GreaterEqual: have >= want}[x.Op]
	case Content:
		re := func(s string) bool { return newPattern(append(append([]string{""}, x.Parts...), "")).Match(s) }
		return re(user) || re(assistant)
	case Regexp:
		re, _ := compileRegexp(x.Source)
		return re.MatchString(user) || re.MatchString(assistant)
	case Failed:
		return p.IsError
	case Attachments:
		return p.HasAttachments
	case Session:
		return strings.HasPrefix(p.Session, x.Prefix)
	case SessionCurrent:
		return p.Session == e.Session
	case Boundary:
		r, inBase := rank(i)
		return inBase && r >= -x.Extra
	default:
		return false
	}
}

func TestEvalAgreesWithTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pairs := make([]Pair, 40)
	for i := range pairs {
		words := []string{"xy", "x*y", "hello xay", "xby xcy", ""}
		u, a := words[r.IntN(5)], words[r.IntN(5)]
		pairs[i] = Pair{
			Session: []string{"s-new", "xay", "s-old"}[r.IntN(3)], Topic: []string{"AI", "AI > Agents", "AI > Agents > xay", "xay"}[r.IntN(4)],
			Model: []string{"openai/gpt-5", "p/xay", "xby"}[r.IntN(3)], Star: r.IntN(4), Flag: r.IntN(2) == 0, IsError: r.IntN(4) == 0,
			HasAttachments: r.IntN(4) == 0, CreatedAt: now.Add(-time.Duration(r.IntN(90*24)) * time.Hour),
			Text: func() (string, string) { return u, a },
		}
	}
	e := env()
	hits := 0
	for range 3000 {
		x := someExpr(r, 3)
		base := Base(x)
		var inBase []int
		for i := range pairs {
			if naive(base, pairs, e, i, nil) {
				inBase = append(inBase, i)
			}
		}
		rank := func(i int) (int, bool) {
			at, ok := slices.BinarySearch(inBase, i)
			return at - (len(inBase) - e.Included(inBase)), ok
		}
		var want []int
		for _, i := range inBase {
			if !UsesBoundary(x) || naive(x, pairs, e, i, rank) {
				want = append(want, i)
			}
		}
		got := EvalExpr(x, pairs, e)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", PrintExpr(x), got, want)
		}
		if len(got) > 0 && len(got) < len(pairs) {
			hits++
		}
	}
	if hits < 500 {
		t.Errorf("only %d of 3000 lines selected some but not all: the test proves little", hits)
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
		reason, unsafe := UnsafeForDelete(q.Expr)
		if got := [3]bool{NeedsText(q.Expr), UsesBoundary(q.Expr), unsafe}; got != want || unsafe != (reason != "") {
			t.Errorf("%q: %v %q, want %v", line, got, reason, want)
		}
	}
	q, _ := Parse("b (s2 | r10)")
	if reason, _ := UnsafeForDelete(q.Expr); !strings.HasPrefix(reason, "r10 ") {
		t.Errorf("the reason does not name the term: %q", reason)
	}
}

// large makes a history of n pairs.
func large(n int) []Pair {
	topics := []string{"AI", "AI > Agents", "Cooking", "Work > Mail"}
	models := []string{"openai/gpt-5", "anthropic/claude-4", "local/llama"}
	text := "A longer text about many things, " + strings.Repeat("and more of it ", 20)
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{
			Session: fmt.Sprint(i / 50), Topic: topics[i/7%4], Model: models[i/3%3], Star: i % 4, Flag: i%3 > 0, IsError: i%97 == 0,
			CreatedAt: now.Add(-time.Duration(n-i) * time.Minute), Text: func() (string, string) { return "question", text },
		}
	}
	return pairs
}

func benchmark(b *testing.B, line string) {
	b.Helper()
	q, err := Parse(line)
	if err != nil {
		b.Fatal(err)
	}
	pairs, e := large(100_000), env()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Eval(q, pairs, e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMetadata100k(b *testing.B) {
	benchmark(b, "(t'AI...' | m'*claude*') & s>=1 & b & d<60d & !e | r10")
}

func BenchmarkBoundary100k(b *testing.B) { benchmark(b, "b & o5") }

func BenchmarkContent100k(b *testing.B) { benchmark(b, "s3 & c'more*it'") }
