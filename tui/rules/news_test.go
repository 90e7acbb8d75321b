package rules

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/llm"
)

// openNews opens the tab of all providers, with a change of each kind.
func openNews(t *testing.T) *bench {
	t.Helper()
	describe := func(id string) (llm.ModelInfo, bool) {
		info := llm.ModelInfo{ID: id, Context: 400_000, Known: true}
		info.Facts.PriceIn, info.Facts.PriceOut = llm.PriceOf(10), llm.PriceOf(40)
		return info, true
	}
	b := openWith(t, severalEnv, someModels, modelfilter.Options{Describe: describe})
	b.shelf.lists["gemini"] = modelfilter.ModelList{Provider: "gemini", IDs: []string{"gemini/flash", "gemini/pro"}, Source: "cache"}
	b.shelf.news = map[string][]models.Change{
		"openai": {{ID: "openai/gpt-5", Kind: models.Appeared}, {ID: "openai/gpt-2", Kind: models.Vanished}},
		"gemini": {{ID: "gemini/flash", Kind: models.Deprecated}, {ID: "gemini/pro", Kind: models.Repriced, PriceIn: llm.PriceOf(10), PriceOut: llm.PriceOf(20)}},
	}
	b.shelf.fetch = func(provider string) (modelfilter.ModelList, error) { return b.shelf.lists[provider], nil }
	if _, err := b.w.Refresh(t.Context(), "openai"); err != nil { // the changes are read with the list
		t.Fatal(err)
	}
	b.do("previous-tab")
	b.show()
	return b
}

// What has changed stands in All with price and context, and one key hides or allows it.
func TestChangesOfModelsAreListed(t *testing.T) {
	b := openNews(t)
	frame := ansi.Strip(b.screen(110, 30))
	for _, want := range []string{"since you last looked", "new openai/gpt-5", "$10.00 in, $40.00 out · 400k", "gone openai/gpt-2", "deprecated gemini/flash", "new price gemini/pro", "$10.00 in, $40.00 out (was $20.00)", "hidden"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is missing:\n%s", want, frame)
		}
	}
	if frame := ansi.Strip(b.screen(60, 30)); !strings.Contains(frame, "$10.00/$40.00") {
		t.Errorf("a narrow pane has no price:\n%s", frame)
	}
	b.on("openai/gpt-5")
	if said := b.do("add-ignore"); !strings.Contains(said, "added ignore rule “gpt-5”") {
		t.Errorf("hide says %q", said)
	}
	b.on("gemini/pro")
	if said := b.do("add-allow"); !strings.Contains(said, "added allow rule “pro”") {
		t.Errorf("allow says %q", said)
	}
	b.on("openai/gpt-2")
	if said := b.do("add-ignore"); !strings.Contains(said, "no longer listed") {
		t.Errorf("hiding a model that is gone says %q", said)
	}
	if text, _ := b.aboutRow(); !strings.Contains(text, "gone: openai/gpt-2") || !strings.Contains(text, "marks the changes of openai as seen") {
		t.Errorf("about is %q", text)
	}
	if said := b.do("pane-highlight"); !strings.Contains(said, "2 changes of openai marked as seen") {
		t.Errorf("enter says %q", said)
	}
	if frame := ansi.Strip(b.screen(110, 30)); strings.Contains(frame, "gpt-2") || !strings.Contains(frame, "gemini/flash") {
		t.Errorf("after the look:\n%s", frame)
	}
}
