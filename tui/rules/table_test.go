package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
	"winnow/tui/pane"
)

var tableNow = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

// openTable opens the models with prices, by the number in their names, and a usage file.
// described counts how often the facts of a model were asked for.
func openTable(t testing.TB, ids []string) (b *bench, described *int) {
	t.Helper()
	data, described := t.TempDir(), new(int)
	used := fmt.Sprintf(`{"schema_version":2,"credentials":{"c":{"accessor":"sk-secret","model_usage":{"gpt-5":{"totals":{"request_count":1204,"last_used_at":%d}},"o3":{"totals":{"request_count":7,"last_used_at":%d}}}}}}`,
		tableNow.Add(-2*time.Hour).Unix(), tableNow.AddDate(0, 0, -100).Unix())
	if err := os.Mkdir(filepath.Join(data, "usage"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "usage", "usage_openai.json"), []byte(used), 0o600); err != nil {
		t.Fatal(err)
	}
	b = openWith(t, someEnv, ids, modelfilter.Options{
		Usage: usage.Open(data, nil), Now: func() time.Time { return tableNow },
		Describe: func(id string) (llm.ModelInfo, bool) {
			*described++
			if strings.Contains(id, "embedding") || strings.Contains(id, "stray") {
				return llm.ModelInfo{}, false // nothing is known of them
			}
			info := llm.ModelInfo{Context: 1000 * len(id), Known: true, Vision: llm.Unable, Source: "catalogue", Facts: llm.Facts{PriceOut: llm.PriceOf(float64(len(id))), ToolCalls: llm.Able, Released: "2025-08-07"}}
			if strings.Contains(id, "mini") {
				info.Facts.ToolCalls = llm.Unable
			}
			return info, true
		},
	})
	return b, described
}

// modelNames are the names of the models in the order of their rows.
func (b *bench) modelNames() string {
	var out []string
	for _, r := range b.tabs.List().Rows {
		if r.kind == rowModel {
			out = append(out, b.data.Name(b.data.Models[r.index].ID))
		}
	}
	return strings.Join(out, " ")
}

// sortBy picks an order as the user does.
func (b *bench) sortBy(name string) {
	b.t.Helper()
	pick, ok := b.Do("sort-models").(pane.Pick)
	if !ok {
		b.t.Fatal("sort-models opens no list")
	}
	b.perform(pick.Then(name))
}

func TestTableFrames(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models")
	golden(t, b, "table")
	b.sortBy("requests")
	golden(t, b, "table-sorted")
	if wide := ansi.Strip(b.screen(140, 20)); !strings.Contains(wide, "released") || !strings.Contains(wide, "2025-08-07") || !strings.Contains(wide, "1204") || !strings.Contains(wide, "never") {
		t.Errorf("a wide table:\n%s", wide)
	}
	b.on("gpt-5 ")
	if foot := ansi.Strip(b.screen(140, 20)); !strings.Contains(foot, "1204 requests,") || !strings.Contains(foot, "$? in, $12.00 out") || !strings.Contains(foot, "facts from the catalogue") {
		t.Errorf("the foot of a model:\n%s", foot)
	}
}

func TestModelsAreSortedByEachOrder(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models")
	byName := b.modelNames()
	for _, o := range modelfilter.Orders() {
		b.sortBy(o.Name)
		down := b.modelNames()
		b.sortBy(o.Name)
		up := b.modelNames()
		if up == down && o.Name != "price_in" && o.Name != "released" { // all of these are unknown, or the same
			t.Errorf("%s: the same order reversed: %s", o.Name, up)
		}
		if o.Name == "price" && (!strings.HasPrefix(down, "gpt-4o-audio-preview ") || !strings.HasPrefix(up, "o3 ") || !strings.HasSuffix(down, "other/stray text-embedding-3-large") && !strings.HasSuffix(down, "text-embedding-3-large other/stray")) {
			t.Errorf("by price: %s; reversed: %s", down, up)
		}
		if o.Name == "requests" && !strings.HasPrefix(down, "gpt-5 o3 ") {
			t.Errorf("by requests: %s", down)
		}
	}
	b.sortBy("name")
	if b.modelNames() != byName {
		t.Errorf("by name again: %s, want %s", b.modelNames(), byName)
	}
}

func TestModelsAreSearchedByConditions(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models")
	for query, want := range map[string]string{
		"mini":              "gpt-4o-mini gpt-5-mini",
		"MINI 4o":           "gpt-4o-mini",
		"gpt-5*":            "gpt-5 gpt-5-mini",
		"used:7d":           "gpt-5",
		"requests>0 !gpt":   "o3",
		"price>20 hidden":   "gpt-3.5-turbo-16k gpt-4-1106-preview",
		"!tools":            "gpt-4o-mini gpt-5-mini",
		"vision":            "",
		"price<13 unused:1": "o3 gpt-4",
	} {
		b.do("pane-search")
		b.keys("<ctrl+u>" + query)
		if !slices.Equal(sortedFields(b.modelNames()), sortedFields(want)) {
			t.Errorf("%q finds %q, want %q", query, b.modelNames(), want)
		}
		b.keys("<enter>")
	}
}

// sortedFields are the words of a text, sorted.
func sortedFields(text string) []string { return slices.Sorted(slices.Values(strings.Fields(text))) }

// TestAHalfTypedConditionIsLeftOut types a condition letter by letter.
func TestAHalfTypedConditionIsLeftOut(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models", "pane-search")
	b.keys("mini price>")
	if b.modelNames() != "gpt-4o-mini gpt-5-mini" || !strings.Contains(ansi.Strip(b.screen(100, 30)), "a value is missing; write price>10") {
		t.Errorf("listed %s:\n%s", b.modelNames(), ansi.Strip(b.screen(100, 30)))
	}
	if said := b.keys("<enter>"); !b.Typing() || !strings.Contains(said, "a value is missing") {
		t.Errorf("enter said %q", said)
	}
	b.keys("17.5<enter>")
	if b.Typing() || b.modelNames() != "gpt-4o-mini" {
		t.Errorf("listed %s", b.modelNames())
	}
	b.do("pane-search")
	b.keys("<ctrl+u>price>1")
	if text := ansi.Strip(b.screen(100, 30)); !strings.Contains(text, "11 of 13 models · 2 unknown") {
		t.Errorf("models that cannot be judged are not counted:\n%s", text)
	}
}

// TestHidingASelectionShowsThePatternsFirst goes from a condition to rules.
func TestHidingASelectionShowsThePatternsFirst(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models", "pane-search")
	b.keys("!tools<enter>")
	b.do("pane-select-all")
	before := b.rules(modelfilter.Ignore)
	said := b.do("add-ignore")
	if !b.Typing() || b.input.Text() != "*mini" || b.rules(modelfilter.Ignore) != before || !strings.Contains(said, "also matches models that are listed later") {
		t.Fatalf("typed %q, said %q, rules %s", b.input.Text(), said, b.rules(modelfilter.Ignore))
	}
	b.keys("<enter>")
	if got := b.rules(modelfilter.Ignore); got != before+" *mini" {
		t.Errorf("rules %s", got)
	}
}

func TestSelectAllTwiceSelectsNothing(t *testing.T) {
	b, _ := openTable(t, someModels)
	b.do("show-models", "pane-select", "pane-select-all")
	if len(b.selected) != len(someModels) {
		t.Errorf("selected %d of %d", len(b.selected), len(someModels))
	}
	if b.do("pane-select-all"); len(b.selected) != 0 {
		t.Errorf("selected %v", b.selected)
	}
	b.do("show-changes")
	if said := b.do("pane-select-all"); !strings.Contains(said, "only rules and models") {
		t.Errorf("said %q", said)
	}
}

// TestFactsAreReadOnceAndOnlyForTheTable counts how often facts are asked for.
func TestFactsAreReadOnceAndOnlyForTheTable(t *testing.T) {
	b, described := openTable(t, many(20_000))
	b.do("show-rules", "pane-down")
	if *described != 0 {
		t.Fatalf("%d facts were read for the rules", *described)
	}
	b.do("show-models")
	b.sortBy("price")
	b.do("pane-search")
	b.keys("<ctrl+u>price>10 tools<enter>")
	b.do("pane-select", "add-ignore")
	b.keys("<enter>")
	b.sortBy("requests")
	if *described != 20_000 {
		t.Errorf("%d facts were read of 20,000 models", *described)
	}
}

// TestAFrameLooksForColumnsOnce counts how often a fact is written as text: for the rows on the
// screen, and not for all models to find out which columns have a value. One column has none,
// so that this takes all models.
func TestAFrameLooksForColumnsOnce(t *testing.T) {
	const n = 20_000
	written := 0
	for i := range columns {
		was := columns[i].text
		columns[i].text = func(m *condition.Model, now time.Time) string {
			if written++; i == len(columns)-1 {
				return ""
			}
			return was(m, now)
		}
		t.Cleanup(func() { columns[i].text = was })
	}
	b, _ := openTable(t, many(n))
	b.do("show-models")
	b.Lines(120, 30)
	if written < n {
		t.Fatalf("%d facts were written of %d models: the test counts nothing", written, n)
	}
	frame := func(after string) {
		t.Helper()
		written = 0
		if b.Lines(120, 30); written > 30*len(columns) {
			t.Errorf("after %s a frame writes %d facts", after, written)
		}
	}
	frame("nothing")
	b.do("pane-down")
	frame("a step")
	b.do("add-ignore")
	b.keys("<enter>")
	frame("a rule")
}

// TestSortingAndSearchingCostWhatTheModelsCost compares the work for 2,000 and for 20,000
// models: allocations, and comparisons per model.
func TestSortingAndSearchingCostWhatTheModelsCost(t *testing.T) {
	cost := func(n int) (key, order float64) {
		b, _ := openTable(t, many(n))
		b.do("show-models", "pane-search")
		b.keys("<ctrl+u>price>10 tools mini")
		key = testing.AllocsPerRun(5, func() {
			b.Key("", "*")
			b.press("backspace")
			b.Lines(78, 30)
		})
		order = testing.AllocsPerRun(5, func() {
			b.sorting.reversed = !b.sorting.reversed
			b.sorting.order = "price"
			b.rebuild()
			b.Lines(78, 30)
		})
		return key, order
	}
	fewKey, fewOrder := cost(2000)
	key, order := cost(20_000)
	if key > 2*fewKey+50 || order > 2*fewOrder+50 { // rows grow by doubling: not with each model
		t.Errorf("a key makes %v allocations of 20,000 models and %v of 2,000, an order %v and %v", key, fewKey, order, fewOrder)
	}
}

func BenchmarkSortKey(b *testing.B) {
	p, _ := openTable(b, many(20_000))
	p.do("show-models")
	for b.Loop() {
		p.sorting = sorting{order: "price", reversed: !p.sorting.reversed}
		p.rebuild()
		p.Lines(78, 50)
	}
}

func BenchmarkConditionKey(b *testing.B) {
	p, _ := openTable(b, many(20_000))
	p.do("show-models", "pane-search")
	p.keys("<ctrl+u>price>10 tools unused:30")
	for b.Loop() {
		p.Key("", "d")
		p.press("backspace")
		p.Lines(78, 50)
	}
}
