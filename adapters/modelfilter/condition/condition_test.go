package condition

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// known is a model of which every fact is known.
func known() *Model {
	return &Model{
		Info: llm.ModelInfo{
			ID: "openai/gpt-5-mini", Context: 128_000, Known: true, Vision: llm.Unable,
			Facts: llm.Facts{
				PriceIn: llm.PriceOf(0.5), PriceOut: llm.PriceOf(10), ToolCalls: llm.Able, Reasoning: llm.Unable, Structured: llm.Able,
				Family: "gpt", Released: "2025-02-15", Status: llm.StatusPreview, Kind: "chat",
			},
		},
		UseKnown: true, Use: usage.Use{Requests: 100, Last: now.AddDate(0, 0, -10)},
		Hidden: true,
	}
}

func parse(t testing.TB, line string) Condition {
	t.Helper()
	c, err := Parse(line)
	if err != nil {
		t.Fatalf("Parse(%q): %v", line, err)
	}
	return c
}

func TestMatch(t *testing.T) {
	for line, want := range map[string]Answer{
		"": Yes, "  ": Yes,
		"price>10": No, "price>=10": Yes, "price<10": No, "price<=10": Yes, "price=10": Yes, "price>$9.99": Yes, "PRICE>5": Yes,
		"price_in<1": Yes, "price_in>=1": No,
		"ctx>=128k": Yes, "ctx>128K": No, "ctx<1m": Yes, "ctx>=0.1m": Yes,
		"tools": Yes, "!tools": No, "vision": No, "!vision": Yes, "reasoning": No, "structured": Yes,
		"unused:10d": Yes, "unused:11d": No, "used:10d": No, "used:11d": Yes, "used:2w": Yes, "unused:240h": Yes, "unused:1mo": No, "used:1y": Yes, "unused:14000min": Yes, "unused:10": Yes,
		"requests>99": Yes, "requests>100": No, "requests=100": Yes,
		"released<2025-02-15": No, "released<=2025-02-15": Yes, "released=2025-02": Yes, "released>2025": No, "released>=2025": Yes, "released<2026": Yes, "released=2024": No,
		"status:preview": Yes, "status:beta": Yes, "status:deprecated": No, "family:GPT": Yes, "family:claude": No, "kind:chat": Yes, "kind:embedding": No,
		"*mini*": Yes, "name:*mini*": Yes, "gpt-5-mini": Yes, "openai/*": Yes, "mini": No, "*MINI*": No, "!*nano*": Yes,
		"hidden": Yes, "shown": No, "allowed": No, "!allowed": Yes, "new": No, "!new": Yes,
		"price>=10 tools *mini*": Yes, "price>=10 vision": No,
	} {
		if got := parse(t, line).Match(known(), now); got != want {
			t.Errorf("%q is %v, want %v", line, got, want)
		}
	}
}

// TestAnUnknownFactDecidesNothing asks each keyword, and its negation, about a model of
// which nothing is known.
func TestAnUnknownFactDecidesNothing(t *testing.T) {
	nothing := &Model{Info: llm.ModelInfo{ID: "acme/x", Context: 8000}} // a guess
	always := map[string]bool{"name": true, "hidden": true, "shown": true, "allowed": true, "new": true}
	for _, k := range keywords {
		example := strings.TrimPrefix(k.example, "!")
		for _, line := range []string{example, "!" + example} {
			if got := parse(t, line).Match(nothing, now); (got == Unknown) == always[k.name] {
				t.Errorf("%q is %v for a model of which nothing is known", line, got)
			}
		}
	}
	for line, want := range map[string]Answer{"price>1 name:y": No, "name:y price>1": No, "price>1 name:x": Unknown, "name:x !price>1": Unknown} {
		if got := parse(t, line).Match(nothing, now); got != want {
			t.Errorf("%q is %v, want %v", line, got, want)
		}
	}
}

func TestNeverUsedIsUnused(t *testing.T) {
	never := &Model{UseKnown: true}
	for line, want := range map[string]Answer{"unused:30d": Yes, "used:10y": No, "requests=0": Yes, "requests>0": No} {
		if got := parse(t, line).Match(never, now); got != want {
			t.Errorf("%q is %v, want %v", line, got, want)
		}
	}
}

func TestAPartOfADateThatIsNotStatedDecidesNothing(t *testing.T) {
	m := &Model{Info: llm.ModelInfo{Facts: llm.Facts{Released: "2025-02"}}}
	for line, want := range map[string]Answer{
		"released<2025-02-15": Unknown, "released>2025-02-15": Unknown, "released=2025-02-15": Unknown, "released<2025-02": No, "released<=2025-02": Yes,
		"released<2025-03-01": Yes, "released>2025-01-31": Yes, "released>=2025-02-01": Yes, "released>=2025-02-02": Unknown, "released=2025": Yes, "released=2025-03-01": No,
	} {
		if got := parse(t, line).Match(m, now); got != want {
			t.Errorf("%q is %v, want %v", line, got, want)
		}
	}
}

func TestErrorsNameTheWordAndWhatToWrite(t *testing.T) {
	for line, want := range map[string]struct {
		column int
		reason string
	}{
		"prize>10":             {1, "did you mean price"},
		"tools  prce<1":        {8, "did you mean price"},
		"ä\tprice:10":          {3, "write price>10"},
		"price>":               {1, "a value is missing; write price>10"},
		"price>ten":            {1, "not a number"},
		"price>-1":             {1, "not a number"},
		"price>1e400":          {1, "not a number"},
		"ctx>NaN":              {1, "not a number"},
		"tools>1":              {1, "takes no value"},
		"tools:yes":            {1, "takes no value"},
		"status=preview":       {1, "write status:deprecated"},
		"status:old":           {1, "active, preview or deprecated"},
		"unused:30x":           {1, "not an age"},
		"unused:999999999999d": {1, "not an age"},
		"released<soon":        {1, "not a date"},
		"released<2025-02-30":  {1, "not a date"},
		"family:a b:c":         {10, "there is no condition \"b\""},
		"llama3:8b":            {1, "write name:llama3:8b"},
		"family:<b>":           {1, "are allowed"},
		"!":                    {1, "must follow"},
		"!!tools":              {1, "must follow"},
		"qqqqqq=1":             {1, "use price, price_in"},
	} {
		_, err := Parse(line)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Column != want.column || !strings.Contains(e.Error(), want.reason) {
			t.Errorf("Parse(%q) = %v, want column %d and %q", line, err, want.column, want.reason)
		}
	}
}

func TestEveryWordOfTheVocabularyCanBeParsed(t *testing.T) {
	for _, w := range Words() {
		if c := parse(t, w.Example); c.String() != strings.ReplaceAll(w.Example, "100k", "100000") || w.Help == "" {
			t.Errorf("%q is printed as %q, with the help %q", w.Example, c, w.Help)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, w := range Words() {
		f.Add(w.Example)
	}
	f.Add("name:tools !name:price>10 ctx>=1.5m unused:0 released=2025 :x *[!a]* llama:8b")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := Parse(line)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Column < 1 || e.Column > len([]rune(line)) || e.Reason == "" {
				t.Fatalf("Parse(%q): %#v", line, err)
			}
			return
		}
		again, err := Parse(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("%q is printed as %q, and that as %q, %v", line, c, again, err)
		}
		for _, m := range []*Model{known(), {}} {
			if a, b := c.Match(m, now), again.Match(m, now); a != b {
				t.Fatalf("%q is %v, printed and read again %v, for %+v", line, a, b, m)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	c := parse(b, "price>1 tools ctx>=100k *mini* unused:30d")
	models := make([]Model, 20_000)
	for i := range models {
		models[i] = *known()
		models[i].Info.ID = fmt.Sprintf("openai/gpt-%d-mini", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range models {
			c.Match(&models[i], now)
		}
	}
}
