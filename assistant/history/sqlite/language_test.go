package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// sampleEnv is what is selected in the history of sampleHistory.
func sampleEnv(now time.Time) history.Env {
	return history.Env{
		Env: filter.Env{
			Now: now, Location: now.Location(), SelectedTopic: "AI > Agents", SelectedModel: "openai/gpt-5", Session: "s-new",
			Saved: func(name string) (string, bool) {
				line, ok := map[string]string{"good": "s>=2", "mine": "@good & x", "none": "", "edge": "o & b"}[name]
				return line, ok
			},
		},
		Fits: func(base []assistant.Ref) int { return min(2, len(base)) },
	}
}

// sampleHistory holds six pairs, numbered from 0 in the lines below.
func sampleHistory(t *testing.T, now time.Time) *store {
	t.Helper()
	s := newStore(t)
	put(t, s,
		&assistant.Pair{Session: "s-old", Topic: "AI", Model: "openai/gpt-5", Star: 3, Flag: true, CreatedAt: now.AddDate(-2, 0, 0), UserText: "Hello World"},
		&assistant.Pair{Session: "s-old", Topic: "AI > Agents", Model: "openai/gpt-5-mini", Star: 1, CreatedAt: now.AddDate(0, 0, -40), AssistantText: "what? a*b (c)"},
		&assistant.Pair{Session: "s-old", Topic: "AI > Agents > Tools", Model: "anthropic/claude", Flag: true, State: assistant.PairError, CreatedAt: now.AddDate(0, 0, -8)},
		&assistant.Pair{Session: "s-new", Topic: "Cooking", Model: "gpt-5", Star: 2, Flag: true, Attachments: []assistant.Attachment{{Name: "a"}}, CreatedAt: now.AddDate(0, 0, -7), UserText: "world hello", AssistantText: "WORLD\nwide"},
		&assistant.Pair{Session: "s-new", Topic: "10", Model: "openai/gpt-5", CreatedAt: time.Date(2026, 3, 30, 23, 30, 0, 0, time.UTC), UserText: "ünï", AssistantText: "a/b"},
		&assistant.Pair{Session: "s-new", Model: "openai/GPT-5", Star: 2, Flag: true, CreatedAt: now.Add(-30 * time.Minute)},
	)
	return s
}

// The page on the filter language, term by term.
func TestWhatALineSelects(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.FixedZone("here", 2*60*60))
	s := sampleHistory(t, now)
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
		q, err := filter.Parse(line)
		if err != nil {
			t.Fatalf("Parse(%q): %v", line, err)
		}
		if got := selected(t, s, q, sampleEnv(now)); got != want {
			t.Errorf("%q selects %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{"o": "012345", "b !o": "0235", "o | e": "2", "!(o & b)": "14", "@edge": "0235"} {
		q, err := filter.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		x, err := filter.Expand(q, sampleEnv(now).Saved)
		if err != nil {
			t.Fatal(err)
		}
		if got := selected(t, s, &filter.Query{Expr: filter.Base(x)}, sampleEnv(now)); got != want {
			t.Errorf("the base of %q selects %q, want %q", line, got, want)
		}
	}
}

// selected are the numbers of the pairs that a line selects.
func selected(t *testing.T, s *store, q *filter.Query, env history.Env) string {
	t.Helper()
	r, err := s.Filter(t.Context(), q, env)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, ref := range r.Refs {
		fmt.Fprint(&b, ref.Seq-1)
	}
	return b.String()
}
